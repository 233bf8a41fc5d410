/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Sampled sets: L2 and what is behind it are simulated in some of their sets only, but in
 * those all the time.
 *
 * A group is the lines whose numbers have the same lowest bits, as many bits as all
 * caches agree in.  What happens to the lines of one group hangs on no other: it is a
 * small machine of its own, of some sets of each cache.  So what is counted in a group is
 * exact, and how much the groups differ tells how well their sum is known.  They are
 * chosen once: sets that come later would not hold what they should.
 */
#ifndef CACHEPEEK_SIM_SAMPLE_SETS_H
#define CACHEPEEK_SIM_SAMPLE_SETS_H

#include "model/model.h"

#define SAMPLE_MOST_GROUPS 64 /* that lines are divided into */
#define SAMPLE_FEWEST_GROUPS 16

struct sample_sets {
	uint32_t mask;                    /* of a line's number: groups - 1 */
	uint8_t part[SAMPLE_MOST_GROUPS]; /* 1 + which one it is, or 0: left out */
	/* By part and enum cp_sim_sampled, from CP_SIM_NBURST on. */
	uint64_t count[CP_SIM_GROUPS][CP_SIM_NSAMPLED - CP_SIM_NBURST];
};

/* Are the line's sets not simulated?  NULL: all are. */
LANES_INLINE int sample_leaves_out(const struct sample_sets *sets, uint64_t line)
{
	return sets && !sets->part[line & sets->mask];
}

/* Into how many groups the lines of a machine can be divided; 0: it is not plain, has no
 * L2, or too few. */
uint32_t sample_groups(const struct machine *m);

/* Chooses so many of the groups, one of each stretch of neighbours. */
void sample_sets_choose(
	struct sample_sets *sets, uint32_t groups, uint32_t chosen, uint64_t seed);

/* From now on the core has no other sets of L2 and last level. */
int sample_sets_begin(struct core *core, const struct sample_sets *chosen);

/* Gives that line's group what was counted behind L1 since the last time, and what the
 * points of a sweep have. */
void sample_sets_take(struct core *core, uint64_t line);
void sample_sets_take_swept(struct core *core, uint64_t line);

/* While first levels are simulated in those sets only, paths.log takes a log of words:
 * the address of a load, the complement of a store's, or a line of code.  No address has
 * these bits: a line of code, and a load whose place is stored to as well. */
#define SAMPLE_CODE (1ull << 62)
#define SAMPLE_BOTH (1ull << 61)

/* A number that looks random, of each state of *state. */
uint64_t sample_random(uint64_t *state);

#endif
