/* SPDX-License-Identifier: MIT
 *
 * Profiles of samples (PID-N.samples, regions/samples.h), as the same rows of
 * modules, functions, instructions and data that exact ones have.
 *
 * A place has the numbers below instead of the simulated PMU's counters, and for
 * each event an estimate of what its samples stand for.
 */
#ifndef CACHEPEEK_TOOLS_PROFILE_MODEL_SAMPLED_H
#define CACHEPEEK_TOOLS_PROFILE_MODEL_SAMPLED_H

#include <stdbool.h>
#include <stddef.h>

#include "output/metrics/value.h"
#include "regions/samples.h"
#include "tools/profile/model/estimate.h"

/* X(name, meaning) */
#define CP_SAMPLED_COUNTERS(X)                                                           \
	X(page_faults_sampled, "page faults that were sampled")                          \
	X(memory_sampled, "misses of memory accesses that were sampled")                 \
	X(latency_sampled, "cycles that those took")                                     \
	X(l2_sampled, "of those: from L2")                                               \
	X(lfb_sampled, "on their way already")                                           \
	X(l3_sampled, "from L3")                                                         \
	X(c2c_sampled, "from another core's caches")                                     \
	X(local_sampled, "from the node's memory")                                       \
	X(hop1_sampled, "from memory one hop away")                                      \
	X(hop2_sampled, "from memory two hops away")                                     \
	X(unknown_sampled, "not said from where")                                        \
	X(tlb_l2_sampled, "translated by the second-level TLB")                          \
	X(tlb_walk_sampled, "translated by a walk of the page table")

enum cp_sampled_counter {
#define X(name, meaning) CP_##name,
	CP_SAMPLED_COUNTERS(X)
#undef X
		CP_SAMPLED_NCOUNTERS
};

/* One event of a run. */
struct cp_sampling {
	const struct cp_samples_event *event; /* NULL: nobody asked for it */
	uint64_t lost, dropped, samples;
	double total, periods;
	unsigned threads, without; /* sampled, not sampled */
	unsigned pages;            /* of the smallest ring */
	int error;                 /* of one without */
};

struct cp_profile;
struct cp_tally;

/* The contents of a .samples file. */
struct cp_sampled_source {
	const char *name, *bytes; /* NULL: it could not be read, which was said */
	size_t size;
	/* Paths of files that are still those that ran, whenever they were changed. */
	const char *const *same;
	size_t nsame;
};

/* Their samples, as places. */
void cp_sampled_add(
	struct cp_profile *profile, const struct cp_sampled_source *sources, size_t n);

/* Reads the .samples files of a directory; whether there are any. */
bool cp_sampled_read(struct cp_profile *profile, int directory);

/* "page_faults_sampled", …; NULL: there is none. */
const char *cp_sampled_counter_name(unsigned index);

/* For the formulas of measurements, beside the counters above: page_faults and
 * memory_misses (estimates), places (both), and NAME_error (95 % of them). */
bool cp_sampled_is_name(const char *name);

#endif
