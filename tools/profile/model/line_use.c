/* SPDX-License-Identifier: MIT */
#include "tools/profile/model/line_use.h"

#include <string.h>

#include "base/text/table.h"

#define COLD 8 /* times less than the mean */

static bool same_name(
	const struct cp_profiled_object *one, const struct cp_profiled_object *other)
{
	return strcmp(one->name, other->name) == 0 &&
	       strcmp(one->file, other->file) == 0 && one->line == other->line;
}

static void add_use(struct cp_line_use *sum, const struct cp_profile_use *use)
{
	sum->line = use->line;
	sum->bits = use->line < CP_LINE_BITS ? use->line : CP_LINE_BITS;
	sum->each = sum->bits ? use->line / sum->bits : 0;
	sum->fetched += use->fetched;
	sum->sparse += use->sparse;
	for (unsigned i = 0; i < CP_LINE_BITS; i++) {
		sum->used[i] += use->used[i];
		sum->used_of_sparse[i] += use->used_of_sparse[i];
	}
}

bool cp_line_use_of(const struct cp_profile *profile,
	const struct cp_profiled_object *object, struct cp_line_use *use)
{
	memset(use, 0, sizeof(*use));
	for (size_t i = 0; i < profile->nobjects && profile->has_line_use; i++)
		if (profile->objects[i].use && same_name(&profile->objects[i], object))
			for (const struct cp_profiled_use *at = profile->objects[i].use;
				at; at = at->next)
				add_use(use, at->in);
	return use->fetched && use->each;
}

bool cp_line_use_is_first(
	const struct cp_profile *profile, const struct cp_profiled_object *object)
{
	for (const struct cp_profiled_object *it = profile->objects; it < object; it++)
		if (same_name(it, object))
			return false;
	return true;
}

static uint64_t sum_of(const struct cp_line_use *use, const uint64_t *used)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < use->bits; i++)
		sum += used[i];
	return sum;
}

double cp_line_use_bytes(const struct cp_line_use *use)
{
	return (double)use->each * (double)sum_of(use, use->used) / (double)use->fetched;
}

uint64_t cp_line_use_cold(const struct cp_line_use *use)
{
	uint64_t sum = sum_of(use, use->used_of_sparse), bits = 0;

	for (unsigned i = 0; i < use->bits && use->sparse; i++)
		if (use->used_of_sparse[i] <= sum / use->bits / COLD)
			bits |= (uint64_t)1 << i;
	return bits;
}

unsigned cp_line_use_count(const struct cp_line_use *use, uint64_t bits)
{
	return (unsigned)__builtin_popcountll(bits) * use->each;
}

/* "32 to 39", or of one byte "32". */
static const char *range_text(struct cp_arena *arena, unsigned first, unsigned last)
{
	return first == last ? cp_text_format(arena, "%u", first)
			     : cp_text_format(arena, "%u to %u", first, last);
}

const char *cp_line_use_ranges(
	struct cp_arena *arena, const struct cp_line_use *use, uint64_t bits)
{
	const char *text = "";
	unsigned end;

	for (unsigned at = 0; at < use->bits; at = end + 1) {
		for (end = at; end < use->bits && bits >> end & 1;)
			end++;
		if (end > at)
			text = cp_text_format(arena, "%s%s%s", text, *text ? ", " : "",
				range_text(arena, at * use->each, end * use->each - 1));
	}
	return *text ? text : "none";
}
