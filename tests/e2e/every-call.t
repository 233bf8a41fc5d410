#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Every system call is the kernel's to answer, also one that a simulator's core does not know.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my $alone = plain(command => [program('every_call')]);
is(status_text($alone->{status}), 'exit 0', 'alone: it ends');
my @calls = split(/\n/, $alone->{out});
cmp_ok(scalar(@calls), '>=', 300, 'alone: of every call');
for my $engine (grep { !why_not($_) } qw(perf sim)) {
	my $run = peek(engine => $engine, command => [program('every_call')]);
	is(status_text($run->{status}), 'exit 0', "$engine: it ends");
	my @others = split(/\n/, $run->{out});
	is_deeply([grep { $others[$_] ne $calls[$_] } 0 .. $#calls], [], "$engine: the kernel's answers") or
		diag(map { "$calls[$_], $engine $others[$_]\n" } grep { $others[$_] ne $calls[$_] } 0 .. $#calls);
}
done_testing();
