#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# A signal that comes just before a program executes another one is handled, ends it, or waits,
# and is never lost.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my $alone = plain(command => [program('struck')]);
is($alone->{out}, "default: 20 ended, 0 handled, 0 pending\nhandler: 0 ended, 20 handled, 0 pending\n" .
	"blocked: 0 ended, 0 handled, 20 pending\nignored: 0 ended, 0 handled, 0 pending\n", 'alone');
for my $engine (grep { !why_not($_) } qw(perf sim)) {
	my $run = peek(engine => $engine, command => [program('struck')]);
	is($run->{out}, $alone->{out}, "$engine: as alone");
}
done_testing();
