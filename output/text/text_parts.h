/* SPDX-License-Identifier: MIT
 *
 * The parts of the text report; nobody else's business.
 */
#ifndef CACHEPEEK_OUTPUT_TEXT_TEXT_PARTS_H
#define CACHEPEEK_OUTPUT_TEXT_TEXT_PARTS_H

#include "base/text/table.h"
#include "output/text/text.h"

struct cp_text {
	struct cp_answer *kept; /* takes what cp_text_labelled() has; NULL: out does */
	struct cp_out *out;
	struct cp_arena *arena;
	const struct cp_report *report;
	size_t width;
	size_t rows;        /* of a table; 0: as many as there are */
	bool colour, whole; /* whole: nothing is left out */
};

/* A column of a report: a metric or a count, by index. */
struct cp_text_column {
	bool is_metric;
	size_t index;
	const char *name, *heading, *unit; /* unit as the data file has it */
	double divisor; /* counts: 1, or 1e6 for columns of large numbers */
	bool own;       /* without nested regions, as a share of the run's */
};

/* text.c: one of the lines above the table; and those that answer what was asked for
 * beside the groups */
void cp_text_labelled(struct cp_text *text, const char *label, const char *value);
void cp_text_answers(struct cp_text *text);

/* text_verdict.c: the answer to a group's question, in a few lines; whether its shares of
 * the references are known; what makes up its cost, NULL if that is not known; and
 * whether an earlier group's answer has the same cost, by time */
void cp_text_verdict(struct cp_text *text, const struct cp_group *group);
bool cp_text_serves(const struct cp_report *report, const struct cp_group *group);
const struct cp_parts *cp_text_costs(
	const struct cp_report *report, const struct cp_group *group);
bool cp_text_is_answered(const struct cp_report *report, const struct cp_group *group);

/* text_column.c */
bool cp_text_column_find(
	const struct cp_report *report, const char *name, struct cp_text_column *column);
struct cp_value cp_text_column_value(
	const struct cp_text_column *column, const struct cp_region *region);
const struct cp_extent *cp_text_column_extent(
	const struct cp_text_column *column, const struct cp_region *region);
/* How the unit is shown: "%" for a ratio, "/kI", "M" for a divided count, … */
const char *cp_text_column_unit(const struct cp_text_column *column);
/* "12.3", "~12.3" if estimated, "—" if unavailable. */
const char *cp_text_column_cell(
	struct cp_text *text, const struct cp_text_column *column, struct cp_value value);
/* "outer/inner", of names as they can be shown. */
const char *cp_text_path(struct cp_text *text, const struct cp_region *region);
/* A metric outside of a table: "12.3 %", "4.56 MB". */
const char *cp_text_with_unit(
	struct cp_text *text, const struct cp_metric *metric, struct cp_value value);

/* text_regions.c: the tables, one per group, and one of other quantities; and what
 * the numbers of all of them rest on */
void cp_text_regions(struct cp_text *text);
void cp_text_assumptions(struct cp_text *text);

/* text_notes.c */
void cp_text_notes(struct cp_text *text);

/* text_processes.c */
void cp_text_processes(struct cp_text *text);

/* text_ranks.c: of a job, its ranks; and regions that few of them entered */
void cp_text_ranks(struct cp_text *text);
/* An answer: which rank waits in MPI, and for which one. */
void cp_text_waits(struct cp_text *text);
void cp_text_entered(struct cp_text *text);

/* text_rows.c: which regions, in their order, a table of about limit rows (0: all)
 * shows: those that make up most of what the mark goes by, if that is a cost, and else of
 * the run, with the ones around them, and the wanted one.  Returns how many. */
size_t cp_text_rows(struct cp_text *text, size_t limit, const char *mark,
	const struct cp_region *wanted, const bool **shown);

/* The table of each question beside the groups, and its answer in a line or two before
 * all tables; nothing where the question was not asked.
 *
 * text_sweep.c: miss curves */
void cp_text_sweep_answer(struct cp_text *text);
void cp_text_sweep(struct cp_text *text);

/* text_windows.c: working sets */
void cp_text_windows_answer(struct cp_text *text);
void cp_text_windows(struct cp_text *text);

/* text_course.c: time series */
void cp_text_course_answer(struct cp_text *text);
void cp_text_course(struct cp_text *text);

/* text_extents.c: who has the least and the most of the marked metric. */
void cp_text_extents(struct cp_text *text, const struct cp_text_column *column);

/* The metric that the mark goes by: the first of the group's that has a value in the
 * whole run, or NULL; but in place of any cost the stall cycles where those are known.
 * The region that gets the mark, NULL if none is worth it, and the sentence that says
 * why.  The whole run gets it for what is outside of all regions, if that costs more. */
/* text_notes.c: " ±6.5 %" of the run's metric; "" if it has no interval; and below the
 * tables how far predicted times may be off, or why that is not known. */
const char *cp_text_interval(struct cp_text *text, const char *metric);
void cp_text_spreads(struct cp_text *text, const struct cp_group *group);

#define CP_STALLS "stall_cycles"
#define CP_OUTSIDE "outside of the regions"
/* Is it what a region adds to the run, in cycles or seconds? */
bool cp_text_is_cost(const struct cp_report *report, const char *name);
const char *cp_text_mark(const struct cp_report *report, const struct cp_group *group);
const struct cp_region *cp_text_worst(const struct cp_text *text, const char *mark);
void cp_text_why(struct cp_text *text, const struct cp_region *worst, const char *mark);

#endif
