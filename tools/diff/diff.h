/* SPDX-License-Identifier: MIT
 *
 * The parts of `cachepeek diff`.
 */
#ifndef CACHEPEEK_TOOLS_DIFF_DIFF_H
#define CACHEPEEK_TOOLS_DIFF_DIFF_H

#include <stdbool.h>

#include "base/out.h"
#include "base/text/table.h"
#include "tools/diff/values.h"

#define CP_DIFF_LEVEL 0.05

enum cp_verdict {
	CP_SAME,        /* one value in all runs */
	CP_EXACTLY,     /* simulated: one value on each side, and not the same */
	CP_SIGNIFICANT, /* at CP_DIFF_LEVEL, with the other tests in mind */
	CP_NOISE,       /* may well be */
	CP_UNTESTED,    /* they differ, with too few runs for a test */
	CP_ONE_SIDED,   /* a side has no value */
};

const char *cp_verdict_name(enum cp_verdict verdict);

/* The role of a value in the answer, in the order of what is said. */
enum cp_role {
	CP_COST,     /* of the whole run */
	CP_PART,     /* of that cost, or the work done */
	CP_PLACE,    /* what a place costs */
	CP_ALSO,     /* changed with it */
	CP_REPEATED, /* says again what others say */
};

const char *cp_role_name(enum cp_role role);

/* The difference of side 1 (after) from side 0 (before). */
struct cp_difference {
	const struct cp_entry *entry;
	enum cp_verdict verdict;
	enum cp_role role;
	double p, adjusted; /* < 0: no test */
	double change;      /* of the means */
	double ratio;       /* of the means; < 0: there is none */
	double size;        /* among those of its role, what is larger comes first */
};

/* A value that says what a run costs, and what that is made of. */
struct cp_cost {
	const char *name, *word; /* word: what it is, for people */
	struct cp_cost_part {
		const char *name, *label;
	} parts[9]; /* the last one is NULL */
};

/* A region and what it costs without those in it. */
struct cp_cost_place {
	const struct cp_spot *spot;
	double value[2];    /* 0: the side has no such place */
	const char *mostly; /* the part that changed most; "" */
	double most;        /* by how much */
	bool one_sided;     /* the other side has no such place */
	bool tested;        /* the test of the region's value is one of this, too */
};

struct cp_gate {
	const char *expression;
	const char *name, *region; /* region NULL: the whole run; "*": each */
	bool above, relative, change;
	double limit;
	/* The later one counts where places differ.  CP_GATE_UNSURE: the interval of what
	 * was sampled has what is met, and what is not. */
	enum cp_gate_verdict {
		CP_GATE_CLOSED,
		CP_GATE_UNSURE,
		CP_GATE_UNKNOWN,
		CP_GATE_MET
	} verdict;
	const struct cp_difference *at; /* where; NULL: nowhere */
};

struct cp_diff {
	struct cp_arena *arena;
	struct cp_values *values;
	size_t count, tested, ngates;
	struct cp_difference *differences;     /* what matters most comes first */
	const struct cp_difference **by_entry; /* by its index; NULL: no difference */
	const struct cp_cost *cost;            /* NULL: none that both sides have */
	size_t nplaces;
	struct cp_cost_place *places; /* what changed most comes first */
	struct cp_gate *gates;
	bool all;                     /* --all */
	const struct cp_timed *timed; /* --time; NULL: not asked for */
};

/* Is the difference, of too few runs to test, one of samples with intervals?  Half of
 * its own 95 % interval then. */
bool cp_is_judged_by_intervals(const struct cp_entry *entry, double *error);

/* Fills in the differences.  0 or -ENOMEM. */
int cp_diff_compare(struct cp_diff *diff);

/* Whether it is shown as a difference. */
static inline bool cp_is_flagged(const struct cp_difference *it)
{
	return it->verdict == CP_EXACTLY || it->verdict == CP_SIGNIFICANT;
}

/* NAME [in REGION] >|< [+|-]NUMBER[%].  false, after a message. */
bool cp_gate_parse(struct cp_arena *arena, struct cp_gate *gate, const char *expression);

/* Judges all gates.  false, after a message: there is no such value. */
bool cp_gates_judge(struct cp_diff *diff);

/* One line on a gate that is not closed. */
const char *cp_gate_text(const struct cp_diff *diff, const struct cp_gate *gate);

/* "12,345", "3.1 %": with the value's own unit. */
const char *cp_diff_number(
	struct cp_arena *arena, const struct cp_entry *entry, double value);
/* "+5.2 %", "x8.39", "+12" */
const char *cp_diff_change(struct cp_arena *arena, const struct cp_difference *it);
/* The region and the name; "whole run" for the whole run. */
const char *cp_diff_spot(struct cp_arena *arena, const struct cp_entry *entry);

/* "exact", "same", "<0.001", "0.012", or a dash where nothing was tested. */
const char *cp_diff_certainty(struct cp_arena *arena, const struct cp_difference *it);
/* The value in few digits: "~1.36 M", "12.3 ms". */
const char *cp_diff_short(
	struct cp_arena *arena, const struct cp_entry *entry, double value);
bool cp_diff_is_estimated(const struct cp_entry *entry);
/* With its unit; a dash: the side has none. */
const char *cp_diff_mean(
	struct cp_arena *arena, const struct cp_entry *entry, unsigned side);

/* cost.c.  The first of all costs that both sides have; NULL: none. */
const struct cp_cost *cp_cost_of(const struct cp_values *values);
/* Is it a cost, or a part of one? */
bool cp_cost_is_any(const char *name);
/* The count, metric or time of that name; NULL: there is none. */
const struct cp_entry *cp_cost_entry(
	const struct cp_values *values, const struct cp_spot *spot, const char *name);
/* Fills in the places of diff->cost. */
void cp_cost_places(struct cp_diff *diff);

/* roles.c: fills in the role and the size of each difference. */
void cp_roles_give(struct cp_diff *diff);

/* The difference of the whole run's value of that name; NULL: there is none. */
const struct cp_difference *cp_diff_of_run(const struct cp_diff *diff, const char *name);
/* Half of the 95 % interval of the difference; < 0: not known. */
double cp_diff_error(const struct cp_difference *it);
/* Too small to be called a change. */
bool cp_diff_is_small(const struct cp_difference *it);

/* diff_answer.c: less or more cost, by which of its parts. */
void cp_diff_answer(const struct cp_diff *diff, struct cp_answer *answer);
/* The places, and how many of them a table shows. */
const char *cp_diff_place_change(
	struct cp_arena *arena, const struct cp_cost_place *place);
bool cp_diff_place_counts(const struct cp_diff *diff, const struct cp_cost_place *place);
/* Warns of differences that make the sides no pair; returns the number of warnings. */
#define CP_DIFF_WARNINGS 5
size_t cp_diff_warnings(const struct cp_diff *diff, const char *to[CP_DIFF_WARNINGS]);

/* For struct cp_document: diff is a struct cp_diff. */
void cp_diff_text(const void *diff, struct cp_out *out, bool colour);
void cp_diff_csv(const void *diff, struct cp_out *out);
json_t *cp_diff_json(const void *diff);

#endif
