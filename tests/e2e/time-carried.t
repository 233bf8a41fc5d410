#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Predicted time of loops whose values go through memory: each round waits for what the
# one before has stored.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use Test::More;

my $compiler = which('gcc');
plan skip_all => 'no gcc' unless $compiler;

my $ROUNDS = 200_000;
my $machine = write_file(scratch('plain.machine'), <<'END');
l1d = 32K 8 64 latency=4
l2 = 256K 8 64 latency=14
llc = 2M 16 64 latency=50
stlb = 1536 12 latency=7
memory-latency = 250
walk-latency = 30
clock-mhz = 2000
timing = ooo
width = 4
window = 256
mispredict-latency = 15
END
my $source = write_file(scratch('carried.c'), <<'C');
#include <stdlib.h>
#include <string.h>
#include "regions/cachepeek.h"
static double sums[1025];
static int counts[1025];
static double *volatile of_sums = sums;
static int *volatile of_counts = counts;
#define KEPT __attribute__((noinline, noclone))
static KEPT void in_memory(volatile double *s, double by)
{
	for (long i = 0; i < 1000; i++)
		s[i + 1] = s[i] * by;
}
static KEPT void in_register(volatile double *s, double by)
{
	double last = s[0];
	for (long i = 0; i < 1000; i++) {
		(void)s[i];
		s[i + 1] = last = last * by;
	}
}
static KEPT void apart(volatile double *s, double by)
{
	for (long i = 0; i < 1000; i++)
		s[i] = s[i] * by;
}
int main(int argc, char **argv)
{
	long rounds = atol(argv[1]) / 1000;
#define RUN(name) \
	CACHEPEEK_BEGIN(#name); \
	for (long i = 0; i < rounds; i++) \
		name(of_sums, 1.0); \
	CACHEPEEK_END(#name)
	RUN(in_memory);
	RUN(in_register);
	RUN(apart);
	return argc > 9;
}
C
my $program = scratch('carried');
is(system($compiler, '-O2', '-I' . source(), '-o', $program, $source, '-ldl'), 0, 'it is compiled');

my $file = scratch('carried.json');
run(command => [cli(), '-E', 'sim', '-m', $machine, '-g', 'time', '-o', $file, $program, $ROUNDS]);
my %cycles = map { join('/', @{$_->{path}}) => $_->{counts}{cycles}{value} / $ROUNDS } @{decode_json(read_file($file))->{regions}};

# A hit takes 4 cycles, memory one more, and a multiplication 4.
cmp_ok(abs($cycles{in_memory} - 9), '<', 0.2, 'a round loads what the one before has stored') or diag(explain(\%cycles));
cmp_ok(abs($cycles{in_register} - 4), '<', 0.2, 'or has it in a register') or diag(explain(\%cycles));
cmp_ok($cycles{apart}, '<', 2.5, 'or waits for none') or diag(explain(\%cycles));

done_testing;
