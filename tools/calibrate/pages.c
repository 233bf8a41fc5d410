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

/* ---- walks at a time ---- */

enum { MOST_WALKERS = 16 }; /* of a machine file */
enum { LOADS = 8192 }; /* each of another page, and more than any second-level TLB has */

struct loads {
	const char *memory;
	uint32_t offset[LOADS];
};

/* Loads that wait for nothing, and nothing else, as programs have them that walk most:
 * with more instructions between them, walks take up to a third less. */
static void run_loads(void *context)
{
	const struct loads *loads = context;

	for (size_t i = 0; i < LOADS; i++)
		(void)*(const volatile uint64_t *)(const void *)(loads->memory +
								 loads->offset[i]);
}

/* In an order that no prefetcher knows. */
static double loads_of(const struct cp_host *host, const char *memory, size_t stride)
{
	static struct loads loads; /* much for a stack */

	loads.memory = memory;
	cp_shuffle(loads.offset, LOADS);
	for (size_t i = 0; i < LOADS; i++) {
		size_t number = loads.offset[i],
		       line = stride > CP_LINE ? number * 37 % (PAGE / CP_LINE) : 0;

		loads.offset[i] = (uint32_t)(number * stride + line * CP_LINE);
	}
	run_loads(&loads);
	return cp_best(12, LOADS, run_loads, &loads) / host->ns;
}

/* As many as a walk takes longer alone than beside others. */
static double walks_at_a_time(struct cp_host *host, double walk)
{
	double walks = cp_least(&host->walks_least, loads_of(host, host->pages, PAGE)),
	       lines = cp_least(
		       &host->lines_least, loads_of(host, host->scratch, CP_LINE));

	return walks > lines ? fmin(MOST_WALKERS, fmax(1, walk / (walks - lines))) : NAN;
}

void cp_measure_pages(struct cp_host *host, double found[CP_NFIGURES])
{
	struct curve curve;
	size_t first, second;
	double hit, walk;

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
	walk = middle_of(&curve, second + 5, MIN(second + 9, curve.count)) - hit;
	found[CP_FIGURE_WALK] = walk;
	/* The program's other pages take places, too: where the half of them misses. */
	second = first +
		 cp_curve_step(curve.extra + first, curve.count - first, hit, hit + walk);
	found[CP_FIGURE_STLB] = (double)curve.pages[second];
	found[CP_FIGURE_WALKERS] = walks_at_a_time(host, found[CP_FIGURE_WALK]);
}
