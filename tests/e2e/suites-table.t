#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# The table of other people's test suites: what was run again replaces its own row only.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my $top = "$FindBin::Bin/../..";
my $head = "| suite | engine | processes | tests | same | unsteady | differ |\n|---|---|--:|--:|--:|--:|---|\n";

sub compared
{
	my ($suite, $engine, $text) = @_;
	mkdir scratch($_) for 'work', "work/$suite", "work/$suite/fetched";
	write_file(scratch("work/$suite/$engine.compared"), $text);
	write_file(scratch("work/$suite/fetched/lib${suite}_2.0-1.dsc"), '');
}

# The table's rows become others, the lines around it stay.
sub becomes
{
	my ($before, $after, $what) = @_;
	write_file(scratch('table.md'), "above\n<!-- suites -->\n\n$head$before\n<!-- end of suites -->\nbelow\n");
	my $status = system("$top/tests/suites/table.py " . scratch('work') . ' ' . scratch('table.md') . ' > /dev/null');
	is(read_file(scratch('table.md')), "above\n<!-- suites -->\n\n$head$after\n<!-- end of suites -->\nbelow\n", $what);
	return $status >> 8;
}

my @old = map { "| $_ 1.0-1 | perf | 9 | 9 | 9 | 0 | 0 |\n" } qw(bash grep zlib);
my $sim = "| grep 1.0-1 | sim | 9 | 9 | 9 | 0 | 0 |\n";
my $new = "| grep 2.0-1 | perf | - | 7 | 7 | 0 | 0 |\n";

compared('grep', 'perf', "perf: 7 tests, 7 same, 0 unsteady, 0 differ\n");
is(becomes(join('', @old), "$old[0]$new$old[2]", 'a row of another version is replaced'), 0, 'and that is well');
becomes($old[0] . $sim, $old[0] . $new . $sim, 'the row of another engine stays');
becomes('', $new, 'an empty table gets its first row');

compared('grep', 'perf', "perf: 7 tests, 6 same, 0 unsteady, 1 differ\n  differs pipe: PASS, with the library FAIL\n");
is(becomes($old[0], "$old[0]| grep 2.0-1 | perf | - | 7 | 6 | 0 | pipe |\n", 'a difference is named'),
	1, 'and without a reason it fails');
done_testing;
