/* SPDX-License-Identifier: MIT */
#include "tools/profile/calls/stacks.h"

#include "base/counts.h"
#include "base/text/table.h"

static size_t add_frame(struct cp_stacks *stacks, struct cp_arena *arena,
	const struct cp_stack_frame *frame)
{
	stacks->frame = cp_profile_grow(
		arena, stacks->frame, stacks->nframes, sizeof(*stacks->frame));
	stacks->frame[stacks->nframes] = *frame;
	return stacks->nframes++;
}

static struct cp_stack *add_stack(
	struct cp_stacks *stacks, struct cp_arena *arena, size_t parent, size_t frame)
{
	stacks->stack =
		cp_profile_grow(arena, stacks->stack, stacks->n, sizeof(*stacks->stack));
	stacks->stack[stacks->n] = (struct cp_stack){.parent = parent, .frame = frame};
	return &stacks->stack[stacks->n++];
}

/* ---- of call paths ---- */

struct cut {
	const struct cp_calls *calls;
	const struct cp_calls_quantity *quantity[CP_CALLS_QUANTITIES];
	struct cp_stacks *stacks;
	size_t *frame_of; /* by function; 0: it has none yet */
};

static bool is_kept(const struct cut *cut, size_t call)
{
	for (size_t q = 0; q < cut->stacks->nquantities; q++) {
		uint64_t all =
			cp_calls_amount(cut->quantity[q], cut->calls->call[call].all);
		uint64_t whole =
			cp_calls_amount(cut->quantity[q], cut->calls->call[0].all);

		if (all && 100 * (double)all >= cut->stacks->percent * (double)whole)
			return true;
	}
	return !call || cut->stacks->percent <= 0;
}

/* The root's frame is the first. */
static size_t frame_of(struct cut *cut, size_t function)
{
	const struct cp_called *f = &cut->calls->function[function];

	if (function && cut->frame_of[function])
		return cut->frame_of[function];
	cut->frame_of[function] = add_frame(cut->stacks, cut->calls->arena,
		&(struct cp_stack_frame){function ? f->name : "(program)", f->module,
			f->file, f->line, false});
	return cut->frame_of[function];
}

static void add_own(struct cut *cut, struct cp_stack *to, const struct cp_call *call)
{
	for (size_t q = 0; q < cut->stacks->nquantities; q++)
		to->own[q] += cp_calls_amount(cut->quantity[q], call->own);
}

/* A caller has at least its callee's counts, so the callers of a kept path are kept. */
static void add_calls(struct cut *cut)
{
	const struct cp_calls *calls = cut->calls;
	size_t *stack_of = cp_arena_alloc(calls->arena, calls->n * sizeof(*stack_of));

	for (size_t i = 0; i < calls->n; i++) {
		const struct cp_call *call = &calls->call[i];

		if (is_kept(cut, i)) {
			stack_of[i] = cut->stacks->n;
			add_stack(cut->stacks, calls->arena, stack_of[call->parent],
				frame_of(cut, call->function))
				->calls = call->calls;
		} else {
			stack_of[i] = stack_of[call->parent];
			cut->stacks->left_out++;
		}
		add_own(cut, &cut->stacks->stack[stack_of[i]], call);
	}
}

static void stacks_of_calls(struct cp_stacks *stacks, const struct cp_profile_view *view)
{
	struct cut cut = {.calls = cp_calls_of(view->profile, NULL), .stacks = stacks};

	stacks->nquantities =
		cp_calls_quantities(view->profile, view->measurement, cut.quantity);
	for (size_t q = 0; q < stacks->nquantities; q++) {
		stacks->quantity[q] = cut.quantity[q]->name;
		if (cut.quantity[q]->misses)
			stacks->misses = q;
	}
	cut.frame_of = cp_arena_alloc(
		cut.calls->arena, cut.calls->nfunctions * sizeof(*cut.frame_of));
	add_calls(&cut);
}

/* ---- of functions ---- */

static const char *thread_name(
	const struct cp_profile_view *view, const struct cp_profiled_thread *thread)
{
	if (!thread->tid)
		return "other threads";
	return cp_text_format(view->profile->arena, "%s-%d",
		*thread->name ? thread->name : "thread", thread->tid);
}

/* Adds what a row has itself, on the stack above. */
static void add_row(struct cp_stacks *stacks, const struct cp_profile_view *view,
	const struct cp_row *row, size_t above, bool is_statement)
{
	const struct cp_place_in_code *at = &row->site->at;
	double misses = cp_measure_order(
		view->profile, view->measurement, CP_BY_MISSES, &row->tally);
	struct cp_arena *arena = view->profile->arena;

	if (misses <= 0)
		return;
	add_stack(stacks, arena, above,
		add_frame(stacks, arena,
			&(struct cp_stack_frame){
				*at->function ? at->function : "[no symbol]",
				at->module->path, at->file, at->line, is_statement}))
		->own[0] = cp_count_of(misses + 0.5);
}

static void functions_of(struct cp_stacks *stacks, const struct cp_profile_view *view,
	const struct cp_rows *modules, const struct cp_row *module)
{
	const struct cp_rows *rows = cp_rows_of(view, CP_ROW_FUNCTION, modules, module),
			     *lines;
	size_t above = stacks->n - 1;

	for (size_t i = 0; i < rows->n; i++) {
		if (!stacks->by_line) {
			add_row(stacks, view, &rows->row[i], above, false);
			continue;
		}
		lines = cp_rows_of(view, CP_ROW_STATEMENT, rows, &rows->row[i]);
		for (size_t k = 0; k < lines->n; k++)
			add_row(stacks, view, &lines->row[k], above, true);
	}
}

static void modules_of(struct cp_stacks *stacks, const struct cp_profile_view *view,
	const struct cp_rows *threads, const struct cp_row *thread)
{
	const struct cp_rows *rows = cp_rows_of(view, CP_ROW_MODULE, threads, thread);
	struct cp_arena *arena = view->profile->arena;
	size_t above = stacks->n - 1;

	for (size_t i = 0; i < rows->n; i++) {
		const struct cp_profiled_module *module = rows->row[i].site->at.module;

		add_stack(stacks, arena, above,
			add_frame(stacks, arena,
				&(struct cp_stack_frame){
					module->name, module->path, "", 0, false}));
		functions_of(stacks, view, rows, &rows->row[i]);
	}
}

static void stacks_of_rows(struct cp_stacks *stacks, const struct cp_profile_view *view)
{
	const struct cp_rows *rows = cp_rows_of_all(view, CP_ROW_THREAD);
	struct cp_arena *arena = view->profile->arena;

	stacks->nquantities = 1;
	stacks->quantity[0] = "misses";
	add_stack(stacks, arena, 0,
		add_frame(stacks, arena, &(struct cp_stack_frame){"", "", "", 0, false}));
	for (size_t i = 0; i < rows->n; i++) {
		const struct cp_profiled_thread *thread = rows->row[i].site->thread;

		add_stack(stacks, arena, 0,
			add_frame(stacks, arena,
				&(struct cp_stack_frame){
					thread_name(view, thread), "", "", 0, false}));
		modules_of(stacks, view, rows, &rows->row[i]);
	}
}

/* ---- both ---- */

struct cp_stacks *cp_stacks_of(const struct cp_profile_view *view, bool by_line)
{
	struct cp_stacks *stacks = cp_arena_alloc(view->profile->arena, sizeof(*stacks));

	stacks->by_line = by_line;
	stacks->percent = view->path_percent < 0 ? CP_STACKS_PERCENT : view->path_percent;
	if (view->profile->npaths)
		stacks_of_calls(stacks, view);
	else
		stacks_of_rows(stacks, view);
	return stacks;
}

size_t cp_stack_frames(const struct cp_stacks *stacks, size_t stack, size_t *list)
{
	size_t n = 0;

	for (size_t i = stack;; i = stacks->stack[i].parent) {
		size_t frame = stacks->stack[i].frame;

		if (*stacks->frame[frame].name)
			list[n++] = frame;
		if (!i)
			break;
	}
	for (size_t i = 0; i < n / 2; i++) {
		size_t swapped = list[i];

		list[i] = list[n - 1 - i];
		list[n - 1 - i] = swapped;
	}
	return n;
}

const char *cp_stacks_title(
	const struct cp_profile_view *view, const struct cp_stacks *stacks)
{
	const char *command = view->profile->command;

	if (view->profile->cut)
		command = cp_text_format(
			view->profile->arena, "%s (%s)", command, view->profile->cut);
	if (!stacks->left_out)
		return command;
	return cp_text_format(view->profile->arena,
		"%s (%zu paths with less than %g %% are part of their callers)", command,
		stacks->left_out, stacks->percent);
}
