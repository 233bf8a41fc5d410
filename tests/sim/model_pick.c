/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Machines that nobody thought of.
 */
#include <string.h>

#include "model_machines.h"
#include "reference.h"

uint64_t random_seed;

uint64_t random_below(uint64_t n)
{
	random_seed ^= random_seed << 13;
	random_seed ^= random_seed >> 7;
	random_seed ^= random_seed << 17;
	return (random_seed >> 11) % n;
}

static uint32_t pick_sets(uint32_t most)
{
	uint32_t sets = 1 + (uint32_t)random_below(most);

	return random_below(2) ? sets : 1u << log2_of(sets);
}

static struct geometry pick_geometry(uint32_t most_sets, uint32_t line)
{
	struct geometry g = {.sets = pick_sets(most_sets), .line = line};

	g.ways = 1 + (uint32_t)random_below(9);
	g.policy = (uint8_t)random_below(4);
	if (g.policy == POLICY_PLRU)
		g.ways = 1u << random_below(4);
	g.seed = random_below(5);
	return g;
}

/* Picks a policy that first-level caches, or those behind them, may have. */
static void pick_policy(struct geometry *g, int first)
{
	if (random_below(3))
		return;
	g->policy = first ? POLICY_LRU_PLRU4 : (uint8_t)(POLICY_QLRU + random_below(3));
	if (first)
		g->ways = 4 + 4 * (uint32_t)random_below(3);
	g->hit3 = (uint8_t)random_below(3);
	g->hit2 = (uint8_t)random_below(2);
	g->miss = (uint8_t)random_below(4);
	g->place = (uint8_t)random_below(3);
	g->update = (uint8_t)random_below(g->place == 1 ? 4 : 2);
	if (random_below(2))
		g->duel = (struct age_duel){(uint32_t)random_below(4), 0, 2, 1, 4};
}

/* Any number of them, each once, in any order. */
static void pick_prefetchers(struct geometry *g, const uint8_t *kinds, uint32_t nkinds)
{
	uint32_t n = 0, first = (uint32_t)random_below(nkinds);

	memset(g->prefetch, 0, sizeof(g->prefetch));
	if (random_below(3) == 0)
		return;
	for (uint32_t i = 0; i < nkinds && n < PREFETCHERS; i++) {
		struct prefetcher *p = &g->prefetch[n];

		p->kind = kinds[(first + i) % nkinds];
		for (int k = 0; k < 3; k++)
			p->number[k] = 1 + (uint32_t)random_below(4);
		if (p->kind == PREFETCH_NEXT_LINE)
			p->number[0] = (uint32_t)random_below(3) * 7;
		if (p->kind == PREFETCH_REGION)
			p->number[0] = 2u << random_below(4);
		if (p->kind == PREFETCH_UP_DOWN)
			p->number[0] = 1 + (uint32_t)random_below(64);
		if (p->kind == PREFETCH_STREAMER)
			p->number[0] = 4 + (uint32_t)random_below(9);
		if (p->kind == PREFETCH_IP_STRIDE)
			p->number[2] = 1u << (6 + random_below(7));
		n += random_below(2) != 0;
	}
	if (n < PREFETCHERS)
		memset(&g->prefetch[n], 0, sizeof(g->prefetch[n]));
}

static const uint8_t of_l1i[] = {PREFETCH_NEXT_LINE, PREFETCH_STREAM, PREFETCH_STREAMER},
		     of_l1d[] = {PREFETCH_NEXT_LINE, PREFETCH_STREAM, PREFETCH_STREAMER,
			     PREFETCH_IP_STRIDE, PREFETCH_REGION},
		     of_l2[] = {PREFETCH_NEXT_LINE, PREFETCH_STREAM, PREFETCH_STREAMER,
			     PREFETCH_ADJACENT, PREFETCH_UP_DOWN};

static void pick_writes(struct geometry *g)
{
	g->write_through = random_below(3) == 0;
	g->no_allocate = random_below(3) == 0;
}

/* No level in front may pass stores on to an exclusive one. */
static void pick_inclusion(
	struct geometry *g, const struct geometry *front, int same_lines)
{
	g->inclusion = (uint8_t)random_below(3);
	if (g->inclusion != EXCLUSIVE)
		return;
	if (front->write_through || front->no_allocate || !same_lines)
		g->inclusion = NON_INCLUSIVE;
	else {
		memset(g->prefetch, 0, sizeof(g->prefetch));
		g->write_through = 0;
	}
}

static void pick_huge(struct geometry *g, int may_be_absent)
{
	switch (random_below(3)) {
	case 0:
		*g = pick_geometry(8, 0);
		break;
	case 1:
		g->absent = (uint8_t)may_be_absent;
		break;
	default:
		break;
	}
}

/* Four cores; those around one L2 or one last level are on one socket. */
static void pick_sockets(struct machine *m)
{
	uint32_t l2 = m->l2.shared > 1 ? m->l2.shared : 1;

	m->cores = REF_CORES;
	m->sockets.sockets = l2 == 1 && m->llc.shared == 1 ? 4 : 2;
	m->sockets.ring = (uint8_t)random_below(2);
	m->sockets.close = (uint8_t)random_below(2);
	if (l2 > 2 || m->llc.shared > 2)
		m->sockets.sockets = 1;
	else if (!m->llc.shared)
		m->llc.shared = 2;
}

struct machine pick_machine(void)
{
	struct machine m = {.line = 32, .page = 4096};
	struct geometry *front = &m.l1d;
	uint32_t inner = 64 << random_below(2), line;

	m.l1i = pick_geometry(64, 64);
	m.l1d = pick_geometry(64, inner);
	pick_policy(&m.l1i, 1);
	pick_policy(&m.l1d, 1);
	pick_prefetchers(&m.l1i, of_l1i, sizeof(of_l1i));
	pick_prefetchers(&m.l1d, of_l1d, sizeof(of_l1d));
	pick_writes(&m.l1d);
	m.l1d.halves = random_below(2) != 0;
	line = inner;
	if (random_below(4)) {
		line <<= random_below(2);
		m.l2 = pick_geometry(256, line);
		m.l2.shared = (uint32_t)random_below(4);
		pick_policy(&m.l2, 0);
		pick_prefetchers(&m.l2, of_l2, sizeof(of_l2));
		pick_writes(&m.l2);
		pick_inclusion(&m.l2, front, line == 64);
		m.l1d.fp_bypass = m.l1d.write_through && random_below(2);
		front = &m.l2;
	}
	if (random_below(4)) {
		m.llc = pick_geometry(1024, line << random_below(2));
		pick_policy(&m.llc, 0);
		pick_writes(&m.llc);
		m.llc.shared =
			(uint32_t)random_below(3) * (m.l2.shared > 1 ? m.l2.shared : 1);
		pick_inclusion(
			&m.llc, front, m.llc.line == line && (m.l2.sets || line == 64));
	}
	m.itlb = pick_geometry(16, 0);
	m.dtlb = pick_geometry(16, 0);
	if (random_below(2))
		m.stlb = pick_geometry(64, 0);
	else
		m.dtlb2 = pick_geometry(64, 0);
	pick_huge(&m.itlb_2m, 0);
	pick_huge(&m.dtlb_2m, 0);
	pick_huge(&m.stlb_2m, 1);
	pick_huge(&m.dtlb2_2m, 1);
	if (random_below(2))
		pick_sockets(&m);
	return m;
}
