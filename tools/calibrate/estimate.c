/* SPDX-License-Identifier: MIT
 *
 * Figures of several rounds as one, and where curves step.
 */
#include <math.h>
#include <stdlib.h>

#include "tools/calibrate/calibrate.h"

/* The round that counts: the least time and the greatest rate are nearest to what the
 * host can do.  Noise moves the place where a curve steps both ways; a curve of the least
 * times of all rounds so far is best in the last one.  Where what others do goes on for
 * longer than a run, its later rounds agree and are wrong: the first ones count, too. */
enum best { LEAST, MOST, MIDDLE, LAST, LAST_OF_ALL };

static const struct {
	const char *name, *unit, *title;
	enum best best;
} figures[CP_NFIGURES] = {
	[CP_FIGURE_CLOCK] = {"clock", "MHz", "clock", MOST},
	[CP_FIGURE_WIDTH] = {"width", "instructions/cycle", "issue width", MOST},
	[CP_FIGURE_LOADS] = {"loads", "loads/cycle", "loads", MOST},
	[CP_FIGURE_STORES] = {"stores", "stores/cycle", "stores", MOST},
	[CP_FIGURE_FLOAT_ADD] = {"float_add", "cycles", "addition of floats", LEAST},
	[CP_FIGURE_FLOAT_MULTIPLY] = {"float_multiply", "cycles",
		"multiplication of floats", LEAST},
	[CP_FIGURE_L1] = {"l1d_latency", "cycles", "L1D latency", LEAST},
	[CP_FIGURE_L2] = {"l2_latency", "cycles", "L2 latency", LEAST},
	[CP_FIGURE_LLC] = {"llc_latency", "cycles", "L3 latency", LEAST},
	[CP_FIGURE_MEMORY] = {"memory_latency", "cycles", "memory latency", LEAST},
	[CP_FIGURE_DTLB] = {"dtlb_reach", "pages", "DTLB reach", LAST},
	[CP_FIGURE_STLB] = {"stlb_reach", "pages", "STLB reach", LAST},
	[CP_FIGURE_STLB_HIT] = {"stlb_latency", "cycles", "STLB hit", LAST},
	[CP_FIGURE_WALK] = {"walk_latency", "cycles", "page walk", LAST},
	[CP_FIGURE_PARALLEL] = {"parallel_misses", "loads", "misses at a time", LAST},
	[CP_FIGURE_PARALLEL_FAR] = {"parallel_l2_misses", "loads",
		"misses of L2 at a time", LAST},
	[CP_FIGURE_WALKERS] = {"walkers", "walks", "page walks at a time", LAST},
	[CP_FIGURE_WINDOW] = {"window", "instructions", "reorder window", LAST},
	[CP_FIGURE_MISPREDICT] = {"mispredict", "cycles", "mispredicted branch", LEAST},
	[CP_FIGURE_STREAM_L2] = {"l2_stream", "cycles/line", "L2 stream", LEAST},
	[CP_FIGURE_SAME_SET] = {"same_set_fills", "cycles/line", "loads of one L1D set",
		LEAST},
	[CP_FIGURE_STORE_LINE] = {"store_line", "cycles/line", "stores to the L2", LEAST},
	[CP_FIGURE_SET_LINE] = {"set_line", "cycles/line", "stores to one L1D set",
		LEAST},
	[CP_FIGURE_STREAM_LLC] = {"llc_stream", "cycles/line", "L3 stream", LEAST},
	[CP_FIGURE_LONE_LINE] = {"llc_lone", "cycles/line", "L3, lines of no stream",
		LEAST},
	[CP_FIGURE_STREAM_MEMORY] = {"memory_stream", "cycles/line", "memory stream",
		LEAST},
	[CP_FIGURE_PREFETCH] = {"prefetch_gain", "times", "prefetching of lines", MOST},
	[CP_FIGURE_NEAR] = {"prefetched_latency", "cycles", "a line fetched ahead",
		LEAST},
	[CP_FIGURE_LLC_RANDOM] = {"llc_random", "KiB", "L3 that random loads get",
		MIDDLE},
	[CP_FIGURE_LLC_STREAM] = {"llc_streamed", "KiB", "L3 that streams get", MIDDLE},
	[CP_FIGURE_STAY] = {"llc_stay", "cycles", "a line in L3, unasked", LAST_OF_ALL},
	[CP_FIGURE_TRANSFER] = {"transfer_latency", "cycles", "another core's line",
		LEAST},
};

const char *cp_figure_name(enum cp_figure figure)
{
	return figures[figure].name;
}

int cp_figure_decimals(double value)
{
	return value < 10 ? 3 : value < 100 ? 2 : value < 1000 ? 1 : 0;
}

const char *cp_figure_unit(enum cp_figure figure)
{
	return figures[figure].unit;
}

const char *cp_figure_title(enum cp_figure figure)
{
	return figures[figure].title;
}

static int compare_values(const void *one, const void *other)
{
	double a = *(const double *)one, b = *(const double *)other;

	return (a > b) - (a < b);
}

double cp_quarter(double values[], size_t count)
{
	qsort(values, count, sizeof(values[0]), compare_values);
	return values[count / 4];
}

static double best_of(const double sorted[], unsigned count, enum best best)
{
	if (best == MIDDLE)
		return sorted[count / 2];
	return sorted[best == LEAST ? 0 : count - 1];
}

/* The spread of the last round: the largest distance from it in the rounds behind those,
 * which is the later half where curves rest on most of them, too. */
static double spread_of_last(const double values[], unsigned from, unsigned count)
{
	double last = values[count - 1], most = 0;

	for (unsigned i = from; i < count; i++)
		most = fmax(most, fabs(values[i] - last) / last);
	return most;
}

/* The spread of a middle is the half of the rounds around it, that of a best one its
 * distance from the middle. */
static double spread_of(const double sorted[], unsigned count, enum best best)
{
	double value = best_of(sorted, count, best), middle = sorted[count / 2];

	if (best == MIDDLE)
		return (sorted[count * 3 / 4] - sorted[count / 4]) / value;
	return fabs(middle - value) / value;
}

/* The rounds' values that there are, in their order. */
static unsigned values_of(
	const struct cp_calibration *calibration, unsigned figure, double values[])
{
	unsigned count = 0;

	for (unsigned i = 0; i < calibration->rounds; i++)
		if (isfinite(calibration->round[i][figure]) &&
			calibration->round[i][figure] > 0)
			values[count++] = calibration->round[i][figure];
	return count;
}

static void conclude_figure(struct cp_calibration *calibration, unsigned figure)
{
	double values[CP_CALIBRATE_ROUNDS];
	unsigned count = values_of(calibration, figure, values);
	enum best best = figures[figure].best;

	calibration->value[figure] = calibration->spread[figure] = NAN;
	/* Values that most rounds lack are left out. */
	if (2 * count <= calibration->rounds)
		return;
	if (best == LAST || best == LAST_OF_ALL) {
		calibration->value[figure] = values[count - 1];
		calibration->spread[figure] =
			spread_of_last(values, best == LAST ? count / 2 : 0, count);
		return;
	}
	qsort(values, count, sizeof(values[0]), compare_values);
	calibration->value[figure] = best_of(values, count, best);
	calibration->spread[figure] = spread_of(values, count, best);
}

/* One round cannot say how far others would be from it. */
static void forget_spreads(struct cp_calibration *calibration)
{
	for (unsigned figure = 0; figure < CP_NFIGURES; figure++)
		calibration->spread[figure] = NAN;
}

void cp_calibration_conclude(struct cp_calibration *calibration)
{
	for (unsigned figure = 0; figure < CP_NFIGURES; figure++)
		conclude_figure(calibration, figure);
	if (calibration->rounds < 2)
		forget_spreads(calibration);
}

bool cp_figure_is_stable(const struct cp_calibration *calibration, enum cp_figure figure)
{
	return calibration->spread[figure] <= CP_UNSTABLE;
}

size_t cp_curve_step(const double curve[], size_t count, double low, double high)
{
	double middle = (low + high) / 2;
	size_t wrong = 0, least, best = 0;

	for (size_t i = 0; i < count; i++)
		wrong += !(curve[i] > middle);
	least = wrong;
	/* One point after the other is taken to be before the step. */
	for (size_t i = 0; i < count; i++) {
		wrong = curve[i] > middle ? wrong + 1 : wrong - 1;
		if (wrong < least) {
			least = wrong;
			best = i + 1;
		}
	}
	return best && best < count ? best - 1 : best;
}
