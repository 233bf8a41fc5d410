/* SPDX-License-Identifier: MIT
 *
 * The sites of a profile added up: a row is a module, thread, function, statement
 * or instruction, or a file of source or line of it.
 */
#ifndef CACHEPEEK_TOOLS_ROWS_H
#define CACHEPEEK_TOOLS_ROWS_H

#include "tools/profile/model/measurement.h"

enum cp_row_kind {
	CP_ROW_MODULE,
	CP_ROW_THREAD,
	CP_ROW_FUNCTION,
	CP_ROW_STATEMENT,   /* of one function */
	CP_ROW_INSTRUCTION, /* of one statement */
	CP_ROW_FILE,        /* of source; in functions that were inlined, their own */
	CP_ROW_LINE,        /* of one file, in any function */
	CP_ROW_DATA,
};

struct cp_row {
	const struct cp_profiled_site *site;     /* one of its own */
	const struct cp_profiled_object *object; /* of data: the same */
	struct cp_tally tally;
	double order;
	size_t first, nsites; /* in struct cp_rows: sites, or of data objects */
};

/* With the sites that they are made of. */
struct cp_rows {
	enum cp_row_kind kind;
	size_t n, nsites;
	struct cp_row *row;
	const struct cp_profiled_site **sites;
	const struct cp_profiled_object **objects;
	double total;    /* of all rows' misses, or latency */
	bool of_scripts; /* its sites are lines of Python, without instructions */
	bool of_own;     /* with what their libraries had for them */
};

struct cp_cutoff {
	double percent, cumulative; /* of the total: rows below, rows beyond */
	size_t least;               /* rows that are shown in any case */
};

/* Lines of source that may be shown around a statement, before and behind it. */
#define CP_CONTEXT_MOST 1000

struct cp_profile_view {
	const struct cp_profile *profile;
	const struct cp_group *measurement;
	enum cp_profile_order order;
	struct cp_cutoff cutoff;
	bool statements, instructions; /* details */
	unsigned context;              /* lines of source around a statement */
	bool whole;                    /* of source: all lines */
	size_t width;                  /* of lines; 0: any */
	bool screen;                   /* text: the answer only */
	bool is_page;                  /* HTML, which has call paths by itself */
	double least_misses;           /* JSON: of an instruction; others are left out */
	double path_percent; /* that call paths have at least; < 0: each writer's own */
	const char *callers; /* of this function are shown; NULL: all paths */
};

/* The quantities that @need and @want name: the NULL-terminated list. */
const char *const *cp_profile_quantities(const struct cp_profile_view *view);

/* Is that quantity of a simulated profile counted by place? */
bool cp_profile_is_placed(const struct cp_profile_view *view, const char *name);

/* The sum over all threads. */
struct cp_tally cp_profile_totals(const struct cp_profile *profile);

/* Rows of that kind, the largest first; without misses there is no row.  Those of
 * data have objects of one name together. */
struct cp_rows *cp_rows_of_all(const struct cp_profile_view *view, enum cp_row_kind kind);
/* Rows of what functions and statements of Python had; own: with what their libraries had
 * for them.  The total is that of all places. */
struct cp_rows *cp_rows_of_scripts(
	const struct cp_profile_view *view, enum cp_row_kind kind, bool own);
/* Rows made of the sites of one of these rows. */
struct cp_rows *cp_rows_of(const struct cp_profile_view *view, enum cp_row_kind kind,
	const struct cp_rows *rows, const struct cp_row *row);

/* Rows of what missed in the data of one of the rows, whose tallies have misses only. */
struct cp_rows *cp_rows_in_data(const struct cp_profile_view *view, enum cp_row_kind kind,
	const struct cp_rows *rows, const struct cp_row *row);

/* Sorts rows of CP_ROW_LINE by line, in place of the largest first. */
void cp_rows_order_by_line(struct cp_rows *rows);

/* How many of the rows the cutoff leaves. */
size_t cp_rows_shown(const struct cp_profile_view *view, const struct cp_rows *rows);

/* Percent of the total. */
double cp_row_share(const struct cp_profile_view *view, const struct cp_rows *rows,
	const struct cp_row *row);

#endif
