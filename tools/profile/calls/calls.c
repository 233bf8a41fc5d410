/* SPDX-License-Identifier: MIT */
#include "tools/profile/calls/calls.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/text/table.h"
#include "tools/profile/model/keys.h"

/* ---- functions ---- */

static bool is_function(const struct cp_called *f, const char *name, const char *module)
{
	return strcmp(f->name, name) == 0 && strcmp(f->module, module) == 0;
}

/* Two names with the same hash are told apart by another module's. */
static size_t function_of(struct cp_calls *calls, const char *name, const char *module)
{
	for (uint64_t b = cp_hash_text(0, module);; b++) {
		size_t *number =
			cp_keys_number(calls->functions, cp_hash_text(0, name), b);

		if (*number && is_function(&calls->function[*number - 1], name, module))
			return *number - 1;
		if (*number)
			continue;
		calls->function = cp_profile_grow(calls->arena, calls->function,
			calls->nfunctions, sizeof(*calls->function));
		calls->function[calls->nfunctions++] =
			(struct cp_called){name, module, "", 0};
		*number = calls->nfunctions;
		return calls->nfunctions - 1;
	}
}

/* of_calls: places are those of calls, not where functions begin. */
static size_t function_at(
	struct cp_calls *calls, const struct cp_place_in_code *at, bool of_calls)
{
	size_t function = function_of(calls,
		*at->function ? at->function
			      : cp_text_format(calls->arena, "%s+0x%lx",
					cp_text_safe(calls->arena,
						cp_slice_of(at->module->name)),
					(unsigned long)at->address),
		at->module->path);

	if (!of_calls) {
		calls->function[function].file = at->file;
		calls->function[function].line = at->line;
	}
	return function;
}

/* ---- the tree ---- */

struct cp_calls *cp_calls_new(struct cp_arena *arena)
{
	struct cp_calls *calls = cp_arena_alloc(arena, sizeof(*calls));

	calls->arena = arena;
	calls->functions = cp_keys_new(arena);
	calls->children = cp_keys_new(arena);
	calls->call = cp_arena_alloc(arena, sizeof(*calls->call));
	calls->n = 1;
	calls->call[0].function = function_of(calls, "", "");
	return calls;
}

/* A function that calls itself is one node. */
static size_t child_of(struct cp_calls *calls, size_t parent, size_t function)
{
	size_t *number, there;

	if (calls->call[parent].function == function)
		return parent;
	number = cp_keys_number(calls->children, parent, function);
	there = *number;
	if (there > 0)
		return there;
	calls->call = cp_profile_grow(
		calls->arena, calls->call, calls->n, sizeof(*calls->call));
	calls->call[calls->n] = (struct cp_call){
		.function = function,
		.parent = parent,
		.next = calls->call[parent].first,
		.depth = calls->call[parent].depth + 1,
	};
	calls->call[parent].first = calls->n;
	*number = calls->n;
	return calls->n++;
}

size_t cp_calls_child(
	struct cp_calls *calls, size_t parent, const char *name, const char *module)
{
	return child_of(calls, parent, function_of(calls, name, module));
}

void cp_calls_add(uint64_t *to, const uint64_t *count)
{
	for (unsigned c = 0; c < CP_SIM_NCOUNTERS; c++)
		to[c] += count[c];
}

static void add_estimates(struct cp_estimate *to, const struct cp_estimate *from)
{
	for (unsigned event = 0; event < CP_SAMPLED_EVENTS; event++) {
		to[event].value += from[event].value;
		to[event].variance += from[event].variance;
	}
}

/* Where programs and threads begin: what has another outermost frame was not unwound. */
static bool is_beginning(const char *function)
{
	static const char *const names[] = {"_start", "_dl_start", "_dl_start_user",
		"__libc_start_main", "__libc_start_call_main", "start_thread", "clone",
		"clone3", "__clone", "__clone3"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t length = strlen(names[i]);

		if (strncmp(function, names[i], length) == 0 &&
			(!function[length] || function[length] == '@'))
			return true;
	}
	return false;
}

/* With samples, the unknown caller of the outermost frame is a frame, too. */
static size_t beginning_of(
	struct cp_calls *calls, const struct cp_profiled_path *path, size_t parent)
{
	if (parent || !path->estimates || is_beginning(path->at.function))
		return parent;
	return child_of(calls, 0, function_of(calls, CP_NOT_UNWOUND, ""));
}

/* A stub that only leads from one function to another is part of the first. */
static size_t add_path(
	struct cp_calls *calls, const struct cp_profiled_path *path, size_t parent)
{
	const struct cp_profile_path *in = path->in;
	size_t node = parent;

	if (in->function && !in->passage) {
		parent = beginning_of(calls, path, parent);
		node = child_of(
			calls, parent, function_at(calls, &path->at, path->estimates));
		calls->call[node].calls += in->calls;
	}
	calls->call[node].folded += in->folded;
	calls->folded += in->folded;
	cp_calls_add(calls->call[node].own, in->count);
	if (path->estimates)
		add_estimates(calls->call[node].own_estimates, path->estimates);
	return node;
}

static void add_up(struct cp_calls *calls)
{
	for (size_t i = 0; i < calls->n; i++) {
		struct cp_call *call = &calls->call[i];

		memcpy(call->all, call->own, sizeof(call->all));
		memcpy(call->all_estimates, call->own_estimates,
			sizeof(call->all_estimates));
	}
	for (size_t i = calls->n; i-- > 1;) {
		struct cp_call *caller = &calls->call[calls->call[i].parent];

		cp_calls_add(caller->all, calls->call[i].all);
		add_estimates(caller->all_estimates, calls->call[i].all_estimates);
	}
}

struct cp_calls *cp_calls_of(
	const struct cp_profile *profile, const struct cp_profiled_thread *thread)
{
	struct cp_calls *calls = cp_calls_new(profile->arena);
	size_t *node =
		cp_arena_alloc(profile->arena, (profile->npaths + 1) * sizeof(*node));

	for (size_t i = 0; i < profile->npaths; i++) {
		const struct cp_profiled_path *path = &profile->paths[i];

		if (thread && path->thread != thread)
			continue;
		node[i] =
			add_path(calls, path, path->parent < i ? node[path->parent] : 0);
	}
	add_up(calls);
	return calls;
}

/* ---- callers ---- */

/* The whole name, or what stands before the parameters of C++. */
static bool is_named(const struct cp_called *f, const char *name)
{
	size_t length = strlen(name);

	return *name && strncmp(f->name, name, length) == 0 &&
	       (!f->name[length] || f->name[length] == '(');
}

/* Adds what a call has to those that led to it, up to the root. */
static void add_callers(
	struct cp_calls *callers, const struct cp_calls *calls, size_t called)
{
	const struct cp_call *from = &calls->call[called];
	size_t node = 0;

	for (size_t i = called;; i = calls->call[i].parent) {
		const struct cp_called *f = &calls->function[calls->call[i].function];

		if (i != called && i != 0)
			node = child_of(
				callers, node, function_of(callers, f->name, f->module));
		if (!i)
			return;
		callers->call[node].calls += from->calls;
		cp_calls_add(callers->call[node].all, from->all);
		add_estimates(callers->call[node].all_estimates, from->all_estimates);
	}
}

/* The counts of a node below another of these are in that one's sum already. */
struct cp_calls *cp_calls_callers(const struct cp_calls *calls, const char *name)
{
	struct cp_calls *callers = cp_calls_new(calls->arena);
	bool *below = cp_arena_alloc(calls->arena, calls->n), found = false;

	for (size_t i = 1; i < calls->n; i++) {
		const struct cp_call *call = &calls->call[i];
		const struct cp_called *f = &calls->function[call->function];

		below[i] = below[call->parent];
		if (!is_named(f, name))
			continue;
		if (!found)
			callers->call[0].function =
				function_of(callers, f->name, f->module);
		found = true;
		if (!below[i])
			add_callers(callers, calls, i);
		else
			callers->call[0].calls += call->calls;
		below[i] = true;
	}
	return found ? callers : NULL;
}

/* ---- for those who show it ---- */

int cp_largest_first(const void *a, const void *b)
{
	const struct cp_ranked *x = a, *y = b;

	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

size_t cp_calls_children(const struct cp_calls *calls, size_t of, cp_calls_order *order,
	const void *context, size_t **children)
{
	struct cp_ranked *ranked;
	size_t n = 0;

	for (size_t i = calls->call[of].first; i; i = calls->call[i].next)
		n++;
	ranked = cp_arena_alloc(calls->arena, (n + 1) * sizeof(*ranked));
	*children = cp_arena_alloc(calls->arena, (n + 1) * sizeof(**children));
	n = 0;
	for (size_t i = calls->call[of].first; i; i = calls->call[i].next)
		ranked[n++] = (struct cp_ranked){i, order(context, &calls->call[i])};
	if (n)
		qsort(ranked, n, sizeof(*ranked), cp_largest_first);
	for (size_t i = 0; i < n; i++)
		(*children)[i] = ranked[i].number;
	return n;
}

void cp_calls_tally(struct cp_tally *tally, const struct cp_call *call, bool all)
{
	memset(tally, 0, sizeof(*tally));
	memcpy(tally->count, all ? call->all : call->own, sizeof(tally->count));
	memcpy(tally->estimates, all ? call->all_estimates : call->own_estimates,
		sizeof(tally->estimates));
}
