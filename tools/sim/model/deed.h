/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The effect of a reference, by what the core's counters have grown by: for the models of
 * time.
 */
#ifndef CACHEPEEK_SIM_DEED_H
#define CACHEPEEK_SIM_DEED_H

#include "model/batch.h"

/* The counters that tell what a reference did. */
#define FIRST CP_SIM_l1i_misses
#define SEEN (CP_SIM_l1d_half_writebacks + 1 - FIRST)
#define AT(counter) (CP_SIM_##counter - FIRST)

/* Where lines come from, the nearest first. */
enum level { SECOND, LAST, MEMORY, ONE_HOP, TWO_HOPS, NLEVELS };

/* The core that had a line modified: none, one of this socket, one of another. */
enum owner { NOBODY, NEAR_CORE, FAR_CORE, NOWNERS };

/* The machine as the models know it, and the core as they last saw it. */
struct reach {
	struct latencies of;
	uint32_t has_second, has_last, halves;
	uint64_t allocates; /* all ones, or 0 */

	uint64_t seen[SEEN]; /* of the core, at the last reference */
	uint32_t latency[NOWNERS][NLEVELS];
};

/* The core's counters now and at the last reference. */
struct change {
	const uint64_t *now, *seen;
};

/* Volatile: two counters in one vector would wait for the stores of both. */
#define NOW(by, counter) (((const volatile uint64_t *)(by)->now)[AT(counter)])
#define GREW(by, counter) (NOW(by, counter) - (by)->seen[AT(counter)])

/* Lines that L1 missed, and those of them that L2 and the last level did, that other
 * sockets' memory had, and that caches had modified: another core's, another socket's. */
struct missed {
	uint64_t l1, l2, llc, one_hop, two_hops, modified, remote;
};

/* Where a line came from if it is the only one. */
LANES_INLINE enum level level_of(const struct reach *r, const struct missed *m)
{
	if (r->has_second && !m->l2)
		return SECOND;
	if (r->has_last && !m->llc)
		return LAST;
	return MEMORY + (m->one_hop ? 1 : m->two_hops ? 2 : 0);
}

LANES_INLINE uint64_t at_most(uint64_t n, uint64_t most)
{
	return n < most ? n : most;
}

/* Where several lines came from: how many from each level. */
LANES_INLINE void split_lines(
	const struct reach *r, const struct missed *m, uint64_t lines[NLEVELS])
{
	uint64_t beyond = r->has_second ? at_most(m->l2, m->l1) : m->l1,
		 memory = r->has_last ? at_most(m->llc, beyond) : beyond;

	lines[SECOND] = m->l1 - beyond;
	lines[LAST] = beyond - memory;
	lines[ONE_HOP] = at_most(m->one_hop, memory);
	lines[TWO_HOPS] = at_most(m->two_hops, memory - lines[ONE_HOP]);
	lines[MEMORY] = memory - lines[ONE_HOP] - lines[TWO_HOPS];
}

/* The lines of code that a reference missed.  Code is not modified in other caches. */
LANES_INLINE struct missed missed_by_fetch(const struct change *by)
{
	return (struct missed){
		.l1 = GREW(by, l1i_misses),
		.l2 = GREW(by, l2_ifetch_misses),
		.llc = GREW(by, llc_ifetch_misses),
		.one_hop = GREW(by, one_hop_lines) - GREW(by, loads_one_hop),
		.two_hops = GREW(by, two_hop_lines) - GREW(by, loads_two_hop),
	};
}

LANES_INLINE enum cp_sim_counter stack_of(enum level level)
{
	return level == SECOND ? CP_SIM_time_l2
	       : level == LAST ? CP_SIM_time_llc
			       : CP_SIM_time_memory;
}

/* The cycles for pages that the first TLB missed, some of them walked for. */
LANES_INLINE uint64_t cycles_of_pages(
	const struct reach *r, uint64_t misses, uint64_t walks)
{
	return (misses - walks) * r->of.stlb + walks * r->of.walk;
}

/* Waits for code: adds its cycles to the core's stacks, and returns them.  ahead: how
 * long ago it may have been asked for, of which as much counts as the second level takes.
 */
LANES_INLINE uint64_t wait_for_code(
	struct core *core, const struct reach *r, const struct change *by, uint64_t ahead)
{
	struct missed missed = missed_by_fetch(by);
	uint64_t lines[NLEVELS],
		second = r->latency[NOBODY][SECOND], hidden = at_most(ahead, second),
		walks = GREW(by, itlb_walks),
		cycles = cycles_of_pages(r, GREW(by, itlb_misses), walks);

	split_lines(r, &missed, lines);
	core->count[CP_SIM_time_tlb] += cycles;
	for (enum level level = SECOND; level < NLEVELS; level++) {
		uint64_t latency = r->latency[NOBODY][level],
			 late = lines[level] * (latency - at_most(hidden, latency));

		core->count[stack_of(level)] += late;
		cycles += late;
	}
	core->count[CP_SIM_itlb_walk_cycles] += walks * r->of.walk;
	core->count[CP_SIM_ifetch_stall_cycles] += cycles;
	return cycles;
}

LANES_INLINE enum owner owner_of(const struct missed *m)
{
	return !m->modified ? NOBODY : m->remote ? FAR_CORE : NEAR_CORE;
}

/* The counters that tell most of what a reference did. */
struct deed {
	uint64_t code, pages, loads, stores, writes;
};

LANES_INLINE struct deed deed_of(const struct reach *r, const struct change *by)
{
	return (struct deed){
		.code = GREW(by, l1i_misses) + GREW(by, itlb_misses),
		.pages = GREW(by, dtlb_load_pages) + GREW(by, dtlb_store_pages),
		.loads = GREW(by, l1d_load_lines) + GREW(by, l1d_bypasses),
		.stores = GREW(by, l1d_store_lines) & r->allocates,
		.writes = (r->halves ? GREW(by, l1d_half_writebacks)
				     : GREW(by, l1d_writebacks)) +
			  GREW(by, l1d_writes_through),
	};
}

LANES_INLINE int is_nothing(const struct deed *did)
{
	return !(did->code | did->pages | did->loads | did->stores | did->writes);
}

/* The sum of counters that loads on a plain machine leave alone: if it has not grown,
 * none of them has. */
LANES_INLINE uint64_t not_of_load(const struct change *by)
{
	return NOW(by, l1i_misses) + NOW(by, itlb_misses) + NOW(by, l1d_store_lines) +
	       NOW(by, dtlb_store_pages);
}

/* By how much one of the counters of either has grown, which is seen by that. */
#define TAKE(r, is, counter, kind)                                                       \
	take_growth(&(r)->seen[AT(counter) + ((kind) == STORE)],                         \
		&(is)[AT(counter) + ((kind) == STORE)])

LANES_INLINE uint64_t take_growth(uint64_t *seen, const uint64_t *count)
{
	uint64_t is = *(const volatile uint64_t *)count, grown = is - *seen;

	*seen = is;
	return grown;
}

/* A latency that is not given for modified lines is that of others. */
LANES_INLINE void set_latencies(struct reach *r, const struct machine *m)
{
	const struct latencies *of = &m->time;
	const uint32_t plain[NLEVELS] = {
		of->l2, of->llc, of->memory, of->one_hop, of->two_hops};
	uint32_t far = of->remote_cache ? of->remote_cache : of->one_hop;

	for (int level = 0; level < NLEVELS; level++) {
		r->latency[NOBODY][level] = plain[level];
		r->latency[NEAR_CORE][level] =
			of->cache_to_cache ? of->cache_to_cache : plain[level];
		r->latency[FAR_CORE][level] = far;
	}
}

LANES_INLINE void reach_init(struct reach *r, const struct machine *m)
{
	r->of = m->time;
	set_latencies(r, m);
	r->has_second = m->l2.sets != 0;
	r->has_last = m->llc.sets != 0;
	r->allocates = m->l1d.no_allocate ? 0 : ~0ull;
	r->halves = m->l1d.halves;
}

/* The misses of a reference. */
struct misses {
	struct missed lines;
	uint64_t pages, walks;
};

LANES_INLINE struct misses misses_of_load(const struct change *by, const struct deed *did)
{
	return (struct misses){
		{did->loads, GREW(by, l2_load_lines), GREW(by, llc_load_lines),
			GREW(by, loads_one_hop), GREW(by, loads_two_hop),
			GREW(by, hitm) | GREW(by, loads_cache_to_cache),
			GREW(by, loads_remote_cache)},
		did->pages, GREW(by, dtlb_load_walks) + GREW(by, dtlb_store_walks)};
}

/* The load of an instruction that loads, too, has found the page. */
LANES_INLINE struct misses misses_of_store(
	const struct change *by, const struct deed *did)
{
	struct misses m = {
		{did->stores, GREW(by, l2_store_lines), GREW(by, llc_store_lines),
			GREW(by, one_hop_lines) - GREW(by, loads_one_hop),
			GREW(by, two_hop_lines) - GREW(by, loads_two_hop),
			GREW(by, hitm) | GREW(by, remote_hitm),
			GREW(by, remote_hitm) - GREW(by, loads_remote_cache)},
		did->pages, GREW(by, dtlb_load_walks) + GREW(by, dtlb_store_walks)};

	if (did->loads)
		m.pages = m.walks = 0;
	return m;
}

#endif
