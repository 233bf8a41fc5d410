/* SPDX-License-Identifier: MIT
 *
 * Groups: what to count and which metrics to compute, for one question.  They
 * are data (output/groups/ *.group, or a file of the user's):
 *
 *     @group cache                      the name
 *     @title One line
 *     @need instructions l1d_misses     quantities without which it is pointless
 *     @want l1d_writebacks              quantities that are nice to have
 *     @simulated refs_from_l1           the same, which only the simulated PMU has
 *     l1d_mpki [1/kinstr] = 1000 * l1d_misses / instructions
 *     @let ELEMENT 8 bytes per element  a constant of the formulas, and its meaning
 *     @check l1d_misses <= l1d_accesses "what it means if this does not hold"
 *     @check l2_reads + l2_writes ~ l2_accesses "…"     within a tenth
 *     @columns instructions "instr" | l1d_mpki "L1D MPKI"
 *     @mark miss_cycles l1d_mpki        its worst row gets the mark, else the next's
 *     @served served_l1 "L1D" | …       shares of the references that add up to 1
 *     @costs cost_l2 "L2" | …           what the first @mark is the sum of, or in cycles
 *     @long … @end                      text for people, until the line @end
 *
 * @need and @want add up over several lines.  A quantity is a preset or a
 * full event name (with "::").  A formula may use metrics that stand above it.
 * Of several @let of one name the last value and the first meaning count: that is
 * how CACHEPEEK_LET sets one.  N is LINE / ELEMENT; what a
 * line costs is L1_CYCLES, … (output/metrics/weights.h).  A column is a metric or a
 * quantity; the words of its heading stand below one another in the text report.  The
 * unit "ratio" is shown as a percentage in text.  The mark goes by the first of its names
 * that has a value in the whole run.  In the unit "cycles" that is a cost, and regions
 * are compared by their own, without nested ones.
 */
#ifndef CACHEPEEK_OUTPUT_METRICS_GROUP_H
#define CACHEPEEK_OUTPUT_METRICS_GROUP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "output/metrics/formula.h"
#include "output/metrics/weights.h"

#define CP_GROUP_MAX_NAMES 48
#define CP_GROUP_MAX_METRICS 48
#define CP_GROUP_MAX_COLUMNS 16
#define CP_GROUP_MAX_LETS 16
#define CP_GROUP_MAX_CHECKS 16
#define CP_GROUP_MAX_MARKS 4
#define CP_GROUP_MAX_PARTS 8

struct cp_metric {
	const char *name, *unit; /* unit "" if none is given */
	const char *formula_text;
	const struct cp_formula *formula;
	const struct cp_group *group; /* that it stands in */
};

struct cp_let {
	const char *name, *meaning;
	const char *text; /* of the value */
	double value;
};

struct cp_check {
	const char *left_text, *right_text, *message;
	const struct cp_formula *left, *right;
	bool about; /* left and right are about equal; else left <= right */
};

struct cp_column {
	const char *name;    /* of a metric of this group or a quantity */
	const char *heading; /* at most 2 or 3 short words */
};

/* A whole and its parts. */
struct cp_parts {
	size_t count;
	struct cp_column at[CP_GROUP_MAX_PARTS];
};

struct cp_group {
	const char *name, *title;
	const char *text;        /* the whole file: what the run record keeps */
	const char *description; /* of @long, "" if none */
	size_t nneed, nwant, nsimulated, nmetrics, ncolumns, nlets, nchecks, nmarks;
	const char *need[CP_GROUP_MAX_NAMES];
	const char *want[CP_GROUP_MAX_NAMES];
	const char *simulated[CP_GROUP_MAX_NAMES];
	struct cp_metric metrics[CP_GROUP_MAX_METRICS];
	struct cp_column columns[CP_GROUP_MAX_COLUMNS];
	struct cp_let lets[CP_GROUP_MAX_LETS];
	struct cp_check checks[CP_GROUP_MAX_CHECKS];
	const char *marks[CP_GROUP_MAX_MARKS];
	struct cp_parts served, costs;
};

/* NULL if the group has none of that name. */
const struct cp_let *cp_group_let(const struct cp_group *group, const char *name);
const struct cp_metric *cp_group_metric(const struct cp_group *group, const char *name);

/* Whether a quantity is one of those that the group needs, wants or simulates. */
bool cp_group_takes(const struct cp_group *group, const char *name);

/* The latencies that its metrics use: bits, 1u << enum cp_weight_of. */
unsigned cp_group_weighs(const struct cp_group *group);

/* Parses text; file is for messages.  NULL on an error, with one line (file,
 * line number, cause, cure) in error.  The group lives in arena. */
const struct cp_group *cp_group_parse(struct cp_arena *arena, const char *file,
	const char *text, char *error, size_t error_size);

/* The same of quantities that are not presets: those that known() knows. */
const struct cp_group *cp_group_parse_with(struct cp_arena *arena, const char *file,
	const char *text, bool (*known)(const char *name), char *error,
	size_t error_size);

/* The group NAME that is compiled in, or read from a file if the name holds a
 * slash.  Errors as above; a misspelt name gets its nearest match. */
const struct cp_group *cp_group_find(
	struct cp_arena *arena, const char *name, char *error, size_t error_size);

/* The names of the groups that are compiled in, NULL-terminated. */
const char *const *cp_group_names(struct cp_arena *arena);

#endif
