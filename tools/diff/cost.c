/* SPDX-License-Identifier: MIT
 *
 * The cost of a run: which value says so, what it is made of, and which places cost more
 * or less than before.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/diff/diff.h"

/* The first one that both sides have is meant; those of the model of time come first. */
static const struct cp_cost costs[] = {
	{"predicted_time", "time",
		{{"perfect_time", "instructions"}, {"miss_time_l2", "L2"},
			{"miss_time_l3", "L3"}, {"miss_time_memory", "memory"},
			{"miss_time_tlb", "page walks"},
			{"miss_time_bandwidth", "bandwidth"},
			{"miss_time_store", "store buffers"},
			{"miss_time_sharing", "other threads' lines"}}},
	{"predicted_cycles", "time",
		{{"perfect_cycles", "instructions"}, {"stall_cycles_l2", "L2"},
			{"stall_cycles_l3", "L3"}, {"stall_cycles_memory", "memory"},
			{"stall_cycles_tlb", "page walks"},
			{"stall_cycles_bandwidth", "bandwidth"},
			{"stall_cycles_store", "store buffers"},
			{"stall_cycles_sharing", "other threads' lines"}}},
	{"cycles", "time",
		{{"time_issue", "instructions"}, {"time_branch", "branches"},
			{"time_l2", "L2"}, {"time_l3", "L3"}, {"time_memory", "memory"},
			{"time_tlb", "page walks"}, {"time_bandwidth", "bandwidth"},
			{"time_store", "store buffers"}}},
	{"miss_cost", "cost",
		{{"cost_l2", "L2"}, {"cost_l3", "L3"}, {"cost_memory", "memory"},
			{"cost_code", "code"}, {"cost_walks", "page walks"},
			{"cost_sharing", "other threads' lines"}}},
	{"miss_cycles", "cost", {{NULL, NULL}}},
	{"task_clock", "time", {{NULL, NULL}}},
	{"walks", "page walks", {{NULL, NULL}}},
	{"misses", "misses", {{NULL, NULL}}},
	{"memory_misses", "misses", {{NULL, NULL}}},
	{"transfers_at_most", "transfers",
		{{"for_nothing_at_most", "for nothing (false sharing)"},
			{"for_data_at_most", "for what another thread wrote"}}},
	{"llc_misses", "misses", {{NULL, NULL}}},
	{"l2_misses", "misses", {{NULL, NULL}}},
	{"l1d_misses", "misses", {{NULL, NULL}}},
};
#define NCOSTS (sizeof(costs) / sizeof(costs[0]))

bool cp_cost_is_any(const char *name)
{
	for (size_t i = 0; i < NCOSTS; i++) {
		bool misses = strcmp(costs[i].word, "misses") == 0;

		if (!misses && strcmp(costs[i].name, name) == 0)
			return true;
		for (const struct cp_cost_part *part = costs[i].parts; part->name; part++)
			if (strcmp(part->name, name) == 0)
				return true;
	}
	return false;
}

const struct cp_entry *cp_cost_entry(
	const struct cp_values *values, const struct cp_spot *spot, const char *name)
{
	const struct cp_entry *entry = NULL;

	for (enum cp_kind kind = CP_TIME; !entry && kind <= CP_METRIC; kind++)
		entry = cp_values_find(values, spot, kind, name);
	return entry;
}

static bool has_both(const struct cp_entry *entry)
{
	return entry && entry->side[0].runs.n && entry->side[1].runs.n;
}

static bool any_has_both(const struct cp_values *values, const char *name, bool whole)
{
	for (size_t s = 0; s < values->nspots; s++)
		if ((!whole || !values->spots[s]->around) &&
			has_both(cp_cost_entry(values, values->spots[s], name)))
			return true;
	return false;
}

static const struct cp_cost *first_known(const struct cp_values *values, bool whole)
{
	for (size_t i = 0; i < NCOSTS; i++)
		if (any_has_both(values, costs[i].name, whole))
			return &costs[i];
	return NULL;
}

/* One that is known of the whole run, if there is any. */
const struct cp_cost *cp_cost_of(const struct cp_values *values)
{
	const struct cp_cost *cost = first_known(values, true);

	return cost ? cost : first_known(values, false);
}

/* ---- of each place, without the places in it ---- */

/* Not where the region is without a value, nor where one in it is. */
static double inclusive_of(const struct cp_entry *entry, unsigned side)
{
	const struct cp_cell *cell = &entry->side[side];

	return cell->runs.n ? cell->runs.mean : cell->missing ? NAN : 0;
}

/* By spot, of both sides. */
static double *own_values(const struct cp_diff *diff, const char *name)
{
	const struct cp_values *values = diff->values;
	double *own =
		cp_arena_alloc(diff->arena, (2 * values->nspots + 1) * sizeof(*own));

	for (size_t i = 0; i < 2 * values->nspots; i++)
		own[i] = 0;
	for (size_t i = 0; i < values->nspots; i++) {
		const struct cp_spot *spot = values->spots[i], *around = spot->around;
		const struct cp_entry *entry = cp_cost_entry(values, spot, name);

		for (unsigned side = 0; entry && side < 2; side++) {
			own[2 * i + side] += inclusive_of(entry, side);
			if (around)
				own[2 * around->index + side] -=
					inclusive_of(entry, side);
		}
	}
	return own;
}

/* The part that changed most in the direction of the place. */
static void find_mostly(struct cp_diff *diff, const struct cp_cost_part *part)
{
	const double *own = own_values(diff, part->name);

	for (size_t i = 0; i < diff->nplaces; i++) {
		struct cp_cost_place *place = &diff->places[i];
		const double *values = &own[2 * place->spot->index];
		double change = values[1] - values[0],
		       whole = place->value[1] - place->value[0];

		if ((change > 0) != (whole > 0) || !(fabs(change) > place->most))
			continue;
		place->most = fabs(change);
		place->mostly = part->label;
	}
}

static int compare_places(const void *one, const void *other)
{
	const struct cp_cost_place *a = one, *b = other;
	double x = fabs(a->value[1] - a->value[0]), y = fabs(b->value[1] - b->value[0]);

	if (x > y || x < y)
		return x > y ? -1 : 1;
	return strcmp(a->spot->key, b->spot->key);
}

static void add_place(
	struct cp_diff *diff, const struct cp_spot *spot, const double value[2])
{
	const struct cp_entry *entry =
		cp_cost_entry(diff->values, spot, diff->cost->name);

	if (!entry || !isfinite(value[0] + value[1]) || (value[0] == 0 && value[1] == 0))
		return;
	diff->places[diff->nplaces++] = (struct cp_cost_place){.spot = spot,
		.value = {value[0], value[1]},
		.mostly = "",
		.one_sided = !has_both(entry),
		.tested = !spot->is_around};
}

void cp_cost_places(struct cp_diff *diff)
{
	const struct cp_values *values = diff->values;
	const double *own = diff->cost ? own_values(diff, diff->cost->name) : NULL;

	diff->places =
		cp_arena_alloc(diff->arena, (values->nspots + 1) * sizeof(*diff->places));
	for (size_t i = 0; own && i < values->nspots; i++)
		add_place(diff, values->spots[i], &own[2 * i]);
	if (diff->nplaces)
		qsort(diff->places, diff->nplaces, sizeof(*diff->places), compare_places);
	for (size_t i = 0; i < diff->nplaces; i++)
		values->spots[diff->places[i].spot->index]->rank =
			(double)(diff->nplaces - i);
	for (const struct cp_cost_part *part = diff->cost ? diff->cost->parts : NULL;
		part && part->name; part++)
		find_mostly(diff, part);
}
