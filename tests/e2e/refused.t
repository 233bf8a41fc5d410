#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Arguments that the kernel refuses, or does not look at, are so in the simulator.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my $alone = plain(command => [program('refused')]);
my @calls = split(/\n/, $alone->{out});
cmp_ok(scalar(@calls), '>=', 100, 'alone: calls');
for my $engine (grep { !why_not($_) } qw(perf sim)) {
	my $run = peek(engine => $engine, command => [program('refused')]);
	my @others = split(/\n/, $run->{out});

	is_deeply([map { "$_: $calls[$_], $engine $others[$_]" } grep { $others[$_] ne $calls[$_] } 0 .. $#calls], [], "$engine: the kernel's answers");
	is(notes($run), 0, "$engine: nothing to say") or diag(@{$run->{notes}});
}
done_testing();
