#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Threads' stacks with no mapping between them and what lies beside them: each is its
# thread's, and nothing else is.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use Test::More;

plan skip_all => 'pages are not of 4 KiB here' if `getconf PAGESIZE` != 4096;

my ($THREADS, $STACK, $BESIDE, $ROUNDS) = (4, 40, 64, 200); # of tests/programs/stacks.c

my $runs = 0;
sub report_of
{
	my ($measurement, $options, @arguments) = @_;
	my $file = scratch('stacks' . ++$runs . '.json');
	my $run = run(command => [cli(), $measurement, @$options, '-o', $file, program('stacks'), @arguments]);
	my $report = eval { decode_json(read_file($file) // '') };
	diag($run->{err}) unless $report;
	return ($run->{status} >> 8, $report);
}

# The counts: name of it, of a page, and how much others may add to a stack, where it
# begins and ends.
my %counted = (
	perf => ['dtlb', ['--engine', 'perf'], 'page_faults', 1, 6],
	sim => ['dcache', ['-m', bare('skylake-sp')], 'l1d_load_misses', 64, 128]);
my %beside = (
	own => qr/^M(apped: stacks::map_at|emory mapped)/,
	guarded => qr/^M(apped: stacks::map_at|emory mapped)/,
	libc => qr/^M(apped: stacks::map_at|emory mapped)/,
	heap => qr/^Heap: stacks::main, 262144 B/,
	short => qr/^stacks::find_stacks::places/);

for my $engine (grep { !why_not($_) } qw(perf sim)) {
	my ($measurement, $options, $what, $page, $more) = @{$counted{$engine}};
	for my $way (sort keys %beside) {
		my ($status, $p) = report_of($measurement, $options, $way, $THREADS);
	SKIP: {
			skip "$engine, $way: this kernel has no such guards", 4 if $status == 77;
			is($status, 0, "$engine, $way: runs");
			my @stacks = grep { $_->{counts}{$what} >= $STACK * $page } grep { $_->{name} =~ /^Thread stack/ }
				@{$p->{data}};
			my @wrong = grep { $_->{counts}{$what} > $STACK * $page + $more } @stacks;
			is_deeply([map { $_->{counts}{$what} } @wrong], [], "$engine, $way: no stack has more than its own");
			my $sum = 0;
			$sum += $_->{counts}{$what} for grep { $_->{name} =~ $beside{$way} } @{$p->{data}};
			cmp_ok($sum, '>=', 2 * $BESIDE * $page, "$engine, $way: what is beside is not theirs");
			# Samples say of a block of the heap that it is one.
			next if $engine eq 'perf' && $way eq 'heap';
			is(scalar @stacks, $THREADS, "$engine, $way: each thread has its own");
		}
	}
}

SKIP: {
	my $why = why_not('sim');
	skip $why, 2 if $why;
	my ($status, $report) = report_of('sharing', [], 'shared');
	my @lines = grep { grep { grep { $_->{name} =~ /map_at/ } @{$_->{data}} } @{$_->{threads}} } @{$report->{lines}};
	is_deeply([map { [$_->{sharing}, scalar @{$_->{threads}}] } @lines], [['false', 2]],
		'a line beside the stacks is known, and no line of a stack that several have had');
	is($lines[0]{for_nothing_at_most}, 2 * $ROUNDS, 'whoever begins and ends meanwhile');
}
done_testing();
