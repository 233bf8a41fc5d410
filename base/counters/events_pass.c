/* SPDX-License-Identifier: MIT
 *
 * Several runs, each of which counts a part of what was asked for: which part,
 * so that everything that belongs together is counted together.
 */
#include <stddef.h>
#include <string.h>

#include "base/format.h"
#include "base/counters/events_internal.h"
#include "regions/record.h"

#define COMMON "instructions" /* in each pass, to compare them by */

struct counters {
	unsigned count;
	unsigned index[CP_MAX_COUNTERS];
};

static bool has_counter(const struct counters *some, unsigned counter)
{
	for (unsigned i = 0; i < some->count; i++)
		if (some->index[i] == counter)
			return true;
	return false;
}

/* Adds the terms of the quantity that need the PMU. */
static void add_terms(const struct cp_event_set *set, struct counters *to,
	const struct cp_quantity *quantity)
{
	for (unsigned t = 0; t < quantity->nterms; t++) {
		unsigned counter = quantity->terms[t].counter;

		if (cp_perf_needs_pmu(&set->counters[counter].attr) &&
			!set->counters[counter].socket && !has_counter(to, counter))
			to->index[to->count++] = counter;
	}
}

static bool fits_counters(const struct cp_event_set *set, const struct counters *some)
{
	const struct perf_event_attr *attrs[CP_MAX_COUNTERS];

	for (unsigned i = 0; i < some->count; i++)
		attrs[i] = &set->counters[some->index[i]].attr;
	return cp_perf_fits(attrs, some->count);
}

static const struct cp_quantity *common_quantity(const struct cp_event_set *set)
{
	for (unsigned i = 0; i < set->nquantities; i++)
		if (strcmp(set->quantities[i].name, COMMON) == 0)
			return set->quantities[i].available ? &set->quantities[i] : NULL;
	return NULL;
}

/* The pass of each quantity, from 1 on; 0: in any.  Returns how many there are. */
static unsigned assign_passes(const struct cp_event_set *set, unsigned pass_of[])
{
	const struct cp_quantity *common = common_quantity(set);
	struct counters base = {0}, now;
	unsigned passes = 1;

	if (common)
		add_terms(set, &base, common);
	now = base;
	for (unsigned q = 0; q < set->nquantities; q++) {
		const struct cp_quantity *quantity = &set->quantities[q];
		struct counters more = now, alone = {0};

		add_terms(set, &alone, quantity);
		pass_of[q] = 0;
		if (!quantity->available || quantity == common || !alone.count)
			continue;
		add_terms(set, &more, quantity);
		if (more.count > now.count && now.count > base.count &&
			!fits_counters(set, &more)) {
			more = base;
			add_terms(set, &more, quantity);
			passes++;
		}
		now = more;
		pass_of[q] = passes;
	}
	return passes;
}

/* Without the counters that no quantity has any more. */
static void drop_unused(struct cp_event_set *set)
{
	unsigned place[CP_MAX_COUNTERS], n = 0;
	struct counters used = {0};

	for (unsigned q = 0; q < set->nquantities; q++)
		for (unsigned t = 0; t < set->quantities[q].nterms; t++)
			if (!has_counter(&used, set->quantities[q].terms[t].counter))
				used.index[used.count++] =
					set->quantities[q].terms[t].counter;
	for (unsigned i = 0; i < set->ncounters; i++) {
		place[i] = n;
		if (has_counter(&used, i) && n++ != i)
			set->counters[n - 1] = set->counters[i];
	}
	set->ncounters = n;
	for (unsigned i = 0; i < set->nparts; i++) /* of sockets: all are in use */
		set->parts[i].counter = place[set->parts[i].counter];
	for (unsigned q = 0; q < set->nquantities; q++)
		for (unsigned t = 0; t < set->quantities[q].nterms; t++)
			set->quantities[q].terms[t].counter =
				place[set->quantities[q].terms[t].counter];
}

void cp_events_take_pass(struct cp_event_set *set, struct cp_share share)
{
	unsigned pass_of[CP_MAX_QUANTITIES] = {0}, pass = share.number;

	set->npasses = assign_passes(set, pass_of);
	if (share.in_turn)
		pass = (pass - 1) % set->npasses + 1;
	set->pass = pass;
	for (unsigned q = 0; q < set->nquantities; q++) {
		struct cp_quantity *quantity = &set->quantities[q];

		if (!pass_of[q] || pass_of[q] == pass)
			continue;
		quantity->available = quantity->unproven = false;
		quantity->nterms = 0;
		cp_format(quantity->why.text, sizeof(quantity->why.text),
			CP_IN_PASS "%u of %u", pass_of[q], set->npasses);
	}
	drop_unused(set);
}

void cp_request_add_common(struct cp_request *request)
{
	for (size_t i = 0; i < request->nnames; i++)
		if (strcmp(request->names[i], COMMON) == 0)
			return;
	if (request->nnames < CP_MAX_QUANTITIES) {
		request->names[request->nnames++] = COMMON;
		request->common = true;
	}
}
