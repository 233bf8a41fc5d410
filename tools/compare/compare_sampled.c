/* SPDX-License-Identifier: MIT
 *
 * A comparison of what was sampled (CACHEPEEK_SAMPLE): which machines are, and estimates
 * of their counts.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/report/report_kept.h"
#include "output/report/report_parts.h"
#include "tools/compare/compare.h"

/* ---- what is asked for ---- */

/* The option's, or else the variable's, which is set anew for each run. */
static bool find_sample(struct cp_comparison *c)
{
	const char *set = getenv("CACHEPEEK_SAMPLE"),
		   *timing = getenv("CACHEPEEK_TIMING");

	if (!c->sample && set && *set)
		c->sample = cp_arena_copy(&c->arena, set, strlen(set));
	if (!c->sample || !timing || strcmp(timing, "on") != 0)
		return c->sample != NULL;
	fputs("cachepeek: --sample (CACHEPEEK_SAMPLE): not together with "
	      "CACHEPEEK_TIMING=on (everything is simulated, which takes longer)\n",
		stderr);
	c->sample = NULL;
	return false;
}

static void find_to_sample(struct cp_compared *compared)
{
	const char *wanted = cp_machine_to_sample(compared->asked, true);
	char error[256];

	if (wanted == compared->asked)
		return;
	compared->asked = wanted;
	cp_machine_find(&compared->machine, wanted, error, sizeof(error));
}

bool cp_compare_plan_samples(struct cp_comparison *c)
{
	struct cp_sample_plan plan;
	char error[256];

	if (!find_sample(c))
		return true;
	if (cp_sample_parse(&plan, c->sample, error, sizeof(error)) < 0) {
		fprintf(stderr, "cachepeek: --sample (CACHEPEEK_SAMPLE): %s\n", error);
		return false;
	}
	for (unsigned i = 0; i < c->nmachines; i++) {
		struct cp_compared *compared = &c->of[i];

		compared->sample = plan;
		find_to_sample(compared);
		compared->machine.sampled =
			cp_sample_fit(&compared->sample, &compared->machine,
				compared->unsampled, sizeof(compared->unsampled)) == 0;
	}
	return true;
}

void cp_compare_join_groups(struct cp_comparison *c)
{
	for (unsigned i = 0; i < c->nmachines; i++)
		for (unsigned j = 0; j < c->nmachines; j++)
			if (c->of[j].run == c->of[i].run &&
				c->of[j].sample.groups < c->of[i].sample.groups)
				c->of[i].sample.groups = c->of[j].sample.groups;
}

/* ---- the samples ---- */

static void add_term(struct cp_pool *pool, const struct cp_compared *compared, int sign,
	const struct cp_counter *counter)
{
	bool bursts = counter->mirror < CP_SIM_SAMPLE_AT(CP_SIM_NBURST, 0);
	double *to = bursts ? pool->bursts : pool->sets;

	if (!counter->sampled) {
		pool->exact += sign * (double)compared->count[counter->mirror];
		return;
	}
	*(bursts ? &pool->in_bursts : &pool->in_sets) = true;
	for (unsigned p = 0; p < CP_SAMPLE_PARTS; p++)
		to[p] += (p == CP_SAMPLE_UNSURE ? 1 : sign) *
			 (double)compared->parts[counter->mirror - CP_SIM_SAMPLE + p];
}

static unsigned firsts_of(
	const struct cp_compared *compared, const struct cp_quantity *quantity)
{
	unsigned firsts = 0;

	for (unsigned i = 0; i < quantity->nterms; i++) {
		const struct cp_counter *counter =
			&compared->set.counters[quantity->terms[i].counter];

		if (counter->sampled)
			firsts |= cp_sample_firsts(
				(counter->mirror - CP_SIM_SAMPLE) / CP_SAMPLE_PARTS);
	}
	return firsts;
}

struct cp_pool cp_compare_pool(
	const struct cp_compared *compared, const struct cp_quantity *quantity)
{
	const uint64_t *in =
		compared->parts + CP_SIM_BURST_instructions * CP_SAMPLE_PARTS;
	struct cp_pool pool = {.nsets = compared->sample.sets,
		.ngroups = compared->sample.groups,
		.instructions = (double)compared->count[CP_SIM_instructions],
		.full = (double)in[CP_SAMPLE_GROUPS]};

	for (unsigned g = 0; g < CP_SAMPLE_GROUPS; g++)
		pool.in[g] = (double)in[g];
	for (unsigned i = 0; i < quantity->nterms; i++)
		add_term(&pool, compared, quantity->terms[i].sign,
			&compared->set.counters[quantity->terms[i].counter]);
	if (pool.in_bursts)
		cp_kept_take(&pool, compared->parts + CP_SIM_SET_HELP * CP_SAMPLE_PARTS,
			firsts_of(compared, quantity));
	return pool;
}

bool cp_compare_is_sampled(
	const struct cp_compared *compared, const struct cp_quantity *quantity)
{
	for (unsigned i = 0; quantity->available && i < quantity->nterms; i++)
		if (compared->set.counters[quantity->terms[i].counter].sampled)
			return true;
	return false;
}

/* As the comparison is looked at now. */
static double value_of_pool(const struct cp_comparison *c,
	const struct cp_compared *compared, const struct cp_quantity *quantity,
	const struct cp_pool *pool)
{
	const struct cp_compared_view *view = &c->view;
	bool same_run = compared->run == view->run;
	double value = cp_pool_without(
		pool, same_run ? view->burst : -1, same_run ? view->set : -1);

	if (view->nudged == quantity)
		value += sqrt(cp_pool_unseen(pool)) + cp_pool_unsure(pool);
	return value;
}

struct cp_value cp_compare_sampled(const struct cp_comparison *c,
	const struct cp_compared *compared, const struct cp_quantity *quantity)
{
	struct cp_pool pool = cp_compare_pool(compared, quantity);
	struct cp_pooled estimate;
	double value;

	if (!cp_compare_is_sampled(compared, quantity))
		return (struct cp_value){.value = pool.exact, .status = CP_SIMULATED};
	estimate = cp_pool_estimate(&pool);
	if (estimate.none)
		return cp_unavailable(estimate.none);
	value = c->view.run ? value_of_pool(c, compared, quantity, &pool)
			    : estimate.value;
	if (value < 0)
		value = 0;
	return (struct cp_value){.value = c->view.run ? value : floor(value + 0.5),
		.status = CP_ESTIMATED};
}
