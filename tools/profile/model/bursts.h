/* SPDX-License-Identifier: MIT
 *
 * Profiles of a sample (CACHEPEEK_SAMPLE): misses of the first levels by place, from the
 * bursts that were simulated in full, with 95 % intervals.
 *
 * What a place has in the bursts stands for the whole run as the bursts' instructions do
 * for all instructions, of all threads and processes together, so that places add up to
 * the estimate of the run (output/report/report_bursts.c).  How much the 16 groups differ
 * into which bursts were drawn tells how well that is known.  A place that was seen in
 * too few groups has no value: its point estimate only says where it stands among the
 * others.
 */
#ifndef CACHEPEEK_TOOLS_PROFILE_MODEL_BURSTS_H
#define CACHEPEEK_TOOLS_PROFILE_MODEL_BURSTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "output/report/report.h"
#include "tools/sim/profile_file.h"

/* The counts of a place in each part, by enum cp_sim_sampled. */
struct cp_burst_parts {
	uint64_t of[CP_SIM_PARTS][CP_SIM_NBURST];
};

/* Adds what an instruction, or an object, has in that one (1 and more). */
void cp_burst_parts_add(
	struct cp_burst_parts *parts, unsigned part, const uint64_t *count);

/* All processes' together. */
struct cp_bursts {
	struct cp_pool pool; /* instructions, and how many sets there are */
	double count[CP_SIM_SET_SWEEP][CP_SIM_PARTS];
	uint64_t total[CP_SIM_NCOUNTERS]; /* estimated, where it can be */
	bool has_total[CP_SIM_NCOUNTERS];
};

/* For who reads files: adds one file's sample (bursts NULL: the first); after the last
 * one, with all instructions. */
struct cp_bursts *cp_bursts_add(struct cp_arena *arena, struct cp_bursts *bursts,
	const struct cp_profile_sample *in);
void cp_bursts_conclude(struct cp_bursts *bursts, double instructions);

/* Where the estimates come from, for people. */
#define CP_BURSTS_SOURCE                                                                 \
	"estimates from a sample (CACHEPEEK_SAMPLE), each with half of its 95 % "        \
	"interval; L2 and what is behind it are not told by place"

/* By enum cp_sim_sampled. */
extern const unsigned cp_bursts_counters[CP_SIM_NBURST];

/* The counter that one of enum cp_sim_sampled counts, in bursts or in sets, and what
 * there is of it in the whole run. */
unsigned cp_bursts_counter(unsigned sampled);
struct cp_pool cp_bursts_pool(const struct cp_bursts *bursts, unsigned sampled);

/* Is the counter one of those of bursts?  Can it be told of places, and of data? */
bool cp_bursts_has(unsigned counter);
bool cp_bursts_has_place(unsigned counter);
bool cp_bursts_has_data(unsigned counter);

#endif
