/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Machines that are not plain: any replacement, write policy, inclusion, line
 * sizes, sharing and prefetcher.  They are members of a front (front.h), which tells
 * them of the references that matter.  What happens, in this order:
 *
 * Units are numbers of the machine's smallest line (or half line).  A reference
 * is translated, then it looks up L1.  A miss fetches the line from L2, which
 * may fetch it from the last level; each level is filled before the level above
 * it, and a victim leaves when its successor is put in its place.
 *
 * Writes.  A write-back cache keeps a store, a write-through one passes it on as
 * well.  A store that misses a no-allocate cache goes on to the next level.  A
 * modified line that is evicted marks the line of the next level as modified, or
 * is put there (no-allocate: passed on).
 *
 * Inclusion, of L2 with regard to L1, of the last level to all in front of it:
 * an inclusive level takes what it evicts away from them, and what was modified
 * there leaves with it.  An exclusive one is filled by what they evict, clean or
 * modified, and gives away what it is asked for, unless another core has the line,
 * too: then it stays, as AMD documents it for its L3, and so a modified line has
 * no copies.  An instruction fetch leaves a modified line where it is.
 *
 * Other cores.  The granule is the larger of the lines of L1D and L2.  An access
 * that misses L1D, or stores to a line that is not owned, makes the others give
 * up ownership (a load) or the line (a store).  What they have modified goes to
 * the last level, or to L2 if they share that.  OWNED means that no other core
 * outside has the line, and saves looking.  Of instruction caches only those in
 * front of an exclusive L2 are asked.  Where there are several last levels (the granule
 * is no smaller than their line), those of other cores are asked as well, and what is
 * modified there goes to our own.
 *
 * Several sockets (numa.h): cores that share an L2 or a last level are on one.  What
 * neither the last level has nor another core had modified comes from the memory of the
 * socket that has the page.
 *
 * Prefetchers, L2's first, start when the reference is done, and L2's again after each
 * line that one of L1's has fetched: flex_prefetchers.h says what they see and want.
 *
 * What a prefetcher brings is PREFETCHED until its level is first asked for it, and was
 * useless if it leaves before that.
 */
#ifndef CACHEPEEK_SIM_FLEX_H
#define CACHEPEEK_SIM_FLEX_H

#include "flex/flex_cache.h"
#include "flex/flex_prefetchers.h"

/* The cores around one last level. */
struct flex_group {
	struct flex_cache llc;
	uint32_t ncores, socket;
	struct flex_group *next;
};

#define FLEX_WRITTEN 64

/* The cores around one L2. */
struct flex_cluster {
	struct flex_cache l2;
	struct flex_group *group;
	struct core *cores; /* linked by flex->next */
	uint32_t ncores, socket;
	struct flex_cluster *next;
	/* Lines of L2 that another store would not change, by the low bits of their sets:
	 * tag and set; 0: none. */
	uint64_t written[FLEX_WRITTEN];
};

struct flex_core {
	struct flex_cache l1i, l1d, itlb, dtlb, stlb, itlb2, dtlb2;
	struct flex_cache itlb_2m, dtlb_2m, stlb_2m, itlb2_2m, dtlb2_2m;
	struct flex_prefetcher l1i_prefetchers[PREFETCHERS], l1d_prefetchers[PREFETCHERS],
		l2_prefetchers[PREFETCHERS];
	struct flex_cluster *cluster;
	struct core *next; /* of the cluster */
	uint64_t now;      /* the stamp of the reference, and of what follows from it */
	uint32_t number;   /* as a member of the front */
	uint32_t bit;      /* of a thread that runs: 1 << number, else 0 */
	uint64_t last_code;
	uint32_t l1d_misses, l2_misses; /* of the latest look-ups, a bit each */
	uint64_t
		l2_seen; /* unit of a look-up that L2's prefetchers are to see, or NO_LINE
			  */
	enum access l2_seen_as;
	uint32_t from; /* of FLEX_FROM, where the latest line came from */
	struct latencies latencies;
	uint32_t page_shift; /* from units */
	uint32_t from_core;  /* the line that is fetched: another one had it modified; 2:
			      * of  another socket */
};

struct flex_shared {
	struct flex_group *groups;
	struct flex_cluster *clusters;
	uint32_t nclusters, granule_shift; /* from units */
	uint32_t ncores, cores;            /* that there are, that the machine has */
	struct sockets sockets;
	struct numa numa;
};

/* flex_outer.c: L2, last level, other cores */

/* A line comes to an L1: flags for it (OWNED, and DIRTY out of an exclusive L2). */
uint32_t flex_fetch(struct core *core, uint64_t unit, enum access kind);
/* The fetch is over: L2's prefetcher may start. */
void flex_train_l2(struct core *core);
/* The L1D is about to modify the line, and does not own it. */
void flex_own(struct core *core, uint64_t unit);
/* Time takes this reference for one that lacks a line that came from flex->from: L1 has
 * it, or L2 for the first time. */
void flex_hide(struct core *core, uint64_t unit, enum access kind, int in_l1);
/* A core asks for the unit: its page is placed. */
uint32_t flex_home(struct core *core, uint64_t unit);
/* flex.c: the line comes to L1D, or is the newest there; owned: no other core has it. */
void flex_bring(struct core *core, uint64_t unit, int owned);
/* flex_outer.c: it comes to L2; returns whether it was not there.  flags: more of it. */
int flex_bring_l2(struct core *core, uint64_t unit, uint32_t flags);
/* flex.c: the page is looked up, and no more. */
void flex_translate(struct core *core, uint64_t unit, enum access kind);
/* L1D passes a store on. */
void flex_write(struct core *core, uint64_t unit);
/* L1 has evicted a line. */
void flex_evicted(struct core *core, uint64_t unit, uint32_t flags);

/* flex.c: a modified line leaves L1D */
void flex_count_writeback(struct core *core, uint32_t flags);
/* A line leaves an L1, or another core is about to change what is known of it. */
void flex_lost_data(struct core *core, const struct flex_place *p);
void flex_lost_code(struct core *core, const struct flex_place *p);

/* ---- for the front ---- */

/* Another load or fetch (and store) of the unit would change nothing but the age of
 * line and page, until one of them is said to be lost.  PASSED_ON: a store changes no
 * more than that in L1D, but is passed on. */
enum { FLEX_READABLE = 1, FLEX_WRITABLE = 2, FLEX_PASSED_ON = 4 };

uint32_t flex_data(struct core *core, uint64_t unit, enum access kind, uint64_t now);
/* A store of which that was said. */
void flex_pass_on(struct core *core, uint64_t unit);
/* Such a reference is coming. */
void flex_expect_data(struct core *core, uint64_t unit);
uint32_t flex_code(struct core *core, uint64_t unit, uint64_t now);
/* A floating-point load on a machine where those are L2's. */
void flex_bypass(struct core *core, uint64_t unit, uint64_t now);

/* The unit was referenced then (0: no later than was said), and there are no facts of it
 * any more. */
void flex_learn_data(struct core *core, uint64_t unit, uint64_t stamp);
void flex_learn_code(struct core *core, uint64_t unit, uint64_t stamp);

/* Must it be told of every code line? */
int flex_is_code_aware(const struct core *core);

LANES_INLINE int flex_prefetches(const struct flex_cache *c)
{
	return geometry_prefetches(&c->g);
}

/* The line at p of a cache of lines leaves it, for what this core does. */
LANES_INLINE void flex_count_leaving(
	struct core *core, const struct flex_cache *c, const struct flex_place *p)
{
	if (*flex_flags(c, p) & FLEX_PREFETCHED)
		core->count[c->useless]++;
}

/* It is asked for.  Returns whether it is used for the first time since a prefetcher
 * brought it. */
LANES_INLINE int flex_is_first_use(
	struct core *core, const struct flex_cache *c, const struct flex_place *p)
{
	uint8_t *flags = flex_flags(c, p);

	if (!(*flags & FLEX_PREFETCHED))
		return 0;
	core->flex->from = *flags & FLEX_FROM;
	*flags &= (uint8_t) ~(FLEX_PREFETCHED | FLEX_FROM);
	core->count[c->useless - 1]++;
	return 1;
}

LANES_INLINE int flex_exclusive(const struct flex_cache *c)
{
	return c->sets && c->g.inclusion == EXCLUSIVE;
}

#endif
