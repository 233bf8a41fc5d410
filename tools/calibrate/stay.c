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

enum { POINTS = 16 };
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

static double read_after(const struct cp_host *host, struct lines *lines, double ns)
{
	double begin;

	cp_pages_flush(&lines->own);
	for (unsigned i = 0; i < USES; i++) {
		read_own(lines);
		read_chain(lines->other_at, lines->others.count);
	}
	begin = now_ns();
	while (now_ns() - begin < ns)
		;
	return cp_best(1, (double)lines->own.count, read_own, lines) / host->ns;
}

/* Of two tries the one that was disturbed less. */
static double point_of(const struct cp_host *host, struct lines *lines, double ns)
{
	double one = read_after(host, lines, ns), other = read_after(host, lines, ns);

	return fmin(one, other);
}

void cp_measure_stay(struct cp_host *host, double found[CP_NFIGURES])
{
	struct lines lines;
	double curve[POINTS], ns = FIRST_NS;
	size_t at;

	cp_pages_behind_l2(host, host->pages, &lines.own);
	cp_pages_behind_l2(
		host, host->pages + CP_FEW_PAGES * CP_SMALL_PAGE, &lines.others);
	if (!lines.own.count)
		return;
	lines.at = cp_pages_link(&lines.own);
	lines.other_at = cp_pages_link(&lines.others);
	for (unsigned i = 0; i < POINTS; i++, ns *= M_SQRT2)
		curve[i] = point_of(host, &lines, ns);
	/* Where the half of them comes from memory. */
	at = cp_curve_step(curve, POINTS, curve[0], found[CP_FIGURE_MEMORY]);
	if (at < POINTS - 1)
		found[CP_FIGURE_STAY] =
			FIRST_NS * pow(M_SQRT2, (double)at + 0.5) / host->ns;
}
