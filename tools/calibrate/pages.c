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

static size_t pages_of(size_t pages[POINTS])
{
	static const unsigned eighths[] = {8, 9, 10, 12, 14};
	size_t count = 0;

	for (size_t base = 16; base <= MOST_PAGES / 2; base *= 2)
		for (unsigned i = 0; i < 5 && count < POINTS; i++)
			pages[count++] = base * eighths[i] / 8;
	return count;
}

static void measure_curve(struct cp_host *host)
{
	size_t pages[POINTS], count = pages_of(pages);

	for (size_t i = 0; i < count && !cp_host_is_late(host); i++) {
		cp_keep(host, &host->kept.page[i],
			cp_chain(host, host->pages, pages[i], PAGE, 1));
		cp_keep(host, &host->kept.line[i],
			cp_chain(host, host->scratch, pages[i], CP_LINE, 1));
	}
}

static void make_curve(const struct cp_kept *kept, struct curve *curve)
{
	curve->count = pages_of(curve->pages);
	for (size_t i = 0; i < curve->count; i++)
		curve->extra[i] = kept->page[i] - kept->line[i];
}

/* The last point that the TLB has room for: up to the next one nobody knows. */
static void find_reach(const struct curve *curve, size_t at, enum cp_figure figure,
	struct cp_round *round)
{
	double pages = (double)curve->pages[at];

	cp_found_between(round, figure, pages, pages, (double)curve->pages[at + 1]);
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
static double walks_at_a_time(const struct cp_kept *kept, double walk)
{
	double walks = kept->walks_beside, lines = kept->lines_beside;

	return walks > lines ? fmin(MOST_WALKERS, fmax(1, walk / (walks - lines))) : NAN;
}

static void find_pages(
	const struct cp_host *host, const struct cp_kept *kept, struct cp_round *round)
{
	struct curve curve;
	size_t first, second;
	double hit, walk;

	(void)host;
	make_curve(kept, &curve);
	first = cp_curve_step(curve.extra, curve.count, 0, 2 * HIT_AT_LEAST);
	if (first + 1 >= curve.count)
		return;
	find_reach(&curve, first, CP_FIGURE_DTLB, round);
	if (first + 5 >= curve.count)
		return;
	/* Well behind the step, where all pages miss. */
	hit = middle_of(&curve, first + 5, MIN(first + 9, curve.count));
	round->value[CP_FIGURE_STLB_HIT] = hit;
	/* Far behind that step the page table itself leaves the caches, and nested ones
	 * of a virtual machine do so earlier: a walk is what it takes soon after it,
	 * where pages and table are still in the L2, whatever else runs. */
	second = first + cp_curve_step(curve.extra + first, curve.count - first, hit,
				 WALK_AT_LEAST * hit);
	if (second + 5 >= curve.count)
		return;
	walk = middle_of(&curve, second + 5, MIN(second + 7, curve.count)) - hit;
	round->value[CP_FIGURE_WALK] = walk;
	/* The program's other pages take places, too: where the half of them misses. */
	second = first +
		 cp_curve_step(curve.extra + first, curve.count - first, hit, hit + walk);
	if (second + 1 < curve.count)
		find_reach(&curve, second, CP_FIGURE_STLB, round);
	round->value[CP_FIGURE_WALKERS] = walks_at_a_time(kept, walk);
}

void cp_measure_pages(struct cp_host *host, struct cp_round *round)
{
	measure_curve(host);
	if (cp_host_is_late(host))
		return;
	cp_keep(host, &host->kept.walks_beside, loads_of(host, host->pages, PAGE));
	cp_keep(host, &host->kept.lines_beside, loads_of(host, host->scratch, CP_LINE));
	cp_find_both(host, round, find_pages);
}
