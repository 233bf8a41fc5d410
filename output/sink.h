/* SPDX-License-Identifier: MIT
 *
 * Where reports go: CACHEPEEK_OUTPUT and `cachepeek report -o`, a comma list of
 *
 *     stderr    the text report
 *     -         the text report on stdout
 *     -.json    JSON on stdout
 *     FILE      .txt: the whole text, .json: JSON, .csv: a table with a row per value,
 *               .html: a page, .prom: OpenMetrics, .trace.json: Chrome's trace events;
 *               missing directories are made
 *
 * In a file name %h is the host, %p the pid, %r the MPI rank (0 without MPI),
 * %e the base name of the executable, %% a percent sign.
 */
#ifndef CACHEPEEK_OUTPUT_SINK_H
#define CACHEPEEK_OUTPUT_SINK_H

#include <stdbool.h>

#include "base/text/colour.h"
#include "output/report/report.h"

/* A job's ranks write one report into files that all of them name, and one each into
 * those that have %r or %p in their names. */
enum cp_sink_kind { CP_SINKS_ALL, CP_SINKS_OWN, CP_SINKS_FILES, CP_SINKS_STREAMS };

struct cp_sink_context {
	int stderr_fd, stdout_fd; /* -1: closed, the sink is skipped in silence */
	const char *host, *exe;   /* for %h and %e; NULL: the report's */
	int pid, rank;            /* for %p and %r; rank -1: none */
	enum cp_colour colour;    /* of text, but for files */
	bool whole;               /* of text on a stream; files have it whole */
	enum cp_sink_kind kind;   /* which of them are written; CP_SINKS_ALL */
	/* The number of the job in its run: from 2 on it stands before the endings of
	 * files. */
	unsigned number;
	bool tell_number; /* in a line to `complain` */
	/* Called with one line (no newline): which sink failed, why, the cure. */
	void (*complain)(void *context, const char *line);
	void *complain_context;
};

/* Writes the report to every sink of list (NULL or "": stderr), as far as they
 * can be written.  Returns how many could not.  Scratch memory comes from
 * arena (may be the report's; out_of_memory need not be set).  Descriptors stay
 * open.  Sets no signal handler: SIGPIPE is the caller's. */
int cp_sinks_write(struct cp_arena *arena, const struct cp_report *report,
	const char *list, const struct cp_sink_context *context);

/* Are there any of this kind? */
bool cp_sinks_have(const char *list, enum cp_sink_kind kind);

/* Looks at list without writing anything: calls complain for what
 * cp_sinks_write() would refuse, so that a run need not end before its user
 * learns of a misspelt ending.  Returns how many there are. */
int cp_sinks_check(const char *list, const struct cp_sink_context *context);

#endif
