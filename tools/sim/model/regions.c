/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/regions.h"

/* As many regions as tags can tell apart, and the table holds. */
void regions_init(struct regions *r, uint32_t fewest_sets)
{
	uint64_t lines = (0xffffffffull * fewest_sets) - REGION_NEAR;
	uint64_t limit = lines >> REGION_BITS;

	r->used = 0;
	r->limit = limit < REGION_SLOTS / 2 ? (uint32_t)limit : REGION_SLOTS / 2;
}

/* A program that uses more regions than the limit has its last ones share
 * numbers: lines of different regions then hit each other. */
static uint64_t next_first(struct regions *r, uint64_t high)
{
	uint64_t n = r->used < r->limit ? r->used : r->limit - 1;

	r->used++;
	r->high[n] = high;
	return REGION_NEAR + (n << REGION_BITS);
}

static uint32_t hash_region(uint64_t high)
{
	return (uint32_t)((high * 0x9e3779b97f4a7c15ull) >> 52) & (REGION_SLOTS - 1);
}

uint64_t regions_far(struct regions *r, uint64_t line)
{
	uint64_t high = line >> REGION_BITS;
	uint32_t i = hash_region(high);

	while (r->slot[i].high && r->slot[i].high != high + 1)
		i = (i + 1) & (REGION_SLOTS - 1);
	if (!r->slot[i].high && r->used < REGION_SLOTS - 1) {
		r->slot[i].high = high + 1;
		r->slot[i].first = next_first(r, high);
	}
	return r->slot[i].first | (line & ((1ull << REGION_BITS) - 1));
}
