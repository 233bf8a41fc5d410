#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Programs that ask whether they run under Valgrind, and what they ask its tools: as natively.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use POSIX ();
use Test::More;

my $alone = plain(command => [program('others_requests')]);
like($alone->{out}, qr/^running on valgrind: 0\n.*^answers that are not those given: 0\n\z/ms, 'alone: no answer');
for my $engine ((can_count('software') ? 'perf' : ()), 'sim') {
	SKIP: {
		skip('on AArch64 they are answered', 3) if $engine eq 'sim' && (POSIX::uname())[4] ne 'x86_64';
		my $run = peek(engine => $engine, command => [program('others_requests')]);
		is($run->{out}, $alone->{out}, "$engine: the same answers");
		is($run->{err}, $alone->{err}, "$engine: the same errors");
		is(status_text($run->{status}), 'exit 3', "$engine: the same status");
	}
}
done_testing();
