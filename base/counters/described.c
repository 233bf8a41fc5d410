/* SPDX-License-Identifier: MIT */
#include "base/counters/described.h"

#include <errno.h>
#include <string.h>

#include "base/counters/windows.h"
#include "base/format.h"
#include "base/machine/spreads.h"

/* ---- metas ---- */

void cp_describe_text(struct cp_recording *record, const char *key, const char *value)
{
	cp_record_put_meta(record, key, value, strlen(value));
}

/* The weights of this run, whatever is asked of the record later. */
static void meta_weights(struct cp_recording *record, const struct cp_plan *plan)
{
	char text[CP_WEIGHTS_TEXT];

	cp_weights_print(&plan->weights, text, sizeof(text));
	cp_describe_text(record, "weights", text);
}

/* How far predicted time may be off. */
static void meta_spreads(struct cp_recording *record, const struct cp_machine *machine)
{
	struct cp_spreads spreads = cp_spreads_of(machine);
	char text[CP_SPREADS_TEXT];

	cp_spreads_print(&spreads, text, sizeof(text));
	if (machine->timed)
		cp_describe_text(record, "spreads", text);
}

static void meta_clock(struct cp_recording *record, const struct cp_machine *machine)
{
	char text[32];

	cp_format(text, sizeof(text), "%llu",
		(unsigned long long)machine->clock_mhz * 1000000);
	if (machine->timed)
		cp_describe_text(record, "clock", text);
}

static void meta_sample(struct cp_recording *record, const struct cp_plan *plan)
{
	char text[CP_SAMPLE_OPTION];

	if (!plan->sample.sets)
		return;
	cp_sample_describe(&plan->sample, text, sizeof(text));
	cp_describe_text(record, "sample", text);
}

static void meta_sweep(struct cp_recording *record, const struct cp_plan *plan,
	const struct cp_machine *machine)
{
	char text[160];

	if (!plan->sweep.npoints)
		return;
	cp_sweep_describe(&plan->sweep, machine, text, sizeof(text));
	cp_describe_text(record, "sweep", text);
}

static void meta_windows(struct cp_recording *record, const struct cp_plan *plan,
	const struct cp_machine *machine)
{
	char text[160];

	if (!plan->window)
		return;
	cp_windows_describe(plan->window, machine, text, sizeof(text));
	cp_describe_text(record, "windows", text);
}

static void meta_machine(struct cp_recording *record, const struct cp_plan *plan)
{
	const struct cp_machine *machine = cp_plan_machine(plan);
	char text[640];

	if (machine) {
		cp_machine_describe(machine, text, sizeof(text));
		cp_describe_text(record, "machine", text);
		meta_clock(record, machine);
		meta_spreads(record, machine);
		meta_sample(record, plan);
		meta_sweep(record, plan, machine);
		meta_windows(record, plan, machine);
	}
	meta_weights(record, plan);
	cp_format(text, sizeof(text), "%u",
		machine ? machine->level[CP_L1D].line : cp_machine_host_line());
	cp_describe_text(record, "line", text);
}

void cp_describe_plan(struct cp_recording *record, const struct cp_plan *plan)
{
	const char *text;

	meta_machine(record, plan);
	for (size_t at = 0; (text = cp_plan_next_text(plan, CP_PLAN_GROUP, &at));)
		cp_describe_text(record, "group", text);
}

/* ---- counters ---- */

static int counter_item(
	struct cp_recording *record, const struct cp_counter *counter, unsigned part)
{
	size_t length = strlen(counter->name);
	struct cp_counter_item *item =
		cp_record_reserve(record, sizeof(*item) + length + 1);

	if (!item)
		return -ENOSPC;
	item->perf_group = counter->group;
	item->mirror =
		counter->mirror == CP_NO_MIRROR ? CP_NO_MIRROR : counter->mirror + part;
	memcpy(item->name, counter->name, length);
	cp_item_publish(item, CP_ITEM_COUNTER);
	return 0;
}

/* The first of a counter's parts among the counters of a reading; of ncounters: how many
 * there are. */
static unsigned place_of_counter(const struct cp_event_set *set, unsigned counter)
{
	unsigned at = 0;

	for (unsigned i = 0; i < counter; i++)
		at += set->counters[i].sampled ? CP_SAMPLE_PARTS : 1;
	return at;
}

static int counter_items(struct cp_recording *record, const struct cp_counter *counter)
{
	for (unsigned p = 0; p < (counter->sampled ? CP_SAMPLE_PARTS : 1); p++)
		if (counter_item(record, counter, p) < 0)
			return -ENOSPC;
	return 0;
}

struct cp_quantity_item *cp_describe_quantity(struct cp_recording *record,
	const struct cp_event_set *set, const struct cp_quantity *quantity)
{
	size_t name = strlen(quantity->name), reason = strlen(quantity->why.text);
	struct cp_quantity_item *item;

	if (quantity->available && !quantity->unproven && !quantity->modelled)
		reason = 0;
	item = cp_record_reserve(record, sizeof(*item) + name + reason + 2);
	if (!item)
		return NULL;
	item->available = !quantity->available ? CP_QUANTITY_UNAVAILABLE
			  : quantity->unproven ? CP_QUANTITY_UNPROVEN
			  : quantity->modelled ? CP_QUANTITY_ESTIMATED
					       : CP_QUANTITY_AVAILABLE;
	item->nterms = quantity->nterms;
	for (unsigned i = 0; i < quantity->nterms; i++) {
		item->terms[i].counter =
			place_of_counter(set, quantity->terms[i].counter);
		item->terms[i].sign = quantity->terms[i].sign;
	}
	item->name_length = (uint32_t)name;
	item->reason_length = (uint32_t)reason;
	memcpy(item->text, quantity->name, name);
	memcpy(item->text + name + 1, quantity->why.text, reason);
	cp_item_publish(item, CP_ITEM_QUANTITY);
	return item;
}

int cp_describe_counters(struct cp_recording *record, const struct cp_event_set *set)
{
	for (unsigned i = 0; i < set->ncounters; i++)
		if (counter_items(record, &set->counters[i]) < 0)
			return -ENOSPC;
	return 0;
}

void cp_describe_header(struct cp_record_header *header, const struct cp_plan *plan)
{
	const struct cp_event_set *set = &plan->set;

	header->ncounters = place_of_counter(set, set->ncounters);
	header->sample_sets = plan->sample.sets;
	header->sample_groups = plan->sample.groups;
	header->nquantities = set->nquantities;
	header->nperf_groups = set->ngroups;
	header->pass = set->pass;
	header->npasses = set->npasses;
	memcpy(header->reference, set->reference, sizeof(header->reference));
	for (unsigned i = 0; i < set->ncounters; i++)
		header->socket[set->counters[i].group] = set->counters[i].socket;
	header->nrotated = set->nrotated;
	if (set->time_sampled)
		header->flags |= CP_RECORD_CORRECTED;
}
