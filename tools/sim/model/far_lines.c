/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/far_lines.h"

/* As many areas as tags can tell apart, and the table holds. */
void far_lines_init(struct far_lines *r, uint32_t fewest_sets)
{
	uint64_t lines = (0xffffffffull * fewest_sets) - FAR_LINES_FROM;
	uint64_t limit = lines >> FAR_LINES_BITS;

	r->used = 0;
	r->limit = limit < FAR_LINES_SLOTS / 2 ? (uint32_t)limit : FAR_LINES_SLOTS / 2;
}

/* A program that uses more areas than the limit has its last ones share
 * numbers: lines of different areas then hit each other. */
static uint64_t next_first(struct far_lines *r, uint64_t high)
{
	uint64_t n = r->used < r->limit ? r->used : r->limit - 1;

	r->used++;
	r->high[n] = high;
	return FAR_LINES_FROM + (n << FAR_LINES_BITS);
}

static uint32_t hash_region(uint64_t high)
{
	return (uint32_t)((high * 0x9e3779b97f4a7c15ull) >> 52) & (FAR_LINES_SLOTS - 1);
}

uint64_t far_lines_number(struct far_lines *r, uint64_t line)
{
	uint64_t high = line >> FAR_LINES_BITS;
	uint32_t i = hash_region(high);

	while (r->slot[i].high && r->slot[i].high != high + 1)
		i = (i + 1) & (FAR_LINES_SLOTS - 1);
	if (!r->slot[i].high && r->used < FAR_LINES_SLOTS - 1) {
		r->slot[i].high = high + 1;
		r->slot[i].first = next_first(r, high);
	}
	return r->slot[i].first | (line & ((1ull << FAR_LINES_BITS) - 1));
}
