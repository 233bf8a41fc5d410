/* SPDX-License-Identifier: MIT
 *
 * A region's estimates are of executions in all threads, so they are no part of the
 * regions that threads have.
 */
#include "regions/fold/fold_shadowed.h"

#include <string.h>

struct cp_fold_shadowed_region {
	struct cp_fold_shadowed_region *next;
	uint64_t depth;
	const struct cp_string_item *name[CP_SHADOWED_DEPTH];
	struct cp_shadowed of[];
};

/* ---- processes ---- */

void cp_fold_shadowed_start(struct cp_fold_shadowed *sum, struct cp_arena *arena,
	const struct cp_record *first)
{
	uint32_t n = first->header->nquantities;
	bool any = false;

	*sum = (struct cp_fold_shadowed){.arena = arena, .nquantities = n};
	for (uint32_t q = 0; q < n; q++)
		any |= first->quantities[q]->available == CP_QUANTITY_SHADOWED;
	if (any)
		sum->of = cp_arena_alloc(arena, n * sizeof(*sum->of));
}

/* One whose record had no room for estimates is one without. */
static void add_process(struct cp_fold_shadowed *sum, const struct cp_record *record)
{
	static const struct cp_shadowed none = {.why = CP_SHADOWED_NOT_YET, .without = 1};

	for (uint32_t q = 0; q < sum->nquantities; q++)
		if (record->quantities[q]->available == CP_QUANTITY_SHADOWED)
			cp_shadowed_add(&sum->of[q],
				record->shadowed ? &record->shadowed->of[q] : &none);
}

/* ---- regions ---- */

static bool is_same(const struct cp_fold_shadowed_region *region,
	const struct cp_string_item *const name[], uint64_t depth)
{
	if (region->depth != depth)
		return false;
	for (uint64_t d = 0; d < depth; d++)
		if (region->name[d]->length != name[d]->length ||
			memcmp(region->name[d]->text, name[d]->text, name[d]->length) !=
				0)
			return false;
	return true;
}

static struct cp_fold_shadowed_region *region_of(struct cp_fold_shadowed *sum,
	const struct cp_string_item *const name[], uint64_t depth)
{
	struct cp_fold_shadowed_region *region = sum->regions;

	while (region && !is_same(region, name, depth))
		region = region->next;
	if (region)
		return region;
	region = cp_arena_alloc(
		sum->arena, sizeof(*region) + sum->nquantities * sizeof(region->of[0]));
	region->depth = depth;
	memcpy(region->name, name, depth * sizeof(name[0]));
	region->next = sum->regions;
	sum->regions = region;
	return region;
}

static void add_region(struct cp_fold_shadowed *sum, const struct cp_record *record,
	const struct cp_shadowed_region_item *item)
{
	const struct cp_string_item *name[CP_SHADOWED_DEPTH];
	struct cp_fold_shadowed_region *region;

	for (uint64_t d = 0; d < item->depth; d++) {
		name[d] = cp_record_string(record, item->name[d]);
		if (!name[d])
			return;
	}
	region = region_of(sum, name, item->depth);
	for (uint32_t q = 0; q < sum->nquantities; q++)
		cp_shadowed_add(&region->of[q], &item->of[q]);
}

void cp_fold_shadowed_add(struct cp_fold_shadowed *sum, const struct cp_record *record)
{
	if (!sum->of)
		return;
	add_process(sum, record);
	for (size_t i = 0; i < record->nshadowed_regions; i++)
		add_region(sum, record, record->shadowed_regions[i]);
}

/* ---- the file ---- */

static void put_region(struct cp_fold_file *file,
	const struct cp_fold_shadowed_region *region, size_t size)
{
	uint64_t name[CP_SHADOWED_DEPTH] = {0};
	struct cp_shadowed_region_item *item;

	for (uint64_t d = 0; d < region->depth; d++)
		name[d] = cp_fold_put_string(
			file, region->name[d]->text, region->name[d]->length);
	item = cp_fold_put(file, CP_ITEM_SHADOWED_REGION, sizeof(*item) + size, NULL);
	if (!item)
		return;
	item->depth = region->depth;
	memcpy(item->name, name, sizeof(name));
	memcpy(item->of, region->of, size);
}

void cp_fold_shadowed_put(const struct cp_fold_shadowed *sum, struct cp_fold_file *file)
{
	size_t size = sum->nquantities * sizeof(*sum->of);
	struct cp_shadowed_item *item;

	if (!sum->of)
		return;
	item = cp_fold_put(file, CP_ITEM_SHADOWED, sizeof(*item) + size, NULL);
	if (item)
		memcpy(item->of, sum->of, size);
	for (const struct cp_fold_shadowed_region *at = sum->regions; at; at = at->next)
		put_region(file, at, size);
}
