/* SPDX-License-Identifier: MIT
 *
 * Improves a count in bursts by what sampled sets tell: L1 keeps them between bursts.
 *
 * How many lines loads and stores bring there is known of the whole run.  So from how a
 * count hangs on that in the groups of bursts, and on instructions, follows what it is in
 * the rest: groups whose bursts had many misses by chance stand for less of it.
 *
 * And what a burst asks these sets for first, of what a set that it had emptied would not
 * have had, tells how many of the misses that may be none are.
 */
#ifndef CACHEPEEK_REPORT_KEPT_H
#define CACHEPEEK_REPORT_KEPT_H

#include "output/report/report.h"

/* How much each group of bursts stands for. */
struct cp_kept_fit {
	unsigned groups;                 /* that have any bursts */
	double in[CP_SAMPLE_GROUPS];     /* instructions; 0: none, or it is left out */
	double weight[CP_SAMPLE_GROUPS]; /* so many times what was counted there */
	/* Lines beyond what instructions let expect, and the sum of their squares, each
	 * by its group's instructions; 0: they tell nothing. */
	double beyond[CP_SAMPLE_GROUPS], squares;
};

/* without: a group, or -1. */
struct cp_kept_fit cp_kept_fit(const struct cp_pool *pool, int without);
double cp_kept_sum(const struct cp_kept_fit *fit, const double *count);
/* The square of half of its 95 % interval. */
double cp_kept_square(const struct cp_kept_fit *fit, const double *count);

/* The share of the misses in doubt that are misses, and half of its interval. */
struct cp_kept_share {
	double missed, error;
};
struct cp_kept_share cp_kept_share(const struct cp_pool *pool);

/* Takes what was kept: CP_SAMPLE_HELP counters of CP_SAMPLE_PARTS each.  firsts: the
 * union of what cp_sample_firsts() says of the count's terms. */
void cp_kept_take(struct cp_pool *pool, const uint64_t *help, unsigned firsts);

#endif
