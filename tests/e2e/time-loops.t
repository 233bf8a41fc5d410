#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Predicted time of loops: whose values go through memory, so that each round waits for
# what the one before has stored; that need units of which there are few; and whose
# branches are taken, one a cycle.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use POSIX qw(uname);
use Test::More;

my $compiler = which('gcc');
plan skip_all => 'no gcc' unless $compiler;

my $ROUNDS = 200_000;
my $machine = timed_machine('plain.machine');
my $source = write_file(scratch('loops.c'), <<'C');
#include <stdlib.h>
#include <string.h>
#include "regions/cachepeek.h"
static double sums[1025] __attribute__((aligned(64)));
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
static KEPT void many(volatile double *s, double by)
{
	double a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7];
	for (long i = 0; i < 1000; i++)
		a += by, b += by, c += by, d += by, e += by, f += by, g += by, h += by;
	s[0] = a + b + c + d + e + f + g + h;
}
static KEPT void short_ones(volatile double *s, double by)
{
	(void)s, (void)by;
#if defined(__x86_64__)
	long i = 1000;
	__asm__ volatile("1: sub $1, %0\n\tjne 1b" : "+r"(i) : : "cc");
#elif defined(__aarch64__)
	long i = 1000;
	__asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(i) : : "cc");
#else
	for (long i = 1000; i; i--)
		__asm__ volatile("");
#endif
}
static KEPT void skipping(volatile double *s, double by)
{
	volatile int *c = of_counts;
	(void)s, (void)by;
	for (long i = 0; i < 1000; i++)
		if (__builtin_expect(c[i], 1))
			c[i] = 2;
}
/* A root and a quotient each, behind a branch: a root of less than nothing is a call. */
static KEPT void divide(volatile double *s, double by)
{
	for (long i = 0; i < 1000; i++) {
		double value = s[i];
		s[i] = by / __builtin_sqrt(value);
	}
}
/* Long ones, each begun anew. */
#define FOUR v *= by; v *= by; v *= by; v *= by;
static KEPT void anew(volatile double *s, double by)
{
	for (long i = 0; i < 1000; i++) {
		double v = s[i];
		FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR
		s[i] = v;
	}
}
static KEPT void repeat(volatile double *s, double by)
{
	(void)by;
#if defined(__x86_64__)
	for (long i = 0; i < 1000; i++) {
		volatile double *to = s;
		long n = 8;
		__asm__ volatile("rep stosq" : "+D"(to), "+c"(n) : "a"(0L) : "memory");
	}
#endif
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
	RUN(many);
	RUN(short_ones);
	RUN(skipping);
	RUN(divide);
	RUN(anew);
	RUN(repeat);
	return argc > 9;
}
C
my $program = scratch('loops');
is(system($compiler, qw(-O2 -fno-unroll-loops -fno-tree-vectorize -fno-tree-slp-vectorize), '-I' . source(), '-o', $program, $source, '-ldl', '-lm'), 0, 'it is compiled');

my $file = scratch('loops.json');
run(command => [cli(), '-E', 'sim', '-m', $machine, '-g', 'time', '-o', $file, $program, $ROUNDS], env => {CACHEPEEK_TIMING => 'on'});
my %cycles = map { join('/', @{$_->{path}}) => $_->{counts}{cycles}{value} / $ROUNDS } @{decode_json(read_file($file))->{regions}};

# A hit takes 4 cycles, memory one more, and a multiplication 4.
cmp_ok(abs($cycles{in_memory} - 9), '<', 0.2, 'a round loads what the one before has stored') or diag(explain(\%cycles));
cmp_ok(abs($cycles{in_register} - 4), '<', 0.2, 'or has it in a register') or diag(explain(\%cycles));
cmp_ok($cycles{apart}, '<', 2.5, 'or waits for none') or diag(explain(\%cycles));
# Ten instructions are 2.5 cycles, but two at a time add floats.
cmp_ok(abs($cycles{many} - 4), '<', 0.2, 'eight additions have two units') or diag(explain(\%cycles));
# Two instructions, and the branch back; five, a branch ahead, and the one back.
cmp_ok(abs($cycles{short_ones} - 1), '<', 0.1, 'a branch that is taken ends a cycle, once') or diag(explain(\%cycles));
cmp_ok(abs($cycles{skipping} - 2), '<', 0.1, 'and so does one ahead') or diag(explain(\%cycles));
# The divider has a root for six cycles and a quotient for four.
cmp_ok(abs($cycles{divide} - 10), '<', 0.2, 'a root and a quotient have one divider') or diag(explain(\%cycles));
# 52 instructions are 13 cycles, 48 multiplications 192, and 97 entries are for all that wait: 38.5 cycles; two
# ports take 24, and each is in the other's way.
cmp_ok(abs($cycles{anew} - sqrt(38.5 ** 2 + 24 ** 2)), '<', 1, 'what waits fills the scheduler') or diag(explain(\%cycles));
SKIP: {
	skip 'x86-64 alone has such instructions', 1 unless (uname())[4] eq 'x86_64';
	# It is one of eight instructions, which are two cycles, begins for 30 and stores a block for 1.5.
	cmp_ok(abs($cycles{repeat} - 33.5), '<', 0.7, 'what repeats itself begins slowly') or diag(explain(\%cycles));
}

done_testing;
