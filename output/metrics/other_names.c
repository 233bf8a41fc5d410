/* SPDX-License-Identifier: MIT */
#include "output/metrics/other_names.h"

#include <string.h>
#include <strings.h>

#include "base/embedded.h"
#include "base/format.h"
#include "base/text.h"
#include "base/text/words.h"

/* A line of the file. */
struct row {
	struct cp_slice tool, name, ours, differs;
};

static struct cp_lines all_rows(void)
{
	const char *text = cp_embedded_find("others.names");

	return (struct cp_lines){.at = text ? text : ""};
}

static bool next_row(struct cp_lines *lines, enum cp_named what, struct row *row)
{
	struct cp_slice line, kind, equals;

	while (cp_lines_next(lines, &line)) {
		if (!cp_slice_word(&line, &row->tool) || !cp_slice_word(&line, &kind) ||
			!cp_slice_word(&line, &row->name) ||
			!cp_slice_word(&line, &equals) ||
			!cp_slice_word(&line, &row->ours) ||
			!cp_slice_is(kind, what == CP_NAMED_EVENT ? "event" : "group"))
			continue;
		cp_slice_word(&line, &equals);
		row->differs = cp_slice_trim(line);
		return true;
	}
	return false;
}

static const char *copy_slice(struct cp_arena *arena, struct cp_slice slice)
{
	return cp_arena_copy(arena, slice.at, cp_slice_length(slice));
}

/* The name without the parts that have no meaning on the simulated PMU. */
static bool is_called(const struct row *row, const char *name, size_t length)
{
	return cp_slice_length(row->name) == length &&
	       strncasecmp(row->name.at, name, length) == 0;
}

bool cp_other_name(struct cp_arena *arena, enum cp_named what, const char *name,
	struct cp_other_name *other)
{
	struct cp_lines lines = all_rows();
	struct row row;
	size_t length;

	if (what == CP_NAMED_EVENT && strncasecmp(name, "perf::", 6) == 0)
		name += 6;
	length = strlen(name);
	if (what == CP_NAMED_EVENT && cp_ends_with(name, ":u"))
		length -= 2;
	while (next_row(&lines, what, &row)) {
		if (!is_called(&row, name, length))
			continue;
		*other = (struct cp_other_name){copy_slice(arena, row.tool),
			copy_slice(arena, row.name), copy_slice(arena, row.ours),
			copy_slice(arena, row.differs)};
		return true;
	}
	return false;
}

void cp_other_name_note(
	const struct cp_other_name *other, const char *asked, char *to, size_t size)
{
	cp_format(to, size, "%s: read as %s%s%s%s", asked, other->ours,
		*other->differs ? " (" : "", other->differs, *other->differs ? ")" : "");
}

const char *const *cp_other_names(struct cp_arena *arena, enum cp_named what)
{
	struct cp_lines lines = all_rows();
	struct row row;
	size_t count = 0, i = 0;
	const char **names;

	while (next_row(&lines, what, &row))
		count++;
	names = cp_arena_alloc(arena, (count + 1) * sizeof(*names));
	lines = all_rows();
	while (next_row(&lines, what, &row))
		names[i++] = copy_slice(arena, row.name);
	names[i] = NULL;
	return names;
}
