#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# The HTML report in a real browser: tests/browser/check.py reads its numbers
# back and uses it.  Here: the runs, and what the file is.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use JSON::PP;
use Peek;
use Test::More;

my $place = scratch('pages');
mkdir($place);
for my $case (['threads', 'cache,tlb', program('region_threads'), 8], ['hostile', 'cache', program('hostile')],
	['many', undef, program('many_regions'), 10000], ['two', 'cache', program('region_nested')],
	['series', 'cache', program('phases'), 10]) {
	my ($name, $groups, @command) = @$case;
	my $run = peek(engine => 'sim', machine => $name eq 'two' ? 'neoverse-n2' : undef, groups => $groups, output => "$place/$name.html,$place/$name.json",
		env => {CACHEPEEK_INTERVAL => $name eq 'series' ? '20ms' : undef},
		events => $groups ? undef : 'instructions,l1d_misses', command => \@command);
	is(status_text($run->{status}), 'exit 0', "$name: ran");
	my $page = read_file("$place/$name.html");
	my ($inside) = $page =~ m{<script id="report" type="application/json">\n(.*?)</script>}s;
	is($inside, read_file("$place/$name.json"), "$name: the page holds the JSON report");
	is(scalar(() = $page =~ m{</script}gi), 3, "$name: and nothing ends its scripts");
	unlike($page, qr/<(?:script|link|img)[^>]*(?:src|href)="(?!data:)/i, "$name: no other file is named");
}

# The JSON that a page holds, beside it.
sub keep_inside
{
	my ($name, $kind) = @_;
	my ($inside) = read_file("$place/$name.html") =~ m{<script id="report" type="application/json">\n(.*?)</script>}s;
	write_file("$place/$name.json", $inside);
	my $valid = run(command => ['/usr/bin/python3', source() . '/tests/validate.py',
		source() . "/doc/cachepeek-$kind-1.schema.json", "$place/$name.json"]);
	is($valid->{out}, "1 reports, 0 faults\n", "$name: the page holds what the schema of $kind says") || diag($valid->{err});
}

my $compared = run(command => [cli(), 'compare', '-m', 'pentium4-m2,zen3,itanium2,ixp45x', '-o', "$place/compare.html",
	program('region_nested'), '</script><b>&amp;']);
is(status_text($compared->{status}), 'exit 0', 'compare: ran') || diag($compared->{err});
keep_inside('compare', 'compare');

unless (which('chromedriver') && which('chromium')) {
	SKIP: { skip('no chromium and chromedriver (chromium-driver, python3-selenium)', 1) }
	done_testing();
	exit;
}
my $check = run(command => ['/usr/bin/python3', source() . '/tests/browser/check.py', $place]);
my $plan = 0;
for my $line (split(/\n/, $check->{out})) {
	if ($line =~ /^(not )?ok \d+ - (.*)$/) {
		ok(!$1, $2);
	} elsif ($line =~ /^1\.\.(\d+)$/) {
		$plan = $1;
	} else {
		diag($line);
	}
}
cmp_ok($plan, '>', 90, 'the browser came to the end') || diag($check->{err});
done_testing();
