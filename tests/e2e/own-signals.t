#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# A program that sends itself signals: what we look at meanwhile is not counted as its.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

sub instructions
{
	my $run = peek(engine => 'sim', events => 'instructions', command => [program('own_signals'), @_]);
	is($run->{out}, "101 signals\n", "@_: all arrive");
	return region($run->{report}, 'signals')->{counts}{instructions}{value};
}

my ($kill, $raw) = (instructions('kill'), instructions('raw'));
# The functions kill and syscall of libc differ by less than 20 instructions.
cmp_ok(abs($kill - $raw), '<', 2000, "kill: what the program executes itself ($kill, by number $raw)");
done_testing();
