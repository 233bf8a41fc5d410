#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# A child of vfork, or of clone that borrows memory, writes to its parent's: the parent finds it
# there, of every kind of memory, or one line says that it does not.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my @writes = (program('vfork_writes'));
my $plain = plain(command => \@writes);
like($plain->{out}, qr/^clone: 11 7 11 2 \d+$/m, 'alone each is written');
for my $engine (qw(perf sim)) {
	next if $engine eq 'perf' && !can_count('software');
	ok_same('what children of vfork write', engine => $engine, command => \@writes,
		$engine eq 'sim' ? (events => 'instructions') : ());
}
my $run = peek(engine => 'sim', events => 'instructions', command => [@writes, 'mapping']);
is($run->{out}, "mapping\n", 'one that maps memory ends');
is(notes($run), 1, '... and one line') or diag($run->{err});
like($run->{notes}[0] || '', qr/a child of vfork has changed mappings: /, '... says what is not seen');
done_testing();
