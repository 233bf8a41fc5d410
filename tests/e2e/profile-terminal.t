#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# The text of profiles fits the terminal that it is for; in a file a row is a line.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my $script = terminal_script() or plan(skip_all => 'script(1) makes no terminal here');
my $program = program('profiled');

# Lines on a terminal of so many columns.
sub on_terminal
{
	my ($columns, @command) = @_;
	my $run = run(command => [$script, '-qec',
		"stty cols $columns; " . join(' ', map { "'$_'" } cli(), @command) . ' > /dev/null', '/dev/null']);
	my $text = $run->{out};
	utf8::decode($text);
	return lines_shown($text);
}

for my $columns (80, 100) {
	for my $name (qw(dcache dtlb icache)) {
		my @lines = on_terminal($columns, $name, '-m', 'skylake-sp', '--details', 'all', $program, qw(load store));
		my @wide = grep { length > $columns } @lines;
		cmp_ok(scalar @lines, '>', 50, "$name: a report");
		is("@wide", '', "$name: within $columns columns");
	}
}
my @lines = on_terminal(80, 'dtlb', '-E', 'perf', $program, qw(load store));
is(join(' ', grep { length > 80 } @lines), '', 'one with samples, too');

my ($at) = grep { $lines[$_] =~ /^ *profiled::load_lines/ } 0 .. $#{[@lines = on_terminal(80,
	'dcache', '-v', '-m', 'skylake-sp', $program, qw(load store))]};
ok($at, 'a function without room is below its row');
like($lines[($at || 1) - 1], qr/^ *\d+\.\d\d +\d+\.\d\d [ \d,.%]+$/, 'which has the numbers');

my $file = scratch('wide.txt');
run(command => [cli(), 'dcache', '-m', 'skylake-sp', '-o', $file, $program, qw(load store)]);
like(read_file($file), qr/^ *\d+\.\d\d [ \d,.%]+  profiled::load_lines  \(profiled\.c\)$/m, 'in a file it is in it');

done_testing;
