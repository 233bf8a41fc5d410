/* SPDX-License-Identifier: MIT
 *
 * From raw counts to the quantities and metrics that were asked for.
 */
#include <string.h>

#include "output/metrics/metric.h"
#include "base/machine/spreads.h"
#include "base/machine/weights.h"
#include "tools/compare/compare.h"

static void ignore_line(const char *line)
{
	(void)line; /* the run itself has said it */
}

static bool has_metric(const struct cp_comparison *c, const char *name)
{
	for (size_t i = 0; i < c->nmetrics; i++)
		if (strcmp(c->metrics[i]->name, name) == 0)
			return true;
	return false;
}

/* Groups share metrics: the first one's is shown, as in reports. */
static void collect_metrics(struct cp_comparison *c)
{
	const struct cp_request *request = &c->request;
	size_t most = 1;

	for (size_t g = 0; g < request->ngroups; g++)
		most += request->groups[g]->nmetrics;
	c->metrics = cp_arena_alloc(&c->arena, most * sizeof(*c->metrics));
	for (size_t g = 0; g < request->ngroups; g++)
		for (size_t m = 0; m < request->groups[g]->nmetrics; m++)
			if (!has_metric(c, request->groups[g]->metrics[m].name))
				c->metrics[c->nmetrics++] =
					&request->groups[g]->metrics[m];
}

void cp_compare_resolve(struct cp_comparison *c)
{
	cp_request_read(&c->request, &c->arena,
		&(struct cp_request_text){c->events, c->groups, c->lets, "cache"},
		ignore_line);
	collect_metrics(c);
	for (unsigned i = 0; i < c->nmachines; i++) {
		cp_events_for_sim(&c->of[i].set, &c->request, &c->of[i].machine,
			&c->arena, ignore_line);
		c->of[i].machine.timed = c->of[i].set.timed;
		c->of[i].spreads = cp_spreads_of(&c->of[i].machine);
		c->of[i].weights = cp_weights_of(&c->of[i].machine, c->request.weights);
	}
}

static struct cp_value value_of(const struct cp_comparison *c,
	const struct cp_compared *compared, const struct cp_quantity *quantity)
{
	int64_t sum = 0;

	if (!quantity->available)
		return cp_unavailable(quantity->why.text);
	if (compared->machine.sampled)
		return cp_compare_sampled(c, compared, quantity);
	for (unsigned i = 0; i < quantity->nterms; i++) {
		const struct cp_counter *counter =
			&compared->set.counters[quantity->terms[i].counter];

		sum += quantity->terms[i].sign *
		       (int64_t)compared->count[counter->mirror];
	}
	if (sum < 0)
		return cp_unavailable("its parts do not fit together");
	return (struct cp_value){
		.value = cp_compare_longer(c, compared, quantity->name, (double)sum),
		.status = quantity->modelled ? CP_ESTIMATED : CP_SIMULATED};
}

/* By the timing model, where it was on. */
static struct cp_value seconds_of(const struct cp_compared *compared)
{
	double hz = 1e6 * compared->machine.clock_mhz;

	if (!compared->set.timed)
		return cp_unavailable("wall time is the simulator's");
	if (hz <= 0)
		return cp_unavailable("the machine file names no clock-mhz");
	return (struct cp_value){.value = (double)compared->count[CP_SIM_cycles] / hz,
		.status = CP_ESTIMATED};
}

static struct cp_value clock_of(
	const struct cp_comparison *c, const struct cp_compared *compared)
{
	if (!compared->machine.clock_mhz)
		return cp_unavailable("the machine file names no clock-mhz");
	return (struct cp_value){
		.value = cp_compare_clock(c, compared), .status = CP_ESTIMATED};
}

struct cp_value cp_compare_quantity(
	const struct cp_comparison *c, unsigned i, const char *name)
{
	const struct cp_event_set *set = &c->of[i].set;

	for (unsigned q = 0; q < set->nquantities; q++)
		if (strcmp(set->quantities[q].name, name) == 0)
			return value_of(c, &c->of[i], &set->quantities[q]);
	return cp_unavailable("not asked for");
}

struct lookup {
	struct cp_comparison *c;
	unsigned machine;
};

static struct cp_value look_up(void *context, const char *name)
{
	struct lookup *lookup = context;
	const struct cp_compared *compared = &lookup->c->of[lookup->machine];
	struct cp_value value;

	if (strcmp(name, "LINE") == 0)
		return (struct cp_value){.value = compared->machine.level[CP_L1D].line};
	if (strcmp(name, "SECONDS") == 0) {
		lookup->c->view.otherwise = true;
		return seconds_of(compared);
	}
	if (strcmp(name, "CLOCK") == 0)
		return clock_of(lookup->c, compared);
	if (strcmp(name, "TSC") == 0)
		return cp_unavailable("time stamps are those of one machine");
	if (cp_weight_value(&compared->weights, name, &value)) {
		lookup->c->view.otherwise = true;
		return value;
	}
	value = cp_compare_quantity(lookup->c, lookup->machine, name);
	if (value.status == CP_ESTIMATED && value.value != 0 &&
		!cp_parts_of_quantity(name))
		lookup->c->view.otherwise = true;
	return value;
}

struct cp_value cp_compare_metric(
	struct cp_comparison *c, unsigned i, const struct cp_metric *metric)
{
	struct lookup lookup = {c, i};
	struct cp_value value = cp_metric_evaluate(
		&c->arena, metric->group, metric->formula, look_up, &lookup);

	/* As in reports (report_metrics.c); while an interval is computed it is what it
	 * is. */
	if (value.value > 1 && value.status == CP_ESTIMATED && !c->view.run &&
		c->of[i].machine.sampled && cp_metric_is_part(metric))
		value.value = 1;
	return value;
}

bool cp_compare_nowhere(
	struct cp_comparison *c, const char *quantity, const struct cp_metric *metric)
{
	for (unsigned i = 0; i < c->nmachines; i++) {
		struct cp_value value = metric ? cp_compare_metric(c, i, metric)
					       : cp_compare_quantity(c, i, quantity);

		if (value.status != CP_UNAVAILABLE)
			return false;
	}
	return true;
}
