#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# System calls that Valgrind does not know: the kernel's answers, for those that wait, too.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my $plain = plain(command => [program('newer_calls')]);
is(status_text($plain->{status}), 'exit 3', 'alone: its status');
for my $engine ((can_count('software') ? 'perf' : ()), 'sim') {
	my $run = peek(engine => $engine, command => [program('newer_calls')]);
	is($run->{out}, $plain->{out}, "$engine: what the kernel says");
	is($run->{err}, $plain->{err}, "$engine: same errors");
	is(status_text($run->{status}), 'exit 3', "$engine: same status");
	is(notes($run), 0, "$engine: nothing to say") or diag(@{$run->{notes}});
	ok($run->{report}, "$engine: a report");
}
done_testing();
