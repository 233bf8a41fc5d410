/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Machines that are not plain (flex.h) come and go: what cores have of their own, and
 * the L2s and last levels that they share.
 */
#include "flex/flex.h"
#include "model/model.h"

/* From units to this cache's lines. */
static uint32_t line_shift(const struct machine *m, const struct geometry *g)
{
	return g->sets && g->line ? log2_of(g->line) - log2_of(m->line) : 0;
}

static uint32_t larger_of(uint32_t x, uint32_t y)
{
	return x > y ? x : y;
}

static struct flex_group *new_group(
	struct flex_shared *s, const struct machine *m, uint32_t socket)
{
	struct flex_group *group = host_alloc(sizeof(*group));

	if (!group || flex_cache_init(&group->llc, &m->llc, line_shift(m, &m->llc)))
		return 0;
	group->socket = socket;
	group->next = s->groups;
	s->groups = group;
	return group;
}

int flex_uncore_init(struct uncore *u, const struct machine *m)
{
	struct flex_shared *s = host_alloc(sizeof(*s));

	if (!s)
		return -1;
	u->flex = s;
	s->granule_shift = larger_of(line_shift(m, &m->l1d), line_shift(m, &m->l2));
	if (m->llc.shared)
		s->granule_shift = larger_of(s->granule_shift, line_shift(m, &m->llc));
	s->sockets = m->sockets;
	s->cores = m->cores;
	return new_group(s, m, 0) ? 0 : -1;
}

static void free_groups(struct flex_shared *s)
{
	struct flex_group *group = s->groups, *next;

	for (; group; group = next) {
		next = group->next;
		flex_cache_free(&group->llc);
		host_free(group, sizeof(*group));
	}
}

void flex_uncore_free(struct uncore *u)
{
	struct flex_cluster *cluster = u->flex->clusters, *next;

	for (; cluster; cluster = next) {
		next = cluster->next;
		flex_cache_free(&cluster->l2);
		host_free(cluster, sizeof(*cluster));
	}
	free_groups(u->flex);
	numa_free(&u->flex->numa);
	host_free(u->flex, sizeof(*u->flex));
	u->flex = 0;
}

/* The newest one of the socket. */
static struct flex_group *group_of(
	struct flex_shared *s, const struct machine *m, uint32_t socket)
{
	struct flex_group *group = s->groups;

	while (group && group->socket != socket)
		group = group->next;
	if (!group || (m->llc.shared && group->ncores >= m->llc.shared))
		return new_group(s, m, socket);
	return group;
}

static struct flex_cluster *new_cluster(
	struct flex_shared *s, const struct machine *m, uint32_t socket)
{
	struct flex_cluster *cluster = host_alloc(sizeof(*cluster));

	if (!cluster || flex_cache_init(&cluster->l2, &m->l2, line_shift(m, &m->l2)))
		return 0;
	cluster->l2.useless = CP_SIM_l2_prefetches_useless;
	cluster->group = group_of(s, m, socket);
	if (!cluster->group)
		return 0;
	cluster->socket = socket;
	cluster->next = s->clusters;
	s->clusters = cluster;
	s->nclusters++;
	return cluster;
}

/* The newest cluster of its socket, while that has room. */
static int join_cluster(struct core *core, const struct machine *m)
{
	struct flex_shared *s = core->uncore->flex;
	struct flex_cluster *cluster = s->clusters;
	uint32_t socket = numa_socket_of(&m->sockets, m->cores, s->ncores++);

	while (cluster && cluster->socket != socket)
		cluster = cluster->next;
	if (!cluster || cluster->ncores >= larger_of(m->l2.shared, 1))
		cluster = new_cluster(s, m, socket);
	if (!cluster)
		return -1;
	core->flex->cluster = cluster;
	core->flex->next = cluster->cores;
	cluster->cores = core;
	cluster->ncores++;
	cluster->group->ncores++;
	return 0;
}

/* The first level, of code or of data. */
static int first_init(struct core *core, struct flex_cache *l1, struct flex_cache *tlb,
	const struct machine *m, int code)
{
	const struct geometry *g = code ? &m->l1i : &m->l1d;

	l1->now = tlb->now = &core->flex->now;
	l1->owner = tlb->owner = core;
	l1->bit = tlb->bit = &core->flex->bit;
	l1->code = tlb->code = code;
	return flex_l1_init(l1, g, line_shift(m, g)) < 0 ||
			       flex_tlb_init(tlb, code ? &m->itlb : &m->dtlb,
				       core->flex->page_shift) < 0
		       ? -1
		       : 0;
}

/* The TLBs for huge pages, where there are any; one that is absent has no sets. */
static int huge_init_tlbs(struct core *core, const struct machine *m)
{
	struct flex_core *f = core->flex;
	uint32_t shift = f->page_shift + HUGE_PAGES_SHIFT;

	f->itlb_2m.now = f->dtlb_2m.now = &f->now;
	f->itlb_2m.owner = f->dtlb_2m.owner = core;
	f->itlb_2m.bit = f->dtlb_2m.bit = &f->bit;
	f->itlb_2m.code = 1;
	if ((m->itlb_2m.sets && flex_tlb_init(&f->itlb_2m, &m->itlb_2m, shift)) ||
		(m->dtlb_2m.sets && flex_tlb_init(&f->dtlb_2m, &m->dtlb_2m, shift)))
		return -1;
	return flex_cache_init(&f->stlb_2m, &m->stlb_2m, shift) ||
			       flex_cache_init(&f->itlb2_2m, &m->itlb2_2m, shift) ||
			       flex_cache_init(&f->dtlb2_2m, &m->dtlb2_2m, shift)
		       ? -1
		       : 0;
}

int flex_core_init(struct core *core, const struct machine *m, struct uncore *u)
{
	struct flex_core *f = host_alloc(sizeof(*f));

	if (!f)
		return -1;
	core->flex = f;
	core->uncore = u;
	f->last_code = f->l2_seen = NO_LINE;
	f->page_shift = log2_of(m->page) - log2_of(m->line);
	f->latencies = m->time;
	f->l1i.useless = CP_SIM_l1i_prefetches_useless;
	f->l1d.useless = CP_SIM_l1d_prefetches_useless;
	if (flex_prefetchers_init(f->l1i_prefetchers, m->l1i.prefetch) ||
		flex_prefetchers_init(f->l1d_prefetchers, m->l1d.prefetch) ||
		flex_prefetchers_init(f->l2_prefetchers, m->l2.prefetch))
		return -1;
	if (first_init(core, &f->l1i, &f->itlb, m, 1) ||
		first_init(core, &f->l1d, &f->dtlb, m, 0) ||
		flex_cache_init(&f->stlb, &m->stlb, f->page_shift) ||
		flex_cache_init(&f->itlb2, &m->itlb2, f->page_shift) ||
		flex_cache_init(&f->dtlb2, &m->dtlb2, f->page_shift) ||
		huge_init_tlbs(core, m))
		return -1;
	return join_cluster(core, m);
}

void flex_core_free(struct core *core)
{
	struct flex_core *f = core->flex;

	flex_prefetchers_free(f->l1i_prefetchers);
	flex_prefetchers_free(f->l1d_prefetchers);
	flex_prefetchers_free(f->l2_prefetchers);
	flex_cache_free(&f->l1i);
	flex_cache_free(&f->l1d);
	flex_cache_free(&f->itlb);
	flex_cache_free(&f->dtlb);
	flex_cache_free(&f->stlb);
	flex_cache_free(&f->itlb2);
	flex_cache_free(&f->dtlb2);
	flex_cache_free(&f->itlb_2m);
	flex_cache_free(&f->dtlb_2m);
	flex_cache_free(&f->stlb_2m);
	flex_cache_free(&f->itlb2_2m);
	flex_cache_free(&f->dtlb2_2m);
	host_free(f, sizeof(*f));
	core->flex = 0;
}
