#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Calls about memory answer as alone, with each flag and at each edge, and the pages are then as alone;
# what only the simulator's own memory, or where libraries lie there, makes another is said in a line.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my $program = program('memory_calls');

sub lines { return [split /\n/, $_[0]{out}] }

my $alone = run(command => [$program]);
my $calls = lines($alone);
cmp_ok(scalar @$calls, '>', 700, 'alone: all calls');
for my $engine (qw(perf sim)) {
	my $run = peek(engine => $engine, events => $engine eq 'sim' ? 'instructions' : 'page-faults', command => [$program]);
	is($run->{status}, $alone->{status}, "$engine: status");
	my $got = lines($run);
	my @other = map { "alone   $calls->[$_]\n$engine " . ($got->[$_] // 'nothing') . "\n" } grep { $calls->[$_] ne ($got->[$_] // '') } 0 .. $#$calls;
	is("@other", '', "$engine: the same answers and pages");
	is("@{$run->{notes}}", "", "$engine: nothing to be said");
}

is(peek(engine => 'sim', events => 'instructions', command => [program('grows')])->{out}, plain(command => [program('grows')])->{out},
	'no mapping is placed where another one has grown');
for my $case ([63, 0], [64, 1]) {
	my ($more, $lines) = @$case;
	my $run = peek(engine => 'sim', events => 'instructions', command => [program('grows'), $more]);
	is(scalar(grep { /^cachepeek: more than 64 mappings grow downwards: .*CACHEPEEK_ENGINE=perf$/ } split(/\n/, "@{$run->{notes}}\n$run->{err}")), $lines,
		"$more others that may grow: said, or not");
}

SKIP: {
	skip('elsewhere on other processors', 10) unless `uname -m` =~ /x86_64/;
	for (['map', 'wants memory at an address where the simulated PMU is', '-1'], ['taken', 'wants memory', '-1'],
		['unmap', 'wants memory', '-1'], ['move', 'wants memory', '-1'], ['library', 'maps memory in the place of a library', '']) {
		my ($word, $line, $answer) = @$_;
		my $run = peek(engine => 'sim', events => 'instructions', command => [$program, $word]);
		is($run->{out}, $answer eq '' ? '' : "$answer\n", "$word: not there");
		like("@{$run->{notes}}$run->{err}", qr/^cachepeek: the program $line.*CACHEPEEK_ENGINE=perf$/m, "$word: one line");
	}
}
done_testing();
