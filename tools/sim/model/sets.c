/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stddef.h>
#include "base/random.h"
#include "model/sets.h"
#include "model/model.h"
#include "model/sweep.h"

uint32_t sample_groups(const struct machine *m)
{
	uint32_t all = m->l1i.sets | m->l1d.sets | m->l2.sets | m->llc.sets;
	uint32_t common = all & -all;

	if (!machine_is_plain(m) || !m->l2.sets || common < SAMPLE_FEWEST_GROUPS)
		return 0;
	return common < SAMPLE_MOST_GROUPS ? common : SAMPLE_MOST_GROUPS;
}

static void sum_up(struct sample_sets *sets)
{
	sets->apart = 1;
	for (uint32_t i = 0; i <= sets->mask; i++) {
		int left_out = !sets->part[i];

		sets->left_out |= (uint64_t)left_out << i;
		sets->apart &= left_out | !sets->part[(i + 1) & sets->mask];
	}
}

void sample_sets_choose(
	struct sample_sets *sets, uint32_t groups, uint32_t chosen, uint64_t seed)
{
	sets->mask = groups - 1;
	for (uint32_t i = 0; i < chosen; i++) {
		uint32_t from = i * groups / chosen, end = (i + 1) * groups / chosen;

		sets->group[i] = (uint8_t)(from + cp_random(&seed) % (end - from));
		sets->part[sets->group[i]] = (uint8_t)(i + 1);
	}
	sets->chosen = chosen;
	sum_up(sets);
}

int sample_sets_begin(struct core *core, const struct sample_sets *chosen)
{
	core->sets = host_alloc(sizeof(*chosen));
	if (!core->sets)
		return -1;
	*core->sets = *chosen;
	outer_choose_paths(core);
	l1_choose_paths(core);
	return 0;
}

static void empty_cache(struct cache *c, uint32_t extra, const struct sample_sets *but)
{
	for (uint32_t set = 0; set < c->sets; set++)
		if (!but || sample_leaves_out(but, set))
			cache_empty(c, set, extra);
}

void core_empty(struct core *core)
{
	empty_cache(&core->l1i, 0, core->sets);
	empty_cache(&core->l1d, L1D_EXTRA, core->sets);
	empty_cache(&core->itlb, TLB_EXTRA, NULL);
	empty_cache(&core->dtlb, TLB_EXTRA, NULL);
	empty_cache(&core->itlb_2m, TLB_EXTRA, NULL);
	empty_cache(&core->dtlb_2m, TLB_EXTRA, NULL);
	empty_cache(&core->stlb, 0, NULL);
	empty_cache(&core->stlb_2m, 0, NULL);
	for (uint32_t i = 0; i < DATA_FILTER; i++)
		core->data[i].line = NO_LINE;
	for (uint32_t i = 0; i < CODE_FILTER; i++)
		core->code[i].line = NO_LINE;
}

/* By enum cp_sim_sampled. */
static uint64_t *counts_of(struct core *core, uint64_t line)
{
	struct sample_sets *sets = core->sets;

	return sets->count[sets->part[line & sets->mask] - 1] - CP_SIM_NBURST;
}

void sample_sets_first(struct core *core, uint64_t line, enum access kind, int missed)
{
	uint64_t *to;

	if (sample_leaves_out(core->sets, line))
		return;
	to = counts_of(core, line) + CP_SIM_HELP_code_firsts + 2 * (int)kind;
	to[0]++;
	to[1] += (uint64_t)missed;
}

void sample_sets_take_swept(struct core *core, uint64_t line)
{
	uint64_t *to = counts_of(core, line) + CP_SIM_SET_SWEEP,
		 *from = core->count + CP_SIM_SWEEP;

	for (uint32_t i = 0; i < core->sweep->plan->npoints; i++) {
		to[i] += from[i];
		from[i] = 0;
	}
}

void sample_sets_take(struct core *core, uint64_t line)
{
	uint64_t *to = counts_of(core, line);

#define X(name)                                                                          \
	to[CP_SIM_SET_##name] += core->count[CP_SIM_##name];                             \
	core->count[CP_SIM_##name] = 0;
	CP_SIM_SET_COUNTERS(X)
#undef X
	if (core->sweep)
		sample_sets_take_swept(core, line);
}
