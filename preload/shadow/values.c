/* SPDX-License-Identifier: MIT
 *
 * From windows to what the record has: of the whole process, and of its regions.
 */
#include "preload/shadow/values.h"

#include <string.h>

#include "base/counters/events.h"
#include "preload/planned.h"
#include "preload/runtime.h"
#include "preload/shadow/controller.h"
#include "preload/shadow/estimate.h"
#include "preload/threads/threads.h"

#define MOST_CUT 0.05 /* of the windows of a region */

/* In a program of 70 pages estimates were a fifth too low, and known to 2 %: nobody knows
 * why (doc/validation.md). */
static bool is_of_pages(enum cp_shadow_counter counter)
{
	return counter == CP_SHADOW_dtlb_misses || counter == CP_SHADOW_dtlb_walks;
}

/* ---- of the process ---- */

/* Threads without ticks (there are too many) had some of the time, and nobody knows how
 * much. */
static enum cp_shadowed_why why_not(const struct cp_shadows *s,
	enum cp_shadow_counter counter, const struct cp_shadow_estimate *estimate)
{
	bool outer = counter >= CP_SHADOW_l2_accesses && counter <= CP_SHADOW_llc_misses;

	if (!s)
		return CP_SHADOWED_NO;
	if (s->untimed)
		return CP_SHADOWED_UNTIMED;
	if (s->cut)
		return CP_SHADOWED_CUT;
	if (s->log.nwindows < CP_SHADOW_FEWEST)
		return CP_SHADOWED_FEW;
	if (outer && !s->plain)
		return CP_SHADOWED_NOT_WARM;
	if (is_of_pages(counter))
		return CP_SHADOWED_PAGES;
	if (estimate->high - estimate->low > estimate->value)
		return CP_SHADOWED_UNKNOWN;
	return CP_SHADOWED_KNOWN;
}

static void fill(struct cp_shadowed *to, const struct cp_shadows *s,
	enum cp_shadow_counter counter, double cpu_ns)
{
	struct cp_shadow_windows windows = {0};
	struct cp_shadow_estimate e = {0};

	memset(to, 0, sizeof(*to));
	if (s)
		windows = (struct cp_shadow_windows){
			s->log.window, s->log.nwindows, s->log.forks};
	if (windows.n >= CP_SHADOW_FEWEST)
		e = cp_shadow_total(&windows, counter, cpu_ns);
	to->why = why_not(s, counter, &e);
	to->low = e.low;
	to->high = e.high;
	if (to->why != CP_SHADOWED_KNOWN) {
		to->without = 1;
		to->without_ns = cpu_ns;
		return;
	}
	to->with = 1;
	to->with_ns = cpu_ns;
	to->value = e.value;
	to->square = e.error * e.error;
	for (unsigned i = 0; i < windows.n; i++)
		to->seen_ns += (double)windows.window[i].cpu_ns;
}

/* ---- of regions ---- */

/* Those of its executions that no window was cut in are like the others only if nearly
 * all are. */
static enum cp_shadowed_why why_not_site(const struct cp_shadows *s,
	const struct cp_site *site, enum cp_shadow_counter counter,
	const struct cp_shadow_estimate *estimate)
{
	bool outer = counter >= CP_SHADOW_l2_accesses && counter <= CP_SHADOW_llc_misses;

	if (site->paused)
		return CP_SHADOWED_PAUSED;
	if (s->cut)
		return CP_SHADOWED_CUT;
	if (site->cut > MOST_CUT * (site->cut + site->counted))
		return site->counted ? CP_SHADOWED_SOME : CP_SHADOWED_LONG;
	if (site->counted < CP_SHADOW_FEWEST)
		return CP_SHADOWED_FEW;
	if (outer && !s->plain)
		return CP_SHADOWED_NOT_WARM;
	if (is_of_pages(counter))
		return CP_SHADOWED_PAGES;
	return estimate->high - estimate->low > estimate->value ? CP_SHADOWED_UNKNOWN
								: CP_SHADOWED_KNOWN;
}

/* In the order in which they began. */
static struct cp_shadow_windows windows_of(struct cp_shadows *s, uint32_t site)
{
	struct cp_shadow_windows windows = {s->gathered, 0, 0};

	for (unsigned i = 0; i < s->regions.nwindows; i++)
		if (s->regions.window[i].site == site)
			s->gathered[windows.n++] = s->regions.window[i];
	return windows;
}

static void fill_region(struct cp_shadows *s, const struct cp_shadow_windows *windows,
	const struct cp_site *site, enum cp_shadow_counter counter,
	struct cp_shadowed *to)
{
	struct cp_shadow_estimate e = {0};
	double executions = (double)site->executions;

	memset(to, 0, sizeof(*to));
	if (windows->n >= CP_SHADOW_FEWEST)
		e = cp_shadow_total(windows, counter, executions);
	to->why = why_not_site(s, site, counter, &e);
	to->low = e.low;
	to->high = e.high;
	if (to->why != CP_SHADOWED_KNOWN) {
		to->without = 1;
		to->without_ns = executions;
		return;
	}
	to->with = 1;
	to->with_ns = executions;
	to->seen_ns = windows->n;
	to->value = e.value;
	to->square = e.error * e.error;
}

static struct cp_shadowed_region_item *item_of(const struct cp_site *site)
{
	struct cp_shadowed_region_item *item = cp_record_reserve(&cp_runtime.record,
		sizeof(*item) + cp_plan.set.nquantities * sizeof(item->of[0]));

	if (!item)
		return NULL;
	item->depth = site->depth;
	for (unsigned d = 0; d < site->depth; d++)
		item->name[d] = site->path[d]->record_offset;
	cp_item_publish(item, CP_ITEM_SHADOWED_REGION);
	return item;
}

static void fill_site(struct cp_shadows *s, uint32_t number)
{
	const struct cp_event_set *set = &cp_plan.set;
	struct cp_site *site = &s->site[number];
	struct cp_shadow_windows windows = windows_of(s, number);

	if (!site->item)
		site->item = item_of(site);
	for (unsigned q = 0; site->item && q < set->nquantities; q++)
		if (set->quantities[q].shadowed)
			fill_region(s, &windows, site,
				(enum cp_shadow_counter)cp_shadow_counter(
					set->quantities[q].name),
				&site->item->of[q]);
}

static void fill_regions(struct cp_shadows *s)
{
	for (uint32_t i = 1; s && i < CP_SITES && s->site[i].depth; i++)
		fill_site(s, i);
}

void cp_values_fill(struct cp_shadows *s)
{
	const struct cp_event_set *set = &cp_plan.set;
	double cpu_ns = s ? (double)cp_controller_total(s) : (double)cp_process_cpu();

	for (unsigned q = 0; cp_runtime.shadowed && q < set->nquantities; q++)
		if (set->quantities[q].shadowed)
			fill(&cp_runtime.shadowed->of[q], s,
				(enum cp_shadow_counter)cp_shadow_counter(
					set->quantities[q].name),
				cpu_ns);
	fill_regions(s);
}
