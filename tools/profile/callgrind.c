/* SPDX-License-Identifier: MIT
 *
 * The format of callgrind, version 1, which callgrind_annotate and KCachegrind read:
 * what each instruction has by itself, without calls.  Its events are the counters
 * of the measurement that places have; a file of source that inlined code is from
 * stands behind fi=, and fe= goes back to the function's.
 */
#include <string.h>

#include "base/text/table.h"
#include "tools/profile/model/write.h"

struct callgrind {
	struct cp_out *out;
	const struct cp_profile_view *view;
	unsigned events[CP_PROFILE_COUNTERS];
	size_t nevents;
};

/* ---- what is counted ---- */

/* A sampled profile has the number of samples of each place. */
static const char *event_name(const struct callgrind *c, unsigned counter)
{
	return c->view->profile->sampled
		       ? cp_sampled_counter_name(counter - CP_PROFILE_FIRST)
		       : cp_profile_counters[counter].name;
}

static bool is_named(const struct callgrind *c, unsigned i, const char *name)
{
	const char *own = event_name(c, CP_PROFILE_FIRST + i);
	const struct cp_tally nothing = {.only_kept = true};

	return own && strcmp(own, name) == 0 &&
	       (!c->view->profile->bursts || cp_bursts_has_place(CP_PROFILE_FIRST + i)) &&
	       (!c->view->profile->sampled ||
		       cp_sampled_value(c->view->profile, &nothing, name).status !=
			       CP_UNAVAILABLE);
}

static void find_events(struct callgrind *c)
{
	for (const char *const *name = cp_profile_quantities(c->view); *name; name++)
		for (unsigned i = 0; i < CP_PROFILE_COUNTERS; i++)
			if (is_named(c, i, *name))
				c->events[c->nevents++] = CP_PROFILE_FIRST + i;
}

static void put_costs(struct callgrind *c, const struct cp_tally *tally)
{
	for (size_t i = 0; i < c->nevents; i++)
		cp_out_format(c->out, " %lu", (unsigned long)tally->count[c->events[i]]);
	cp_out_text(c->out, "\n");
}

/* ---- places ---- */

static void name_line(struct callgrind *c, const char *what, const char *text)
{
	cp_out_format(c->out, "%s=%s\n", what, *text ? text : "???");
}

static void function_name(struct callgrind *c, const struct cp_place_in_code *at)
{
	if (*at->function)
		name_line(c, "fn", at->function);
	else
		cp_out_format(c->out, "fn=[%s]\n",
			cp_text_safe(
				c->view->profile->arena, cp_slice_of(at->module->name)));
}

static void put_instructions(
	struct callgrind *c, const struct cp_rows *statements, const struct cp_row *row)
{
	const struct cp_rows *rows =
		cp_rows_of(c->view, CP_ROW_INSTRUCTION, statements, row);

	for (size_t i = 0; i < rows->n; i++) {
		const struct cp_place_in_code *at = &rows->row[i].site->at;

		cp_out_format(c->out, "0x%lx %u", (unsigned long)at->address, at->line);
		put_costs(c, &rows->row[i].tally);
	}
}

/* Its file is that of its first instruction. */
static const char *file_of(const struct cp_rows *functions, const struct cp_row *row)
{
	const struct cp_place_in_code *first = NULL;

	for (size_t i = row->first; i < row->first + row->nsites; i++) {
		const struct cp_place_in_code *at = &functions->sites[i]->at;

		if (!first || at->address < first->address)
			first = at;
	}
	return first ? first->file : "";
}

static void write_function(
	struct callgrind *c, const struct cp_rows *functions, const struct cp_row *row)
{
	const struct cp_rows *rows =
		cp_rows_of(c->view, CP_ROW_STATEMENT, functions, row);
	const char *own = file_of(functions, row), *file = own;

	cp_out_text(c->out, "\n");
	name_line(c, "ob",
		cp_text_safe(c->view->profile->arena,
			cp_slice_of(*row->site->at.module->path
					    ? row->site->at.module->path
					    : row->site->at.module->name)));
	name_line(c, "fl", own);
	function_name(c, &row->site->at);
	for (size_t i = 0; i < rows->n; i++) {
		const char *next = rows->row[i].site->at.file;

		if (strcmp(next, file) != 0)
			name_line(c, strcmp(next, own) == 0 ? "fe" : "fi", next);
		file = next;
		put_instructions(c, rows, &rows->row[i]);
	}
}

/* ---- the whole ---- */

static void write_head(struct callgrind *c)
{
	cp_callgrind_head(c->out, c->view, "instr line");
	for (size_t i = 0; i < c->nevents; i++)
		cp_out_format(c->out, "event: %s : %s\n", event_name(c, c->events[i]),
			c->view->profile->sampled
				? event_name(c, c->events[i])
				: cp_profile_counters[c->events[i]].meaning);
	if (c->view->profile->bursts)
		cp_out_text(c->out,
			"desc: Counts: " CP_BURSTS_SOURCE " (not in this file)\n");
	cp_out_text(c->out, "events:");
	for (size_t i = 0; i < c->nevents; i++)
		cp_out_format(c->out, " %s", event_name(c, c->events[i]));
	cp_out_text(c->out, "\n");
}

void cp_profile_write_callgrind(struct cp_out *out, const struct cp_profile_view *view)
{
	struct callgrind c = {.out = out, .view = view};
	const struct cp_rows *rows = cp_rows_of_all(view, CP_ROW_FUNCTION);
	struct cp_tally sum = {.only_kept = true};

	if (view->profile->npaths && !view->profile->sampled) {
		cp_profile_write_callgrind_calls(out, view);
		return;
	}
	sum.parts = cp_bursts_new_parts(view->profile);
	find_events(&c);
	write_head(&c);
	for (size_t i = 0; i < view->profile->nsites; i++)
		cp_tally_site(&sum, &view->profile->sites[i]);
	if (sum.parts)
		cp_bursts_fill(view->profile, &sum);
	cp_out_text(out, "summary:");
	put_costs(&c, &sum);
	for (size_t i = 0; i < rows->n; i++)
		write_function(&c, rows, &rows->row[i]);
	cp_out_text(out, "\ntotals:");
	put_costs(&c, &sum);
}
