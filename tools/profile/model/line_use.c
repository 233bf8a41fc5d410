/* SPDX-License-Identifier: MIT */
#include "tools/profile/model/line_use.h"

#include <stdlib.h>
#include <string.h>

#include "base/counts.h"
#include "base/text/table.h"

#define COLD 8         /* times less than the mean */
#define LEAST_SEEN 256 /* lines: of fewer, no share is known well enough */

/* By name and place; objects that are equal in that, in their order. */
static int by_name(const void *a, const void *b)
{
	const struct cp_profiled_object *x = *(struct cp_profiled_object *const *)a;
	const struct cp_profiled_object *y = *(struct cp_profiled_object *const *)b;
	int order = strcmp(x->name, y->name);

	if (!order)
		order = strcmp(x->file, y->file);
	if (!order)
		order = x->line < y->line ? -1 : x->line > y->line;
	return order;
}

static int by_name_and_order(const void *a, const void *b)
{
	const struct cp_profiled_object *x = *(struct cp_profiled_object *const *)a;
	const struct cp_profiled_object *y = *(struct cp_profiled_object *const *)b;
	int order = by_name(a, b);

	return order ? order : x < y ? -1 : x > y;
}

void cp_line_use_link(struct cp_profile *profile)
{
	struct cp_profiled_object **sorted =
		cp_arena_alloc(profile->arena, (profile->nobjects + 1) * sizeof(void *));

	for (size_t i = 0; i < profile->nobjects; i++)
		sorted[i] = &profile->objects[i];
	qsort(sorted, profile->nobjects, sizeof(*sorted), by_name_and_order);
	for (size_t i = 0; i < profile->nobjects; i++) {
		bool goes_on = i && by_name(&sorted[i - 1], &sorted[i]) == 0;

		sorted[i]->first_of_name =
			goes_on ? sorted[i - 1]->first_of_name : sorted[i];
		if (goes_on)
			sorted[i - 1]->next_of_name = sorted[i];
	}
}

static void add_use(struct cp_line_use *sum, const struct cp_profile_use *use)
{
	sum->line = use->line;
	sum->bits = use->line < CP_LINE_BITS ? use->line : CP_LINE_BITS;
	sum->each = sum->bits ? use->line / sum->bits : 0;
	sum->fetched += use->fetched;
	sum->seen += use->seen;
	sum->sparse += use->sparse;
	for (unsigned i = 0; i < CP_LINE_BITS; i++) {
		sum->used[i] += use->used[i];
		sum->used_of_sparse[i] += use->used_of_sparse[i];
	}
}

/* Lines that L1D had not, or would not have had without prefetchers. */
static double asked_for(const struct cp_profiled_object *object)
{
	uint64_t sum = 0;

	for (object = object->first_of_name; object; object = object->next_of_name) {
		sum += object->count[CP_PROFILE_AT(l1d_load_lines)] +
		       object->count[CP_PROFILE_AT(l1d_store_lines)];
		if (object->spared)
			sum += object->spared[CP_SPARED_L1D_LOADS] +
			       object->spared[CP_SPARED_L1D_STORES];
	}
	return (double)sum;
}

static void scale(struct cp_line_use *use, double by)
{
	use->scale = by;
	use->fetched = cp_count_of(by * (double)use->fetched);
	use->sparse = cp_count_of(by * (double)use->sparse);
	for (unsigned i = 0; i < CP_LINE_BITS; i++) {
		use->used[i] = cp_count_of(by * (double)use->used[i]);
		use->used_of_sparse[i] = cp_count_of(by * (double)use->used_of_sparse[i]);
	}
}

bool cp_line_use_of(const struct cp_profiled_object *object, struct cp_line_use *use)
{
	*use = (struct cp_line_use){.scale = 1};
	for (const struct cp_profiled_object *o = object->first_of_name; o;
		o = o->next_of_name)
		for (const struct cp_profiled_use *at = o->use; at; at = at->next)
			add_use(use, at->in);
	if (use->seen && use->seen < LEAST_SEEN)
		return false;
	if (use->seen)
		scale(use, asked_for(object) / (double)use->fetched);
	return use->fetched && use->each;
}

bool cp_line_use_is_first(const struct cp_profiled_object *object)
{
	return object->first_of_name == object;
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
			text = cp_text_listed(arena, text,
				range_text(arena, at * use->each, end * use->each - 1));
	}
	return *text ? text : "none";
}
