/* SPDX-License-Identifier: MIT
 *
 * --time N: both sides' programs, run again without being counted, by the clock: does the
 * time change as the reports predict?
 */
#ifndef CACHEPEEK_TOOLS_DIFF_TIMED_H
#define CACHEPEEK_TOOLS_DIFF_TIMED_H

#include "tools/diff/diff.h"

/* As many as the test of ranks counts exactly. */
#define CP_TIMED_MOST 25

enum cp_timed_verdict {
	CP_TIMED_CONFIRMED,
	CP_TIMED_REFUTED,
	CP_TIMED_SHORT, /* both take less than the clock tells apart */
	CP_TIMED_NOISY, /* no change, but what was predicted is in the interval, too */
	CP_TIMED_FEW,   /* runs, for a test */
	CP_TIMED_UNPREDICTED, /* the reports have no cost in common */
	CP_TIMED_NOT,         /* why says why not */
};

struct cp_timed {
	unsigned runs; /* of each side */
	enum cp_timed_verdict verdict;
	const char *why;                  /* not timed; or NULL */
	const char *end[2];               /* how each side ends: "exit 0" */
	double seconds[2][CP_TIMED_MOST]; /* user and system time of each run */
	double least[2];                  /* of them */
	double shortest;                  /* what takes less cannot be told apart */
	bool tested;                      /* p, low and high are there */
	double p, low, high;              /* of how many times as long after takes */
};

/* Runs the commands of both sides in turn, before, after, after, before, …, and judges
 * what they took: timed->runs is set. */
void cp_timed_run(struct cp_diff *diff, struct cp_timed *timed);

const char *cp_timed_name(enum cp_timed_verdict verdict);

/* "CPU time 21.5 ms to 5.10 ms (-76.3 %, …)": a line for people. */
const char *cp_timed_text(const struct cp_diff *diff, const struct cp_timed *timed);

json_t *cp_timed_json(const struct cp_diff *diff, const struct cp_timed *timed);

#endif
