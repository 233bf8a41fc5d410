#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Pointers that cannot be read: the kernel says so (EFAULT), nobody has looked before, and
# the program goes on, counted.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my @command = (program('bad_pointers'));
my $plain = plain(command => \@command);
is(status_text($plain->{status}), 'exit 3', 'alone: its status');
like($plain->{out}, qr/^execve: -1 14$/m, 'alone: bad pointers');
my @engines = ((can_count('software') ? 'perf' : ()), 'sim');
for my $engine (@engines) {
	for my $children ('follow', 'force') {
		my $run = peek(engine => $engine, command => \@command, env => {CACHEPEEK_CHILDREN => $children});
		is($run->{out}, $plain->{out}, "$engine, $children: what the kernel says");
		is($run->{err}, $plain->{err}, "$engine, $children: same errors");
		is(status_text($run->{status}), 'exit 3', "$engine, $children: same status");
		is(notes($run), 0, "$engine, $children: nothing to say") or diag(@{$run->{notes}});
		is(scalar(@{$run->{report}{processes}}), 1, "$engine, $children: a report of one image");
	}
}
done_testing();
