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

#include "model/l1_newer.h"
#include "model/model.h"

#define SAMPLE_MOST_GROUPS 64 /* that lines are divided into */
#define SAMPLE_FEWEST_GROUPS 16

struct sample_sets {
	uint32_t mask;   /* of a line's number: groups - 1 */
	uint32_t chosen; /* groups: */
	uint8_t group[CP_SIM_GROUPS];
	uint32_t apart;                   /* no two of them are neighbours */
	uint64_t left_out;                /* a bit of each group */
	uint8_t part[SAMPLE_MOST_GROUPS]; /* 1 + which one it is, or 0: left out */
	/* A core's: when its burst began, as a stamp, or 0; and how many lines loads and
	 * stores have brought to these sets of L1D since they were looked at. */
	uint32_t began;
	uint64_t kept;
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

/* L1 is asked for a line for the first time in a burst. */
void sample_sets_first(struct core *core, uint64_t line, enum access kind, int missed);

/* While first levels are simulated in those sets only, paths.log takes a log of words:
 * the address of a load, of a line of code, or the complement of a store's.  If an
 * address's line is not sampled the next one is meant.  No address has these bits: code,
 * and a load whose place is stored to as well. */
#define SAMPLE_CODE (1ull << 62)
#define SAMPLE_BOTH (1ull << 61)

/* ---- what matters of a log of references to sampled sets (sets.h) ----
 *
 * Most words are of the line that came last in its sets, of which nothing changes but the
 * stamp: it is the newest as it is.  The host cannot foresee which ones are, so nothing
 * here branches on it.  Lines of the same set are of the same group, so a group's lines
 * may come before or after those of another one. */

/* A line, whether it is stored to first, and at all; code is above all lines. */
typedef uint64_t picked;
enum { PICKED_WRITES = 1, PICKED_STORE = 2, PICKED_LINE = 2 };

/* The line of each sampled group that came last. */
struct newest {
	picked of[CP_SIM_GROUPS];
	uint32_t tells; /* 1: somebody is told of each store */
	uint32_t line_shift;
	uint64_t code; /* the bit of a line of code */
};

/* Picks the words that matter out of n, to the beginning of `to`, which has room for 8
 * more; returns how many. */
enum { PICK_AT_ONCE = 128 };
typedef uint32_t pick_function(struct newest *newest, const struct sample_sets *sets,
	const uint64_t *at, uint32_t n, picked *to);

LANES_INLINE void newest_begin(struct newest *newest, uint32_t line_shift, uint32_t tells)
{
	newest->tells = tells;
	newest->line_shift = line_shift;
	newest->code = SAMPLE_CODE >> line_shift;
	for (uint32_t i = 0; i < CP_SIM_GROUPS; i++)
		newest->of[i] = ~0ull;
}

LANES_INLINE int picked_is_code(const struct newest *newest, picked is)
{
	return is >> PICKED_LINE >= newest->code;
}

#if L1_HAS_AVX2
/* For hosts of 2017 and later, and few groups; NULL: it is not one. */
pick_function *pick_newer(const struct sample_sets *sets);
#endif

#endif
