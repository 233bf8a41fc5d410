#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Code that is written by way of another mapping is executed as it is now.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

for my $how (qw(memfd deleted)) {
	my @command = (program('aliased_code'), $how);
	my $alone = plain(command => \@command);
	SKIP: {
		skip("$how: nothing may be executed there", 3) if $alone->{status} >> 8 == 77;
		is($alone->{out}, "1 1 1 2 2 2 3 3 3 \n", "$how, alone");
		my $run = peek(engine => 'sim', events => 'instructions', command => \@command);
		is($run->{out}, $alone->{out}, "$how, sim: the same functions");
		is(status_text($run->{status}), 'exit 0', "$how, sim: and its status");
	}
}
done_testing();
