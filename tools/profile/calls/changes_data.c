/* SPDX-License-Identifier: MIT
 *
 * Tells programs what changed between the call paths of two runs.
 */
#include <math.h>

#include "base/text/table.h"
#include "output/json.h"
#include "tools/profile/calls/changes.h"
#include "tools/profile/calls/stacks.h"

static const char *name_of(const struct cp_changes *changes, size_t path)
{
	const char *name =
		changes->tree->function[changes->tree->call[path].function].name;

	return path ? name : "(program)";
}

/* ---- JSON ---- */

static void put_counts(struct cp_out *out, const struct cp_changes *changes,
	const char *name, const uint64_t *count)
{
	cp_out_format(out, ", \"%s\": {", name);
	for (size_t q = 0; q < changes->nquantities; q++)
		cp_out_format(out, "%s\"%s\": %lu", q ? ", " : "",
			changes->quantity[q]->name, (unsigned long)count[q]);
	cp_out_text(out, "}");
}

static void put_path(struct cp_out *out, const struct cp_changes *changes, size_t i)
{
	static const char *const names[] = {"before", "after"};
	const struct cp_changed_path *path = &changes->path[i];

	cp_out_text(out, i ? ",\n{" : "\n{");
	if (i)
		cp_out_format(out, "\"parent\": %zu, ", changes->tree->call[i].parent);
	else
		cp_out_text(out, "\"parent\": null, ");
	cp_json_pair(out, "function", i ? name_of(changes, i) : "");
	for (unsigned side = 0; side < 2; side++) {
		cp_out_format(out, ",\n \"%s\": {\"calls\": %lu", names[side],
			(unsigned long)path->calls[side]);
		put_counts(out, changes, "exclusive", path->own[side]);
		put_counts(out, changes, "inclusive", path->all[side]);
		cp_out_text(out, "}");
	}
	cp_out_text(out, "}");
}

static void put_side(struct cp_out *out, const struct cp_changes *changes, unsigned side)
{
	const struct cp_profile *profile = changes->profile[side];

	cp_out_format(out, " \"%s\": {", side ? "after" : "before");
	cp_json_pair(out, "label", changes->label[side]);
	cp_json_next(out, "command", profile->command);
	cp_json_next(out, "machine", profile->machine);
	cp_out_format(out, ", \"exact\": %s, \"folded\": %lu}",
		profile->inexact ? "false" : "true",
		(unsigned long)changes->folded[side]);
}

static void put_head(struct cp_out *out, const struct cp_changes *changes)
{
	cp_out_text(out, "{\"schema\": \"cachepeek-path-diff/1\",\n");
	cp_out_text(out, " \"cachepeek\": \"" CP_VERSION "\",\n");
	put_side(out, changes, CP_BEFORE);
	cp_out_text(out, ",\n");
	put_side(out, changes, CP_AFTER);
}

void cp_changes_write_head(struct cp_out *out, const struct cp_changes *changes)
{
	put_head(out, changes);
	cp_out_text(out, "}\n");
}

void cp_changes_write_json(struct cp_out *out, const struct cp_changes *changes)
{
	put_head(out, changes);
	cp_out_text(out, ",\n \"paths\": [");
	for (size_t i = 0; i < changes->tree->n; i++)
		put_path(out, changes, i);
	cp_out_text(out, "]}\n");
}

/* ---- folded ---- */

/* From the outermost on; a frame has no separator in it. */
static void put_stack(
	struct cp_out *out, const struct cp_changes *changes, size_t path, size_t *list)
{
	size_t n = 0;

	for (size_t i = path; i; i = changes->tree->call[i].parent)
		list[n++] = i;
	cp_out_text(out, "(program)");
	while (n-- > 0) {
		const char *name = cp_text_safe(
			changes->arena, cp_slice_of(name_of(changes, list[n])));

		cp_out_text(out, ";");
		for (; *name; name++)
			cp_out_bytes(out, *name == ';' ? ":" : name, 1);
	}
}

void cp_changes_write_folded(struct cp_out *out, const struct cp_changes *changes)
{
	size_t *list = cp_arena_alloc(changes->arena, changes->tree->n * sizeof(*list));
	size_t q = changes->misses;

	for (size_t i = 0; i < changes->tree->n; i++) {
		const struct cp_changed_path *path = &changes->path[i];

		if (!path->own[CP_BEFORE][q] && !path->own[CP_AFTER][q])
			continue;
		put_stack(out, changes, i, list);
		cp_out_format(out, " %lu %lu\n", (unsigned long)path->own[CP_BEFORE][q],
			(unsigned long)path->own[CP_AFTER][q]);
	}
}

/* ---- pages ---- */

/* As stacks are cut: by the shares of each side. */
static bool is_kept(const struct cp_changes *changes, size_t path)
{
	for (size_t q = 0; q < changes->nquantities; q++)
		for (unsigned side = 0; side < 2; side++) {
			double all = (double)changes->path[path].all[side][q];

			if (all > 0 && 100 * all >= CP_STACKS_PERCENT *
							    cp_changes_whole(changes, q))
				return true;
		}
	return !path;
}

static void put_frame(struct cp_out *out, const char *name, bool first)
{
	cp_out_text(out, first ? "\n[" : ",\n[");
	cp_json_quoted(out, name);
	cp_out_text(out, ", \"\"]");
}

/* Counts of calls that are left out are their callers' own. */
static size_t cut_paths(
	const struct cp_changes *changes, struct cp_changed_path *kept, size_t *number)
{
	size_t n = 0;

	for (size_t i = 0; i < changes->tree->n; i++)
		number[i] =
			is_kept(changes, i) ? n++ : number[changes->tree->call[i].parent];
	for (size_t i = 0; i < changes->tree->n; i++)
		for (unsigned side = 0; side < 2; side++)
			for (size_t q = 0; q < changes->nquantities; q++)
				kept[number[i]].own[side][q] +=
					changes->path[i].own[side][q];
	return n;
}

static void put_stack_numbers(struct cp_out *out, const struct cp_changes *changes,
	const struct cp_changed_path *kept, size_t parent, size_t path, size_t frame)
{
	cp_out_text(out, frame ? ",\n[" : "\n[");
	if (frame)
		cp_out_format(out, "%zu", parent);
	else
		cp_out_text(out, "null");
	cp_out_format(out, ",%zu,%lu", frame,
		(unsigned long)changes->path[path].calls[CP_AFTER]);
	for (unsigned side = 2; side-- > 0;)
		for (size_t q = 0; q < changes->nquantities; q++)
			cp_out_format(out, ",%lu", (unsigned long)kept->own[side][q]);
	cp_out_text(out, "]");
}

static void put_quantities(struct cp_out *out, const struct cp_changes *changes)
{
	cp_out_text(out, "\"quantities\": [");
	for (unsigned side = 2; side-- > 0;)
		for (size_t q = 0; q < changes->nquantities; q++) {
			const char *name = cp_text_format(changes->arena, "%s %s",
				changes->quantity[q]->name, side ? "after" : "before");

			cp_out_text(out, side && !q ? "" : ", ");
			cp_json_quoted(out, name);
		}
	cp_out_text(out, "],\n");
}

/* A frame for each path: names are short where paths are few. */
void cp_changes_write_stacks(struct cp_out *out, const struct cp_changes *changes)
{
	size_t all = changes->tree->n;
	struct cp_changed_path *kept =
		cp_arena_alloc(changes->arena, all * sizeof(*kept));
	size_t *number = cp_arena_alloc(changes->arena, all * sizeof(*number));
	size_t n = cut_paths(changes, kept, number);

	cp_out_format(out,
		"{\"percent\": %g, \"left_out\": %zu, \"misses\": %zu, \"pairs\": %zu,\n",
		CP_STACKS_PERCENT, all - n, changes->misses, changes->nquantities);
	put_quantities(out, changes);
	cp_out_text(out, "\"frames\": [");
	for (size_t i = 0; i < all; i++)
		if (is_kept(changes, i))
			put_frame(out, name_of(changes, i), !i);
	cp_out_text(out, "],\n\"stacks\": [");
	for (size_t i = 0; i < all; i++)
		if (is_kept(changes, i))
			put_stack_numbers(out, changes, &kept[number[i]],
				number[changes->tree->call[i].parent], i, number[i]);
	cp_out_text(out, "]}\n");
}
