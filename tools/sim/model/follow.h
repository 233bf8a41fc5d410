/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Plain machines of one run whose private caches are the same: one of them leads, and
 * the others follow it.  L1, L2, the first-level TLBs and what the cores do to each
 * other happen to the leader alone; a follower has a last level and a second-level TLB
 * of its own, which get what leaves the leader's private caches.
 *
 * A follower's first-level TLBs may have more ways than the leader's.  Under LRU, the
 * pages of a set are the newest ones, so the larger set has those of the smaller and
 * then the ones that left that last: the rest, which is kept here.
 *
 * Threads must have the same seats on both machines.  Once they have not, the follower
 * parts, and is a machine as if it had never followed.
 */
#ifndef CACHEPEEK_SIM_FOLLOW_H
#define CACHEPEEK_SIM_FOLLOW_H

#include "model/model.h"

/* The pages of each set, the newest first; 0: none. */
struct follow_rest {
	struct follow_page {
		uint32_t tag;
		uint8_t byte; /* of its way */
	} * page;
	uint32_t sets, ways;
};

struct follow {
	struct core *leader;
	struct follow_rest dtlb, itlb;
};

/* May a core of machine m follow one of that machine? */
int follow_can(const struct machine *m, const struct machine *leader);

/* Both are new.  -1: no memory. */
int follow_begin(struct core *core, struct core *leader);
void follow_free(struct core *core);

/* The follower's machine parts.  Nobody has anything uncollected. */
void follow_part(struct uncore *u);

/* After core_collect of the leader: what the follower has counted. */
void follow_collect(struct core *core);

/* ---- for the leader ---- */

/* Its first-level TLB did not have the page with this key: returns whether the
 * follower's does not, and counts it. */
int follow_misses_page(struct core *core, uint64_t key, enum access kind);

/* A page has left the TLB to make room for another. */
void follow_evicted(
	struct core *leader, int code, uint32_t set, uint32_t tag, uint8_t byte);

/* For huge.c: the pages with this key leave the follower's TLBs. */
void follow_drop_page(struct core *core, uint64_t key);

#endif
