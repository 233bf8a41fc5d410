/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/follow.h"
#include "model/host.h"

/* ---- who may follow whom ---- */

static int same_array(const struct geometry *a, const struct geometry *b)
{
	return a->sets == b->sets && a->ways == b->ways && a->absent == b->absent;
}

/* The leader's ways may be fewer where all pages are in this array. */
static int same_tlb(const struct geometry *mine, const struct geometry *leaders,
	const struct geometry *huge, const struct geometry *leaders_huge)
{
	if (!same_array(huge, leaders_huge) || mine->sets != leaders->sets)
		return 0;
	return mine->ways == leaders->ways || (mine->ways > leaders->ways && !huge->sets);
}

int follow_can(const struct machine *m, const struct machine *leader)
{
	return machine_is_plain(m) && machine_is_plain(leader) && !m->time.memory &&
	       !leader->time.memory && m->line == leader->line &&
	       m->page == leader->page && same_array(&m->l1i, &leader->l1i) &&
	       same_array(&m->l1d, &leader->l1d) && same_array(&m->l2, &leader->l2) &&
	       same_tlb(&m->itlb, &leader->itlb, &m->itlb_2m, &leader->itlb_2m) &&
	       same_tlb(&m->dtlb, &leader->dtlb, &m->dtlb_2m, &leader->dtlb_2m) &&
	       machine_fewest_sets(m) == machine_fewest_sets(leader);
}

/* ---- what a larger TLB has beside the leader's pages ---- */

static uint64_t rest_size(const struct follow_rest *r)
{
	return (uint64_t)r->sets * r->ways * sizeof(*r->page);
}

static int rest_init(
	struct follow_rest *r, const struct cache *mine, const struct cache *leaders)
{
	*r = (struct follow_rest){0, mine->sets, mine->ways - leaders->ways};
	r->page = rest_size(r) ? host_alloc(rest_size(r)) : 0;
	return rest_size(r) && !r->page ? -1 : 0;
}

static void rest_free(struct follow_rest *r)
{
	if (r->page)
		host_free(r->page, rest_size(r));
}

static struct follow_page *rest_set(const struct follow_rest *r, uint32_t set)
{
	return r->page + (uint64_t)set * r->ways;
}

static void rest_add(struct follow_rest *r, uint32_t set, struct follow_page page)
{
	struct follow_page *at = rest_set(r, set);

	for (uint32_t i = r->ways - 1; i > 0; i--)
		at[i] = at[i - 1];
	at[0] = page;
}

/* Returns whether it was there. */
static int rest_take(struct follow_rest *r, struct cache_place p)
{
	struct follow_page *at = rest_set(r, p.set);
	uint32_t i = 0;

	while (i < r->ways && at[i].tag != p.tag)
		i++;
	if (i == r->ways)
		return 0;
	for (; i + 1 < r->ways; i++)
		at[i] = at[i + 1];
	at[i] = (struct follow_page){0, 0};
	return 1;
}

int follow_misses_page(struct core *core, uint64_t key, enum access kind)
{
	int code = kind == IFETCH;
	const struct cache *tlb = code ? &core->itlb : &core->dtlb;
	struct follow_rest *r = code ? &core->follow->itlb : &core->follow->dtlb;

	if (r->page && rest_take(r, cache_place(tlb, key)))
		return 0;
	core->count[code ? CP_SIM_itlb_misses
			 : CP_SIM_dtlb_load_pages + (kind == STORE)]++;
	return 1;
}

void follow_evicted(
	struct core *leader, int code, uint32_t set, uint32_t tag, uint8_t byte)
{
	if (!tag)
		return;
	for (struct core *f = leader->followers; f; f = f->next_follower) {
		struct follow_rest *r = code ? &f->follow->itlb : &f->follow->dtlb;

		if (r->page)
			rest_add(r, set, (struct follow_page){tag, byte});
	}
}

void follow_drop_page(struct core *core, uint64_t key)
{
	if (core->follow->dtlb.page)
		rest_take(&core->follow->dtlb, cache_place(&core->dtlb, key));
	if (core->follow->itlb.page)
		rest_take(&core->follow->itlb, cache_place(&core->itlb, key));
}

/* ---- its counts ---- */

static int is_own(unsigned counter)
{
	switch (counter) {
	case CP_SIM_itlb_misses:
	case CP_SIM_itlb_walks:
	case CP_SIM_dtlb_load_pages:
	case CP_SIM_dtlb_store_pages:
	case CP_SIM_dtlb_load_walks:
	case CP_SIM_dtlb_store_walks:
	case CP_SIM_llc_ifetch_misses:
	case CP_SIM_llc_load_lines:
	case CP_SIM_llc_store_lines:
	case CP_SIM_dtlb_load_misses:
	case CP_SIM_dtlb_store_misses:
	case CP_SIM_llc_load_misses:
	case CP_SIM_llc_store_misses:
	case CP_SIM_llc_writebacks:
	case CP_SIM_llc_fills:
		return 1;
	default:
		return 0;
	}
}

void follow_collect(struct core *core)
{
	const uint64_t *leaders = core->follow->leader->count;

	for (unsigned i = 0; i < CP_SIM_NCOUNTERS; i++)
		if (!is_own(i))
			core->count[i] = leaders[i];
	core->count[CP_SIM_llc_accesses] =
		core->uncore->llc.sets ? leaders[CP_SIM_beyond_l2_lines] : 0;
}

/* ---- its life ---- */

int follow_begin(struct core *core, struct core *leader)
{
	core->follow = host_alloc(sizeof(*core->follow));
	if (!core->follow ||
		rest_init(&core->follow->dtlb, &core->dtlb, &leader->dtlb) < 0 ||
		rest_init(&core->follow->itlb, &core->itlb, &leader->itlb) < 0)
		return -1;
	core->follow->leader = leader;
	core->next_follower = leader->followers;
	leader->followers = core;
	outer_choose_paths(leader);
	return 0;
}

void follow_free(struct core *core)
{
	rest_free(&core->follow->dtlb);
	rest_free(&core->follow->itlb);
	host_free(core->follow, sizeof(*core->follow));
	core->follow = 0;
}

/* Way by way: the rows of the leader may be shorter.  Its stamps become so much larger.
 */
static void copy(struct cache *to, const struct cache *from, uint32_t more)
{
	for (uint32_t set = 0; set < from->sets; set++) {
		uint8_t *row = cache_row(to, set), *old = cache_row(from, set);

		for (uint32_t way = 0; way < from->ways; way++) {
			uint32_t tag = row_tags(old)[way];

			row_tags(row)[way] = tag;
			row_stamps(to, row)[way] =
				tag ? row_stamps(from, old)[way] + more : 0;
		}
	}
	to->clock = from->clock;
}

static uint8_t *byte_of(const struct cache *c, uint32_t set, uint32_t way)
{
	return &c->bytes[(uint64_t)set * c->lanes + way];
}

static void copy_l1d(struct cache *to, const struct cache *from)
{
	copy(to, from, 0);
	for (uint32_t set = 0; set < from->sets; set++)
		for (uint32_t way = 0; way < from->ways; way++)
			*byte_of(to, set, way) =
				*byte_of(from, set, way) & (uint8_t)~L1_FILTERED;
}

/* The rest is older than all that the leader has. */
static void copy_tlb(
	struct cache *to, const struct cache *from, const struct follow_rest *r)
{
	copy(to, from, r->ways);
	for (uint32_t set = 0; set < from->sets; set++) {
		for (uint32_t way = 0; way < from->ways; way++)
			*byte_of(to, set, way) = *byte_of(from, set, way);
		for (uint32_t i = 0; r->page && i < r->ways; i++) {
			struct follow_page page = rest_set(r, set)[i];
			uint32_t way = from->ways + i;
			uint8_t *row = cache_row(to, set);

			row_tags(row)[way] = page.tag;
			row_stamps(to, row)[way] = page.tag ? r->ways - i : 0;
			*byte_of(to, set, way) = page.byte;
		}
	}
}

static void leave(struct core *core, struct core *leader)
{
	struct core **at = &leader->followers;

	while (*at != core)
		at = &(*at)->next_follower;
	*at = core->next_follower;
	core->next_follower = 0;
}

static uint32_t larger(uint32_t x, uint32_t y)
{
	return x > y ? x : y;
}

static void part(struct core *core)
{
	struct follow *f = core->follow;
	struct core *leader = f->leader;

	copy(&core->l1i, &leader->l1i, 0);
	copy_l1d(&core->l1d, &leader->l1d);
	copy(&core->l2, &leader->l2, 0);
	copy_tlb(&core->itlb, &leader->itlb, &f->itlb);
	copy_tlb(&core->dtlb, &leader->dtlb, &f->dtlb);
	copy_tlb(&core->itlb_2m, &leader->itlb_2m, &(struct follow_rest){.ways = 0});
	copy_tlb(&core->dtlb_2m, &leader->dtlb_2m, &(struct follow_rest){.ways = 0});
	core->clock = core->clock_seen =
		leader->clock + larger(f->itlb.ways, f->dtlb.ways);
	core->last_line = leader->last_line;
	core->l2_misses = leader->l2_misses;
	leave(core, leader);
	follow_free(core);
}

void follow_part(struct uncore *u)
{
	if (u->cores)
		u->regions = u->cores->follow->leader->uncore->regions;
	for (struct core *core = u->cores; core; core = core->next)
		part(core);
}
