#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Programs that no path leads to, in memory or deleted, are executed and counted as others are.
use strict;
use warnings;
use File::Copy;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my $program = scratch('nameless');
sub fresh { unlink($program); copy(program('nameless'), $program) and chmod(0755, $program) or die }

for my $how (qw(memory memory-closed execveat script link deleted deleted-raw)) {
	fresh();
	my $alone = run(command => [$program, $how]);
	like($alone->{out}, qr/\S/, "$how: alone");
	for my $engine (qw(perf sim)) {
		fresh();
		my $run = peek(engine => $engine, events => $engine eq 'sim' ? 'instructions' : 'page_faults', command => [$program, $how]);
		is_deeply([@$run{qw(out status)}], [@$alone{qw(out status)}], "$how, $engine: as alone") or diag($run->{err});
		my ($count) = values(%{$run->{report}{regions}[0]{counts}});
		cmp_ok($count->{value} // 0, '>', 0, "$how, $engine: counted");
	}
}
done_testing();
