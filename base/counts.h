/* SPDX-License-Identifier: MIT
 *
 * Words that the engines, the record and the report share.
 */
#ifndef CACHEPEEK_BASE_COUNTS_H
#define CACHEPEEK_BASE_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#define CP_MAX_COUNTERS 64                 /* counters of one run */
#define CP_MAX_READ 832                    /* of a reading: sampled ones have parts */
#define CP_MAX_QUANTITIES 96               /* quantities of one run */
#define CP_MAX_PERF_GROUPS CP_MAX_COUNTERS /* at worst each has its own */
#define CP_MIRROR_SIZE 160 /* raw counters of the simulated PMU, with room */
#define CP_MIRROR_INSTRUCTIONS 0
#define CP_MIRROR_HUGE_PAGES 50
#define CP_MIRROR_X87 129
/* Behind those, where it is asked to sample, parts of what is sampled: first what is
 * counted in bursts, then what is counted in some of the sets, the points of a sweep at
 * the end.  tools/sim/request.h.  Behind the groups comes what was counted in full, and
 * how many of the groups' may not be. */
#define CP_SAMPLE_GROUPS 16
#define CP_SAMPLE_UNSURE (CP_SAMPLE_GROUPS + 1)
#define CP_SAMPLE_PARTS (CP_SAMPLE_GROUPS + 2)
#define CP_SAMPLE_BURSTS 21
#define CP_SAMPLE_SETS 12
#define CP_SAMPLE_SWEEP 32
#define CP_SAMPLE_HELP 7 /* and what tells more of bursts */
/* Indices of these: lines, and first references of code, loads and stores, each with how
 * many of them missed behind it. */
enum { CP_HELP_KEPT, CP_HELP_CODE, CP_HELP_LOADS = 3, CP_HELP_STORES = 5 };
#define CP_SAMPLE_WORDS                                                                  \
	((CP_SAMPLE_BURSTS + CP_SAMPLE_SETS + CP_SAMPLE_SWEEP + CP_SAMPLE_HELP) *        \
		CP_SAMPLE_PARTS)

/* The reason of what a sample has no value for begins like this. */
#define CP_UNSAMPLED "cannot be sampled (CACHEPEEK_SAMPLE): "

/* The whole part of what was computed or read from a file: 0 for what is below 0 or
 * is no number, the largest for what does not fit. */
static inline uint64_t cp_count_of(double value)
{
	if (!(value > 0))
		return 0;
	return value < 0x1p64 ? (uint64_t)value : UINT64_MAX;
}

/* nanoseconds that a perf group was enabled / was on the PMU. */
struct cp_times {
	uint64_t enabled, running;
};

/* One reading of an engine: counts since the thread was opened. */
struct cp_reading {
	bool failed; /* nothing else in it means anything */
	uint64_t counter[CP_MAX_READ];
	struct cp_times group[CP_MAX_PERF_GROUPS];
};

/* base/counters/events_sim.c: whose first references tell of a sampled counter's misses
 * that may be none; others: nobody's. */
enum {
	CP_FIRSTS_CODE = 1,
	CP_FIRSTS_LOADS = 2,
	CP_FIRSTS_STORES = 4,
	CP_FIRSTS_OTHERS = 8
};
unsigned cp_sample_firsts(unsigned sampled);

#endif
