/* SPDX-License-Identifier: MIT
 *
 * The machine file of what was measured, each figure with its spread.  Geometry is
 * sysfs's.  What is not stable is no figure: a latency that the file can call assumed is
 * written and called so, all else stands in comments, as does what no key takes.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
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

/* "measured, spread 3 %" */
static void put_source(
	FILE *file, const struct cp_calibration *calibration, enum cp_figure figure)
{
	fprintf(file, "  # measured, spread %.0f %%%s\n",
		calibration->spread[figure] * 100,
		cp_figure_is_stable(calibration, figure) ? "" : ": not stable");
}

/* may_be_assumed: put_assumed() says so where the figure is not stable. */
static void put_number(FILE *file, const struct cp_calibration *calibration,
	const char *key, enum cp_figure figure, bool may_be_assumed)
{
	if (!is_known(calibration, figure))
		return;
	fprintf(file, "%s%s = %.0f",
		may_be_assumed || is_measured(calibration, figure) ? "" : "# ", key,
		calibration->value[figure]);
	put_source(file, calibration, figure);
}

static void put_cache(FILE *file, const struct cp_calibration *calibration,
	enum cp_level level, int figure)
{
	const struct cp_cache *cache = &calibration->machine.level[level];
	uint64_t bytes = (uint64_t)cache->sets * cache->ways * cache->line;

	if (!cache->sets) {
		if (level == CP_L2 || level == CP_LLC)
			fprintf(file, "%s = none\n", cp_level_name(level));
		return;
	}
	fprintf(file, "%s = %lluK %u %u", cp_level_name(level),
		(unsigned long long)(bytes / 1024), cache->ways, cache->line);
	if (figure >= 0 && is_known(calibration, (enum cp_figure)figure)) {
		fprintf(file, " latency=%.0f", calibration->value[figure]);
		put_source(file, calibration, (enum cp_figure)figure);
	} else {
		fprintf(file, "\n");
	}
}

/* Sets are a power of two, and ways few: 1,536 entries are 256 sets of 6. */
static unsigned ways_of(unsigned entries)
{
	unsigned ways = entries;

	while (ways > 8 && ways % 2 == 0)
		ways /= 2;
	return ways;
}

static void put_tlb(FILE *file, const struct cp_calibration *calibration,
	enum cp_level level, enum cp_figure figure)
{
	const struct cp_cache *tlb = &calibration->machine.level[level];
	bool measured = is_measured(calibration, figure);
	unsigned entries =
		measured ? (unsigned)calibration->value[figure] : tlb->sets * tlb->ways;

	fprintf(file, "%s = %u %u", cp_level_name(level), entries,
		measured ? ways_of(entries) : tlb->ways);
	if (level == CP_STLB && is_measured(calibration, CP_FIGURE_STLB_HIT))
		fprintf(file, " latency=%.0f", calibration->value[CP_FIGURE_STLB_HIT]);
	if (measured)
		put_source(file, calibration, figure);
	else
		fprintf(file, "  # assumed\n");
	if (level == CP_STLB && !is_measured(calibration, CP_FIGURE_STLB_HIT))
		put_number(
			file, calibration, "stlb's latency", CP_FIGURE_STLB_HIT, false);
}

/* The latencies whose rounds were too far apart are no better than assumptions. */
static void put_assumed(FILE *file, const struct cp_calibration *calibration)
{
	static const struct {
		const char *word;
		enum cp_figure figure;
	} words[] = {{"l1d", CP_FIGURE_L1}, {"l2", CP_FIGURE_L2}, {"llc", CP_FIGURE_LLC},
		{"memory-latency", CP_FIGURE_MEMORY},
		{"cache-to-cache-latency", CP_FIGURE_TRANSFER}};
	bool any = false;

	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (is_known(calibration, words[i].figure) &&
			!cp_figure_is_stable(calibration, words[i].figure))
			any = fprintf(file, "%s%s",
				      any ? " " : "assumed = ", words[i].word) > 0;
	if (any)
		fprintf(file, "\n");
}

static void put_others(FILE *file, const struct cp_calibration *calibration)
{
	static const enum cp_figure others[] = {CP_FIGURE_WIDTH, CP_FIGURE_LOADS,
		CP_FIGURE_STORES, CP_FIGURE_WINDOW, CP_FIGURE_MISPREDICT,
		CP_FIGURE_STREAM_L2, CP_FIGURE_SAME_SET, CP_FIGURE_STREAM_LLC,
		CP_FIGURE_STREAM_MEMORY, CP_FIGURE_PREFETCH, CP_FIGURE_LLC_RANDOM,
		CP_FIGURE_LLC_STREAM};

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
	put_cache(file, calibration, CP_LLC, CP_FIGURE_LLC);
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
		"it in %u rounds.\n"
		"# Sizes are sysfs's; a spread is how far the rounds are apart.\n"
		"%smeasured = %s\n"
		"host = %s\n",
		CP_VERSION, calibration->rounds,
		calibration->huge
			? ""
			: "# No huge pages: latencies have page walks in them.\n",
		date, word);
	put_geometry(file, calibration);
	put_number(file, calibration, "memory-latency", CP_FIGURE_MEMORY, true);
	put_number(file, calibration, "walk-latency", CP_FIGURE_WALK, false);
	put_number(file, calibration, "cache-to-cache-latency", CP_FIGURE_TRANSFER, true);
	put_number(file, calibration, "clock-mhz", CP_FIGURE_CLOCK, false);
	put_number(file, calibration, "fill-buffers", CP_FIGURE_PARALLEL, false);
	put_assumed(file, calibration);
	put_others(file, calibration);
	return fclose(file) == 0 ? text : NULL;
}

int cp_calibration_check(const char *text, char *error, size_t error_size)
{
	struct cp_machine machine = cp_machine_defaults;

	return cp_machine_parse(&machine, "host.machine", text, error, error_size);
}
