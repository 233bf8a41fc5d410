/* SPDX-License-Identifier: MIT
 *
 * Do the times of two handfuls of runs differ?
 *
 * By Mann and Whitney's test, since times have a tail: a run that was disturbed is one
 * rank further up, however long it took.  The interval is that of the ratio of two runs
 * (Hodges and Lehmann).
 */
#ifndef CACHEPEEK_TOOLS_DIFF_RANKS_H
#define CACHEPEEK_TOOLS_DIFF_RANKS_H

#include <stdbool.h>
#include <stddef.h>

struct cp_ranks {
	double p;         /* two-sided */
	double low, high; /* the 95 % interval of how many times as much the second is */
};

/* false: too few runs for any p below 0.05, or no memory.  All values are above 0. */
bool cp_ranks_test(const double *one, size_t n, const double *other, size_t m,
	struct cp_ranks *ranks);

#endif
