/* SPDX-License-Identifier: MIT
 *
 * Figures of several rounds as one, and where curves step.
 */
#include <math.h>
#include <stdlib.h>

#include "tools/calibrate/calibrate.h"

/* The round that counts: the least time and the greatest rate are nearest to what the
 * host can do, if another round says the same (cp_confirmed()).  Noise moves the place
 * where a curve steps both ways; a curve of the least times of all rounds so far is best
 * in the last one. */
enum best { LEAST, MOST, MIDDLE, LAST };

static const struct {
	const char *name, *unit, *title;
	enum best best;
	bool grid;  /* between two points of a curve, or as the clock of a round is */
	bool sized; /* measured by the sizes of caches */
	/* How far calibrations are apart at least where their rounds agree: all of them
	 * have the same pages, tables of pages and neighbours in the last level. */
	double apart;
} figures[CP_NFIGURES] = {
	[CP_FIGURE_CLOCK] = {"clock", "MHz", "clock", MIDDLE, .grid = true},
	[CP_FIGURE_WIDTH] = {"width", "instructions/cycle", "issue width", .best = MOST},
	[CP_FIGURE_LOADS] = {"loads", "loads/cycle", "loads", .best = MOST},
	[CP_FIGURE_STORES] = {"stores", "stores/cycle", "stores", .best = MOST},
	[CP_FIGURE_FLOAT_ADD] = {"float_add", "cycles", "addition of floats",
		.best = LEAST},
	[CP_FIGURE_FLOAT_MULTIPLY] = {"float_multiply", "cycles",
		"multiplication of floats", .best = LEAST},
	[CP_FIGURE_L1] = {"l1d_latency", "cycles", "L1D latency", .best = LEAST},
	[CP_FIGURE_L2] = {"l2_latency", "cycles", "L2 latency", LEAST, .sized = true},
	[CP_FIGURE_LLC] = {"llc_latency", "cycles", "L3 latency", LEAST, .sized = true,
		.apart = 0.05},
	[CP_FIGURE_MEMORY] = {"memory_latency", "cycles", "memory latency", .best = LAST},
	[CP_FIGURE_DTLB] = {"dtlb_reach", "pages", "DTLB reach", LAST, .grid = true},
	[CP_FIGURE_STLB] = {"stlb_reach", "pages", "STLB reach", LAST, .grid = true},
	[CP_FIGURE_STLB_HIT] = {"stlb_latency", "cycles", "STLB hit", .best = LAST},
	[CP_FIGURE_WALK] = {"walk_latency", "cycles", "page walk", LAST, .apart = 0.1},
	[CP_FIGURE_PARALLEL] = {"parallel_misses", "loads", "misses at a time", LAST,
		.apart = 0.05},
	[CP_FIGURE_PARALLEL_FAR] = {"parallel_l2_misses", "loads",
		"misses of L2 at a time", LAST, .apart = 0.05},
	[CP_FIGURE_WALKERS] = {"walkers", "walks", "page walks at a time", LAST,
		.apart = 0.1},
	[CP_FIGURE_WINDOW] = {"window", "instructions", "reorder window", LAST,
		.grid = true},
	[CP_FIGURE_MISPREDICT] = {"mispredict", "cycles", "mispredicted branch",
		.best = LEAST},
	[CP_FIGURE_STREAM_L2] = {"l2_stream", "cycles/line", "L2 stream", LEAST,
		.sized = true},
	[CP_FIGURE_SAME_SET] = {"same_set_fills", "cycles/line", "loads of one L1D set",
		LEAST, .sized = true},
	[CP_FIGURE_LLC_SET] = {"llc_set_fills", "cycles/line", "loads of one, from L3",
		LEAST, .sized = true, .apart = 0.2},
	[CP_FIGURE_BANKS] = {"l2_banks", "banks", "L2 banks", MOST, .sized = true},
	[CP_FIGURE_STORE_LINE] = {"store_line", "cycles/line", "stores to the L2", LEAST,
		.sized = true},
	[CP_FIGURE_SET_LINE] = {"set_line", "cycles/line", "stores to one L1D set", LEAST,
		.sized = true},
	[CP_FIGURE_STREAM_LLC] = {"llc_stream", "cycles/line", "L3 stream", LEAST,
		.sized = true, .apart = 0.05},
	[CP_FIGURE_LONE_LINE] = {"llc_lone", "cycles/line", "L3, lines of no stream",
		LEAST, .sized = true, .apart = 0.05},
	[CP_FIGURE_STREAM_MEMORY] = {"memory_stream", "cycles/line", "memory stream",
		.best = LEAST},
	[CP_FIGURE_PREFETCH] = {"prefetch_gain", "times", "prefetching of lines",
		.best = MOST},
	[CP_FIGURE_NEAR] = {"prefetched_latency", "cycles", "a line fetched ahead", LEAST,
		.sized = true},
	[CP_FIGURE_ROOM] = {"llc_room", "KiB", "L3 that a CPU gets", LAST, true,
		.sized = true},
	[CP_FIGURE_STAY] = {"llc_stay", "cycles", "a line in L3, unasked", LAST, true,
		.sized = true},
	[CP_FIGURE_TRANSFER] = {"transfer_latency", "cycles", "another core's line",
		LEAST, .apart = 0.1},
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

/* Compares numbers, or what begins with one. */
static int compare_values(const void *one, const void *other)
{
	double a = *(const double *)one, b = *(const double *)other;

	return (a > b) - (a < b);
}

static int compare_down(const void *one, const void *other)
{
	return compare_values(other, one);
}

double cp_quarter(double values[], size_t count)
{
	qsort(values, count, sizeof(values[0]), compare_values);
	return values[count / 4];
}

size_t cp_confirmed(size_t count)
{
	return count >= 4 ? 1 : 0;
}

void cp_keep(struct cp_host *host, const double *place, double now)
{
	size_t at = (size_t)(place - (const double *)&host->kept);

	cp_least((double *)&host->kept + at, now);
	cp_least((double *)&host->kept_half[host->round % 2] + at, now);
}

void cp_find_both(struct cp_host *host, struct cp_round *round, cp_find *find)
{
	find(host, &host->kept, round);
	find(host, &host->kept_half[host->round % 2], host->half);
}

void cp_round_clear(struct cp_round *round)
{
	for (unsigned i = 0; i < CP_NFIGURES; i++)
		round->value[i] = round->low[i] = round->high[i] = NAN;
}

bool cp_figure_has_grid(enum cp_figure figure)
{
	return figures[figure].grid;
}

/* A round's value, and where it may be as well. */
struct known {
	double value, low, high;
};

/* Returns false if there is none. */
static bool known_in(const struct cp_round *round, unsigned figure, struct known *known)
{
	known->value = round->value[figure];
	known->low = figures[figure].grid ? round->low[figure] : known->value;
	known->high = figures[figure].grid ? round->high[figure] : known->value;
	return isfinite(known->value) && known->value > 0;
}

/* The rounds' values that there are, in their order. */
static unsigned values_of(
	const struct cp_calibration *calibration, unsigned figure, struct known values[])
{
	unsigned count = 0;

	for (unsigned i = 0; i < calibration->rounds; i++)
		count += known_in(&calibration->round[i], figure, &values[count]);
	return count;
}

/* How far one that counts is from the value, as a share: NAN, if it is of a curve and
 * does not say between which points. */
static double distance(double value, const struct known *known)
{
	double high = isinf(known->high) ? known->value : known->high;

	if (isnan(known->low) || isnan(high))
		return NAN;
	return fmax(fabs(value - known->low), fabs(high - value)) / value;
}

static double furthest(double value, const struct known values[], unsigned count)
{
	double most = 0;

	for (unsigned i = 0; i < count; i++) {
		double one = distance(value, &values[i]);

		if (isnan(one))
			return NAN;
		most = fmax(most, one);
	}
	return most;
}

/* Each round rests on those before, and so the last ones agree, whatever they say: by
 * every other round alone, and by the others, it may be another value.  Where these say
 * nothing, no more is known. */
static double apart_in_halves(
	const struct cp_calibration *calibration, unsigned figure, double value)
{
	double most = 0;

	for (unsigned i = 0; i < 2; i++) {
		struct known half;

		if (!known_in(&calibration->half[i], figure, &half))
			most = fmax(most, 1);
		else
			most = fmax(most, distance(value, &half));
	}
	return most;
}

/* Takes the value that counts, and how far the others are from it that count: for best
 * ones, the middle and the best; for a middle, the half of the rounds around it. */
static void conclude_best(struct cp_calibration *calibration, unsigned figure,
	struct known values[], unsigned count)
{
	enum best best = figures[figure].best;
	unsigned from = 0, to = count / 2, at = (unsigned)cp_confirmed(count);

	qsort(values, count, sizeof(values[0]),
		best == MOST ? compare_down : compare_values);
	if (best == MIDDLE) {
		at = count / 2;
		from = count / 4;
		to = count * 3 / 4;
	}
	calibration->value[figure] = values[at].value;
	calibration->spread[figure] =
		furthest(values[at].value, values + from, to - from + 1);
}

static void conclude_last(struct cp_calibration *calibration, unsigned figure,
	const struct known values[], unsigned count)
{
	unsigned from = count / 2;
	double value = values[count - 1].value,
	       rounds = furthest(value, values + from, count - from);

	calibration->value[figure] = value;
	calibration->at_least[figure] = isinf(values[count - 1].high);
	calibration->spread[figure] =
		isnan(rounds) ? NAN
			      : fmax(rounds, apart_in_halves(calibration, figure, value));
}

static void conclude_figure(struct cp_calibration *calibration, unsigned figure)
{
	struct known values[CP_CALIBRATE_ROUNDS] = {{0}};
	unsigned count = values_of(calibration, figure, values);
	enum best best = figures[figure].best;

	calibration->value[figure] = calibration->spread[figure] = NAN;
	calibration->at_least[figure] = false;
	/* Values that most rounds lack are left out. */
	if (2 * count <= calibration->rounds)
		return;
	if (best == LAST)
		conclude_last(calibration, figure, values, count);
	else
		conclude_best(calibration, figure, values, count);
}

/* Cycles are by one clock, and were measured in moments when it may have been another
 * one. Numbers of pages, instructions and bytes are not by it. */
static void widen(struct cp_calibration *calibration)
{
	double clock = calibration->spread[CP_FIGURE_CLOCK];

	for (unsigned figure = 0; figure < CP_NFIGURES; figure++) {
		double *spread = &calibration->spread[figure];

		if (!figures[figure].grid && !isnan(*spread))
			*spread = fmax(fmax(*spread, clock), figures[figure].apart);
	}
}

/* By sizes that are assumed other levels may have been measured than these. */
static void forget_sized(struct cp_calibration *calibration)
{
	for (unsigned figure = 0; figure < CP_NFIGURES; figure++)
		if (figures[figure].sized)
			calibration->spread[figure] = NAN;
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
	widen(calibration);
	if (!calibration->sized)
		forget_sized(calibration);
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
