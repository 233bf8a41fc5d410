#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# A program that puts a sigaction of its own in front of the next one (Erlang's virtual
# machine does) gets there, and not to itself again.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my @command = (program('own_sigaction'));
my $alone = plain(command => \@command);
is($alone->{out}, "calls 2, handled 1, the same 1\n", 'alone');
for my $engine (grep { !why_not($_) } qw(perf sim)) {
	my $run = peek(engine => $engine, command => \@command);
	is($run->{out}, $alone->{out}, "$engine: the same calls");
	is(status_text($run->{status}), 'exit 5', "$engine: and its status");
	ok($run->{report}, "$engine: a report");
}
done_testing();
