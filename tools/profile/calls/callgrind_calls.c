/* SPDX-License-Identifier: MIT
 *
 * Call paths in the format of callgrind: functions, what each has by itself, and whom it
 * calls how often with what they have.  Readers take the sum of a function's callers for
 * what it has with all that it calls, so where a path has it several times, what the
 * inner ones have is the outermost one's already, whoever calls them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text/table.h"
#include "tools/profile/calls/calls.h"
#include "tools/profile/model/keys.h"
#include "tools/profile/model/write.h"

struct edge {
	size_t caller, called;
	uint64_t calls, all[CP_SIM_NCOUNTERS];
};

struct callgrind {
	struct cp_out *out;
	const struct cp_profile_view *view;
	const struct cp_calls *calls;
	unsigned events[CP_SIM_NCOUNTERS];
	size_t nevents, nedges;
	struct edge *edges;
	uint64_t (*own)[CP_SIM_NCOUNTERS]; /* by function */
};

/* ---- what is counted ---- */

static bool is_quantity(const struct callgrind *c, const char *counter)
{
	for (const char *const *name = cp_profile_quantities(c->view); *name; name++)
		if (strcmp(*name, counter) == 0)
			return true;
	return false;
}

static void find_events(struct callgrind *c)
{
	for (unsigned i = 0; i < CP_SIM_NCOUNTERS; i++)
		if (i == CP_SIM_instructions ||
			is_quantity(c, cp_profile_counters[i].name))
			c->events[c->nevents++] = i;
}

static bool is_inside(const struct callgrind *c, size_t call)
{
	for (size_t i = c->calls->call[call].parent; i; i = c->calls->call[i].parent)
		if (c->calls->call[i].function == c->calls->call[call].function)
			return true;
	return false;
}

static void add_edge(struct callgrind *c, struct cp_keys *known, size_t call)
{
	const struct cp_call *to = &c->calls->call[call];
	size_t caller = c->calls->call[to->parent].function;
	size_t *number = cp_keys_number(known, caller, to->function);
	struct edge *edge;

	if (!*number) {
		c->edges = cp_profile_grow(
			c->calls->arena, c->edges, c->nedges, sizeof(*c->edges));
		c->edges[c->nedges] =
			(struct edge){.caller = caller, .called = to->function};
		*number = ++c->nedges;
	}
	edge = &c->edges[*number - 1];
	edge->calls += to->calls;
	if (!is_inside(c, call))
		cp_calls_add(edge->all, to->all);
}

static int by_caller(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	if (x->caller != y->caller)
		return x->caller < y->caller ? -1 : 1;
	return x->called < y->called ? -1 : x->called > y->called;
}

static void add_up(struct callgrind *c)
{
	const struct cp_calls *calls = c->calls;
	struct cp_keys *known = cp_keys_new(calls->arena);

	c->own = cp_arena_alloc(calls->arena, calls->nfunctions * sizeof(*c->own));
	for (size_t i = 0; i < calls->n; i++) {
		cp_calls_add(c->own[calls->call[i].function], calls->call[i].own);
		if (i)
			add_edge(c, known, i);
	}
	if (c->nedges)
		qsort(c->edges, c->nedges, sizeof(*c->edges), by_caller);
}

/* ---- the file ---- */

static void put_costs(struct callgrind *c, unsigned line, const uint64_t *count)
{
	cp_out_format(c->out, "%u", line);
	for (size_t i = 0; i < c->nevents; i++)
		cp_out_format(c->out, " %lu", (unsigned long)count[c->events[i]]);
	cp_out_text(c->out, "\n");
}

static void name_line(
	struct callgrind *c, const char *prefix, const char *what, const char *text)
{
	cp_out_format(c->out, "%s%s=%s\n", prefix, what,
		*text ? cp_text_safe(c->calls->arena, cp_slice_of(text)) : "???");
}

/* prefix "c": it is called. */
static void name_function(struct callgrind *c, const char *prefix, size_t function)
{
	const struct cp_called *f = &c->calls->function[function];

	name_line(c, prefix, "ob", f->module);
	name_line(c, prefix, *prefix ? "fi" : "fl", f->file);
	name_line(c, prefix, "fn", *f->name ? f->name : "(program)");
}

/* Returns where the edges of the next function begin. */
static size_t put_function(struct callgrind *c, size_t function, size_t edge)
{
	const struct cp_called *f = c->calls->function;

	cp_out_text(c->out, "\n");
	name_function(c, "", function);
	put_costs(c, f[function].line, c->own[function]);
	for (; edge < c->nedges && c->edges[edge].caller == function; edge++) {
		const struct edge *e = &c->edges[edge];

		name_function(c, "c", e->called);
		cp_out_format(c->out, "calls=%lu %u\n", (unsigned long)e->calls,
			f[e->called].line);
		put_costs(c, f[function].line, e->all);
	}
	return edge;
}

void cp_callgrind_head(
	struct cp_out *out, const struct cp_profile_view *view, const char *positions)
{
	const struct cp_profile *profile = view->profile;

	cp_out_format(out, "# callgrind format\nversion: 1\ncreator: cachepeek %s\n",
		CP_VERSION);
	if (profile->pid)
		cp_out_format(out, "pid: %d\n", profile->pid);
	if (profile->cut)
		cp_out_format(out, "desc: Ended: %s\n", profile->cut);
	cp_out_format(out, "cmd: %s\ndesc: Measurement: %s\ndesc: Machine: %s\n",
		profile->command, view->measurement->title, profile->machine);
	cp_out_format(out, "positions: %s\n", positions);
}

static void write_head(struct callgrind *c)
{
	cp_callgrind_head(c->out, c->view, "line");
	for (size_t i = 0; i < c->nevents; i++)
		cp_out_format(c->out, "event: %s : %s\n",
			cp_profile_counters[c->events[i]].name,
			cp_profile_counters[c->events[i]].meaning);
	cp_out_text(c->out, "events:");
	for (size_t i = 0; i < c->nevents; i++)
		cp_out_format(c->out, " %s", cp_profile_counters[c->events[i]].name);
	cp_out_text(c->out, "\nsummary:");
	for (size_t i = 0; i < c->nevents; i++)
		cp_out_format(c->out, " %lu",
			(unsigned long)c->calls->call[0].all[c->events[i]]);
	cp_out_text(c->out, "\n");
}

void cp_profile_write_callgrind_calls(
	struct cp_out *out, const struct cp_profile_view *view)
{
	struct callgrind c = {
		.out = out, .view = view, .calls = cp_calls_of(view->profile, NULL)};
	size_t edge = 0;

	find_events(&c);
	add_up(&c);
	write_head(&c);
	for (size_t i = 0; i < c.calls->nfunctions; i++)
		edge = put_function(&c, i, edge);
}
