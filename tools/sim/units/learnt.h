/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The knowledge of a region's time: how many of its instructions are to be modelled in
 * full yet, and what each cause took lately of those that were modelled, in full or in
 * units (model/units.h).  Others of the same region are expected to take as much.
 */
#ifndef CACHEPEEK_SIM_LEARNT_H
#define CACHEPEEK_SIM_LEARNT_H

#include <stdint.h>

#include "request.h"

/* Parts of the time, and what they hang on: one cause each, and lines of code, which have
 * no values to wait for, by level. */
#define TIME_PARTS (CP_SIM_STACK_END - CP_SIM_STACK)
#define PART(counter) (CP_SIM_time_##counter - CP_SIM_STACK)
#define CODE_LEVELS 3
#define TIME_CAUSES (TIME_PARTS + CODE_LEVELS)

#define MEAN_BITS 16
#define RATE_BITS 24
#define RATE_KEPT (1u << 20) /* instructions */

/* The cycles of a cause: lately; in the unit so far; and in full since that was learnt
 * of. */
struct mean {
	uint64_t cycles, causes, unit_cycles, unit_causes, full_cycles, full_causes;
	uint64_t each;    /* cycles of one, so many bits behind the point */
	uint64_t left;    /* of what was expected, what is less than a cycle */
	uint64_t covered; /* causes between units, that the last one stands for */
	uint64_t beyond;  /* of what others may take, what is less than a cycle */
};

/* Branches that are not foreseen. */
struct rate {
	uint64_t of_one, left;           /* of an instruction, RATE_BITS */
	uint64_t branches, instructions; /* that it is made of */
	uint64_t found, passed;          /* in this window; and instructions */
};

struct learnt {
	uint64_t full; /* instructions that are to be modelled in full yet */
	/* The window that is not learnt of yet: its number, and instructions in it. */
	uint64_t window, passed;
	struct mean mean[TIME_CAUSES];
	struct rate rate;
};

/* Has nothing yet. */
static inline void learnt_begin(struct learnt *l, uint64_t full)
{
	*l = (struct learnt){.full = full};
}

/* So many of the latest causes are remembered. */
static inline uint64_t causes_kept(int cause)
{
	return cause == PART(issue)       ? 65536
	       : cause >= TIME_PARTS      ? 512
	       : cause == PART(tlb)       ? 16384
	       : cause >= PART(bandwidth) ? 16384
					  : 512;
}

static inline void learn_of_cause(
	struct mean *m, int cause, uint64_t causes, uint64_t cycles)
{
	uint64_t kept = causes_kept(cause);

	m->cycles += cycles;
	m->causes += causes;
	if (m->causes > kept) {
		m->cycles = m->cycles * kept / m->causes;
		m->causes = kept;
	}
	m->each = m->causes ? (m->cycles << MEAN_BITS) / m->causes : 0;
}

/* A unit is over that had some of the region: causes between it and the next are covered
 * by it if they are no more than twice what it stands for. */
static inline void learn_unit(struct mean *m, int cause, uint64_t stands_for)
{
	m->covered = m->unit_causes * 2 * stands_for;
	learn_of_cause(m, cause, m->unit_causes, m->unit_cycles);
	m->unit_cycles = m->unit_causes = m->beyond = 0;
}

/* Some instructions that were modelled in full are over. */
static inline void learn_full(struct mean *m, int cause)
{
	learn_of_cause(m, cause, m->full_causes, m->full_cycles);
	m->full_cycles = m->full_causes = 0;
}

/* Cycles of a cause may be counted where it was not, behind a stretch that had few: it is
 * not expected of others to take more than it can; 0: no limit. */
static inline void limit_mean(struct mean *m, uint64_t most)
{
	if (most && m->each > most << MEAN_BITS)
		m->each = most << MEAN_BITS;
}

/* Causes more, or less: what they are expected to take. */
static inline uint64_t expected_cycles(struct mean *m, uint64_t causes)
{
	int64_t cycles = (int64_t)(causes * m->each + m->left);

	m->left = (uint64_t)cycles & ((1 << MEAN_BITS) - 1);
	return (uint64_t)(cycles >> MEAN_BITS);
}

/* The whole cycles of those that are counted in so many parts each: they sum up to the
 * same whoever collects in between. */
static inline uint64_t whole_cycles(struct mean *m, uint64_t parts, uint64_t each)
{
	uint64_t cycles = (m->beyond + parts) / each;

	m->beyond = (m->beyond + parts) % each;
	return cycles;
}

/* The causes between units that the last unit has not seen the like of may take twice
 * what is expected, or nothing. */
static inline uint64_t uncovered(struct mean *m, uint64_t causes)
{
	uint64_t covered = causes < m->covered ? causes : m->covered;

	m->covered -= covered;
	return whole_cycles(m, (causes - covered) * m->each, 1 << MEAN_BITS);
}

static inline void learn_rate(struct rate *r)
{
	r->branches += r->found;
	r->instructions += r->passed;
	r->found = r->passed = 0;
	if (r->instructions > RATE_KEPT) {
		r->branches = r->branches * RATE_KEPT / r->instructions;
		r->instructions = RATE_KEPT;
	}
	r->of_one = r->instructions ? (r->branches << RATE_BITS) / r->instructions : 0;
}

/* How many branches of so many instructions are expected not to be foreseen. */
static inline uint64_t expected_branches(struct rate *r, uint64_t instructions)
{
	uint64_t expected = instructions * r->of_one + r->left;

	r->left = expected & ((1 << RATE_BITS) - 1);
	return expected >> RATE_BITS;
}

/* Learns from what was modelled in full where as many instructions are over, or the
 * region is, but never where somebody collects: the older weighs the less the more often
 * that is done, and where slices end differs from run to run. */
static inline void learn_what_was_full(struct learnt *l)
{
	for (int i = 0; i < TIME_CAUSES; i++)
		learn_full(&l->mean[i], i);
	learn_rate(&l->rate);
}

/* More instructions in the window of that number. */
static inline void learnt_pass(struct learnt *l, uint64_t window, uint64_t instructions)
{
	l->window = window;
	l->passed += instructions;
}

/* That window is the core's now: what the region had in an earlier one is known. */
static inline void learn_windows(struct learnt *l, uint64_t now, uint64_t stands_for)
{
	if (l->window == now || !l->passed)
		return;
	l->passed = 0;
	for (int i = 0; i < TIME_CAUSES; i++)
		learn_unit(&l->mean[i], i, stands_for);
	learn_rate(&l->rate);
}

#endif
