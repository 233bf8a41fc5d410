/* SPDX-License-Identifier: MIT
 *
 * The parts of `cachepeek gate`: a baseline file that lies beside the sources, and what
 * a run's values are against it.
 */
#ifndef CACHEPEEK_TOOLS_GATE_GATE_H
#define CACHEPEEK_TOOLS_GATE_GATE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "tools/diff/values.h"
#include "tools/shared/output.h"

#define CP_BASELINE_SCHEMA "cachepeek-gate/1"

enum cp_baseline_result {
	CP_BASELINE_HELD,
	CP_BASELINE_BETTER, /* by more than the tolerance */
	CP_BASELINE_UNSURE, /* sampled: its interval has what fails, and what does not */
	CP_BASELINE_FAILS,  /* worse by more than the tolerance */
	CP_BASELINE_UNKNOWN_VALUE, /* the runs have none */
};

/* A line of the baseline. */
struct cp_baseline_line {
	const json_t *path;
	const char *region; /* "solve/halo"; "whole run" */
	const char *name;
	double value;
	double was_off;        /* half of its 95 % interval, if it was sampled; or 0 */
	const char *tolerance; /* as it was written; NULL: that of the file */
	double limit;          /* the same: a share, or a difference */
	bool relative;
	bool lower;      /* is worse */
	unsigned number; /* in the file */
	/* Found in the runs. */
	enum cp_baseline_result result;
	const struct cp_entry *entry; /* NULL: there is none */
	double now, off; /* off: half of the interval of the difference, or 0 */
};

struct cp_baseline {
	struct cp_arena *arena; /* out_of_memory is set */
	const char *file;
	json_t *document; /* NULL: there is no such file yet */
	const char *engine, *machine, *tolerance;
	const char *environment; /* struct cp_side's; NULL: not known */
	size_t nlines;
	struct cp_baseline_line *lines;
	struct cp_values *values; /* the runs, on side 1 */
	json_t *profile;          /* the last of them, if they are profiles; else NULL */
	const char *unlike;       /* why nothing can be compared; NULL: it can */
	const char *variables;    /* "LANG, PATH" that are not the baseline's; NULL */
};

/* baseline.c.  false, after a message: it cannot be read. */
bool cp_baseline_tolerance(const char *text, double *limit, bool *relative);
bool cp_baseline_read(struct cp_baseline *gate);
/* With the runs' values in the place of its own, or, if it is not there yet, those of
 * metrics (a comma list; NULL: misses of a profile) in all regions.  false, after a
 * message. */
bool cp_baseline_update(struct cp_baseline *gate, const char *metrics);

/* judge.c */
void cp_baseline_judge(struct cp_baseline *gate);
int cp_baseline_status(const struct cp_baseline *gate);
/* "l1d_misses of solve: 1,000 -> 1,020 (+2 %), 0.5 % are allowed" */
const char *cp_baseline_sentence(
	const struct cp_baseline *gate, const struct cp_baseline_line *line);
const char *cp_baseline_number(struct cp_arena *arena, double value);
const char *cp_baseline_change(
	struct cp_arena *arena, const struct cp_baseline_line *line);

/* profile.c.  A run, or a profile, on side 1; false: neither. */
bool cp_gate_add(struct cp_baseline *gate, const char *name, char *error, size_t size);
/* Is a profile's entry large enough to matter? */
bool cp_gate_is_worth(const struct cp_baseline *gate, const struct cp_entry *entry);
/* Where to look: in the source, if it is known; else in the baseline. */
struct cp_gate_place {
	const char *file;
	unsigned line;
};
struct cp_gate_place cp_baseline_place(
	const struct cp_baseline *gate, const struct cp_baseline_line *line);

/* sarif.c */
void cp_gate_write_sarif(const struct cp_baseline *gate, FILE *file);

/* page.c */
void cp_gate_write_html(const struct cp_baseline *gate, FILE *file);

/* show.c.  It is written in the format that the name of the output picks; false: it could
 * not be. */
bool cp_gate_check_outputs(const struct cp_output_list *outputs);
const char *cp_baseline_word(enum cp_baseline_result result);
/* Escaped for XML, and for HTML. */
void cp_gate_put_xml(FILE *file, const char *text);
bool cp_baseline_write(const struct cp_baseline *gate, const char *name);
/* For the log of a run on GitHub: the failures, at their lines of the baseline. */
void cp_baseline_annotate(const struct cp_baseline *gate);

#endif
