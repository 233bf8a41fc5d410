/* SPDX-License-Identifier: MIT
 *
 * How long a line stays in the last level that nobody asks for, where others use it, too:
 * some lines are brought from memory, others of the same place in their pages drive them
 * out of the L2 (far_pages.c), and after longer and longer they are read again.  Neither
 * are many, so that this process drives nothing out of what it gets of the last level.
 *
 * The lines that are read after one time are of one place in their pages, those that are
 * read after another one of another: all wait at once.
 */
#include <math.h>

#include "tools/calibrate/calibrate.h"

enum { TRIES = 2, POINTS = CP_STAY_POINTS, OWN_PAGES = 256 };
/* A last level may keep lines longer that were asked for again; a program's are, which
 * come around. */
enum { USES = 4 };
/* Each point that of the last times the fourth root of two, the last 181 ms. */
#define FIRST_NS 500000.0
#define POINTS_PER_DOUBLE 4

static double ns_of(double point)
{
	return FIRST_NS * exp2(point / POINTS_PER_DOUBLE);
}

/* The lines of a point, and those that drive them out. */
struct lines {
	struct cp_pages own, others;
	void **at, **other_at;
	double begin; /* when they were asked for last */
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

static void choose_lines(const struct cp_host *host, struct lines *lines, unsigned place)
{
	char *others = host->pages + CP_FEW_PAGES * CP_SMALL_PAGE;

	cp_pages_behind_l2(host, host->pages, &lines->own);
	cp_pages_behind_l2(host, others, &lines->others);
	if (lines->own.count > OWN_PAGES)
		cp_pages_shorten(&lines->own, OWN_PAGES);
	lines->own.place = lines->others.place = place;
}

static void leave_alone(struct lines *lines)
{
	cp_pages_flush(&lines->own);
	for (unsigned i = 0; i < USES; i++) {
		read_own(lines);
		read_chain(lines->other_at, lines->others.count);
	}
	lines->begin = cp_calibrate_now_ns();
}

/* On a busy machine they are read later than they should: it counts for the time after
 * which it was, of which the least of all rounds is kept: what others did meanwhile only
 * makes it longer. */
static void read_again(struct cp_host *host, struct lines *lines, unsigned point)
{
	double waited, at;

	do
		waited = cp_calibrate_now_ns() - lines->begin;
	while (waited < ns_of(point));
	at = log2(waited / FIRST_NS) * POINTS_PER_DOUBLE + 0.5;
	if (at < POINTS)
		cp_keep(host, &host->kept.stay[(unsigned)at],
			cp_best(1, (double)lines->own.count, read_own, lines) / host->ns);
}

/* Some of the points, so that all of their lines are few beside the last level.  The last
 * one's wait first: the others are read meanwhile. */
static void measure_points(
	struct cp_host *host, struct lines lines[POINTS], unsigned first, unsigned step)
{
	for (unsigned i = POINTS; i-- > 0;)
		if (i % step == first && !cp_host_is_late(host))
			leave_alone(&lines[i]);
	for (unsigned i = first; i < POINTS && !cp_host_is_late(host); i += step)
		read_again(host, &lines[i], i);
}

/* Points of which there is a time yet; those in between that have none are as the next.
 */
static size_t curve_of(const struct cp_kept *kept, double curve[POINTS])
{
	size_t count = POINTS;

	while (count && kept->stay[count - 1] <= 0)
		count--;
	for (size_t i = 0; i < count; i++)
		curve[i] = kept->stay[i] > 0 ? kept->stay[i] : INFINITY;
	if (count)
		cp_curve_settle(curve, count);
	return count;
}

static void find_stay(
	const struct cp_host *host, const struct cp_kept *kept, struct cp_round *round)
{
	double curve[POINTS], middle, low = 0;
	size_t count = curve_of(kept, curve), at;

	if (count < 2)
		return;
	/* Where the half of them comes from memory. */
	middle = (curve[0] + round->value[CP_FIGURE_MEMORY]) / 2;
	at = cp_curve_step(curve, count, 0, 2 * middle);
	if (at >= count) { /* of the longest wait most are still there */
		low = ns_of((double)count - 1) / host->ns;
		cp_found_between(round, CP_FIGURE_STAY, low, low, INFINITY);
		return;
	}
	if (curve[at] <= middle)
		low = ns_of((double)at) / host->ns;
	cp_found_between(round, CP_FIGURE_STAY, ns_of((double)at + 0.5) / host->ns, low,
		ns_of((double)at + 1) / host->ns);
}

void cp_measure_stay(struct cp_host *host, struct cp_round *round)
{
	static struct lines lines[POINTS]; /* much for a stack */
	size_t bytes, llc = cp_host_level(host, CP_LLC);
	unsigned parts = 1;

	for (unsigned i = 0; i < POINTS; i++)
		choose_lines(host, &lines[i], i);
	if (!lines[0].own.count || !lines[0].others.count)
		return;
	for (unsigned i = 0; i < POINTS; i++) {
		lines[i].at = cp_pages_link(&lines[i].own);
		lines[i].other_at = cp_pages_link(&lines[i].others);
	}
	bytes = POINTS * CP_LINE * (lines[0].own.count + lines[0].others.count);
	while (parts < POINTS && bytes / parts * 8 > llc)
		parts++;
	for (unsigned tries = 0; tries < TRIES; tries++)
		for (unsigned i = 0; i < parts; i++)
			measure_points(host, lines, i, parts);
	if (!cp_host_is_late(host))
		cp_find_both(host, round, find_stay);
}
