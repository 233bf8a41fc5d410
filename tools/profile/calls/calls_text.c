/* SPDX-License-Identifier: MIT
 *
 * Call paths in text: from the program's beginning to what it calls, or from a function
 * to its callers.
 */
#include "base/text/table.h"
#include "tools/profile/calls/calls.h"
#include "tools/profile/model/grid.h"
#include "tools/profile/model/write.h"

enum { BEFORE = 3 }; /* columns before the counters */

struct tree {
	const struct cp_profile_view *view;
	const struct cp_calls *calls;
	const struct cp_calls_quantity *columns[CP_CALLS_QUANTITIES];
	size_t ncolumns;
	struct cp_grid grid;
	bool callers;
	double total, left_out; /* of the root; the largest share that is not shown */
	size_t nleft_out;
};

/* Smaller paths are left out unless the user asks for them. */
#define LEAST_PERCENT 1

static double least_percent(const struct tree *tree)
{
	return tree->view->path_percent < 0 ? LEAST_PERCENT : tree->view->path_percent;
}

static double order_count(const struct tree *tree, const struct cp_call *call, bool all)
{
	struct cp_tally tally;

	cp_calls_tally(&tally, call, all);
	return cp_measure_order(tree->view->profile, tree->view->measurement,
		tree->view->order == CP_BY_LATENCY ? CP_BY_LATENCY : CP_BY_MISSES,
		&tally);
}

static double order_of_all(const void *context, const struct cp_call *call)
{
	return order_count(context, call, true);
}

static double share_of_root(const struct tree *tree, const struct cp_call *call, bool all)
{
	return tree->total > 0 ? 100 * order_count(tree, call, all) / tree->total : 0;
}

/* The columns of samples: an estimate, and how far off that may be. */
static const struct {
	const char *heading, *metric;
} sampled_columns[] = {{"Est", "misses"}, {"+-95%", "error"}};
#define NSAMPLED (sizeof(sampled_columns) / sizeof(sampled_columns[0]))

static size_t first_column(const struct tree *tree)
{
	return BEFORE + (tree->view->profile->sampled ? NSAMPLED : 0);
}

/* call NULL: the headings. */
static void sampled_cells(
	struct tree *tree, const char **line, const struct cp_call *call)
{
	struct cp_tally tally;

	if (call)
		cp_calls_tally(&tally, call, true);
	for (size_t i = 0; tree->view->profile->sampled && i < NSAMPLED; i++)
		line[BEFORE + i] =
			call ? cp_grid_cell(tree->view, sampled_columns[i].metric, &tally)
			     : sampled_columns[i].heading;
}

/* call NULL: the headings. */
static void fill_cells(struct tree *tree, const char **line, const struct cp_call *call)
{
	sampled_cells(tree, line, call);
	for (size_t i = 0; i < tree->ncolumns; i++)
		line[first_column(tree) + i] =
			call ? cp_text_integer(cp_grid_arena(&tree->grid),
				       cp_calls_amount(tree->columns[i], call->all))
			     : tree->columns[i]->heading;
}

static const char *name_of(struct tree *tree, const struct cp_call *call, bool hot)
{
	const struct cp_called *f = &tree->calls->function[call->function];

	return cp_text_format(tree->calls->arena, "%c %*s%s", hot ? '*' : ' ',
		(int)(call->depth < 40 ? call->depth : 40), "",
		*f->name ? f->name : "(program)");
}

static void add_call(struct tree *tree, const struct cp_call *call, bool hot)
{
	const char **line = cp_grid_line(&tree->grid, true, name_of(tree, call, hot));

	line[0] = cp_grid_percent(&tree->grid, share_of_root(tree, call, true));
	line[1] = tree->callers ? ""
				: cp_grid_percent(
					  &tree->grid, share_of_root(tree, call, false));
	line[2] = tree->view->profile->sampled
			  ? ""
			  : cp_text_integer(tree->calls->arena, call->calls);
	fill_cells(tree, line, call);
}

static void leave_out(struct tree *tree, double largest, size_t n)
{
	tree->nleft_out += n;
	if (largest > tree->left_out)
		tree->left_out = largest;
}

/* From a hot path the one that has most goes on as one, if that is most of it. */
static bool is_hot(const struct tree *tree, const struct cp_call *call)
{
	const struct cp_call *parent = &tree->calls->call[call->parent];

	return 2 * order_count(tree, call, true) > order_count(tree, parent, true);
}

/* A path may be as deep as the program's stack, ours is not: what is below waits in a
 * list. */
struct waiting {
	struct waiting *next;
	size_t call;
	bool hot;
};

static struct waiting *wait_for_children(
	struct tree *tree, const struct waiting *of, struct waiting *list)
{
	size_t *children, n = cp_calls_children(
				  tree->calls, of->call, order_of_all, tree, &children);

	while (n > 0 && share_of_root(tree, &tree->calls->call[children[n - 1]], true) <
				least_percent(tree)) {
		leave_out(tree,
			share_of_root(tree, &tree->calls->call[children[n - 1]], true),
			1);
		n--;
	}
	for (size_t i = n; i-- > 0;) {
		struct waiting *w = cp_arena_alloc(tree->calls->arena, sizeof(*w));

		*w = (struct waiting){list, children[i],
			of->hot && i == 0 &&
				is_hot(tree, &tree->calls->call[children[i]])};
		list = w;
	}
	return list;
}

static void add_all(struct tree *tree)
{
	struct waiting root = {NULL, 0, true}, *list = &root;

	while (list) {
		struct waiting *w = list;

		add_call(tree, &tree->calls->call[w->call], w->hot);
		list = wait_for_children(tree, w, w->next);
	}
	if (tree->nleft_out)
		cp_grid_line(&tree->grid, false,
			cp_text_format(tree->calls->arena,
				"(%zu more, each with what is behind it: "
				"%.2f %% or less)",
				tree->nleft_out, tree->left_out));
}

static void add_headings(struct tree *tree)
{
	const char **line;

	tree->grid = cp_grid_new(tree->view);
	tree->grid.ncolumns = first_column(tree) + tree->ncolumns;
	line = cp_grid_line(
		&tree->grid, true, tree->callers ? "Called by" : "Path (* the hottest)");
	line[0] = "Incl%";
	line[1] = tree->callers ? "" : "Excl%";
	line[2] = tree->view->profile->sampled ? "" : "Calls";
	fill_cells(tree, line, NULL);
}

static void print_folded(struct cp_out *out, const struct cp_calls *calls)
{
	if (calls->folded)
		cp_text_wrap(out,
			cp_text_format(calls->arena,
				"warning: there was no room for more paths: %s calls, "
				"with all that followed from them, "
				"are counted as their caller's own",
				cp_text_integer(calls->arena, calls->folded)),
			0, 2, 80);
}

bool cp_profile_write_calls(struct cp_out *out, const struct cp_profile_view *view)
{
	const struct cp_calls *all = cp_calls_of(view->profile, NULL);
	struct tree tree = {.view = view, .calls = all, .callers = view->callers};

	tree.ncolumns =
		cp_calls_quantities(view->profile, view->measurement, tree.columns);
	tree.total = order_count(&tree, &all->call[0], true);
	if (view->callers)
		tree.calls = cp_calls_callers(all, view->callers);
	if (!tree.calls)
		return false;
	add_headings(&tree);
	add_all(&tree);
	if (view->callers)
		cp_out_format(out, "\nCallers of %s\n", view->callers);
	else
		cp_out_text(out, "\nCall Paths\n");
	cp_grid_print(out, &tree.grid);
	print_folded(out, all);
	return true;
}
