#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# The programs of Arm's guide to L2 cache effectiveness on the simulated
# neoverse-n2, beside the counts that Arm published.  What exact LRU without
# prefetchers has to give is asserted; that the published refills are fewer than
# the lines is the work of a hardware prefetcher and of a cache of the platform,
# which the machine has not.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my @events = qw(L2D_CACHE L2D_CACHE_REFILL L2D_CACHE_REFILL_RD L2D_CACHE_REFILL_WR L2D_CACHE_WR
	L2D_CACHE_RD L1D_CACHE_WR INST_RETIRED L2D_CACHE_WB L2D_CACHE_WB_VICTIM BUS_ACCESS
	BUS_ACCESS_RD BUS_ACCESS_WR REMOTE_ACCESS);

my %table;

sub guide
{
	my ($what, $bases, %published) = @_;
	my $run = peek(engine => 'sim', machine => 'neoverse-n2', events => join(',', @events),
		command => [program('neoverse'), $what, $bases]);
	my $region = region($run->{report}, 'guide');
	my %count = map { $_ => value($region, $_) } @events;

	ok($region, "$what, $bases bases") || diag($run->{err});
	for my $event (sort keys %published) {
		note(sprintf '%-6s %d  %-20s published %4s  simulated %4s', $what, $bases, $event,
			$published{$event}, $count{$event});
		push(@{$table{$event}}, "$what, $bases: $published{$event} and $count{$event}");
	}
	return \%count;
}

# Why they are apart, as far as that is known.
my %reason = (
	L2D_CACHE => 'the sum of the next two',
	L2D_CACHE_RD => 'each line is read once; a few are code, the stack and the library\'s own; of nine bases the published machine reads fewer, as its writes are fewer',
	L2D_CACHE_WR => 'four ways of L1D keep four lines of a set, the others are written to L2: 30 for each base beyond. The published 8 bases are that less the end of the loop; that 9 bases write less than 8 no replacement of four ways by age does, and the core\'s own is not published',
	L2D_CACHE_REFILL => 'as many as there are lines, as the simulated core has no prefetcher; lines that a prefetcher brought in time, and are no refills, would explain the published ones (`--what-if L2.prefetch=stream` has such a prefetcher)',
	BUS_ACCESS => 'two beats for each line that comes or goes, in both; lines that are prefetched and not used would explain what the published bus has more',
	BUS_ACCESS_RD => 'as BUS_ACCESS',
	BUS_ACCESS_WR => 'two beats for each line that is written back',
	L2D_CACHE_WB => 'victims of L2 that are modified: eight ways hold eight bases by age, and the ninth evicts one for each; the published machine evicts fewer, and some of eight bases, so its L2 does not go by age alone',
	L2D_CACHE_WB_VICTIM => 'as L2D_CACHE_WB: all are victims',
	L1D_CACHE_WR => 'stores of the program, whose compiler keeps the loop\'s counter elsewhere',
	INST_RETIRED => 'of x86-64 here, of A64 there',
	REMOTE_ACCESS => 'one socket',
);

# NEOVERSE_TABLE=1 prints both counts of each event, and why they differ.
sub print_table
{
	print("| event | published and simulated | why |\n|---|---|---|\n",
		map { "| `$_` | " . join('; ', @{$table{$_}}) . " | $reason{$_} |\n" } sort keys %table);
}

sub between
{
	my ($value, $least, $most, $what) = @_;
	ok(defined $value && $value >= $least && $value <= $most, "$what: $least to $most") ||
		diag("it is $value");
}

my %published = (
	1 => {L2D_CACHE => 32, L2D_CACHE_REFILL => 5, L2D_CACHE_WR => 0, L2D_CACHE_RD => 32,
		L1D_CACHE_WR => 70, INST_RETIRED => 280},
	3 => {L2D_CACHE => 95, L2D_CACHE_REFILL => 14, L2D_CACHE_WR => 1, L2D_CACHE_RD => 94,
		L1D_CACHE_WR => 142, INST_RETIRED => 491},
	8 => {L2D_CACHE => 366, L2D_CACHE_REFILL => 49, L2D_CACHE_WR => 116, BUS_ACCESS => 704,
		BUS_ACCESS_WR => 24, L2D_CACHE_WB => 14, L2D_CACHE_WB_VICTIM => 14},
	9 => {L2D_CACHE => 350, L2D_CACHE_REFILL => 38, L2D_CACHE_WR => 111, L2D_CACHE_RD => 239,
		L1D_CACHE_WR => 301, INST_RETIRED => 976},
);

# By the core's manual: what L2 evicts leaves L1D (and L1I, which is coherent).
like(peek(engine => 'sim', machine => $_, events => 'instructions', command => [program('empty')])
	->{report}{machine}{description}, qr/L2 1 MiB 8-way inclusive/, "$_: L2 is inclusive") for qw(neoverse-n1 neoverse-n2);

# All of one line meet in one set of L1D: four stay, the others are written to L2.
for my $n (1, 3, 8, 9) {
	my $count = guide('clean', $n, %{$published{$n}});
	my $written = $n <= 3 ? 0 : 30 * ($n - 4);

	# instruction fetches, the stack and the library's own boundary: a few lines
	between($count->{L2D_CACHE_RD}, 30 * $n, 30 * $n + 8, "$n bases: a read of L2 for each line");
	# Where the stack is in the same sets, some of its lines are written, too.
	between($count->{L2D_CACHE_WR}, $written - 5 < 0 ? 0 : $written - 5, $written + 5,
		"$n bases: what four ways cannot hold");
	is($count->{L2D_CACHE}, $count->{L2D_CACHE_RD} + $count->{L2D_CACHE_WR}, "$n bases: all");
	between($count->{L1D_CACHE_WR}, 30 * $n + 31, 30 * $n + 40, "$n bases: stores, the counter's too");
	is($count->{L2D_CACHE_REFILL}, $count->{L2D_CACHE_REFILL_RD}, "$n bases: all by reads");
	is($count->{L2D_CACHE_WB}, $count->{L2D_CACHE_WB_VICTIM}, "$n bases: all of them victims");
	is($count->{REMOTE_ACCESS}, 0, "$n bases: one socket");
	between($count->{L2D_CACHE_WB}, $n == 9 ? 30 : 0, $n == 9 ? 35 : $n == 8 ? 10 : 0,
		"$n bases: nine lines do not fit eight ways of L2");
}

{
	my $count = guide('dirty', 8, L2D_CACHE_REFILL => 74, L2D_CACHE_WB => 63,
		L2D_CACHE_WB_VICTIM => 63, REMOTE_ACCESS => 0);

	between($count->{L2D_CACHE_WB}, 240, 250, 'L2 full of modified lines: each refill evicts one');
	is($count->{L2D_CACHE_WB}, $count->{L2D_CACHE_WB_VICTIM}, 'all of them victims');
	is($count->{BUS_ACCESS_WR}, 2 * $count->{L2D_CACHE_WB}, 'over the bus, in two beats each');
}
{
	my $count = guide('loads', 7, L2D_CACHE => 1, L2D_CACHE_REFILL => 1, L2D_CACHE_RD => 1,
		BUS_ACCESS => 2, BUS_ACCESS_RD => 2, L2D_CACHE_WB => 0, REMOTE_ACCESS => 0);

	between($count->{L2D_CACHE_RD}, 0, 8, 'pointers that nobody follows: code only');
	is($count->{BUS_ACCESS_RD}, 2 * $count->{L2D_CACHE_REFILL}, 'two beats for a line');
	is($count->{L2D_CACHE_WB}, 0, 'nothing is written back');
}

is_deeply([grep { !$reason{$_} } keys %table], [], 'each event has its reason');
print_table() if $ENV{NEOVERSE_TABLE};
done_testing;
