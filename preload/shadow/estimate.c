/* SPDX-License-Identifier: MIT
 *
 * Both estimates are ratios of sums over windows: of counts to CPU time, or to
 * instructions.  How well a ratio is known tell the ratios without one window each (the
 * jackknife).
 */
#include "preload/shadow/estimate.h"

#include "output/report/report_parts.h"

/* A count of a window, and the count that it is divided by. */
struct pair {
	double above, below;
};

static struct pair pair_of(const struct cp_shadow_window *w,
	enum cp_shadow_counter counter, bool by_time, double share)
{
	return (struct pair){
		(double)w->count[counter] - share * (double)w->unknown[counter],
		by_time ? (double)w->cpu_ns : (double)w->count[CP_SHADOW_instructions]};
}

/* share: of the unknown misses, those that are taken for hits. */
static struct pair sum_of(const struct cp_shadow_windows *windows,
	enum cp_shadow_counter counter, bool by_time, double share)
{
	struct pair sum = {0, 0};

	for (unsigned i = 0; i < windows->n; i++) {
		struct pair p = pair_of(&windows->window[i], counter, by_time, share);

		sum.above += p.above;
		sum.below += p.below;
	}
	return sum;
}

static double spread_of(const struct cp_shadow_windows *windows,
	enum cp_shadow_counter counter, bool by_time, struct pair sum)
{
	double n = windows->n, mean = 0, squares = 0;

	for (unsigned i = 0; i < windows->n; i++) {
		struct pair p = pair_of(&windows->window[i], counter, by_time, 0.5);

		mean += (sum.above - p.above) / (sum.below - p.below) / n;
	}
	for (unsigned i = 0; i < windows->n; i++) {
		struct pair p = pair_of(&windows->window[i], counter, by_time, 0.5);
		double off = (sum.above - p.above) / (sum.below - p.below) - mean;

		squares += off * off;
	}
	return cp_student(n - 1) * __builtin_sqrt((n - 1) / n * squares);
}

static struct cp_shadow_estimate estimate(const struct cp_shadow_windows *windows,
	enum cp_shadow_counter counter, bool by_time, double factor)
{
	struct pair all = sum_of(windows, counter, by_time, 0),
		    half = sum_of(windows, counter, by_time, 0.5),
		    known = sum_of(windows, counter, by_time, 1);
	struct cp_shadow_estimate e = {.value = factor * half.above / half.below,
		.low = factor * known.above / known.below,
		.high = factor * all.above / all.below};

	e.error = factor * spread_of(windows, counter, by_time, half);
	if (all.above < 1) /* the rule of three */
		e.error = factor * 3 / half.below;
	e.error += (e.high - e.low) / 2;
	return e;
}

struct cp_shadow_estimate cp_shadow_total(const struct cp_shadow_windows *windows,
	enum cp_shadow_counter counter, double cpu_ns)
{
	return estimate(windows, counter, true, cpu_ns);
}

struct cp_shadow_estimate cp_shadow_rate(
	const struct cp_shadow_windows *windows, enum cp_shadow_counter counter)
{
	return estimate(windows, counter, false, 1000);
}
