/* SPDX-License-Identifier: MIT
 *
 * Tells in text what changed between the call paths of two runs: the tree of those paths
 * that changed most.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/table.h"
#include "tools/profile/calls/changes.h"

#define WIDTH 80
enum { CHANGE, BEFORE_COLUMN, AFTER_COLUMN, CALLS, PATH, COLUMNS };

/* A row, in the order in which rows are shown. */
struct row {
	size_t path;
	bool hot;
};

struct tree {
	const struct cp_changes *changes;
	struct cp_out *out;
	struct row *rows;
	size_t nrows, nleft_out;
};

static double size_of(const struct tree *tree, size_t path)
{
	return fabs(cp_change_of(tree->changes, path, tree->changes->misses));
}

/* ---- which rows there are ---- */

/* Changes below may cancel each other out: a path is shown for what is below it, too. */
static double *largest_below(const struct tree *tree)
{
	const struct cp_calls *calls = tree->changes->tree;
	double *largest = cp_arena_alloc(calls->arena, calls->n * sizeof(*largest));

	for (size_t i = calls->n; i-- > 0;) {
		double own = size_of(tree, i), *above = &largest[calls->call[i].parent];

		largest[i] = own > largest[i] ? own : largest[i];
		*above = largest[i] > *above ? largest[i] : *above;
	}
	return largest;
}

static size_t children_of(const struct tree *tree, size_t path, const double *largest,
	struct cp_ranked **children)
{
	const struct cp_calls *calls = tree->changes->tree;
	size_t n = 0;

	for (size_t i = calls->call[path].first; i; i = calls->call[i].next)
		n++;
	*children = cp_arena_alloc(calls->arena, (n + 1) * sizeof(**children));
	n = 0;
	for (size_t i = calls->call[path].first; i; i = calls->call[i].next)
		(*children)[n++] = (struct cp_ranked){i, largest[i]};
	if (n)
		qsort(*children, n, sizeof(**children), cp_largest_first);
	return n;
}

/* From a marked path the change goes on below if most of it is there. */
static bool is_hot(const struct tree *tree, size_t path)
{
	size_t above = tree->changes->tree->call[path].parent;
	double change = cp_change_of(tree->changes, path, tree->changes->misses),
	       whole = cp_change_of(tree->changes, above, tree->changes->misses);

	return change != 0 && (change > 0) == (whole > 0) &&
	       2 * fabs(change) > fabs(whole);
}

/* A path may be as deep as the program's stack, ours is not: what is to come waits in a
 * list, the next one last. */
static void find_rows(struct tree *tree)
{
	const struct cp_calls *calls = tree->changes->tree;
	struct row *waiting = cp_arena_alloc(calls->arena, calls->n * sizeof(*waiting));
	double *largest = largest_below(tree);
	double least = tree->changes->percent / 100 *
		       cp_changes_whole(tree->changes, tree->changes->misses);
	size_t nwaiting = 1;

	tree->rows = cp_arena_alloc(calls->arena, calls->n * sizeof(*tree->rows));
	waiting[0] = (struct row){0, true};
	while (nwaiting) {
		struct row row = waiting[--nwaiting];
		struct cp_ranked *children;
		size_t n = children_of(tree, row.path, largest, &children);

		tree->rows[tree->nrows++] = row;
		while (n && children[n - 1].size < least)
			n--, tree->nleft_out++;
		for (size_t i = n; i-- > 0;)
			waiting[nwaiting++] = (struct row){children[i].number,
				row.hot && !i && is_hot(tree, children[i].number)};
	}
}

/* ---- how they look ---- */

static const char *number_text(const struct tree *tree, uint64_t value)
{
	return cp_text_integer(tree->changes->arena, value);
}

static const char *signed_number(const struct tree *tree, double value)
{
	return cp_text_format(tree->changes->arena, "%s%s",
		value > 0   ? "+"
		: value < 0 ? "-"
			    : "",
		number_text(tree, (uint64_t)fabs(value)));
}

static const char *calls_text(const struct tree *tree, const struct cp_changed_path *it)
{
	if (it->calls[CP_BEFORE] == it->calls[CP_AFTER])
		return number_text(tree, it->calls[CP_AFTER]);
	return cp_text_format(tree->changes->arena, "%s > %s",
		number_text(tree, it->calls[CP_BEFORE]),
		number_text(tree, it->calls[CP_AFTER]));
}

static const char *path_text(const struct tree *tree, const struct row *row)
{
	const struct cp_call *call = &tree->changes->tree->call[row->path];
	const char *name = tree->changes->tree->function[call->function].name;

	return cp_text_format(tree->changes->arena, "%c %*s%s", row->hot ? '*' : ' ',
		(int)(call->depth < 40 ? call->depth : 40), "",
		*name ? cp_text_safe(tree->changes->arena, cp_slice_of(name))
		      : "(program)");
}

static void set_cells(const struct tree *tree, const char **cell, const struct row *row)
{
	const struct cp_changed_path *it = &tree->changes->path[row->path];
	size_t q = tree->changes->misses;

	cell[CHANGE] = signed_number(tree, cp_change_of(tree->changes, row->path, q));
	cell[BEFORE_COLUMN] = number_text(tree, it->all[CP_BEFORE][q]);
	cell[AFTER_COLUMN] = number_text(tree, it->all[CP_AFTER][q]);
	cell[CALLS] = calls_text(tree, it);
	cell[PATH] = path_text(tree, row);
}

static void widen_columns(size_t *width, const char *const *cell)
{
	for (unsigned c = 0; c < PATH; c++)
		if (strlen(cell[c]) > width[c])
			width[c] = strlen(cell[c]);
}

static void print_line(
	const struct tree *tree, const size_t *width, const char *const *cell)
{
	for (unsigned c = 0; c < PATH; c++)
		cp_out_format(tree->out, "%*s  ", (int)width[c], cell[c]);
	cp_out_text(tree->out, cell[PATH]);
	cp_out_text(tree->out, "\n");
}

static void print_rows(const struct tree *tree)
{
	static const char *const headings[COLUMNS] = {"Change", "Before", "After",
		"Calls", "Path (* where most of the change is)"};
	const char *(*cell)[COLUMNS] =
		cp_arena_alloc(tree->changes->arena, tree->nrows * sizeof(*cell));
	size_t width[PATH] = {0};

	widen_columns(width, headings);
	for (size_t i = 0; i < tree->nrows; i++) {
		set_cells(tree, cell[i], &tree->rows[i]);
		widen_columns(width, cell[i]);
	}
	print_line(tree, width, headings);
	for (size_t i = 0; i < tree->nrows; i++)
		print_line(tree, width, cell[i]);
	if (tree->nleft_out)
		cp_out_format(tree->out,
			"(%zu more, each changed by less than %g %% of the whole, "
			"and all behind it)\n",
			tree->nleft_out, tree->changes->percent);
}

/* ---- above and below ---- */

static void print_quantity(const struct tree *tree, size_t q)
{
	const struct cp_changed_path *whole = &tree->changes->path[0];
	double before = (double)whole->all[CP_BEFORE][q],
	       change = cp_change_of(tree->changes, 0, q);

	cp_out_format(tree->out, "%s: %s to %s (%s", tree->changes->quantity[q]->name,
		number_text(tree, whole->all[CP_BEFORE][q]),
		number_text(tree, whole->all[CP_AFTER][q]), signed_number(tree, change));
	if (before > 0 && change != 0)
		cp_out_format(tree->out, ", %s%.1f %%", change > 0 ? "+" : "",
			100 * change / before);
	cp_out_text(tree->out, ")\n");
}

static void print_warnings(const struct tree *tree)
{
	static const char *const names[] = {"before", "after"};
	const struct cp_profile *const *profile = tree->changes->profile;

	for (unsigned side = 0; side < 2; side++) {
		if (profile[side]->inexact)
			cp_out_format(tree->out,
				"warning: %s is not exact: its own report says why\n",
				names[side]);
		if (tree->changes->folded[side])
			cp_out_format(tree->out,
				"warning: %s had no room for more paths: "
				"%s calls are counted as their callers' own\n",
				names[side],
				number_text(tree, tree->changes->folded[side]));
	}
	if (strcmp(profile[0]->machine, profile[1]->machine) != 0)
		cp_text_wrap(tree->out,
			cp_text_format(tree->changes->arena,
				"warning: the machines are not the same: "
				"\"%s\" and \"%s\"",
				profile[0]->machine, profile[1]->machine),
			0, 2, WIDTH);
}

void cp_changes_write_text(struct cp_out *out, const struct cp_changes *changes)
{
	struct tree tree = {.changes = changes, .out = out};

	for (unsigned side = 0; side < 2; side++)
		cp_out_format(out, "%s  %s: %s\n", side ? "after " : "before",
			cp_text_safe(changes->arena, cp_slice_of(changes->label[side])),
			changes->profile[side]->command);
	for (size_t q = 0; q < changes->nquantities; q++)
		print_quantity(&tree, q);
	cp_out_format(out, "\nCall Paths, by %s with all that they call\n",
		changes->quantity[changes->misses]->name);
	find_rows(&tree);
	print_rows(&tree);
	print_warnings(&tree);
}
