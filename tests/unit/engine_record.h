/* SPDX-License-Identifier: MIT
 *
 * A record whose quantities are those of an event set, or, if it has none, its
 * counters, one each; threads that the perf engine counts, and their report.
 */
#ifndef CACHEPEEK_TESTS_UNIT_ENGINE_RECORD_H
#define CACHEPEEK_TESTS_UNIT_ENGINE_RECORD_H

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "output/report/report.h"
#include "base/engine/engine.h"
#include "regions/tree.h"
#include "tests/tap/tap.h"

#define SET_COUNTERS 16

static struct cp_quantity_terms engine_quantity(
	struct cp_recording *record, const struct cp_quantity *quantity, unsigned i)
{
	struct cp_quantity_item *item =
		cp_record_reserve(record, sizeof(*item) + CP_NAME_SIZE + 1);

	item->available = CP_QUANTITY_AVAILABLE;
	item->nterms = quantity ? quantity->nterms : 1;
	item->terms[0] = (struct cp_term){i, 1};
	for (unsigned t = 0; quantity && t < quantity->nterms; t++)
		item->terms[t] = (struct cp_term){
			quantity->terms[t].counter, quantity->terms[t].sign};
	if (quantity)
		item->name_length = (uint32_t)snprintf(
			item->text, CP_NAME_SIZE, "%s", quantity->name);
	else
		item->name_length =
			(uint32_t)snprintf(item->text, CP_NAME_SIZE, "q%u", i);
	cp_item_publish(item, CP_ITEM_QUANTITY);
	return (struct cp_quantity_terms){item->nterms, item->terms};
}

static struct cp_layout engine_layout(
	struct cp_recording *record, const struct cp_event_set *of)
{
	static struct cp_quantity_terms terms[SET_COUNTERS];
	static uint32_t group_of[SET_COUNTERS];
	unsigned nquantities = of->nquantities ? of->nquantities : of->ncounters;

	record->header->ncounters = of->ncounters;
	record->header->nquantities = nquantities;
	record->header->nperf_groups = of->ngroups;
	record->header->nrotated = of->nrotated;
	for (unsigned i = 0; i < of->ncounters; i++)
		record->header->socket[of->counters[i].group] = of->counters[i].socket;
	memcpy(record->header->reference, of->reference, sizeof(of->reference));
	record->header->engine = CP_ENGINE_PERF;
	record->header->rank = -1;
	record->header->how = CP_HOW_EXIT;
	for (unsigned i = 0; i < of->ncounters; i++) {
		struct cp_counter_item *item =
			cp_record_reserve(record, sizeof(*item) + 8);

		item->perf_group = group_of[i] = of->counters[i].group;
		item->mirror = UINT32_MAX;
		snprintf(item->name, 8, "c%u", i % 100);
		cp_item_publish(item, CP_ITEM_COUNTER);
	}
	for (unsigned i = 0; i < nquantities; i++)
		terms[i] = engine_quantity(
			record, of->nquantities ? &of->quantities[i] : NULL, i);
	return (struct cp_layout){.ncounters = of->ncounters,
		.nquantities = nquantities,
		.ngroups = of->ngroups,
		.quantities = terms,
		.nrotated = of->nrotated,
		.group_of = group_of};
}

static struct cp_layout engine_create(
	struct cp_recording *record, const char *directory, const struct cp_event_set *of)
{
	cp_names_after_fork(); /* their strings are in another record */
	if (cp_record_create(record, directory, (int)getpid()) < 0)
		bail("no record in %s", directory);
	return engine_layout(record, of);
}

/* Opens the counters; the first reading is told, too. */
static struct cp_reading engine_start(struct cp_tree *tree,
	struct cp_thread_counters *counters, struct cp_recording *record,
	const struct cp_layout *layout, int tid)
{
	struct cp_thread_item *thread = cp_record_reserve(record, sizeof(*thread));
	struct cp_reading first = {0};
	struct cp_why why;

	thread->tid = tid;
	thread->state = CP_THREAD_ENDED;
	cp_item_publish(thread, CP_ITEM_THREAD);
	if (cp_engine_perf.thread_open(counters, 0, &why) < 0)
		bail("not opened: %s", why.text);
	cp_engine_perf.read(counters, true, &first);
	cp_tree_start(tree, layout, record, cp_record_offset(record, thread), &first, 0);
	thread->root = cp_tree_root_offset(tree);
	return first;
}

/* Ends all that is open, and tells the last reading. */
static struct cp_reading engine_finish(
	struct cp_tree *tree, struct cp_thread_counters *counters, uint64_t now_ns)
{
	struct cp_reading last;

	cp_engine_perf.read(counters, true, &last);
	cp_tree_finish(tree, &last, now_ns, true);
	cp_engine_perf.thread_close(counters);
	cp_tree_drop(tree);
	return last;
}

static const struct cp_report *engine_report(
	struct cp_arena *memory, struct cp_recording *record, const char *directory)
{
	const struct cp_report *report;
	char error[256];

	cp_record_close(record);
	report = cp_report_build(memory, &directory, 1, error, sizeof(error));
	if (!report)
		bail("no report: %s", error);
	return report;
}

#endif
