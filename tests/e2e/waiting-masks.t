#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Calls that wait with a mask of their own: both signals that it lets through are handled,
# with that mask, and what is blocked afterwards is what it is alone.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my $alone = run(command => [program('waiting_masks')]);
my $both = "User defined signal 2: 2 10 14 15\nUser defined signal 1: 10 14 15\n";
is($alone->{out}, join('', map { "$both$_ -1 Interrupted system call\nafter: 1 10 12\n" } qw(sigsuspend ppoll pselect epoll_pwait))
	. <<'END', 'alone');
ppoll 0
Segmentation fault: 1 10 11 12
Alarm clock: 1 10 12 14
poll -1 Interrupted system call
END
for my $engine ((can_count('software') ? 'perf' : ()), 'sim') {
	my $run = peek(engine => $engine, command => [program('waiting_masks')]);
	is($run->{out}, $alone->{out}, "$engine: the same masks");
	is(status_text($run->{status}), 'exit 0', "$engine: and its status");
}
done_testing();
