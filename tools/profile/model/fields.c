/* SPDX-License-Identifier: MIT
 *
 * From bytes of lines to fields: a byte of a line that is in a variable is in one of its
 * elements, of which only the place counts, not which one it is.
 */
#include "tools/profile/model/fields.h"

#include <string.h>

#include "base/text/table.h"
#include "tools/profile/model/line_use.h"

#define COLD 8                         /* times less than the mean */
#define MOST 12                        /* fields that are named */
#define LARGEST ((uint64_t)1024 << 10) /* an element */

/* By byte of an element. */
struct sums {
	uint64_t fetched, used, sparse, used_of_sparse;
};

/* Where the slot's first byte is, from the beginning of the variable's first line. */
static uint64_t place_of(
	const struct cp_profile_use *use, const struct cp_profiled_object *object)
{
	if (use->slot == CP_PROFILE_USE_FIRST)
		return 0;
	if (use->slot == CP_PROFILE_USE_LAST)
		return (use->begin + object->size - 1) / use->line * use->line;
	return (uint64_t)use->slot * use->line;
}

/* Does a slot always have the same place of an element? */
static bool can_be_told(const struct cp_profile_use *use,
	const struct cp_profiled_object *object, uint64_t element)
{
	uint64_t all = (uint64_t)CP_PROFILE_USE_SLOTS * use->line;

	return use->begin < use->line && use->slot <= CP_PROFILE_USE_LAST &&
	       (all % element == 0 || use->begin + object->size <= all);
}

/* Bytes of its lines before and behind the variable are not part of it.  Slot 0 of a
 * variable with more lines than slots stands for lines further on. */
static void add_use(struct sums *sums, const struct cp_profile_use *use,
	const struct cp_profiled_object *object, uint64_t element)
{
	unsigned parts = use->line < CP_LINE_BITS ? use->line : CP_LINE_BITS,
		 each = parts ? use->line / parts : 0;
	uint64_t end = use->begin + object->size,
		 all = (uint64_t)CP_PROFILE_USE_SLOTS * use->line,
		 from = place_of(use, object);

	if (use->slot == 0 && end > all)
		from = all;
	for (unsigned i = 0; i < parts * each; i++) {
		uint64_t at = from + i;
		struct sums *to;

		if (at < use->begin || at >= end)
			continue;
		to = &sums[(at - use->begin) % element];
		to->fetched += use->fetched;
		to->sparse += use->sparse;
		to->used += use->used[i / each];
		to->used_of_sparse += use->used_of_sparse[i / each];
	}
}

/* A field is used where its most used byte is. */
static void fill_field(
	const struct cp_fields *fields, const struct sums *sums, struct cp_field *field)
{
	for (uint64_t at = field->offset;
		at < field->offset + field->size && at < fields->size; at++) {
		if (sums[at].fetched > field->fetched)
			field->fetched = sums[at].fetched;
		if (sums[at].used > field->used)
			field->used = sums[at].used;
		if (sums[at].sparse > field->sparse)
			field->sparse = sums[at].sparse;
		if (sums[at].used_of_sparse > field->used_of_sparse)
			field->used_of_sparse = sums[at].used_of_sparse;
	}
}

/* Objects of one variable, of all processes. */
static bool is_same(
	const struct cp_profiled_object *one, const struct cp_profiled_object *other)
{
	return one->use && one->data == other->data && one->address == other->address &&
	       one->size == other->size && strcmp(one->name, other->name) == 0;
}

static bool add_all(const struct cp_profile *profile,
	const struct cp_profiled_object *object, struct sums *sums, uint64_t element)
{
	for (size_t i = 0; i < profile->nobjects; i++) {
		const struct cp_profiled_use *at = profile->objects[i].use;

		if (!is_same(&profile->objects[i], object))
			continue;
		for (; at; at = at->next)
			if (can_be_told(at->in, object, element))
				add_use(sums, at->in, object, element);
			else
				return false;
	}
	return true;
}

const struct cp_fields *cp_fields_of(
	const struct cp_profile *profile, const struct cp_profiled_object *object)
{
	struct cp_fields *fields;
	struct sums *sums;

	if (!profile->has_line_use || object->data != CP_DATA_VARIABLE || !object->use ||
		!object->module || !object->module->symbols)
		return NULL;
	fields = cp_symbols_fields(
		object->module->symbols, profile->arena, object->address);
	if (!fields || fields->size > LARGEST || fields->size > object->size)
		return NULL;
	sums = cp_arena_alloc(profile->arena, fields->size * sizeof(*sums));
	if (!add_all(profile, object, sums, fields->size))
		return NULL;
	for (size_t i = 0; i < fields->n; i++)
		fill_field(fields, sums, &fields->field[i]);
	for (uint64_t at = 0; at < fields->size; at++)
		fields->used_of_sparse += sums[at].used_of_sparse;
	return fields;
}

/* Used an eighth as often as the mean of the element's bytes or less. */
static bool is_cold(const struct cp_fields *fields, const struct cp_field *field)
{
	return field->used_of_sparse <= fields->used_of_sparse / fields->size / COLD;
}

double cp_fields_hot_share(const struct cp_fields *fields)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < fields->n; i++)
		if (!is_cold(fields, &fields->field[i]))
			bytes += fields->field[i].size;
	return (double)bytes / (double)fields->size;
}

double cp_fields_hot_lines(const struct cp_fields *fields, uint64_t line)
{
	double bytes = 0;

	for (size_t i = 0; i < fields->n; i++)
		if (!is_cold(fields, &fields->field[i]))
			bytes += (double)fields->field[i].size *
				 (double)fields->field[i].used_of_sparse;
	return bytes / (double)line;
}

const char *cp_fields_names(
	struct cp_arena *arena, const struct cp_fields *fields, bool cold)
{
	const char *text = "";
	size_t n = 0;

	for (size_t i = 0; i < fields->n; i++) {
		if (is_cold(fields, &fields->field[i]) != cold)
			continue;
		if (n++ < MOST)
			text = cp_text_listed(arena, text, fields->field[i].name);
	}
	if (n > MOST)
		return cp_text_format(arena, "%s and %zu more", text, n - MOST);
	return n ? text : "none";
}

const char *cp_fields_shares(struct cp_arena *arena, const struct cp_fields *fields)
{
	const char *text = "";

	for (size_t i = 0; i < fields->n && i < MOST; i++) {
		const struct cp_field *field = &fields->field[i];
		double share = field->fetched ? 100 * (double)field->used /
							(double)field->fetched
					      : 0;

		text = cp_text_listed(arena, text,
			cp_text_format(arena, "%s %.0f", field->name, share));
	}
	return fields->n > MOST
		       ? cp_text_format(arena, "%s and %zu more", text, fields->n - MOST)
		       : text;
}
