/* SPDX-License-Identifier: MIT
 *
 * The values of many runs side by side: what `cachepeek diff` compares, and what
 * `cachepeek run --repeat` sums up.
 */
#ifndef CACHEPEEK_TOOLS_DIFF_VALUES_H
#define CACHEPEEK_TOOLS_DIFF_VALUES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/out.h"
#include "base/text/table.h"
#include "output/metrics/value.h"
#include "tools/diff/welch.h"

enum cp_kind { CP_CALLS, CP_TIME, CP_COUNT, CP_METRIC };

/* "calls", "time", … */
const char *cp_kind_name(enum cp_kind kind);

/* A region of any of the runs. */
struct cp_spot {
	size_t index;     /* in the list of all */
	const char *key;  /* the path as compact JSON */
	const char *path; /* "solve/halo", for people; "" for the whole run */
	json_t *names;    /* the same, exactly */
	double weight;    /* its part of the run, 0 .. 1 */
	double rank;      /* by its cost: what changed most has the highest */
	/* "": a region; "function", "line", "data", "machine": what else has a name. */
	const char *what;
	/* Where a line is on each side. */
	const char *file, *function;
	unsigned line[2];
	bool edited; /* its text is another one after */
	/* The region around it, as far out as there is one; NULL: the whole run. */
	struct cp_spot *around;
	bool is_around; /* others are in it */
};

/* A value in the runs of one side. */
struct cp_cell {
	double *values; /* of the runs that have it */
	struct cp_runs runs;
	size_t missing;        /* runs that have the region without a value */
	enum cp_status status; /* the worst, of those that have a value */
	const char *reason;    /* why the last one that is missing is; else NULL */
	/* Values that are estimated from samples: the squares of the half-widths of their
	 * 95 % intervals; how many are estimated and have none. */
	size_t sampled, unsized;
	double squares;
	/* The sum of those that all runs share: of a calibration. */
	double shared;
};

/* Half of the 95 % interval of the mean, where some values have one and all others are
 * counted; else < 0. */
double cp_cell_error(const struct cp_cell *cell);

struct cp_values;
/* Was anything on that side estimated with intervals? */
bool cp_values_sampled(const struct cp_values *values, unsigned side);

struct cp_entry {
	size_t index; /* in the list of all */
	struct cp_spot *spot;
	enum cp_kind kind;
	const char *name, *unit;
	struct cp_cell side[2];
};

struct cp_values {
	struct cp_arena *arena; /* out_of_memory is set */
	size_t nentries, nspots;
	struct cp_entry **entries; /* as they came */
	struct cp_spot **spots;
	struct cp_side {
		const char *label; /* as it was named */
		size_t nruns;
		const char *command, *engine, *machine; /* of its first run */
		char **argv;     /* of its first run, ends in NULL; NULL: not recorded */
		const char *exe; /* the file that it ran; NULL: not recorded */
		bool mixed;      /* commands, engines or machines are not the same */
		/* The variables of its first run under --reproducible: "LANG:4f1c0a2e
		 * PATH:…", a digest for each variable that the program was given; else
		 * NULL. */
		const char *environment;
		const char *end;
		bool ends_differ;
		/* When, in UTC, and where its first run was; NULL: not recorded. */
		const char *began, *host;
		const char *cut; /* how one was cut short, which is a part; NULL: none */
	} sides[2];
	/* The kind of the first file, and its name; NULL: none was read yet. */
	const char *kind, *first;
	size_t without_text; /* lines of profiles that are not compared */
	bool calibrated; /* the run that is added predicts its times by a calibration */
	struct cp_index *index;
};

/* How and when the run was that the document is of, for the report that it is turned
 * into. */
void cp_values_keep_run(json_t *report, const json_t *document);

struct cp_values *cp_values_new(struct cp_arena *arena);

/*
 * Adds the runs at path to a side (0 or 1): a record, a run directory, a
 * directory of run directories (`run --repeat -d`), a JSON report, or that of
 * `run --repeat`.  false, with one line in error, if there is none.
 */
bool cp_values_add(struct cp_values *values, unsigned side, const char *path, char *error,
	size_t error_size);

/* The same of a JSON report. */
void cp_values_add_report(struct cp_values *values, unsigned side, const json_t *report);

/* To be called when all runs are there: fills in the weights, and what is in what. */
void cp_values_weigh(struct cp_values *values);

/* lines.c: makes one of the only line of a function that is gone and the only new one. */
void cp_values_join_lines(struct cp_values *values);

/* NULL: none of the runs has it. */
struct cp_entry *cp_values_find(const struct cp_values *values,
	const struct cp_spot *spot, enum cp_kind kind, const char *name);

/* Numbers of JSON documents: without a point where they are whole. */
json_t *cp_json_number(double value);
/* [{"title", "text"}, ...] */
json_t *cp_json_answer_lines(const struct cp_answer *answer);
/* The words of a command; "?" for those that are not UTF-8. */
json_t *cp_json_command(char *const *argv);
/* Takes the value, NULL: null. */
void cp_json_set(json_t *object, const char *name, json_t *value);

/* Sets "began", "host" and "ended" of the side's runs. */
void cp_json_run(json_t *made, const struct cp_side *side);

/* Sets "path", "kind", "name", "unit". */
void cp_json_entry(json_t *made, const struct cp_entry *entry);

/* {"n", "missing", "mean", "min", "max", "stddev", "status", "reason"} */
json_t *cp_json_cell(const struct cp_cell *cell);

/* Cells of CSV.  Those of an entry, and a number, end in a comma; those of a cell
 * (CP_CELL_HEADINGS has their names) do not. */
#define CP_CELL_HEADINGS(side)                                                           \
	side "runs," side "missing," side "mean," side "min," side "max," side           \
	     "stddev," side "status"
void cp_csv_entry(struct cp_out *out, const struct cp_entry *entry);
void cp_csv_number(struct cp_out *out, bool there, double value);
void cp_csv_cell(struct cp_out *out, const struct cp_cell *cell);

#endif
