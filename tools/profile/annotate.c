/* SPDX-License-Identifier: MIT
 *
 * A file of source with what each line has beside it.
 */
#include "tools/profile/annotate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/table.h"
#include "tools/profile/model/grid.h"
#include "tools/profile/model/source.h"
#include "tools/profile/model/write.h"

#define WIDTH 80

/* ---- which file ---- */

bool cp_annotate_is_named(const char *path, const char *wanted)
{
	size_t length = strlen(path), end;

	while (strncmp(wanted, "./", 2) == 0)
		wanted += 2;
	end = strlen(wanted);
	if (!end || length < end || strcmp(path + length - end, wanted) != 0)
		return false;
	return length == end || path[length - end - 1] == '/';
}

static bool is_same(const char *path, const char *wanted)
{
	char *a = realpath(path, NULL), *b = realpath(wanted, NULL);
	bool same = a && b && strcmp(a, b) == 0;

	free(a);
	free(b);
	return same;
}

static const char *list_of(const struct cp_profile_view *view,
	const struct cp_rows *files, const char *wanted)
{
	const char *list = "";
	unsigned n = 0;

	for (size_t i = 0; i < files->n && n < 5; i++) {
		const char *file = files->row[i].site->at.file;

		if (!*file || (wanted && !cp_annotate_is_named(file, wanted)))
			continue;
		list = cp_text_listed(view->profile->arena, list, file);
		n++;
	}
	return list;
}

/* The row of all code without line numbers; NULL: all misses have lines. */
static const struct cp_row *without_lines(const struct cp_rows *files)
{
	for (size_t i = 0; i < files->n; i++)
		if (!*files->row[i].site->at.file)
			return &files->row[i];
	return NULL;
}

/* Why the file has no row: a miss of its lines may be where lines are not known. */
static void explain_missing(const struct cp_profile_view *view,
	const struct cp_rows *files, const char *wanted, char *error, size_t error_size)
{
	const struct cp_row *unknown = without_lines(files);
	const char *most = list_of(view, files, NULL), *unread;
	struct cp_rows *modules;

	if (!*most) {
		unread = cp_profile_unread(view->profile, NULL);
		snprintf(error, error_size,
			"no lines of source are known in this run: %s",
			unread ? unread : "build the program with -g");
		return;
	}
	if (!unknown) {
		snprintf(error, error_size,
			"no line of %s has a miss in this run; those that have most: %s",
			wanted, most);
		return;
	}
	modules = cp_rows_of(view, CP_ROW_MODULE, files, unknown);
	unread = modules->n ? cp_profile_unread(
				      view->profile, modules->row[0].site->at.module)
			    : NULL;
	snprintf(error, error_size,
		"no line of %s is known to have a miss in this run, but %.2f %% of the misses are in "
		"code without line numbers, most of it in %s: %s; "
		"those that have most: %s",
		wanted, cp_row_share(view, files, unknown),
		modules->n ? modules->row[0].site->at.module->name : "?",
		unread ? unread : "build that with -g", most);
}

const struct cp_row *cp_annotate_find(const struct cp_profile_view *view,
	const struct cp_rows *files, const char *wanted, char *error, size_t error_size)
{
	const struct cp_row *found = NULL;
	unsigned n = 0;

	for (size_t i = 0; i < files->n; i++) {
		const char *file = files->row[i].site->at.file;

		if (strcmp(file, wanted) == 0 || (*file == '/' && is_same(file, wanted)))
			return &files->row[i];
		if (!cp_annotate_is_named(file, wanted))
			continue;
		found = &files->row[i];
		n++;
	}
	if (n == 1)
		return found;
	if (n)
		snprintf(error, error_size, "%s may be %s: give more of the path", wanted,
			list_of(view, files, wanted));
	else
		explain_missing(view, files, wanted, error, error_size);
	return NULL;
}

/* ---- its lines ---- */

struct annotation {
	const struct cp_profile_view *view;
	struct cp_rows *files, *lines;
	const char *path; /* to be read */
	struct cp_grid grid;
};

static const char *numbered_line(const struct annotation *a, unsigned line)
{
	struct cp_arena *arena = a->view->profile->arena;
	const char *source = cp_source_text(arena, a->path, line);

	return cp_text_format(arena, "%6u  %s", line, source ? source : "");
}

static void add_plain(struct annotation *a, unsigned from, unsigned to)
{
	struct cp_arena *arena = a->view->profile->arena;

	for (; from < to && cp_source_text(arena, a->path, from); from++)
		cp_grid_line(&a->grid, false, numbered_line(a, from));
}

static void add_counted(struct annotation *a, const struct cp_row *row)
{
	const char **line =
		cp_grid_line(&a->grid, true, numbered_line(a, row->site->at.line));

	line[0] = cp_grid_percent(&a->grid, cp_row_share(a->view, a->files, row));
	cp_grid_cells(&a->grid, line, &row->tally);
}

/* With those around it, or all of them; `next` is the first that is not there yet. */
static unsigned add_line(struct annotation *a, const struct cp_row *row, unsigned next)
{
	unsigned line = row->site->at.line, context = a->view->context;
	unsigned from = context < line ? line - context : 1;

	if (a->view->whole || from < next)
		from = next;
	if (from > next)
		cp_grid_line(&a->grid, false, "   ...");
	add_plain(a, from, line);
	add_counted(a, row);
	return line + 1;
}

static unsigned end_of_context(const struct annotation *a, size_t i, unsigned next)
{
	unsigned end = next + a->view->context;

	if (i + 1 < a->lines->n && a->lines->row[i + 1].site->at.line < end)
		end = a->lines->row[i + 1].site->at.line;
	return end;
}

static void add_lines(struct annotation *a)
{
	unsigned next = 1;

	for (size_t i = 0; i < a->lines->n; i++) {
		unsigned end;

		next = add_line(a, &a->lines->row[i], next);
		if (a->view->whole)
			continue;
		end = end_of_context(a, i, next);
		add_plain(a, next, end);
		next = end;
	}
	if (a->view->whole)
		add_plain(a, next, UINT32_MAX);
}

/* ---- the whole ---- */

static void print_head(
	struct cp_out *out, const struct annotation *a, const struct cp_row *file)
{
	const struct cp_profile_view *view = a->view;

	cp_out_format(
		out, "cachepeek %s annotate: %s\n", CP_VERSION, view->measurement->title);
	if (view->profile->cut)
		cp_out_format(out, "ended     %s\n", view->profile->cut);
	cp_out_text(out, "command   ");
	cp_text_wrap(out, view->profile->command, 10, 10, WIDTH);
	if (*view->profile->machine) { /* page faults have none */
		cp_out_text(out, "machine   ");
		cp_text_wrap(out, view->profile->machine, 10, 10, WIDTH);
	}
	cp_out_format(out, "source    %s: %.2f %% of the run's%s\n\n",
		file->site->at.file, cp_row_share(view, a->files, file),
		a->files->of_own ? ", with what Python's libraries missed for it" : "");
}

static void print_notes(
	struct cp_out *out, const struct annotation *a, const struct cp_row *file)
{
	const struct cp_profile *profile = a->view->profile;
	const char *path = file->site->at.file;

	if (!cp_source_text(profile->arena, a->path, 1))
		cp_out_format(out,
			"\nwarning: %s cannot be read: name it where it is now\n", path);
	else if (cp_source_changed(a->path, file->site->at.module->path))
		cp_out_text(out, "\n"
				 "warning: the file was written after the program: "
				 "its lines may be others\n");
	for (size_t i = 0; i < profile->nwarnings; i++)
		cp_text_wrap(out,
			cp_text_format(
				profile->arena, "warning: %s", profile->warnings[i]),
			0, 2, WIDTH);
}

void cp_annotate_write(struct cp_out *out, const struct cp_profile_view *view,
	struct cp_rows *files, const struct cp_row *file, const char *named)
{
	struct annotation a = {view, files, cp_rows_of(view, CP_ROW_LINE, files, file),
		file->site->at.file, cp_grid_new(view)};
	const char **line;

	/* A name that is an existing file means that file. */
	if (!cp_source_text(view->profile->arena, a.path, 1) &&
		cp_source_text(view->profile->arena, named, 1))
		a.path = named;
	cp_rows_order_by_line(a.lines);
	cp_grid_headings(&a.grid, "  Line  Source");
	a.grid.lines[0][1] = NULL; /* no sums: the lines are in their order */
	line = cp_grid_line(&a.grid, true, "        all of the file");
	line[0] = cp_grid_percent(&a.grid, cp_row_share(view, files, file));
	cp_grid_cells(&a.grid, line, &file->tally);
	add_lines(&a);
	print_head(out, &a, file);
	cp_grid_print(out, &a.grid);
	if (cp_profile_has_estimates(view)) {
		cp_out_text(out, "\n");
		cp_profile_write_weights(out, view);
	}
	print_notes(out, &a, file);
}
