/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * References that both are given.  What generated code does inline is written out in C
 * here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "model/batch.h"
#include "flex/flex.h"
#include "machines/front.h"
#include "model/model.h"
#include "duel.h"

/* ---- which areas are huge pages ---- */

static struct {
	uint64_t number;
	enum huge_answer truth;
} areas[REF_AREAS];
static int nareas;
static int at_once; /* what becomes of an area is noticed at its next use */

static enum huge_answer *truth_of(uint64_t address)
{
	uint64_t number = address >> HUGE_SHIFT;

	for (int i = 0; i < nareas; i++)
		if (areas[i].number == number)
			return &areas[i].truth;
	if (nareas == REF_AREAS)
		abort();
	areas[nareas].number = number;
	areas[nareas].truth =
		(enum huge_answer)(number * 7 % 5 < 2 ? number % 2 : HUGE_ONE);
	if (at_once && areas[nareas].truth == HUGE_ABSENT)
		areas[nareas].truth = HUGE_SMALL;
	return &areas[nareas++].truth;
}

static enum huge_answer tell_truth(uint64_t address)
{
	return *truth_of(address);
}

static enum huge_answer tell_model(uint64_t address, int load)
{
	(void)load;
	return tell_truth(address);
}

static void collect_core(struct duel *d, int i)
{
	struct core *counts = d->is_guest ? d->guest[i] : d->core[i];

	if (d->has_front)
		front_collect(front);
	core_collect(d->core[i]);
	if (d->guest[i])
		core_collect(d->guest[i]);
	for (int k = 0; k < CP_SIM_NCOUNTERS; k++)
		d->count[i][k] += counts->count[k];
	memset(d->core[i]->count, 0, sizeof(d->core[i]->count));
	if (d->guest[i])
		memset(d->guest[i]->count, 0, sizeof(d->guest[i]->count));
}

/* Lines whose numbers differ in high bits only, some of which are short numbers of
 * others; near addresses if the sets are not powers of two, where a far line has no set
 * that we could name. */
static uint64_t pick_far(struct duel *d)
{
	uint64_t near = 0x50000000 + random_below(8) * 0x10000 + random_below(64);
	uint64_t n = random_below(16);

	if (d->any_sets)
		return near;
	if (random_below(2))
		return near + (FAR_LINES_FROM + (n << FAR_LINES_BITS)) * d->ref.m.line;
	return near + (n << 43);
}

/* A mixture: a small hot area, a walk, columns, anywhere, far away. */
static uint64_t pick_address(struct duel *d)
{
	uint64_t line = d->ref.m.line;

	switch (random_below(11)) {
	case 9:
	case 10:
		return 0x60000000 +
		       (random_below(random_below(2) ? 6 : 48) << HUGE_SHIFT) +
		       random_below(random_below(8) ? 70 : 1u << HUGE_SHIFT);
	case 5:
		return pick_far(d);
	case 0:
		return d->walk += 8;
	case 1:
		return 0x10000000 + random_below(512) * (d->ref.m.page - line);
	case 2:
		return 0x20000000 + random_below(4096 * line);
	case 3:
		return (d->any_sets ? 0xfeff0000 : 0x1ffeff0000) +
		       random_below(64) * d->ref.m.page;
	case 4:
		return 0x30000000 + random_below(200 * line);
	default:
		return 0x30000000 + random_below(20 * line);
	}
}

/* For the instruction: many go by steps of their own. */
static uint64_t pick_for(struct duel *d, uint64_t instruction)
{
	static const int64_t steps[8] = {8, 64, 72, 40, 256, -64, 4096, 1};
	static const uint64_t places[4] = {0, 5, 6, 13};
	uint64_t k = (instruction / 64 * 5 + instruction / 4) % 64, i = k % 8;

	if (random_below(2))
		return pick_address(d);
	if (random_below(200) == 0)
		d->strides[k] = random_below(1 << 20);
	d->strides[k] += (uint64_t)steps[i];
	if (i == 7) /* the same lines of each record, of 16 */
		return 0xa0000000 + d->strides[k] / 4 * 37 % 1024 * (16 * d->ref.m.line) +
		       places[d->strides[k] % 4] * d->ref.m.line;
	return 0x90000000 + d->strides[k] % (1 << 20);
}

static uint32_t pick_size(void)
{
	static const uint32_t sizes[] = {1, 2, 4, 4, 8, 8, 8, 16, 8, 4, 4};

	return sizes[random_below(11)];
}

/* As the helper for floating-point loads. */
static void make_float(uint64_t addr, uint32_t size)
{
	struct batch b = {.clock = 2, .items = 1, .loads = 1};

	b.item[0].kind = BATCH_FLOAT;
	b.item[0].size = (uint8_t)size;
	b.has_floats = 1;
	b.place[0].last = (uint8_t)(size - 1);
	front_function_for(front->line_shift, 1, 1)(&b, front->last_line, addr, 0, 0, 0);
}

static void step_bypass(struct duel *d, uint64_t addr, uint32_t size)
{
	d->ref.instruction = front->last_line << front->line_shift;
	d->ref.address = addr;
	if (d->ref.m.l1d.fp_bypass)
		ref_bypass(&d->ref, d->turn, addr, size);
	else
		ref_data(&d->ref, d->turn, addr, size, LOAD);
	make_float(addr, size);
}

static void step_direct(struct duel *d)
{
	uint64_t addr = pick_address(d);
	uint32_t size = random_below(2) ? 512 : pick_size();
	enum access kind = random_below(2) ? LOAD : STORE;

	d->ref.instruction = 0;
	ref_data(&d->ref, d->turn, addr, size, kind);
	if (d->has_front)
		front_direct(addr, size, kind);
	else
		batch_direct(addr, size, kind);
}

static void step_order(struct duel *d)
{
	uint64_t addr = random_below(8) ? pick_address(d)
					: (4096 + random_below(600)) * d->ref.m.line;
	enum cache_order order = (enum cache_order)random_below(6);

	d->ref.instruction = 0;
	if (order_is_prefetch(order))
		ref_prefetch(&d->ref, d->turn, addr, order);
	else
		ref_order(&d->ref, d->turn, addr, order);
	if (d->has_front)
		front_order(addr, order);
	else
		core_order(d->core[d->turn], addr, order);
}

static void step_stream(struct duel *d)
{
	uint64_t addr = pick_address(d) & ~3ull;
	uint32_t size = random_below(8) ? 4u << random_below(5)
					: 4 * (1 + (uint32_t)random_below(80));

	if (random_below(4)) /* whole lines come together */
		addr = 0x70000000 + (d->streamed += size);
	d->ref.instruction = 0;
	ref_stream(&d->ref, d->turn, addr, size);
	if (d->has_front)
		front_stream(addr, size, 0);
	else
		core_stream(d->core[d->turn], addr, size, 0);
}

/* A batch in the making: what settle.c makes of a piece of code. */
struct maker {
	_Alignas(64) struct batch b;
	uint64_t line, at[BATCH_PLACES];
	int16_t instruction[BATCH_ITEMS]; /* of each item, from the first line */
	uint32_t size[BATCH_PLACES], last_tick[BATCH_PLACES], ticks, nplaces;
};

static void make_line(struct duel *d, struct maker *m, int offset)
{
	struct batch_item *i = &m->b.item[m->b.items++];

	if (offset)
		m->b.second_line_tick = (uint8_t)++m->ticks;
	m->b.more_lines = (uint8_t)offset;
	i->kind = BATCH_CODE;
	i->offset = offset;
	i->tick = (uint8_t)m->ticks;
	m->b.clock += 1ull << 32;
	ref_code(&d->ref, d->turn, m->line + (uint64_t)offset);
}

/* One of the bytes of a place; all of them, if it is the place's first. */
static void make_reference(struct duel *d, struct maker *m, uint32_t place, int first)
{
	static const enum batch_kind kinds[] = {
		BATCH_READ, BATCH_READ, BATCH_WRITE, BATCH_MODIFY};
	struct batch_item *i = &m->b.item[m->b.items++];
	uint32_t from = first ? 0 : (uint32_t)random_below(m->size[place]);
	uint64_t addr = m->at[place] + from;

	i->place = (uint8_t)place;
	i->kind = (uint8_t)kinds[random_below(4)];
	i->offset = (int32_t)from;
	i->size = (uint8_t)(first ? m->size[place]
				  : 1 + random_below(m->size[place] - from));
	m->instruction[m->b.items - 1] = (int16_t)(4 * place);
	d->ref.instruction = m->line * d->ref.m.line + 4 * place;
	d->ref.address = addr;
	if (i->kind != BATCH_WRITE) {
		ref_data(&d->ref, d->turn, addr, i->size, LOAD);
		m->ticks += 2;
		m->b.loads++;
	}
	i->tick = (uint8_t)(i->kind == BATCH_READ ? m->ticks - 2 : m->ticks);
	if (first) {
		batch_place_writes(&m->b.place[place], 0);
		batch_place_first(&m->b.place[place], i->kind, i->tick);
	}
	m->last_tick[place] = i->tick;
	if (i->kind == BATCH_READ)
		return;
	ref_data(&d->ref, d->turn, addr, i->size, STORE);
	m->ticks += 2;
	m->b.stores++;
	batch_place_writes(&m->b.place[place], 1);
}

/* As if place n had always been number m, which is the n-th by time. */
static void make_order(struct maker *m)
{
	struct maker was = *m;

	for (uint32_t n = 0; n < m->nplaces; n++) {
		uint32_t rank = 0;

		for (uint32_t i = 0; i < m->nplaces; i++)
			rank += was.last_tick[i] < was.last_tick[n];
		m->at[rank] = was.at[n];
		batch_order_place(&m->b, (uint32_t)n, (uint32_t)rank);
		m->b.place[rank] = was.b.place[n];
		m->b.place[rank].last = (uint8_t)(was.size[n] - 1);
		m->b.place[rank].tick = (uint16_t)was.last_tick[n];
		for (uint32_t i = 0; i < m->b.items; i++)
			if (was.b.item[i].kind != BATCH_CODE && was.b.item[i].place == n)
				m->b.item[i].place = (uint8_t)rank;
	}
}

static void make_references(struct duel *d, struct maker *m)
{
	uint32_t more = m->nplaces ? (uint32_t)random_below(4) : 0;

	for (uint32_t n = 0; n < m->nplaces; n++) {
		m->at[n] = n && random_below(3) == 0
				   ? m->at[n - 1] + random_below(24)
				   : pick_for(d, m->line * d->ref.m.line + 4 * n);
		m->size[n] = pick_size();
		make_reference(d, m, n, 1);
		if (random_below(8) == 0 && !m->b.more_lines)
			make_line(d, m, 1);
	}
	while (more--)
		make_reference(d, m, (uint32_t)random_below(m->nplaces), 0);
}

static void step_batch(struct duel *d)
{
	struct maker m;
	batch_function *run;

	memset(&m, 0, sizeof(m));
	if (random_below(20) == 0)
		d->pc = random_below(random_below(2)   ? 12
				     : random_below(4) ? 600
						       : 20000);
	else if (random_below(3) == 0)
		d->pc++;
	m.line = 4096 + d->pc;
	m.nplaces = (uint32_t)random_below(BATCH_PLACES + 1);
	make_line(d, &m, 0);
	make_references(d, &m);
	make_order(&m);
	m.b.clock += m.ticks;
	for (uint32_t i = 0; i < m.b.items; i++)
		batch_notes(&m.b)[i].offset = m.instruction[i];
	d->pc += m.b.more_lines;
	run = d->has_front ? front_function_for(
				     front->line_shift, m.nplaces, m.b.more_lines + 1)
			   : batch_function_for(d->core[d->turn]->line_shift, m.nplaces,
				     m.b.more_lines + 1);
	run(&m.b, m.line, m.at[0], m.at[1], m.at[2], m.at[3]);
}

/* Memory comes, goes, and becomes one page. */
static void change_area(struct duel *d)
{
	uint64_t address = pick_address(d);
	enum huge_answer *truth = truth_of(address);

	if (*truth == HUGE_ABSENT) {
		*truth = random_below(3) ? HUGE_ONE : HUGE_SMALL;
		return;
	}
	*truth = at_once ? (enum huge_answer)(1 + random_below(2))
			 : (enum huge_answer)random_below(3);
	huge_forget(address, 1);
	ref_forget(&d->ref, address);
	if (at_once) {
		huge_is_small(address >> HUGE_SHIFT, address, 1);
		ref_notice(&d->ref, address);
	}
}

static void use_front(struct duel *d)
{
	struct core *members[] = {running, d->guest[d->turn]};

	front_use(front, members, members[1] ? 2 : 1);
}

void duel_step(struct duel *d)
{
	if (random_below(200) == 0) {
		collect_core(d, d->turn);
		d->turn = (int)random_below((uint64_t)d->ncores);
	}
	running = d->core[d->turn];
	if (d->has_front)
		use_front(d);
	if (d->ref.ask && random_below(at_once ? 10 : 300) == 0)
		change_area(d);
	if (random_below(100) == 0)
		step_direct(d);
	else if (random_below(30) == 0)
		step_order(d);
	else if (random_below(30) == 0)
		step_stream(d);
	else if (d->has_floats && random_below(4) == 0)
		step_bypass(d, pick_address(d), pick_size());
	else
		step_batch(d);
}

static int has_any_sets(const struct machine *m)
{
	const struct geometry *g[] = {&m->l1i, &m->l1d, &m->l2, &m->llc, &m->itlb,
		&m->dtlb, &m->stlb, &m->itlb2, &m->dtlb2, &m->itlb_2m, &m->dtlb_2m,
		&m->stlb_2m, &m->itlb2_2m, &m->dtlb2_2m};

	for (int i = 0; i < 14; i++)
		if (g[i]->sets & (g[i]->sets - 1))
			return 1;
	return 0;
}

void duel_start(struct duel *d, const struct machine *m, int ncores, int with_huge)
{
	memset(d, 0, sizeof(*d));
	random_seed = 88172645463325252ull;
	d->ncores = ncores;
	d->any_sets = has_any_sets(m);
	d->has_floats = m->l1d.fp_bypass;
	d->walk = 0x40000000;
	nareas = 0;
	huge_init(with_huge ? tell_model : NULL);
	ref_init(&d->ref, m, ncores);
	d->ref.ask = with_huge ? tell_truth : NULL;
	uncore_init(&d->uncore, m);
	d->has_front = !machine_is_plain(m);
	if (d->has_front) {
		front = host_alloc(sizeof(*front));
		front_init(front, m, 1);
	}
	for (int i = 0; i < ncores; i++) {
		d->core[i] = core_new(m, &d->uncore);
		core_attach(d->core[i]);
	}
}

void duel_end(struct duel *d)
{
	ref_free(&d->ref);
	for (int i = 0; i < d->ncores; i++) {
		if (d->guest[i])
			core_free(d->guest[i]);
		core_free(d->core[i]);
	}
	if (d->guest[0])
		uncore_free(&d->guest_uncore);
	uncore_free(&d->uncore);
	huge_free();
	at_once = 0;
	if (d->has_front)
		host_free(front, sizeof(*front));
}

int duel_differences(struct duel *d)
{
	static const char *const names[] = {
#define X(name, meaning) #name,
		CP_SIM_COUNTERS (X)
#undef X
	};
	int different = 0;

	for (int i = 0; i < d->ncores; i++) {
		collect_core(d, i);
		for (int k = 0; k < CP_SIM_NCOUNTERS; k++) {
			if (d->count[i][k] == d->ref.core[i].count[k])
				continue;
			printf("# core %d %s: %llu, reference %llu\n", i, names[k],
				(unsigned long long)d->count[i][k],
				(unsigned long long)d->ref.core[i].count[k]);
			different++;
		}
	}
	return different;
}

uint64_t duel_references(const struct duel *d)
{
	uint64_t sum = 0;

	for (int i = 0; i < d->ncores; i++) {
		const uint64_t *count = d->ref.core[i].count;

		sum += count[CP_SIM_l1i_accesses] + count[CP_SIM_l1d_loads] +
		       count[CP_SIM_l1d_stores];
	}
	return sum;
}

/* ---- machines behind one front ---- */

void duel_join(struct duel *d, const struct model_couple *c, int is_guest)
{
	const struct machine *m = &c->m[1];

	memset(front, 0, sizeof(*front));
	front_init(front, c->m, 2);
	uncore_init(&d->guest_uncore, m);
	for (int i = 0; i < d->ncores; i++) {
		d->guest[i] = core_new(m, &d->guest_uncore);
		core_attach(d->guest[i]);
		d->guest[i]->flex->number = 1;
	}
	d->any_sets |= has_any_sets(m);
	d->has_floats |= m->l1d.fp_bypass;
	d->is_guest = is_guest;
	at_once = 1;
	if (is_guest) {
		ref_free(&d->ref);
		ref_init(&d->ref, m, d->ncores);
		d->ref.ask = tell_truth;
	}
}
