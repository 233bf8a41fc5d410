#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Code of files that changes is executed as it is now, however it was changed.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my @kinds = split(' ', plain(command => [program('patched_text')])->{out});
cmp_ok(@kinds, '>=', 26, 'the ways to change code');
for my $kind (@kinds) {
	# The name of its file has the process in it.
	my %how = (command => [program('patched_text'), $kind], env => {TMPDIR => scratch()});
	my $alone = plain(%how);
	SKIP: {
		skip("$kind: $alone->{out}", 1) if $alone->{status} >> 8 == 77;
		like($alone->{out}, qr/^(?:\d+ )+9$/, "$kind, alone");
		for my $engine ((can_count('software') ? 'perf' : ()), 'sim') {
			my $run = peek(%how, engine => $engine, events => $engine eq 'sim' ? 'instructions' : $SOFTWARE);
			is($run->{out}, $alone->{out}, "$kind, $engine: the same functions");
			is(status_text($run->{status}), 'exit 0', "$kind, $engine: and its status");
		}
	}
}
done_testing();
