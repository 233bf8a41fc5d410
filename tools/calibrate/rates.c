/* SPDX-License-Identifier: MIT
 *
 * How fast instructions go that wait for nothing, and the clock: chains of additions of
 * one cycle each.
 */
#include <math.h>
#include <string.h>
#include <time.h>

#include "tools/calibrate/calibrate.h"

double cp_calibrate_now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

double cp_best(unsigned tries, double pieces, cp_task *task, void *context)
{
	double best = 0;

	for (unsigned i = 0; i < tries; i++) {
		double begin = cp_calibrate_now_ns(), took;

		task(context);
		took = cp_calibrate_now_ns() - begin;
		if (!i || took < best)
			best = took;
	}
	return best / pieces;
}

#define TURNS 2000
#define REPEAT 120
#define TRIES 15

#if defined(__x86_64__)
#define ADD "add %1, %0\n\t"
#define LOADS "mov (%1), %%rax\n\tmov 8(%1), %%rcx\n\tmov 16(%1), %%rdx\n\t"
#define STORES "mov %%rax, (%1)\n\tmov %%rax, 8(%1)\n\tmov %%rax, 16(%1)\n\t"
#define MIXED                                                                            \
	"inc %%rax\n\tmov (%1), %%rdx\n\tinc %%rcx\n\tmov %%r9, 8(%1)\n\t"               \
	"inc %%rdi\n\tmov 16(%1), %%r8\n\t"
#define CLOBBERED "rax", "rcx", "rdx", "rdi", "r8"
#define FLOAT_ADD "addsd %1, %0\n\t"
#define FLOAT_MULTIPLY "mulsd %1, %0\n\t"
#define FLOAT "x"
#elif defined(__aarch64__)
#define ADD "add %0, %0, %1\n\t"
#define LOADS "ldr x9, [%1]\n\tldr x10, [%1, 8]\n\tldr x11, [%1, 16]\n\t"
#define STORES "str x9, [%1]\n\tstr x9, [%1, 8]\n\tstr x9, [%1, 16]\n\t"
#define MIXED                                                                            \
	"add x9, x9, 1\n\tldr x10, [%1]\n\tadd x11, x11, 1\n\tstr x12, [%1, 8]\n\t"      \
	"add x13, x13, 1\n\tldr x14, [%1, 16]\n\t"
#define CLOBBERED "x9", "x10", "x11", "x13", "x14"
#define FLOAT_ADD "fadd %d0, %d0, %d1\n\t"
#define FLOAT_MULTIPLY "fmul %d0, %d0, %d1\n\t"
#define FLOAT "w"
#endif

#define REPEATED(times, text) ".rept " #times "\n\t" text ".endr"
/* REPEAT instructions of the kind, TURNS times. */
#define RATE(name, text)                                                                 \
	static void name(void *at)                                                       \
	{                                                                                \
		uint64_t sum = 0;                                                        \
                                                                                         \
		for (unsigned i = 0; i < TURNS; i++)                                     \
			__asm__ volatile(text                                            \
					 : "+r"(sum)                                     \
					 : "r"(at)                                       \
					 : CLOBBERED, "memory");                         \
	}
RATE(run_adds, REPEATED(120, ADD))
/* A mixture for different units, none of which is to be the limit. */
RATE(run_mixed, REPEATED(20, MIXED))
RATE(run_loads, REPEATED(40, LOADS))
RATE(run_stores, REPEATED(40, STORES))

/* Chains: each needs the one before. */
#define FLOATS(name, text)                                                               \
	static void name(void *unused)                                                   \
	{                                                                                \
		double sum = 1, one = 1;                                                 \
                                                                                         \
		(void)unused;                                                            \
		for (unsigned i = 0; i < TURNS; i++)                                     \
			__asm__ volatile(text : "+" FLOAT(sum) : FLOAT(one));            \
	}
FLOATS(run_float_adds, REPEATED(120, FLOAT_ADD))
FLOATS(run_float_multiplies, REPEATED(120, FLOAT_MULTIPLY))

double cp_cycle_ns(const struct cp_host *host)
{
	return cp_best(1, (double)TURNS * REPEAT, run_adds, host->memory);
}

void cp_look_at_clock(struct cp_host *host)
{
	for (unsigned i = 0; i < 8 && host->nmoments < CP_MOMENTS; i++)
		host->moments[host->nmoments++] = cp_cycle_ns(host);
}

/* From that of most moments, of which others make a few longer, to the highest one. */
void cp_find_clock(struct cp_host *host, struct cp_round *round)
{
	double clock = round->value[CP_FIGURE_CLOCK];
	unsigned count = host->nmoments;

	host->nmoments = 0;
	if (!count)
		return;
	(void)cp_quarter(host->moments, count);
	cp_found_between(round, CP_FIGURE_CLOCK, clock,
		fmin(clock, 1000 / host->moments[count / 2]),
		fmax(clock, 1000 / host->moments[0]));
}

/* The middle one of the rounds so far: the clock is higher for moments. */
static void set_clock(struct cp_host *host, double ns)
{
	double sorted[CP_CALIBRATE_ROUNDS];
	size_t count = host->round + 1;

	host->clocks[host->round] = ns;
	memcpy(sorted, host->clocks, sizeof(sorted));
	(void)cp_quarter(sorted, count);
	host->ns = sorted[(count - 1) / 2];
}

void cp_measure_rates(struct cp_host *host, struct cp_round *round)
{
	double pieces = (double)TURNS * REPEAT, ns;

	ns = cp_best(2 * TRIES, pieces, run_adds, host->memory);
	set_clock(host, ns);
	round->value[CP_FIGURE_CLOCK] = 1000 / ns;
	round->value[CP_FIGURE_WIDTH] =
		ns / cp_best(TRIES, pieces, run_mixed, host->memory);
	if (round->value[CP_FIGURE_WIDTH] > host->width)
		host->width = round->value[CP_FIGURE_WIDTH];
	round->value[CP_FIGURE_LOADS] =
		ns / cp_best(TRIES, pieces, run_loads, host->memory);
	round->value[CP_FIGURE_FLOAT_ADD] =
		cp_best(TRIES, pieces, run_float_adds, NULL) / ns;
	round->value[CP_FIGURE_FLOAT_MULTIPLY] =
		cp_best(TRIES, pieces, run_float_multiplies, NULL) / ns;
	round->value[CP_FIGURE_STORES] =
		ns / cp_best(TRIES, pieces, run_stores, host->memory);
}
