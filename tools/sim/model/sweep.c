/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/sweep.h"
#include "model/every.h"
#include "model/facts.h"
#include "model/model.h"

struct core *sweep_core;

/* ---- its life ---- */

/* Does the next point go into the array of the last? */
static int joins_array(const struct sweep *s, const struct sweep_point *p)
{
	const struct sweep_array *last = &s->array[s->narrays - 1];

	return s->narrays && s->plan->level != SWEEP_L2 && s->plan->level != SWEEP_LLC &&
	       last->sets == p->sets && last->depth < p->ways;
}

static void arrange_arrays(struct sweep *s)
{
	for (uint32_t i = 0; i < s->plan->npoints; i++) {
		const struct sweep_point *p = &s->plan->point[i];

		if (!joins_array(s, p))
			s->array[s->narrays++] =
				(struct sweep_array){.sets = p->sets, .first = i};
		s->array[s->narrays - 1].depth = p->ways;
		s->array[s->narrays - 1].npoints++;
	}
}

/* From units to lines of the level, or to pages. */
static uint32_t shift_of(const struct sweep_plan *plan, const struct machine *m)
{
	const struct geometry *g = plan->level == SWEEP_L1I   ? &m->l1i
				   : plan->level == SWEEP_L1D ? &m->l1d
				   : plan->level == SWEEP_L2  ? &m->l2
							      : &m->llc;
	uint32_t bytes = plan->level >= SWEEP_ITLB ? m->page
			 : g->line                 ? g->line
						   : m->line;

	return log2_of(bytes) - log2_of(m->line);
}

static uint64_t size_of(const struct sweep_array *a)
{
	return (uint64_t)a->sets * a->depth * sizeof(*a->lines);
}

static struct sweep *sweep_new(const struct sweep_plan *plan, const struct machine *m)
{
	struct sweep *s = host_alloc(sizeof(*s));
	uint32_t outer = m->l2.sets && m->l2.line ? log2_of(m->l2.line) : 0;

	if (!s)
		return 0;
	s->plan = plan;
	s->shift = s->granule = shift_of(plan, m);
	if (outer > log2_of(m->line) + s->granule)
		s->granule = outer - log2_of(m->line);
	arrange_arrays(s);
	for (uint32_t i = 0; i < s->narrays; i++) {
		s->array[i].lines = host_alloc(size_of(&s->array[i]));
		if (!s->array[i].lines) {
			sweep_free(s);
			return 0;
		}
	}
	return s;
}

void sweep_free(struct sweep *s)
{
	for (uint32_t i = 0; s && i < s->narrays; i++)
		if (s->array[i].lines)
			host_free(s->array[i].lines, size_of(&s->array[i]));
	if (s)
		host_free(s, sizeof(*s));
}

int sweep_begin(struct core *core, const struct sweep_plan *plan, const struct machine *m)
{
	const struct core *other = core->uncore->cores;

	core->sweep =
		plan->level == SWEEP_LLC && other ? other->sweep : sweep_new(plan, m);
	if (!core->sweep)
		return -1;
	if (core->flex)
		return 0;
	outer_choose_paths(core);
	l1_choose_paths(core);
	return 0;
}

/* ---- an array ---- */

static uint64_t *set_of(const struct sweep_array *a, uint64_t line)
{
	uint64_t set = a->sets & (a->sets - 1) ? line % a->sets : line & (a->sets - 1);

	return a->lines + set * a->depth;
}

static uint32_t find_line(const struct sweep_array *a, const uint64_t *set, uint64_t line)
{
	uint32_t i = 0;

	while (i < a->depth && set[i] != line + 1)
		i++;
	return i;
}

/* Puts the line, which is at `at` (depth: nowhere), before the others; those move
 * down as far as the first hole, or as where it was. */
static void renew_line(
	const struct sweep_array *a, uint64_t *set, uint64_t line, uint32_t at)
{
	uint32_t to = 0, last = at < a->depth ? at : a->depth - 1;

	while (to < last && set[to])
		to++;
	if (at < a->depth)
		set[at] = 0;
	for (; to; to--)
		set[to] = set[to - 1];
	set[0] = line + 1;
}

/* It was missed by all that have no more than `at` ways; those whose bits are in
 * `missed` have counted the reference already. */
static void count_misses(struct core *core, const struct sweep *s,
	const struct sweep_array *a, uint32_t at, uint32_t *missed)
{
	const struct sweep_point *p = &s->plan->point[a->first];
	uint64_t *n = &core->count[CP_SIM_SWEEP + a->first];

	for (uint32_t i = 0; i < a->npoints && p[i].ways <= at; i++) {
		uint32_t bit = 1u << (a->first + i);

		n[i] += !(*missed & bit);
		*missed |= bit;
	}
}

/* A line of a reference. */
static void ask_arrays(struct core *core, uint64_t unit, uint32_t *missed)
{
	const struct sweep *s = core->sweep;
	uint64_t line = unit >> s->shift;

	for (uint32_t i = 0; i < s->narrays; i++) {
		const struct sweep_array *a = &s->array[i];
		uint64_t *set = set_of(a, line);
		uint32_t at;

		if (set[0] == line + 1)
			continue;
		at = find_line(a, set, line);
		count_misses(core, s, a, at, missed);
		renew_line(a, set, line, at);
	}
}

void sweep_ask(struct core *core, uint64_t unit)
{
	uint32_t missed = 0;

	ask_arrays(core, unit, &missed);
}

/* Nothing changes where it is. */
void sweep_put(struct core *core, uint64_t unit)
{
	const struct sweep *s = core->sweep;
	uint64_t line = unit >> s->shift;

	for (uint32_t i = 0; i < s->narrays; i++) {
		const struct sweep_array *a = &s->array[i];
		uint64_t *set = set_of(a, line);
		uint32_t at = find_line(a, set, line);

		if (at == a->depth)
			renew_line(a, set, line, at);
	}
}

static void take_line(const struct sweep *s, uint64_t line)
{
	for (uint32_t i = 0; i < s->narrays; i++) {
		const struct sweep_array *a = &s->array[i];
		uint64_t *set = set_of(a, line);
		uint32_t at = find_line(a, set, line);

		if (at < a->depth)
			set[at] = 0;
	}
}

/* The other cores have it no more, as much as a store takes. */
void sweep_stored(struct core *core, uint64_t unit)
{
	const struct sweep *s = core->sweep;
	uint64_t first = unit >> s->granule << s->granule >> s->shift,
		 lines = 1ull << (s->granule - s->shift);

	if (core->uncore->ncores < 2)
		return;
	for (struct core *other = core->uncore->cores; other; other = other->next)
		for (uint64_t i = 0; other != core && i < lines; i++)
			take_line(other->sweep, first + i);
}

void sweep_leave(struct core *core, uint64_t first, uint64_t units, int all)
{
	struct core *other = all ? core->uncore->cores : core;

	if (core->sweep->plan->level >= SWEEP_ITLB)
		return;
	for (; other; other = all ? other->next : 0)
		for (uint64_t i = 0; i < units; i++)
			take_line(other->sweep, (first + i) >> core->sweep->shift);
}

/* ---- references ---- */

/* A prefetched line is the newest, and counts nothing. */
static void bring_line(const struct sweep *s, uint64_t line)
{
	for (uint32_t i = 0; i < s->narrays; i++) {
		const struct sweep_array *a = &s->array[i];
		uint64_t *set = set_of(a, line);

		renew_line(a, set, line, find_line(a, set, line));
	}
}

static uint64_t short_number(struct core *core, uint64_t line)
{
	return far_lines_shorten(
		core->flex ? &front->far_lines : &core->uncore->far_lines, line);
}

static void see_data(uint64_t addr, uint32_t size, enum batch_kind kind)
{
	struct core *core = sweep_core;
	uint64_t line = core ? addr >> core->line_shift : 1,
		 last = core ? (addr + size - 1) >> core->line_shift : 0;
	uint32_t missed = 0;

	_Static_assert(CP_SIM_SWEEP_POINTS <= 32, "a bit each");
	for (; line <= last; line++) {
		uint64_t unit = short_number(core, line);

		if (kind == BATCH_PREFETCH)
			bring_line(core->sweep, unit >> core->sweep->shift);
		else if (kind != BATCH_STREAM || core->sweep->plan->level == SWEEP_DTLB)
			ask_arrays(core, unit, &missed);
		if ((kind == BATCH_WRITE || kind == BATCH_MODIFY) &&
			core->sweep->plan->level == SWEEP_L1D)
			sweep_stored(core, unit);
	}
}

static void see_code(uint64_t line)
{
	if (sweep_core)
		sweep_ask(sweep_core, short_number(sweep_core, line));
}

void sweep_watch(const struct sweep_plan *plan)
{
	if (plan->level == SWEEP_L1I || plan->level == SWEEP_ITLB)
		every_add(see_code, 0);
	if (plan->level == SWEEP_L1D || plan->level == SWEEP_DTLB)
		every_add(0, see_data);
}
