/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Behind the first level of a machine that is not plain (flex.h).
 */
#include "flex/flex_outer_parts.h"

/* ---- taking lines away from L1 ---- */

/* Empties every L1 line of the core within [unit, unit + units); counts for
 * whoever is to blame.  Returns whether any was modified. */
static int purge_l1(struct core *blamed, struct core *core, uint64_t unit, uint64_t units)
{
	struct flex_core *f = core->flex;
	struct flex_place p;
	int dirty = 0;

	for (uint64_t u = unit; u < unit + units; u += 1ull << f->l1d.shift) {
		p = flex_find(&f->l1d, u);
		if (p.way < 0)
			continue;
		flex_lost_data(core, &p);
		blamed->count[CP_SIM_back_invalidations]++;
		if (is_dirty(&f->l1d, &p))
			flex_count_writeback(blamed, *flex_flags(&f->l1d, &p));
		flex_count_leaving(blamed, &f->l1d, &p);
		dirty |= take_line(&f->l1d, &p);
	}
	for (uint64_t u = unit; u < unit + units; u += 1ull << f->l1i.shift) {
		p = flex_find(&f->l1i, u);
		if (p.way < 0)
			continue;
		flex_lost_code(core, &p);
		blamed->count[CP_SIM_back_invalidations]++;
		flex_count_leaving(blamed, &f->l1i, &p);
		flex_drop(&f->l1i, &p);
	}
	return dirty;
}

static int purge_cluster_l1(struct core *blamed, const struct flex_cluster *cluster,
	uint64_t unit, uint64_t units)
{
	int dirty = 0;

	for (struct core *c = cluster->cores; c; c = c->flex->next)
		dirty |= purge_l1(blamed, c, unit, units);
	return dirty;
}

static int purge_l2(
	struct core *blamed, struct flex_cluster *cluster, uint64_t unit, uint64_t units)
{
	struct flex_cache *l2 = &cluster->l2;
	int dirty = 0;

	for (uint64_t u = unit; l2->sets && u < unit + units; u += 1ull << l2->shift) {
		struct flex_place p = flex_find(l2, u);

		if (p.way < 0)
			continue;
		blamed->count[CP_SIM_back_invalidations]++;
		*written_in(cluster, &p) = 0;
		flex_count_leaving(blamed, l2, &p);
		if (!take_line(l2, &p))
			continue;
		blamed->count[CP_SIM_l2_writebacks]++;
		dirty = 1;
	}
	return dirty;
}

/* ---- last level ---- */

/* Takes from all in front of the last level what that evicts. */
static int purge_all(struct core *core, uint64_t unit, uint64_t units)
{
	int dirty = 0;

	for (struct flex_cluster *c = shared_of(core)->clusters; c; c = c->next) {
		if (c->group != core->flex->cluster->group)
			continue;
		dirty |= purge_cluster_l1(core, c, unit, units);
		dirty |= purge_l2(core, c, unit, units);
	}
	return dirty;
}

static void llc_fill(struct core *core, struct flex_place *p, uint32_t flags)
{
	struct flex_cache *llc = llc_of(core);

	if (flex_make_room(llc, p)) {
		int dirty = is_dirty(llc, p) != 0;

		if (llc->g.inclusion == INCLUSIVE)
			dirty |= purge_all(core, flex_unit(llc, p), 1ull << llc->shift);
		core->count[CP_SIM_llc_writebacks] += (uint64_t)dirty;
	}
	core->count[CP_SIM_llc_fills]++;
	flex_put(llc, p, flags);
}

/* The line in the last level is modified, or memory is if it writes through. */
static uint32_t llc_modified(struct core *core)
{
	if (!llc_of(core)->g.write_through)
		return FLEX_DIRTY;
	core->count[CP_SIM_llc_writes_through]++;
	return 0;
}

void flex_demoted(struct core *core, uint64_t unit, int dirty)
{
	struct flex_cache *llc = llc_of(core);
	struct flex_place p = flex_find(llc, unit);

	if (!llc->sets)
		return;
	if (p.way >= 0) {
		if (dirty)
			*flex_flags(llc, &p) |= (uint8_t)llc_modified(core);
	} else if (dirty && llc->g.no_allocate) {
		core->count[CP_SIM_llc_writes_through]++;
	} else {
		llc_fill(core, &p, dirty ? llc_modified(core) : 0);
	}
}

/* A store comes from a level that does not keep it. */
static void llc_write(struct core *core, uint64_t unit)
{
	struct flex_cache *llc = llc_of(core);
	struct flex_place p = flex_find(llc, unit);

	if (!llc->sets)
		return;
	core->count[CP_SIM_llc_accesses]++;
	if (p.way >= 0) {
		flex_touch(llc, &p);
		*flex_flags(llc, &p) |= (uint8_t)llc_modified(core);
		return;
	}
	core->count[CP_SIM_llc_store_lines]++;
	if (llc->g.no_allocate)
		core->count[CP_SIM_llc_writes_through]++;
	else
		llc_fill(core, &p, llc_modified(core));
}

/* ---- memory ---- */

uint32_t flex_home(struct core *core, uint64_t unit)
{
	struct flex_shared *s = shared_of(core);
	uint32_t socket = core->flex->cluster->socket;

	if (s->sockets.sockets <= 1)
		return socket;
	unit = far_lines_lengthen(&front->far_lines, unit);
	return numa_home(&s->numa, unit >> core->flex->page_shift, socket);
}

static void count_hops(uint64_t *count, uint32_t hops, enum access kind)
{
	static const uint16_t lines[] = {0, CP_SIM_one_hop_lines, CP_SIM_two_hop_lines},
			      loads[] = {0, CP_SIM_loads_one_hop, CP_SIM_loads_two_hop};

	count[lines[hops]]++;
	if (kind == LOAD)
		count[loads[hops]]++;
}

/* Counts the line that leaves memory. */
static void memory_serves(struct core *core, uint64_t unit, enum access kind)
{
	uint32_t home = flex_home(core, unit), hops = numa_hops(&shared_of(core)->sockets,
						       core->flex->cluster->socket, home);

	if (hops && kind == PREFETCH)
		core->count[CP_SIM_remote_prefetches]++;
	else if (hops)
		count_hops(core->count, hops, kind);
}

/* Counts the one that another core gave up, by way of the last level if there is one. */
static void core_serves(struct core *core, enum access kind)
{
	core->count[CP_SIM_loads_cache_to_cache] += kind == LOAD;
	core->count[CP_SIM_loads_remote_cache] +=
		kind == LOAD && core->flex->from_core > 1;
}

static void spare(struct core *core, int store, int in_l1)
{
	core->spared[SPARED_L1D + store] += (uint64_t)in_l1;
	core->spared[SPARED_L2 + store] += core->flex->from != 0;
}

void flex_hide(struct core *core, uint64_t unit, enum access kind, int in_l1)
{
	const struct flex_core *f = core->flex;
	const struct latencies *of = &f->latencies;
	uint32_t latency = f->from & FLEX_FROM_MEMORY ? of->memory
			   : f->from                  ? of->llc
						      : of->l2,
		 hops = 0;
	uint64_t *hidden = core->hidden;

	if (kind != IFETCH)
		spare(core, kind == STORE, in_l1);
	if (!hidden)
		return;
	if (f->from & FLEX_FROM_MEMORY)
		hops = numa_hops(&shared_of(core)->sockets, f->cluster->socket,
			flex_home(core, unit));
	latency = hops ? (hops == 1 ? of->one_hop : of->two_hops) : latency;
	if (in_l1)
		hidden[kind == IFETCH ? CP_SIM_l1i_misses
				      : CP_SIM_l1d_load_lines + (kind == STORE)]++;
	hidden[CP_SIM_l2_ifetch_misses + kind] += f->from != 0;
	hidden[CP_SIM_llc_ifetch_misses + kind] += f->from == FLEX_FROM_MEMORY;
	if (hops)
		count_hops(hidden, hops, kind);
	if (kind == LOAD)
		hidden[CP_SIM_load_latency_cycles] += latency - (in_l1 ? 0 : of->l2);
}

/* A line leaves the last level or memory for the cores.  flags has OWNED if no other
 * core has it; DIRTY is added if it is modified and the receiver's is its only copy
 * (may_be_dirty: the receiver can keep such). */
static uint32_t llc_fetch(struct core *core, uint64_t unit, enum access kind,
	uint32_t flags, int may_be_dirty)
{
	struct flex_cache *llc = llc_of(core);
	struct flex_place p = flex_find(llc, unit);
	int from_core = core->flex->from_core, alone = (flags & FLEX_OWNED) != 0;

	core->flex->from = p.way >= 0 ? FLEX_FROM_LLC : FLEX_FROM_MEMORY;
	if (from_core && (!llc->sets || p.way >= 0))
		core_serves(core, kind);
	else if (p.way < 0)
		memory_serves(core, unit, kind);
	if (!llc->sets)
		return flags;
	core->count[CP_SIM_llc_accesses]++;
	if (p.way < 0) {
		core->count[CP_SIM_llc_ifetch_misses + kind]++;
		if (!flex_exclusive(llc))
			llc_fill(core, &p, 0);
		return flags;
	}
	if (!flex_exclusive(llc) || !alone || (is_dirty(llc, &p) && !may_be_dirty)) {
		flex_touch(llc, &p);
		return flags;
	}
	return flags | (take_line(llc, &p) ? FLEX_DIRTY : 0);
}

/* ---- L2 ---- */

static void l2_evict(struct core *core, const struct flex_place *p)
{
	struct flex_cluster *cluster = core->flex->cluster;
	struct flex_cache *l2 = &cluster->l2;
	uint64_t unit = flex_unit(l2, p);
	int dirty = is_dirty(l2, p) != 0;

	flex_count_leaving(core, l2, p);
	if (l2->g.inclusion == INCLUSIVE)
		dirty |= purge_cluster_l1(core, cluster, unit, 1ull << l2->shift);
	core->count[CP_SIM_l2_writebacks] += (uint64_t)dirty;
	if (dirty || flex_exclusive(llc_of(core)))
		flex_demoted(core, unit, dirty);
}

/* Lets the host fetch where the last level will put what L2 evicts for the line at p. */
static void expect_eviction(const struct core *core, const struct flex_place *p)
{
	const struct flex_cache *l2 = &core->flex->cluster->l2, *llc = llc_of(core);
	struct flex_place victim = *p;

	if (!flex_exclusive(llc) || !flex_will_evict(l2, &victim))
		return;
	flex_expect(llc, flex_unit(l2, &victim));
}

static void l2_fill(struct core *core, struct flex_place *p, uint32_t flags)
{
	struct flex_cache *l2 = &core->flex->cluster->l2;

	if (flex_make_room(l2, p))
		l2_evict(core, p);
	core->count[CP_SIM_l2_fills]++;
	*written_in(core->flex->cluster, p) = 0;
	flex_put(l2, p, flags);
}

/* L2 gets modified data: DIRTY, or what is further out is told. */
static uint32_t l2_modified(
	struct core *core, uint64_t unit, void (*pass)(struct core *core, uint64_t unit))
{
	if (!core->flex->cluster->l2.g.write_through)
		return FLEX_DIRTY;
	core->count[CP_SIM_l2_writes_through]++;
	pass(core, unit);
	return 0;
}

static void pass_victim(struct core *core, uint64_t unit)
{
	flex_demoted(core, unit, 1);
}

void flex_evicted(struct core *core, uint64_t unit, uint32_t flags)
{
	struct flex_cache *l2 = &core->flex->cluster->l2;
	int dirty = (flags & FLEX_ANY_DIRTY) != 0;
	struct flex_place p;

	if (!dirty && !flex_exclusive(l2->sets ? l2 : llc_of(core)))
		return;
	if (!l2->sets) {
		flex_demoted(core, unit, dirty);
		return;
	}
	p = flex_find(l2, unit);
	flags &= FLEX_OWNED; /* which modified lines out of an exclusive level may lack */
	if (!dirty) {
		if (p.way < 0)
			l2_fill(core, &p, flags);
	} else if (p.way >= 0) {
		flags |= l2_modified(core, unit, pass_victim);
		*flex_flags(l2, &p) |= (uint8_t)flags;
	} else if (l2->g.no_allocate) {
		core->count[CP_SIM_l2_writes_through]++;
		flex_demoted(core, unit, 1);
	} else {
		flags |= l2_modified(core, unit, pass_victim);
		l2_fill(core, &p, flags);
	}
}

/* A store comes that L2 has no line for. */
static void l2_write_miss(struct core *core, uint64_t unit, struct flex_place *p)
{
	struct flex_cache *l2 = &core->flex->cluster->l2;
	uint32_t flags;

	core->count[CP_SIM_l2_store_lines]++;
	if (l2->g.no_allocate) {
		core->count[CP_SIM_l2_writes_through]++;
		llc_write(core, unit);
		return;
	}
	core->count[CP_SIM_beyond_l2_lines]++;
	flags = llc_fetch(core, unit, STORE, FLEX_OWNED, 1);
	flags |= l2_modified(core, unit, llc_write);
	l2_fill(core, p, flags);
}

static void l2_write_hit(struct core *core, uint64_t unit, const struct flex_place *p)
{
	struct flex_cluster *cluster = core->flex->cluster;
	uint8_t *flags = flex_flags(&cluster->l2, p);

	flex_touch(&cluster->l2, p);
	flex_is_first_use(core, &cluster->l2, p);
	*flags |= (uint8_t)(FLEX_OWNED | l2_modified(core, unit, llc_write));
	*written_in(cluster, p) =
		cluster->l2.g.write_through || cluster->l2.g.policy >= POLICY_QLRU
			? 0
			: name_of(p);
}

void flex_write(struct core *core, uint64_t unit)
{
	struct flex_cluster *cluster = core->flex->cluster;
	struct flex_cache *l2 = &cluster->l2;
	struct flex_place p;

	if (!l2->sets) {
		llc_write(core, unit);
		return;
	}
	core->count[CP_SIM_l2_accesses]++;
	core->flex->from_core = 0; /* if it was, memory has it now */
	p = flex_place_of(l2, unit);
	if (*written_in(cluster, &p) == name_of(&p))
		return;
	p.way = flex_find_tag(l2, flex_tags(&p), p.tag);
	if (p.way >= 0)
		l2_write_hit(core, unit, &p);
	else
		l2_write_miss(core, unit, &p);
}

/* ---- other cores ---- */

/* The findings of a look at one cache's line. */
struct finding {
	struct core *by; /* who looks */
	int present, dirty;
};

static void give_up(struct flex_cache *c, const struct flex_place *p, enum access kind,
	struct finding *found)
{
	found->present = 1;
	found->dirty |= is_dirty(c, p) != 0;
	if (kind == STORE) {
		flex_count_leaving(found->by, c, p);
		flex_drop(c, p);
		return;
	}
	*flex_flags(c, p) &= (uint8_t) ~(FLEX_ANY_DIRTY | FLEX_OWNED);
}

static void search_parts(struct flex_cache *c, uint64_t unit, uint64_t units,
	enum access kind, struct finding *found)
{
	for (uint64_t u = unit; u < unit + units; u += 1ull << c->shift) {
		struct flex_place p = flex_find(c, u);

		if (p.way >= 0)
			give_up(c, &p, kind, found);
	}
}

/* L1I is not asked, unless what it evicts goes to L2. */
static void search_l1(struct core *core, uint64_t unit, uint64_t units, enum access kind,
	struct finding *found)
{
	struct flex_core *f = core->flex;

	search_parts(&f->l1d, unit, units, kind, found);
	if (flex_exclusive(&f->cluster->l2))
		search_parts(&f->l1i, unit, units, kind, found);
}

/* Returns whether the finder is alone with the line now. */
static int account_for(struct core *core, enum access kind, struct finding found)
{
	core->count[CP_SIM_hitm] += (uint64_t)found.dirty;
	if (kind == STORE)
		core->count[CP_SIM_invalidations] += (uint64_t)found.present;
	return kind == STORE || !found.present;
}

/* The L1Ds of the cores that share our L2. */
static __attribute__((noinline)) int snoop_some(
	struct core *core, uint64_t unit, enum access kind)
{
	const struct flex_cluster *cluster = core->flex->cluster;
	uint32_t shift = core->flex->l1d.shift;
	int alone = 1;

	unit = unit >> shift << shift;
	for (struct core *c = cluster->cores; c; c = c->flex->next) {
		struct finding found = {core, 0, 0};

		if (c == core)
			continue;
		search_parts(&c->flex->l1d, unit, 1ull << shift, kind, &found);
		if (found.dirty)
			flex_evicted(core, unit, FLEX_DIRTY);
		alone &= account_for(core, kind, found);
	}
	return alone;
}

LANES_INLINE int snoop_siblings(struct core *core, uint64_t unit, enum access kind)
{
	return core->flex->cluster->ncores == 1 || snoop_some(core, unit, kind);
}

/* A line that is modified there leaves it for us. */
static void note_modified(struct core *core, uint32_t socket)
{
	struct flex_core *f = core->flex;
	uint32_t far = socket != f->cluster->socket;

	f->from_core |= 1u << far;
	core->count[CP_SIM_remote_hitm] += far;
}

/* The last levels that other cores are around. */
static int snoop_groups(
	struct core *core, uint64_t unit, uint64_t units, enum access kind)
{
	int alone = 1;

	for (struct flex_group *g = shared_of(core)->groups; g; g = g->next) {
		struct finding found = {core, 0, 0};

		if (g == core->flex->cluster->group || !g->llc.sets)
			continue;
		search_parts(&g->llc, unit, units, kind, &found);
		if (found.dirty) {
			flex_demoted(core, unit, 1);
			note_modified(core, g->socket);
		}
		alone &= kind == STORE || !found.present;
	}
	return alone;
}

/* The other clusters: their L2 and the L1Ds in front of it. */
static int snoop_clusters(struct core *core, uint64_t unit, enum access kind)
{
	struct flex_shared *s = shared_of(core);
	uint64_t units = 1ull << s->granule_shift;
	int alone = 1;

	core->flex->from_core = 0;
	if (s->nclusters == 1)
		return 1;
	unit &= ~(units - 1);
	for (struct flex_cluster *cluster = s->clusters; cluster;
		cluster = cluster->next) {
		struct finding found = {core, 0, 0};

		if (cluster == core->flex->cluster)
			continue;
		for (struct core *c = cluster->cores; c; c = c->flex->next)
			search_l1(c, unit, units, kind, &found);
		if (cluster->l2.sets)
			search_parts(&cluster->l2, unit, units, kind, &found);
		if (found.present)
			host_zero(cluster->written, sizeof(cluster->written));
		if (found.dirty) {
			flex_demoted(core, unit, 1);
			note_modified(core, cluster->socket);
		}
		alone &= account_for(core, kind, found);
	}
	return alone & snoop_groups(core, unit, units, kind);
}

void flex_own(struct core *core, uint64_t unit)
{
	struct flex_cache *l2 = &core->flex->cluster->l2;
	struct flex_place p;

	snoop_siblings(core, unit, STORE);
	p = flex_find(l2, unit);
	if (p.way >= 0 && *flex_flags(l2, &p) & FLEX_OWNED)
		return;
	snoop_clusters(core, unit, STORE);
	if (p.way >= 0)
		*flex_flags(l2, &p) |= FLEX_OWNED;
}

/* ---- fetching ---- */

int flex_bring_l2(struct core *core, uint64_t unit, uint32_t with)
{
	struct flex_cache *l2 = &core->flex->cluster->l2;
	struct flex_place p = flex_find(l2, unit);
	uint32_t flags;

	if (p.way >= 0)
		return 0;
	expect_eviction(core, &p);
	core->count[CP_SIM_l2_prefetches]++;
	core->count[CP_SIM_beyond_l2_lines]++;
	flags = snoop_clusters(core, unit, PREFETCH) ? FLEX_OWNED : 0;
	flags = llc_fetch(core, unit, PREFETCH, flags, 1);
	l2_fill(core, &p, flags | with | (with ? core->flex->from : 0));
	return 1;
}

static void l2_prefetch_line(struct core *core, uint64_t unit)
{
	if (flex_bring_l2(core, unit, FLEX_PREFETCHED))
		core->count[CP_SIM_l2_hardware_prefetches]++;
}

static void note_for_training(struct core *core, uint64_t unit, enum access kind)
{
	core->flex->l2_seen = unit;
	core->flex->l2_seen_as = kind;
}

void flex_train_l2(struct core *core)
{
	struct flex_core *f = core->flex;
	uint64_t seen = f->l2_seen;

	f->l2_seen = NO_LINE;
	if (seen != NO_LINE && flex_prefetches(&f->cluster->l2))
		flex_prefetch(core, f->l2_prefetchers, &f->cluster->l2, seen,
			f->l2_seen_as, l2_prefetch_line);
}

/* alone, here and below: no sibling has the line. */
static uint32_t l2_hit(struct core *core, uint64_t unit, const struct flex_place *p,
	enum access kind, int alone)
{
	struct flex_cache *l2 = &core->flex->cluster->l2;
	uint8_t *flags = flex_flags(l2, p);
	int first;
	uint32_t result;

	core->flex->from = 0;
	first = flex_is_first_use(core, l2, p);
	if (first && kind != PREFETCH)
		flex_hide(core, unit, kind, 0);
	flex_touch(l2, p);
	if (!(*flags & FLEX_OWNED) && snoop_clusters(core, unit, kind))
		*flags |= FLEX_OWNED;
	result = *flags & FLEX_OWNED;
	if (flex_exclusive(l2) && alone && !(kind == IFETCH && is_dirty(l2, p)))
		result |= take_line(l2, p) ? FLEX_DIRTY : 0;
	if (first)
		note_for_training(core, unit, kind);
	return result;
}

static uint32_t l2_miss(struct core *core, uint64_t unit, struct flex_place *p,
	enum access kind, int alone)
{
	struct flex_cache *l2 = &core->flex->cluster->l2;
	int fills = !flex_exclusive(l2);
	uint32_t flags;

	if (fills)
		expect_eviction(core, p);
	core->count[CP_SIM_l2_ifetch_misses + kind]++;
	core->count[CP_SIM_beyond_l2_lines]++;
	flags = snoop_clusters(core, unit, kind) && (fills || alone) ? FLEX_OWNED : 0;
	flags = llc_fetch(core, unit, kind, flags, fills || kind != IFETCH);
	if (fills)
		l2_fill(core, p, flags);
	note_for_training(core, unit, kind);
	return fills ? flags & FLEX_OWNED : flags;
}

uint32_t flex_fetch(struct core *core, uint64_t unit, enum access kind)
{
	struct flex_cache *l2 = &core->flex->cluster->l2;
	int alone = snoop_siblings(core, unit, kind);
	struct flex_place p = flex_find(l2, unit);
	uint32_t flags;

	if (l2->sets) {
		core->count[CP_SIM_l2_accesses]++;
		*written_in(core->flex->cluster, &p) = 0;
	}
	core->flex->l2_misses = core->flex->l2_misses << 1 | (p.way < 0);
	if (!l2->sets) {
		core->count[CP_SIM_beyond_l2_lines]++;
		flags = snoop_clusters(core, unit, kind) && alone ? FLEX_OWNED : 0;
		flags = llc_fetch(core, unit, kind, flags, kind != IFETCH);
	} else if (p.way >= 0) {
		flags = l2_hit(core, unit, &p, kind, alone);
	} else {
		flags = l2_miss(core, unit, &p, kind, alone);
	}
	return alone ? flags : flags & ~(uint32_t)FLEX_OWNED;
}
