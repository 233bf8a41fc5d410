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
# A stack in the middle of a mapping, which the kernel alone is told of (as Go makes them): it has
# the pages that are used as one, and not what lies below and above.
SKIP: {
	my $why = why_not('sim') || ($^O eq 'linux' && `uname -m` =~ /x86_64|aarch64/ ? '' : 'no clone() here');
	skip $why, 3 if $why;
	write_file(scratch('middle.c'), <<'C');
#define _GNU_SOURCE
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#define MIB (1ul << 20)
static volatile int done;
static char *heap;
static void touch(volatile char *at) /* 64 pages */
{
	for (unsigned long i = 0; i < 4096; i++)
		at[64 * i] = 1;
}
static int thread(void *of)
{
	char deep[32 * 1024];
	touch(heap + 18 * MIB - 64 * 4096); /* what is found of pages is kept by their number modulo 16 MiB */
	for (int i = 0; i < 32 * 1024; i += 64)
		((volatile char *)deep)[i] = 1;
	touch(heap);
	touch(heap + 3 * MIB);
	__atomic_store_n(&done, 1, __ATOMIC_RELEASE);
	syscall(SYS_exit, 0);
	return of != 0;
}
int main(void)
{
	heap = mmap(0, 20 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	clone(thread, heap + 2 * MIB, CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM, 0);
	while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE))
		sched_yield();
	return 0;
}
C
	system('cc', '-O1', '-g', '-static', '-o', scratch('middle'), scratch('middle.c')) == 0 or skip('no static libc here', 3);
	my $file = scratch('middle.json');
	run(command => [cli(), 'dcache', '-m', bare('skylake-sp'), '-o', $file, scratch('middle')]);
	my $report = eval { decode_json(read_file($file) // '') };
	my ($stacks, $mapped) = (0, 0);
	for my $data (@{$report->{data}}) {
		my $misses = $data->{counts}{l1d_store_misses} // 0;
		$stacks += $misses if $data->{name} =~ /^Thread stack/;
		$mapped += $misses if $data->{name} =~ /^M(?:apped|emory)/;
	}
	cmp_ok($stacks, '>=', 512, 'a stack in the middle of a mapping: all that is used as one');
	cmp_ok($stacks, '<', 1024, '... and nothing else');
	cmp_ok($mapped, '>=', 12288, '... is the mapping\'s');
}
done_testing();
