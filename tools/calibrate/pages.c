/* SPDX-License-Identifier: MIT
 *
 * TLBs: a chain of loads with one line a page, beside one of as many lines of a huge
 * page.  The difference steps up where a TLB ends.
 */
#include <math.h>

#include "tools/calibrate/calibrate.h"

enum { PAGE = 4096, MOST_PAGES = 16384, POINTS = CP_CURVE_POINTS };

/* So many pages, and what a load from one of them takes more than from a line. */
struct curve {
	size_t count, pages[POINTS];
	double extra[POINTS];
};

static void measure_curve(struct cp_host *host, struct curve *curve)
{
	static const unsigned eighths[] = {8, 9, 10, 12, 14};

	curve->count = 0;
	for (size_t base = 16; base <= MOST_PAGES / 2; base *= 2)
		for (unsigned i = 0; i < 5 && curve->count < POINTS; i++) {
			size_t pages = base * eighths[i] / 8;

			size_t at = curve->count++;

			curve->pages[at] = pages;
			curve->extra[at] =
				cp_least(&host->page_least[at],
					cp_chain(host, host->pages, pages, PAGE)) -
				cp_least(&host->line_least[at],
					cp_chain(host, host->scratch, pages, CP_LINE));
		}
}

static double middle_of(const struct curve *curve, size_t first, size_t last)
{
	double sum = 0;

	for (size_t i = first; i < last; i++)
		sum += curve->extra[i];
	return last > first ? sum / (double)(last - first) : NAN;
}

/* A page that the STLB knows costs this much more, at least. */
enum { HIT_AT_LEAST = 2 };
/* And one that it does not know so many times as much. */
enum { WALK_AT_LEAST = 3 };

#define MIN(a, b) ((a) < (b) ? (a) : (b))

void cp_measure_pages(struct cp_host *host, double found[CP_NFIGURES])
{
	struct curve curve;
	size_t first, second;
	double hit;

	measure_curve(host, &curve);
	first = cp_curve_step(curve.extra, curve.count, 0, 2 * HIT_AT_LEAST);
	if (first >= curve.count)
		return;
	found[CP_FIGURE_DTLB] = (double)curve.pages[first];
	if (first + 5 >= curve.count)
		return;
	/* Well behind the step, where all pages miss. */
	hit = middle_of(&curve, first + 5, MIN(first + 9, curve.count));
	found[CP_FIGURE_STLB_HIT] = hit;
	/* Far behind that step the page table itself leaves the caches, and nested ones
	 * of a virtual machine do so earlier: a walk is what it takes soon after it. */
	second = first + cp_curve_step(curve.extra + first, curve.count - first, hit,
				 WALK_AT_LEAST * hit);
	if (second + 5 >= curve.count)
		return;
	found[CP_FIGURE_STLB] = (double)curve.pages[second];
	found[CP_FIGURE_WALK] =
		middle_of(&curve, second + 5, MIN(second + 9, curve.count)) - hit;
}
