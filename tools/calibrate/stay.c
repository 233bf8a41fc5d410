/* SPDX-License-Identifier: MIT
 *
 * How long a line stays in the last level that nobody asks for, where others use it, too:
 * some lines are brought from memory, others of the same place in their pages drive them
 * out of the L2 (far_pages.c), and after longer and longer they are read again.  Neither
 * are many, so that this process drives nothing out of what it gets of the last level.
 */
#include <math.h>
#include <time.h>

#include "tools/calibrate/calibrate.h"

enum { TRIES = 2 };
/* A last level may keep lines longer that were asked for again; a program's are, which
 * come around. */
enum { USES = 4 };
#define FIRST_NS 250000.0 /* each point that of the last times the root of two: 45 ms */

static double now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* The lines, and those that drive them out. */
struct lines {
	struct cp_pages own, others;
	void **at, **other_at;
};

static void read_chain(void **at, size_t count)
{
	for (size_t i = count; i; i--)
		at = *(void *volatile *)at;
}

static void read_own(void *context)
{
	const struct lines *lines = context;

	read_chain(lines->at, lines->own.count);
}

/* What a read of all took, and how long after the last one it came. */
struct reading {
	double cycles, ns;
};

/* On a busy machine it comes later than it should. */
static struct reading read_after(
	const struct cp_host *host, struct lines *lines, double ns)
{
	struct reading reading;
	double begin;

	cp_pages_flush(&lines->own);
	for (unsigned i = 0; i < USES; i++) {
		read_own(lines);
		read_chain(lines->other_at, lines->others.count);
	}
	begin = now_ns();
	do
		reading.ns = now_ns() - begin;
	while (reading.ns < ns);
	reading.cycles = cp_best(1, (double)lines->own.count, read_own, lines) / host->ns;
	return reading;
}

/* It counts for the time after which it came, of which the least of all rounds is kept:
 * what others did meanwhile only makes it longer. */
static void measure_point(struct cp_host *host, struct lines *lines, double ns)
{
	struct reading reading = read_after(host, lines, ns);
	double at = log(reading.ns / FIRST_NS) / log(M_SQRT2);
	unsigned point = at > 0 ? (unsigned)(at + 0.5) : 0;

	if (point < CP_STAY_POINTS)
		(void)cp_least(&host->stay_least[point], reading.cycles);
}

/* Points of which there is a time yet; those in between that have none are as the next.
 */
static size_t curve_of(const struct cp_host *host, double curve[CP_STAY_POINTS])
{
	size_t count = CP_STAY_POINTS;

	while (count && host->stay_least[count - 1] <= 0)
		count--;
	for (size_t i = 0; i < count; i++)
		curve[i] = host->stay_least[i] > 0 ? host->stay_least[i] : INFINITY;
	if (count)
		cp_curve_settle(curve, count);
	return count;
}

void cp_measure_stay(struct cp_host *host, double found[CP_NFIGURES])
{
	struct lines lines;
	double curve[CP_STAY_POINTS], ns = FIRST_NS;
	size_t at, count;

	cp_pages_behind_l2(host, host->pages, &lines.own);
	cp_pages_behind_l2(
		host, host->pages + CP_FEW_PAGES * CP_SMALL_PAGE, &lines.others);
	if (!lines.own.count)
		return;
	lines.at = cp_pages_link(&lines.own);
	lines.other_at = cp_pages_link(&lines.others);
	for (unsigned i = 0; i < CP_STAY_POINTS; i++, ns *= M_SQRT2)
		for (unsigned tries = 0; tries < TRIES; tries++)
			measure_point(host, &lines, ns);
	count = curve_of(host, curve);
	if (count < 2)
		return;
	/* Where the half of them comes from memory. */
	at = cp_curve_step(curve, count, curve[0], found[CP_FIGURE_MEMORY]);
	if (at < count - 1)
		found[CP_FIGURE_STAY] =
			FIRST_NS * pow(M_SQRT2, (double)at + 0.5) / host->ns;
}
