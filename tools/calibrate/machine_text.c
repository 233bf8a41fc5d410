/* SPDX-License-Identifier: MIT
 *
 * The machine file of what was measured, each figure with its spread.  Geometry is
 * sysfs's, but for the part of the last level that this machine gets.  What is not stable
 * is written and called assumed; so is what could not be measured and time cannot do
 * without.  What no key takes stands in comments.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/machine/host.h"
#include "tools/calibrate/calibrate.h"

static bool is_known(const struct cp_calibration *calibration, enum cp_figure figure)
{
	return isfinite(calibration->value[figure]) && calibration->value[figure] >= 0.5;
}

static bool is_measured(const struct cp_calibration *calibration, enum cp_figure figure)
{
	return is_known(calibration, figure) && cp_figure_is_stable(calibration, figure);
}

#define COMMON_STLB 7.0 /* cycles, where it could not be measured */

/* In whole percent, how far the figure may be from what the file says, of so many
 * decimals: none is less than it was.  NAN: not known. */
static double percent_of(
	const struct cp_calibration *calibration, enum cp_figure figure, int decimals)
{
	double value = calibration->value[figure], unit = pow(10, -decimals),
	       said = round(value / unit) * unit,
	       off = calibration->spread[figure] * value + fabs(said - value);

	return fmin(ceil(fmax(0, off / said * 100 - 1e-6)), CP_MOST_SPREAD);
}

/* "measured, spread 3 %" */
static void put_source(FILE *file, const struct cp_calibration *calibration,
	enum cp_figure figure, int decimals)
{
	if (isnan(calibration->spread[figure]))
		fprintf(file, "  # measured %s: not stable\n",
			calibration->rounds < 2 ? "once" : "by assumed sizes");
	else
		fprintf(file, "  # measured%s, spread %.0f %%%s\n",
			calibration->at_least[figure] ? ": at least that" : "",
			percent_of(calibration, figure, decimals),
			cp_figure_is_stable(calibration, figure) ? "" : ": not stable");
}

/* Keys that are measured; where that fails, the model of time takes a common core's, 0:
 * the file is better without. */
static const struct key {
	const char *key;
	enum cp_figure figure;
	int decimals;
	double common;
} keys[] = {
	{"memory-latency", CP_FIGURE_MEMORY, 0, 0},
	{"walk-latency", CP_FIGURE_WALK, 0, 40},
	{"cache-to-cache-latency", CP_FIGURE_TRANSFER, 0, 0},
	{"clock-mhz", CP_FIGURE_CLOCK, 0, 0},
	{"fill-buffers", CP_FIGURE_PARALLEL, 0, 10},
	{"width", CP_FIGURE_WIDTH, 2, 4},
	{"window", CP_FIGURE_WINDOW, 0, 224},
	{"mispredict-latency", CP_FIGURE_MISPREDICT, 0, 16},
	{"load-ports", CP_FIGURE_LOADS, 2, 2},
	{"store-ports", CP_FIGURE_STORES, 2, 1},
	{"walkers", CP_FIGURE_WALKERS, 0, 1},
	{"l2-fill-buffers", CP_FIGURE_PARALLEL_FAR, 0, 0},
	{"l2-cycles-per-line", CP_FIGURE_STREAM_L2, 2, 0},
	{"llc-cycles-per-line", CP_FIGURE_STREAM_LLC, 2, 0},
	{"llc-cycles-per-lone-line", CP_FIGURE_LONE_LINE, 2, 0},
	{"memory-cycles-per-line", CP_FIGURE_STREAM_MEMORY, 2, 0},
	{"prefetch-latency", CP_FIGURE_NEAR, 0, 0},
	{"llc-stay", CP_FIGURE_STAY, 0, 0},
	{"float-add-latency", CP_FIGURE_FLOAT_ADD, 0, 0},
	{"float-multiply-latency", CP_FIGURE_FLOAT_MULTIPLY, 0, 0},
	{"store-cycles-per-line", CP_FIGURE_STORE_LINE, 2, 0},
	{"set-cycles-per-line", CP_FIGURE_SET_LINE, 2, 0},
	{"load-set-cycles-per-line", CP_FIGURE_SAME_SET, 2, 0},
	{"llc-set-cycles-per-line", CP_FIGURE_LLC_SET, 2, 0},
	{"l2-banks", CP_FIGURE_BANKS, 0, 0},
};
#define NKEYS (sizeof(keys) / sizeof(keys[0]))

/* A stay that is too short takes lines away that are there: without a stable one the file
 * says none. */
static bool has_figure(const struct cp_calibration *calibration, const struct key *key)
{
	return key->figure == CP_FIGURE_STAY ? is_measured(calibration, key->figure)
					     : is_known(calibration, key->figure);
}

static void put_key(
	FILE *file, const struct cp_calibration *calibration, const struct key *key)
{
	if (has_figure(calibration, key)) {
		fprintf(file, "%s = %.*f", key->key, key->decimals,
			calibration->value[key->figure]);
		put_source(file, calibration, key->figure, key->decimals);
	} else if (key->common > 0) {
		fprintf(file, "%s = %.0f  # assumed: it could not be measured\n",
			key->key, key->common);
	}
}

/* Is it known what this machine gets of the last level? */
static bool is_sized(const struct cp_calibration *calibration)
{
	return !calibration->machine.level[CP_LLC].sets ||
	       !isnan(calibration->spread[CP_FIGURE_ROOM]);
}

/* Is less of the last level this machine's than there is, however far the rounds are
 * apart? */
static bool is_part(const struct cp_calibration *calibration)
{
	const struct cp_cache *llc = &calibration->machine.level[CP_LLC];
	double most = calibration->value[CP_FIGURE_ROOM] *
		      (1 + calibration->spread[CP_FIGURE_ROOM]) * 1024;

	return is_known(calibration, CP_FIGURE_ROOM) &&
	       !calibration->at_least[CP_FIGURE_ROOM] &&
	       most < (double)llc->sets * llc->ways * llc->line;
}

static uint64_t bytes_of(const struct cp_calibration *calibration, enum cp_level level)
{
	const struct cp_cache *cache = &calibration->machine.level[level];
	uint64_t way = (uint64_t)cache->ways * cache->line;

	if (level != CP_LLC || !is_part(calibration))
		return cache->sets * way;
	return (uint64_t)(calibration->value[CP_FIGURE_ROOM] * 1024) / way * way;
}

static void put_cache(FILE *file, const struct cp_calibration *calibration,
	enum cp_level level, int figure)
{
	const struct cp_cache *cache = &calibration->machine.level[level];
	uint64_t bytes = bytes_of(calibration, level);

	if (!cache->sets) {
		if (level == CP_L2 || level == CP_LLC)
			fprintf(file, "%s = none\n", cp_level_name(level));
		return;
	}
	/* Ways that are no power of two (20, say) make sizes that are no whole KB. */
	fprintf(file, "%s = %llu%s %u %u", cp_level_name(level),
		(unsigned long long)(bytes % 1024 ? bytes : bytes / 1024),
		bytes % 1024 ? "" : "K", cache->ways, cache->line);
	if (figure >= 0 && is_known(calibration, (enum cp_figure)figure)) {
		fprintf(file, " latency=%.0f", calibration->value[figure]);
		put_source(file, calibration, (enum cp_figure)figure, 0);
	} else {
		fprintf(file, "\n");
	}
}

/* If others have the last level, too, a part of it is this machine's. */
static void put_last_level(FILE *file, const struct cp_calibration *calibration)
{
	if (!is_sized(calibration))
		fprintf(file, "# What a CPU gets of llc is not known: all of it is "
			      "assumed.\n");
	put_cache(file, calibration, CP_LLC, CP_FIGURE_LLC);
}

/* Sets are a power of two, and ways few: 1,536 entries are 256 sets of 6. */
static unsigned ways_of(unsigned entries)
{
	unsigned ways = entries;

	while (ways > 8 && ways % 2 == 0)
		ways /= 2;
	return ways;
}

/* A TLB's reach that is further apart than that is of no curve. */
#define WILD 0.5

static void put_tlb(FILE *file, const struct cp_calibration *calibration,
	enum cp_level level, enum cp_figure figure)
{
	const struct cp_cache *tlb = &calibration->machine.level[level];
	bool measured =
		is_known(calibration, figure) && calibration->spread[figure] <= WILD;
	unsigned entries =
		measured ? (unsigned)calibration->value[figure] : tlb->sets * tlb->ways;

	fprintf(file, "%s = %u %u", cp_level_name(level), entries,
		measured ? ways_of(entries) : tlb->ways);
	if (level == CP_STLB)
		fprintf(file, " latency=%.0f",
			is_known(calibration, CP_FIGURE_STLB_HIT)
				? calibration->value[CP_FIGURE_STLB_HIT]
				: COMMON_STLB);
	if (measured)
		put_source(file, calibration, figure, 0);
	else
		fprintf(file, "  # assumed\n");
}

/* ---- what is assumed ---- */

/* How far ahead of a stream lines are fetched is not measured, only whether they are; and
 * of the entries of the store buffer nothing is. */
enum { COMMON_DISTANCE = 20, COMMON_WRITE_BUFFERS = 48 };
#define FETCHED_AHEAD 1.5 /* times as fast, at least */

static bool fetches_ahead(const struct cp_calibration *calibration)
{
	return is_known(calibration, CP_FIGURE_PREFETCH) &&
	       calibration->value[CP_FIGURE_PREFETCH] >= FETCHED_AHEAD;
}

static void put_common(FILE *file, const struct cp_calibration *calibration)
{
	fprintf(file, "write-buffers = %d  # assumed\n", COMMON_WRITE_BUFFERS);
	if (fetches_ahead(calibration))
		fprintf(file, "prefetch-distance = %d  # assumed\n", COMMON_DISTANCE);
}

static void put_assumed_word(FILE *file, const char *word, bool *any)
{
	fprintf(file, "%s%s", *any ? " " : "assumed = ", word);
	*any = true;
}

/* Latencies that stand with their level. */
static const struct {
	const char *word;
	enum cp_figure figure;
} levels[] = {{"l1d", CP_FIGURE_L1}, {"l2", CP_FIGURE_L2}, {"llc", CP_FIGURE_LLC}};
#define NLEVELS (sizeof(levels) / sizeof(levels[0]))

/* Figures whose rounds were too far apart are no better than assumptions. */
static void put_assumed(FILE *file, const struct cp_calibration *calibration)
{
	bool any = false;

	for (unsigned i = 0; i < NLEVELS; i++)
		if (is_known(calibration, levels[i].figure) &&
			!cp_figure_is_stable(calibration, levels[i].figure))
			put_assumed_word(file, levels[i].word, &any);
	if (!is_measured(calibration, CP_FIGURE_STLB_HIT))
		put_assumed_word(file, "stlb", &any);
	for (unsigned i = 0; i < NKEYS; i++)
		if (!is_measured(calibration, keys[i].figure) &&
			(has_figure(calibration, &keys[i]) || keys[i].common > 0))
			put_assumed_word(file, keys[i].key, &any);
	if (!is_sized(calibration))
		put_assumed_word(file, "llc-size", &any);
	put_assumed_word(file, "write-buffers", &any);
	if (fetches_ahead(calibration))
		put_assumed_word(file, "prefetch-distance", &any);
	fprintf(file, "\n");
}

static void put_spread(FILE *file, const struct cp_calibration *calibration,
	const char *word, enum cp_figure figure, int decimals)
{
	if (is_known(calibration, figure) && !isnan(calibration->spread[figure]))
		fprintf(file, "spread = %s %.0f\n", word,
			percent_of(calibration, figure, decimals));
}

/* For the intervals of predicted times. */
static void put_spreads(FILE *file, const struct cp_calibration *calibration)
{
	for (unsigned i = 0; i < NLEVELS; i++)
		put_spread(file, calibration, levels[i].word, levels[i].figure, 0);
	put_spread(file, calibration, "stlb", CP_FIGURE_STLB_HIT, 0);
	for (unsigned i = 0; i < NKEYS; i++)
		if (has_figure(calibration, &keys[i]))
			put_spread(file, calibration, keys[i].key, keys[i].figure,
				keys[i].decimals);
}

static void put_others(FILE *file, const struct cp_calibration *calibration)
{
	static const enum cp_figure others[] = {
		CP_FIGURE_PREFETCH, CP_FIGURE_ROOM, CP_FIGURE_STAY};

	fprintf(file, "# What else was measured; no key of this file says it:\n");
	for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (is_known(calibration, others[i]))
			fprintf(file, "#   %s: %.*f %s, spread %.0f %%%s\n",
				cp_figure_title(others[i]),
				cp_figure_decimals(calibration->value[others[i]]),
				calibration->value[others[i]], cp_figure_unit(others[i]),
				calibration->spread[others[i]] * 100,
				cp_figure_is_stable(calibration, others[i])
					? ""
					: ": not stable");
}

static void put_geometry(FILE *file, const struct cp_calibration *calibration)
{
	fprintf(file, "page = %uK\ncores = %u\n", calibration->machine.page / 1024,
		calibration->machine.cores);
	put_cache(file, calibration, CP_L1I, -1);
	put_cache(file, calibration, CP_L1D, CP_FIGURE_L1);
	put_cache(file, calibration, CP_L2, CP_FIGURE_L2);
	put_last_level(file, calibration);
	put_tlb(file, calibration, CP_DTLB, CP_FIGURE_DTLB);
	put_tlb(file, calibration, CP_STLB, CP_FIGURE_STLB);
}

char *cp_calibration_text(const struct cp_calibration *calibration, const char *date)
{
	char word[sizeof(calibration->machine.host)], *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);

	if (!file)
		return NULL;
	cp_host_word(&calibration->machine, word, sizeof(word));
	fprintf(file,
		"# This host, as cachepeek %s doctor --calibrate measured "
		"it in %u round%s.\n"
		"# Sizes are %s, that of llc what a CPU gets of it; a spread is how far "
		"the rounds are\n"
		"# apart, and the points of a curve, and what this file rounds off.\n"
		"%smeasured = %s\n"
		"host = %s\n",
		CP_VERSION, calibration->rounds, calibration->rounds == 1 ? "" : "s",
		calibration->sized ? "sysfs's" : "assumed",
		calibration->huge
			? ""
			: "# No huge pages: latencies have page walks in them.\n",
		date, word);
	put_geometry(file, calibration);
	fprintf(file, "timing = ooo\n");
	for (unsigned i = 0; i < NKEYS; i++)
		put_key(file, calibration, &keys[i]);
	put_common(file, calibration);
	put_assumed(file, calibration);
	put_spreads(file, calibration);
	put_others(file, calibration);
	return fclose(file) == 0 ? text : NULL;
}

int cp_calibration_check(const char *text, char *error, size_t error_size)
{
	struct cp_machine machine = cp_machine_defaults;

	return cp_machine_parse(&machine, "host.machine", text, error, error_size);
}
