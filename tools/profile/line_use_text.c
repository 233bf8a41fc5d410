/* SPDX-License-Identifier: MIT */
#include "tools/profile/line_use_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/text/table.h"
#include "tools/profile/model/fields.h"
#include "tools/profile/model/line_use.h"

struct row {
	const struct cp_profiled_object *object;
	struct cp_line_use use;
	double unused; /* bytes that were fetched */
};

static int by_unused(const void *one, const void *other)
{
	const struct row *a = one, *b = other;

	return (b->unused > a->unused) - (b->unused < a->unused);
}

static size_t find_rows(const struct cp_profile *profile, struct row *rows)
{
	size_t n = 0;

	for (size_t i = 0; i < profile->nobjects; i++) {
		struct row *row = &rows[n];

		row->object = &profile->objects[i];
		if (!cp_line_use_is_first(row->object) ||
			!cp_line_use_of(row->object, &row->use))
			continue;
		row->unused = (double)row->use.fetched *
			      (row->use.line - cp_line_use_bytes(&row->use));
		n++;
	}
	if (n)
		qsort(rows, n, sizeof(*rows), by_unused);
	return n;
}

static void fill_row(
	struct cp_arena *arena, struct cp_table *table, size_t at, const struct row *row)
{
	const struct cp_line_use *use = &row->use;
	double bytes = cp_line_use_bytes(use);

	cp_table_set(table, at, 0, cp_text_safe(arena, cp_slice_of(row->object->name)));
	cp_table_set(table, at, 1, cp_text_integer(arena, use->fetched));
	cp_table_set(table, at, 2, cp_text_format(arena, "%.1f", bytes));
	cp_table_set(table, at, 3,
		cp_text_format(arena, "%.1f", 100 * (1 - bytes / use->line)));
	cp_table_set(table, at, 4,
		cp_text_integer(arena, cp_line_use_count(use, cp_line_use_cold(use))));
}

/* Writes in how many of the lines with a field the field was used. */
static void put_fields(struct cp_out *out, const struct cp_profile *profile,
	const struct cp_profiled_object *object, size_t width)
{
	const struct cp_fields *fields = cp_fields_of(profile, object);

	if (fields)
		cp_text_wrap(out,
			cp_text_format(profile->arena,
				"%s, fields used, in %% of the lines that had them: %s",
				cp_text_safe(profile->arena, cp_slice_of(object->name)),
				cp_fields_shares(profile->arena, fields)),
			0, 2, width);
}

void cp_line_use_write_text(
	struct cp_out *out, const struct cp_profile_view *view, size_t most, size_t width)
{
	static const char *const headings[] = {
		"Bytes used of fetched lines", "lines", "used B", "unused %", "cold B"};
	const struct cp_profile *profile = view->profile;
	struct row *rows;
	struct cp_table *table;
	size_t n, shown;

	if (!profile->has_all_line_use)
		return;
	rows = cp_arena_alloc(profile->arena, (profile->nobjects + 1) * sizeof(*rows));
	n = find_rows(profile, rows);
	shown = n < most ? n : most;
	if (!n)
		return;
	table = cp_table_new(profile->arena, 5, shown);
	for (size_t i = 0; i < 5; i++)
		cp_table_heading(table, i, "", headings[i]);
	for (size_t i = 0; i < shown; i++)
		fill_row(profile->arena, table, i, &rows[i]);
	cp_out_text(out, "\n");
	cp_table_print(table, out, width, false);
	if (n > shown)
		cp_out_format(out, "(%zu more: -v)\n", n - shown);
	for (size_t i = 0; i < shown; i++)
		put_fields(out, profile, rows[i].object, width);
}
