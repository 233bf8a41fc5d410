/* SPDX-License-Identifier: MIT */
#include "tools/profile/calls/changes.h"

#include <string.h>

/* ---- quantities ---- */

static bool is_listed(const struct cp_calls_quantity *quantity,
	const struct cp_calls_quantity *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (list[i] == quantity)
			return true;
	return false;
}

static void choose_quantities(
	struct cp_changes *changes, const struct cp_group *measurement)
{
	const struct cp_calls_quantity *list[2][CP_CALLS_QUANTITIES];
	size_t n[2];

	for (unsigned side = 0; side < 2; side++)
		n[side] = cp_calls_quantities(
			changes->profile[side], measurement, list[side]);
	for (size_t i = 0; i < n[CP_AFTER]; i++) {
		const struct cp_calls_quantity *quantity = list[CP_AFTER][i];

		if (!is_listed(quantity, list[CP_BEFORE], n[CP_BEFORE]))
			continue;
		if (quantity->misses)
			changes->misses = changes->nquantities;
		changes->quantity[changes->nquantities++] = quantity;
	}
}

/* ---- one tree ---- */

/* The path in the tree of each call of a side. */
static size_t *add_side(struct cp_changes *changes, const struct cp_calls *calls)
{
	size_t *at = cp_arena_alloc(changes->arena, calls->n * sizeof(*at));

	for (size_t i = 1; i < calls->n; i++) {
		const struct cp_call *call = &calls->call[i];

		at[i] = cp_calls_child(changes->tree, at[call->parent],
			calls->function[call->function].name, "");
	}
	return at;
}

static void add_counts(struct cp_changes *changes, const struct cp_calls *calls,
	const size_t *at, unsigned side)
{
	for (size_t i = 0; i < calls->n; i++) {
		struct cp_changed_path *path = &changes->path[at[i]];

		path->calls[side] += calls->call[i].calls;
		for (size_t q = 0; q < changes->nquantities; q++)
			path->own[side][q] +=
				cp_calls_amount(changes->quantity[q], calls->call[i].own);
	}
	changes->folded[side] = calls->folded;
}

static void add_up(struct cp_changes *changes)
{
	for (size_t i = 0; i < changes->tree->n; i++)
		memcpy(changes->path[i].all, changes->path[i].own,
			sizeof(changes->path[i].all));
	for (size_t i = changes->tree->n; i-- > 1;) {
		const struct cp_changed_path *from = &changes->path[i];
		struct cp_changed_path *to =
			&changes->path[changes->tree->call[i].parent];

		for (unsigned side = 0; side < 2; side++)
			for (size_t q = 0; q < changes->nquantities; q++)
				to->all[side][q] += from->all[side][q];
	}
}

struct cp_changes *cp_changes_of(const struct cp_profile *const profile[2],
	const char *const label[2], const struct cp_group *measurement)
{
	struct cp_arena *arena = profile[0]->arena;
	struct cp_changes *changes = cp_arena_alloc(arena, sizeof(*changes));
	const struct cp_calls *calls[2];
	size_t *at[2];

	changes->arena = arena;
	changes->percent = CP_CHANGES_PERCENT;
	changes->tree = cp_calls_new(arena);
	for (unsigned side = 0; side < 2; side++) {
		changes->profile[side] = profile[side];
		changes->label[side] = label[side];
		calls[side] = cp_calls_of(profile[side], NULL);
		at[side] = add_side(changes, calls[side]);
	}
	choose_quantities(changes, measurement);
	changes->path = cp_arena_alloc(arena, changes->tree->n * sizeof(*changes->path));
	for (unsigned side = 0; side < 2; side++)
		add_counts(changes, calls[side], at[side], side);
	add_up(changes);
	return changes;
}

/* ---- for those who show it ---- */

double cp_change_of(const struct cp_changes *changes, size_t path, size_t quantity)
{
	const struct cp_changed_path *it = &changes->path[path];

	return (double)it->all[CP_AFTER][quantity] - (double)it->all[CP_BEFORE][quantity];
}

double cp_changes_whole(const struct cp_changes *changes, size_t quantity)
{
	const struct cp_changed_path *whole = &changes->path[0];
	uint64_t before = whole->all[CP_BEFORE][quantity],
		 after = whole->all[CP_AFTER][quantity];

	return (double)(before > after ? before : after);
}
