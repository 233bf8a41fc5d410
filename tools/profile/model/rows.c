/* SPDX-License-Identifier: MIT */
#include "tools/profile/model/rows.h"

#include <stdlib.h>
#include <string.h>

typedef const struct cp_profiled_site *const *sites;

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_module(const void *a, const void *b)
{
	const struct cp_profiled_site *x = *(sites)a, *y = *(sites)b;
	int order = strcmp(x->at.module->path, y->at.module->path);

	return order ? order : strcmp(x->at.module->name, y->at.module->name);
}

static int by_thread(const void *a, const void *b)
{
	const struct cp_profiled_thread *x = (*(sites)a)->thread,
					*y = (*(sites)b)->thread;

	return compare_numbers((uintptr_t)x, (uintptr_t)y);
}

static int by_function(const void *a, const void *b)
{
	const struct cp_profiled_site *x = *(sites)a, *y = *(sites)b;
	int order = by_module(a, b);

	return order ? order : strcmp(x->at.function, y->at.function);
}

static int by_statement(const void *a, const void *b)
{
	const struct cp_profiled_site *x = *(sites)a, *y = *(sites)b;
	int order = strcmp(x->at.file, y->at.file);

	return order ? order : compare_numbers(x->at.line, y->at.line);
}

static int by_file(const void *a, const void *b)
{
	const struct cp_profiled_site *x = *(sites)a, *y = *(sites)b;

	return strcmp(x->at.file, y->at.file);
}

static int by_instruction(const void *a, const void *b)
{
	const struct cp_profiled_site *x = *(sites)a, *y = *(sites)b;

	return compare_numbers(x->at.address, y->at.address);
}

typedef int comparison(const void *a, const void *b);

static comparison *const comparisons[] = {by_module, by_thread, by_function, by_statement,
	by_instruction, by_file, by_statement};

static int largest_first(const void *a, const void *b)
{
	const struct cp_row *x = a, *y = b;

	if (x->order != y->order)
		return x->order > y->order ? -1 : 1;
	return compare_numbers(x->site->at.address, y->site->at.address);
}

static void add_up(const struct cp_profile_view *view, struct cp_rows *rows)
{
	enum cp_profile_order counted =
		view->order == CP_BY_LATENCY ? CP_BY_LATENCY : CP_BY_MISSES;

	for (size_t i = 0; i < rows->n; i++) {
		struct cp_row *row = &rows->row[i];

		row->tally.parts = cp_bursts_new_parts(view->profile);
		for (size_t j = row->first; j < row->first + row->nsites; j++)
			cp_tally_site(&row->tally, rows->sites[j]);
		if (row->tally.parts)
			cp_bursts_fill(view->profile, &row->tally);
		row->site = rows->sites[row->first];
		row->order = cp_measure_order(
			view->profile, view->measurement, view->order, &row->tally);
		rows->total += cp_measure_order(
			view->profile, view->measurement, counted, &row->tally);
	}
}

/* A place may have no misses, and yet what else is measured: its page was missed. */
static bool is_empty(const struct cp_profile_view *view, const char *const *names,
	const struct cp_tally *tally)
{
	if (cp_measure_order(view->profile, view->measurement, CP_BY_MISSES, tally) > 0)
		return false;
	for (; *names; names++) {
		struct cp_value value =
			cp_measure(view->profile, view->measurement, *names, tally);

		if (value.status != CP_UNAVAILABLE && value.value > 0)
			return false;
	}
	return true;
}

static void drop_empty(const struct cp_profile_view *view, struct cp_rows *rows)
{
	const char *const *names = cp_profile_quantities(view);
	size_t n = 0;

	for (size_t i = 0; i < rows->n; i++)
		if (!is_empty(view, names, &rows->row[i].tally))
			rows->row[n++] = rows->row[i];
	rows->n = n;
}

static struct cp_rows *make_rows(const struct cp_profile_view *view,
	enum cp_row_kind kind, const struct cp_profiled_site **all, size_t n)
{
	struct cp_arena *arena = view->profile->arena;
	struct cp_rows *rows = cp_arena_alloc(arena, sizeof(*rows));
	comparison *compare = comparisons[kind];

	rows->kind = kind;
	rows->sites = all;
	rows->nsites = n;
	if (!n)
		return rows;
	qsort(all, n, sizeof(*all), compare);
	for (size_t i = 0; i < n; i++)
		rows->n += !i || compare(&all[i - 1], &all[i]) != 0;
	rows->row = cp_arena_alloc(arena, rows->n * sizeof(*rows->row));
	rows->n = 0;
	for (size_t i = 0; i < n; i++) {
		if (!i || compare(&all[i - 1], &all[i]) != 0)
			rows->row[rows->n++].first = i;
		rows->row[rows->n - 1].nsites++;
	}
	add_up(view, rows);
	drop_empty(view, rows);
	qsort(rows->row, rows->n, sizeof(*rows->row), largest_first);
	return rows;
}

static int by_line(const void *a, const void *b)
{
	const struct cp_row *x = a, *y = b;

	return compare_numbers(x->site->at.line, y->site->at.line);
}

void cp_rows_order_by_line(struct cp_rows *rows)
{
	if (rows->n)
		qsort(rows->row, rows->n, sizeof(*rows->row), by_line);
}

struct cp_rows *cp_rows_of(const struct cp_profile_view *view, enum cp_row_kind kind,
	const struct cp_rows *rows, const struct cp_row *row)
{
	const struct cp_profiled_site **all =
		cp_arena_alloc(view->profile->arena, row->nsites * sizeof(*all));
	struct cp_rows *parts;

	memcpy(all, rows->sites + row->first, row->nsites * sizeof(*all));
	parts = make_rows(view, kind, all, row->nsites);
	parts->of_scripts = rows->of_scripts;
	return parts;
}

/* ---- data ---- */

static int by_name(const void *a, const void *b)
{
	const struct cp_row *x = a, *y = b;
	int order = strcmp(x->object->name, y->object->name);

	if (!order)
		order = strcmp(x->object->file, y->object->file);
	return order ? order : compare_numbers(x->object->line, y->object->line);
}

static int largest_data_first(const void *a, const void *b)
{
	const struct cp_row *x = a, *y = b;

	if (x->order != y->order)
		return x->order > y->order ? -1 : 1;
	return by_name(a, b);
}

static void merge_names(struct cp_rows *rows)
{
	size_t n = 0;

	for (size_t i = 0; i < rows->n; i++) {
		struct cp_row *row = &rows->row[i];

		rows->objects[i] = row->object;
		if (n && by_name(&rows->row[n - 1], row) == 0) {
			cp_tally_object(&rows->row[n - 1].tally, row->object);
			rows->row[n - 1].nsites++;
			continue;
		}
		rows->row[n] = *row;
		rows->row[n].first = i;
		rows->row[n++].nsites = 1;
	}
	rows->n = n;
}

static struct cp_rows *rows_of_data(const struct cp_profile_view *view)
{
	const struct cp_profile *profile = view->profile;
	struct cp_rows *rows = cp_arena_alloc(profile->arena, sizeof(*rows));
	enum cp_profile_order counted =
		view->order == CP_BY_LATENCY ? CP_BY_LATENCY : CP_BY_MISSES;

	rows->kind = CP_ROW_DATA;
	rows->n = profile->nobjects;
	rows->row = cp_arena_alloc(profile->arena, (rows->n + 1) * sizeof(*rows->row));
	rows->objects =
		cp_arena_alloc(profile->arena, (rows->n + 1) * sizeof(*rows->objects));
	for (size_t i = 0; i < rows->n; i++) {
		rows->row[i].object = &profile->objects[i];
		rows->row[i].tally.parts = cp_bursts_new_parts(profile);
		cp_tally_object(&rows->row[i].tally, &profile->objects[i]);
	}
	if (rows->n)
		qsort(rows->row, rows->n, sizeof(*rows->row), by_name);
	merge_names(rows);
	for (size_t i = 0; i < rows->n; i++) {
		struct cp_row *row = &rows->row[i];

		if (row->tally.parts)
			cp_bursts_fill(profile, &row->tally);
		row->order = cp_measure_order(
			profile, view->measurement, view->order, &row->tally);
		rows->total += cp_measure_order(
			profile, view->measurement, counted, &row->tally);
	}
	drop_empty(view, rows);
	if (rows->n)
		qsort(rows->row, rows->n, sizeof(*rows->row), largest_data_first);
	return rows;
}

struct cp_rows *cp_rows_of_all(const struct cp_profile_view *view, enum cp_row_kind kind)
{
	const struct cp_profile *profile = view->profile;
	const struct cp_profiled_site **all =
		cp_arena_alloc(profile->arena, (profile->nsites + 1) * sizeof(*all));

	if (kind == CP_ROW_DATA)
		return rows_of_data(view);
	for (size_t i = 0; i < profile->nsites; i++)
		all[i] = &profile->sites[i];
	return make_rows(view, kind, all, profile->nsites);
}

struct cp_rows *cp_rows_of_scripts(
	const struct cp_profile_view *view, enum cp_row_kind kind, bool own)
{
	const struct cp_profile *profile = view->profile;
	const struct cp_profiled_site *scripts = own ? profile->own : profile->scripts;
	size_t n = own ? profile->nown : profile->nscripts;
	const struct cp_profiled_site **all =
		cp_arena_alloc(profile->arena, (n + 1) * sizeof(*all));
	struct cp_rows *rows;

	for (size_t i = 0; i < n; i++)
		all[i] = &scripts[i];
	rows = make_rows(view, kind, all, n);
	rows->of_scripts = true;
	rows->of_own = own;
	if (rows->n)
		rows->total = cp_rows_of_all(view, CP_ROW_MODULE)->total;
	return rows;
}

static size_t count_accesses(const struct cp_rows *rows, const struct cp_row *row)
{
	size_t n = 0;

	for (size_t i = row->first; i < row->first + row->nsites; i++)
		n += rows->objects[i]->naccesses;
	return n;
}

struct cp_rows *cp_rows_in_data(const struct cp_profile_view *view, enum cp_row_kind kind,
	const struct cp_rows *rows, const struct cp_row *row)
{
	const struct cp_profile *profile = view->profile;
	const struct cp_profiled_site **all = cp_arena_alloc(
		profile->arena, (count_accesses(rows, row) + 1) * sizeof(*all));
	size_t n = 0;

	for (size_t i = row->first; i < row->first + row->nsites; i++) {
		const struct cp_profiled_object *object = rows->objects[i];

		for (size_t j = 0, at = object->access; j < object->naccesses; j++) {
			all[n++] = &profile->accesses[at].site;
			at = profile->accesses[at].next;
		}
	}
	return make_rows(view, kind, all, n);
}

static double misses_of_row(const struct cp_profile_view *view, const struct cp_row *row)
{
	if (view->order != CP_BY_AVERAGE)
		return row->order;
	return cp_measure_order(
		view->profile, view->measurement, CP_BY_MISSES, &row->tally);
}

double cp_row_share(const struct cp_profile_view *view, const struct cp_rows *rows,
	const struct cp_row *row)
{
	return rows->total > 0 ? 100 * misses_of_row(view, row) / rows->total : 0;
}

size_t cp_rows_shown(const struct cp_profile_view *view, const struct cp_rows *rows)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < rows->n; i++) {
		double share = cp_row_share(view, rows, &rows->row[i]);

		if (i >= view->cutoff.least &&
			(share < view->cutoff.percent || sum >= view->cutoff.cumulative))
			break;
		sum += share;
	}
	return i;
}

/* ---- the whole ---- */

const char *const *cp_profile_quantities(const struct cp_profile_view *view)
{
	const struct cp_group *m = view->measurement;
	const char **names = cp_arena_alloc(
		view->profile->arena, (m->nneed + m->nwant + 1) * sizeof(*names));

	for (size_t i = 0; i < m->nneed; i++)
		names[i] = m->need[i];
	for (size_t i = 0; i < m->nwant; i++)
		names[m->nneed + i] = m->want[i];
	return names;
}

struct cp_tally cp_profile_totals(const struct cp_profile *profile)
{
	struct cp_tally tally = {.only_kept = false};

	for (size_t i = 0; !profile->bursts && i < profile->nthreads; i++)
		cp_tally_thread(&tally, &profile->threads[i]);
	if (profile->bursts)
		memcpy(tally.count, profile->bursts->total, sizeof(tally.count));
	return tally;
}

bool cp_profile_is_placed(const struct cp_profile_view *view, const char *name)
{
	const struct cp_tally none = {.only_kept = true};

	return cp_measure_counts(view->profile, view->measurement, name, &none).status !=
	       CP_UNAVAILABLE;
}
