#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Threads that wait for each other in loops: locks and barriers of each kind end, with sums as alone,
# and a thread that waits does not use its turn up.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my $program = program('spins');
my @ways = split(/\n/, run(command => [$program])->{out});
cmp_ok(scalar @ways, '>=', 10, 'ways to wait');

sub spin
{
	my ($way, $threads, $rounds, @more) = @_;
	my $run = peek(engine => 'sim', events => 'instructions', command => [$program, $way, $threads, $rounds], @more);
	is("$run->{out}$run->{status}", "$way $threads $rounds: " . $threads * $rounds . "\n0", "$way, $threads threads, $rounds times");
	return value(region($run->{report}), 'instructions');
}

for my $way (@ways) {
	spin($way, $_, 100) for 2, 3, 8;
}
# Turns end in the midst of what is locked.
spin($_, 8, 20000) for grep { /^(exchange|compare|test-first|hint|backoff|libc)$/ } @ways;

# A turn has 100,000 superblocks, of four instructions or so.
for (['turn', 100], ['barrier', 200], ['ticket', 100], ['flag', 2000], ['call', 2000], ['pointer', 2000], ['ticket-call', 2000],
	['both', 2000], ['clock', 2000]) {
	my ($way, $most) = @$_;
	my @counts = map { spin($way, 4, 500, env => {CACHEPEEK_REPRODUCIBLE => 'on'}) } 1 .. 2;
	cmp_ok($counts[0], '<', 100000 + 4 * 500 * $most, "$way: at most $most instructions for each round");
	is($counts[1], $counts[0], "$way: reproducible");
}
done_testing();
