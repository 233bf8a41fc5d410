/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "laws.h"

#include <stdio.h>

/* ---- coherence ---- */

static int holds(const struct ref_cache *c, uint64_t addr, uint64_t bytes)
{
	uint64_t nways = (uint64_t)c->g.sets * c->g.ways;

	for (uint64_t i = 0; i < nways; i++) {
		uint64_t start = c->way[i].key * c->line;

		if (c->way[i].valid && start < addr + bytes && addr < start + c->line)
			return 1;
	}
	return 0;
}

/* Has any core outside the cluster, or a sibling's L1D, the line that core i, or the L2
 * in front of which it is, has modified? */
static int copied(const struct ref_system *s, int i, int in_l2, uint64_t addr, uint64_t n)
{
	const struct ref_core *owner = &s->core[i];

	for (int k = 0; k < s->ncores; k++) {
		const struct ref_core *other = &s->core[k];

		if (k == i || (other->cluster == owner->cluster && in_l2))
			continue;
		if (holds(&other->l1d, addr, n))
			return 1;
		if (other->cluster != owner->cluster &&
			holds(&s->l2[other->cluster], addr, n))
			return 1;
	}
	return 0;
}

static int copies_of(const struct ref_system *s, int i, const struct ref_cache *c)
{
	int in_l2 = c == &s->l2[s->core[i].cluster], broken = 0;

	for (uint64_t n = 0; n < (uint64_t)c->g.sets * c->g.ways; n++) {
		const struct ref_way *w = &c->way[n];

		if (!w->valid || !w->dirty ||
			!copied(s, i, in_l2, w->key * c->line, c->line))
			continue;
		printf("# line %llx is modified in %s of core %d and has a copy\n",
			(unsigned long long)(w->key * c->line), in_l2 ? "L2" : "L1D", i);
		broken++;
	}
	return broken;
}

int laws_of_coherence(struct ref_system *s)
{
	int broken = 0;

	for (int i = 0; i < s->ncores; i++) {
		broken += copies_of(s, i, &s->core[i].l1d);
		broken += copies_of(s, i, &s->l2[s->core[i].cluster]);
	}
	return broken;
}

/* ---- conservation ---- */

enum relation { EQUAL, AT_MOST };

struct law {
	const char *says;
	int (*holds_for)(const struct machine *m); /* NULL: for all */
	enum relation relation;
	int left[10], right[10]; /* counters + 1; 0 ends */
};

#define C(name) (CP_SIM_##name + 1)

static int has_l2(const struct machine *m)
{
	return m->l2.sets != 0;
}

static int has_llc(const struct machine *m)
{
	return m->llc.sets != 0;
}

static int has_both(const struct machine *m)
{
	return has_l2(m) && has_llc(m);
}

static int allocates(const struct machine *m)
{
	return !m->l1d.no_allocate;
}

static int never_allocates(const struct machine *m)
{
	return m->l1d.no_allocate;
}

static int writes_back(const struct machine *m)
{
	return !m->l1d.write_through && !m->l1d.no_allocate && has_l2(m);
}

static int plain_l2(const struct machine *m)
{
	return has_l2(m) && m->l2.inclusion != EXCLUSIVE && !m->l2.no_allocate &&
	       m->l2.inclusion != INCLUSIVE && writes_back(m);
}

/* A modified line stays one further out: it is not given back as such. */
static int passes_no_modified(const struct machine *m)
{
	return plain_l2(m) && m->llc.inclusion != EXCLUSIVE && !m->l2.write_through;
}

/* An inclusive last level takes them from L1D, too. */
static int passes_through_l2(const struct machine *m)
{
	return passes_no_modified(m) && has_llc(m) && m->llc.inclusion != INCLUSIVE;
}

static int one_socket(const struct machine *m)
{
	return m->sockets.sockets <= 1;
}

static const struct law laws[] = {
	{"a line enters L1D for each miss and each prefetch", allocates, EQUAL,
		{C(l1d_fills)},
		{C(l1d_load_lines), C(l1d_store_lines), C(l1d_prefetches)}},
	{"a line enters L1D for each load that missed and each prefetch", never_allocates,
		EQUAL, {C(l1d_fills)}, {C(l1d_load_lines), C(l1d_prefetches)}},
	{"L2 is asked for what L1 lacks and what it prefetches", writes_back, EQUAL,
		{C(l2_accesses)},
		{C(l1i_misses), C(l1i_prefetches), C(l1d_fills), C(l1d_bypasses)}},
	{"L2 misses no more than it is asked for", has_l2, AT_MOST,
		{C(l2_ifetch_misses), C(l2_load_lines), C(l2_store_lines),
			C(l2_prefetch_misses)},
		{C(l2_accesses)}},
	{"loads miss L2 no more than they miss L1D", has_l2, AT_MOST, {C(l2_load_lines)},
		{C(l1d_load_lines), C(l1d_bypasses)}},
	{"what comes from beyond L2 is what it missed or prefetched", writes_back, EQUAL,
		{C(beyond_l2_lines)},
		{C(l2_ifetch_misses), C(l2_load_lines), C(l2_store_lines),
			C(l2_prefetch_misses), C(l2_prefetches)}},
	{"what comes from beyond L2 is put there", plain_l2, AT_MOST,
		{C(beyond_l2_lines)}, {C(l2_fills)}},
	{"nothing else is put into L2 but what L1D evicts modified", plain_l2, AT_MOST,
		{C(l2_fills)}, {C(beyond_l2_lines), C(l1d_writebacks), C(hitm)}},
	{"the last level misses no more than it is asked for", has_llc, AT_MOST,
		{C(llc_ifetch_misses), C(llc_load_lines), C(llc_store_lines),
			C(llc_prefetch_misses)},
		{C(llc_accesses)}},
	{"a load misses L1D once", NULL, AT_MOST, {C(l1d_load_misses)}, {C(l1d_loads)}},
	{"a store misses L1D once", NULL, AT_MOST, {C(l1d_store_misses)},
		{C(l1d_stores)}},
	{"a load misses the DTLB once", NULL, AT_MOST, {C(dtlb_load_misses)},
		{C(l1d_loads)}},
	{"a store misses the DTLB once", NULL, AT_MOST, {C(dtlb_store_misses)},
		{C(l1d_stores)}},
	{"a load that missed L1D lacked a line", NULL, AT_MOST, {C(l1d_load_misses)},
		{C(l1d_load_lines)}},
	{"a store that missed L1D lacked a line", NULL, AT_MOST, {C(l1d_store_misses)},
		{C(l1d_store_lines)}},
	{"loads that missed L2 missed what is in front of it", has_l2, AT_MOST,
		{C(l2_load_misses)}, {C(l1d_load_misses), C(l1d_bypasses)}},
	{"loads that missed both missed L2", has_both, AT_MOST, {C(llc_load_misses)},
		{C(l2_load_misses)}},
	{"what L1D writes back was stored to", passes_no_modified, AT_MOST,
		{C(l1d_writebacks)}, {C(l1d_stores)}},
	{"what another core had modified was stored to", passes_no_modified, AT_MOST,
		{C(hitm)}, {C(l1d_stores)}},
	{"what L2 writes back came modified from an L1D", passes_no_modified, AT_MOST,
		{C(l2_writebacks)}, {C(l1d_writebacks), C(hitm)}},
	{"what the last level writes back came modified from L2", passes_through_l2,
		AT_MOST, {C(llc_writebacks)}, {C(l2_writebacks), C(hitm)}},
	{"lines are modified by stores only", NULL, AT_MOST, {C(l1d_half_writebacks)},
		{C(l1d_writebacks), C(l1d_writebacks)}},
	{"prefetched into L1D: by prefetchers, and by instructions", NULL, AT_MOST,
		{C(l1d_hardware_prefetches)}, {C(l1d_prefetches)}},
	{"prefetched into L2: by prefetchers, and by instructions", NULL, AT_MOST,
		{C(l2_hardware_prefetches)}, {C(l2_prefetches)}},
	{"walks are misses of the first level", NULL, AT_MOST,
		{C(dtlb_load_walks), C(dtlb_store_walks), C(itlb_walks)},
		{C(dtlb_load_pages), C(dtlb_store_pages), C(itlb_misses)}},
	{"one socket has no other", one_socket, EQUAL,
		{C(one_hop_lines), C(two_hop_lines), C(remote_hitm),
			C(loads_remote_cache), C(remote_prefetches)},
		{0}},
	{"a line from another core was modified there", NULL, AT_MOST,
		{C(loads_remote_cache)}, {C(loads_cache_to_cache)}},
};

static uint64_t sum(const struct ref_system *s, const int counters[])
{
	uint64_t sum = 0;

	for (int i = 0; i < s->ncores; i++)
		for (int k = 0; counters[k]; k++)
			sum += s->core[i].count[counters[k] - 1];
	return sum;
}

/* Lines that a prefetcher brought and that nobody has asked for since. */
static uint64_t waiting_in(const struct ref_cache *c)
{
	uint64_t n = 0;

	for (uint64_t i = 0; i < (uint64_t)c->g.sets * c->g.ways; i++)
		n += c->way[i].valid && c->way[i].prefetched;
	return n;
}

static int is_account_of(const struct ref_system *s, const char *level,
	const int counters[3], uint64_t there)
{
	const int filled[] = {counters[0] + 1, 0},
		  gone[] = {counters[1] + 1, counters[2] + 1, 0};

	if (sum(s, filled) == sum(s, gone) + there)
		return 1;
	printf("# %s: %llu lines were prefetched, but %llu used or useless and %llu "
	       "are there\n",
		level, (unsigned long long)sum(s, filled),
		(unsigned long long)sum(s, gone), (unsigned long long)there);
	return 0;
}

/* Each prefetched line is used, was useless, or is still there. */
static int laws_of_prefetching(const struct ref_system *s)
{
	static const int l1i[] = {CP_SIM_l1i_prefetches, CP_SIM_l1i_prefetches_used,
		CP_SIM_l1i_prefetches_useless},
			 l1d[] = {CP_SIM_l1d_hardware_prefetches,
				 CP_SIM_l1d_prefetches_used,
				 CP_SIM_l1d_prefetches_useless},
			 l2[] = {CP_SIM_l2_hardware_prefetches, CP_SIM_l2_prefetches_used,
				 CP_SIM_l2_prefetches_useless};
	uint64_t in_l1i = 0, in_l1d = 0, in_l2 = 0;

	for (int i = 0; i < s->ncores; i++) {
		in_l1i += waiting_in(&s->core[i].l1i);
		in_l1d += waiting_in(&s->core[i].l1d);
	}
	for (int i = 0; i < REF_CORES; i++)
		in_l2 += waiting_in(&s->l2[i]);
	return 3 - is_account_of(s, "L1I", l1i, in_l1i) -
	       is_account_of(s, "L1D", l1d, in_l1d) - is_account_of(s, "L2", l2, in_l2);
}

int laws_of_conservation(const struct ref_system *s)
{
	int broken = laws_of_prefetching(s);

	for (unsigned i = 0; i < sizeof(laws) / sizeof(laws[0]); i++) {
		const struct law *law = &laws[i];
		uint64_t left = sum(s, law->left), right = sum(s, law->right);

		if (law->holds_for && !law->holds_for(&s->m))
			continue;
		if (left == right || (law->relation == AT_MOST && left < right))
			continue;
		printf("# %s: %llu, but %llu\n", law->says, (unsigned long long)left,
			(unsigned long long)right);
		broken++;
	}
	return broken;
}
