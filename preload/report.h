/* SPDX-License-Identifier: MIT */
#ifndef CACHEPEEK_PRELOAD_REPORT_H
#define CACHEPEEK_PRELOAD_REPORT_H

#include "output/sink.h"

/* When the run directory is known to be there. */
void cp_report_start(void);

/* Writes the report of the run, or of the rank, to what CACHEPEEK_OUTPUT names. */
void cp_report_at_exit(void);

/* The same for a report that is there; scratch memory comes from arena. */
void cp_report_write(
	struct cp_arena *arena, const struct cp_report *report, enum cp_sink_kind kind);

/* Says why there is none, and what makes one. */
void cp_report_none(const char *error);

/* The records of this process and its children, as far as they can be told from
 * others'; returns how many. */
size_t cp_report_own_records(struct cp_arena *arena, const char *const **paths);

/* Their report. */
void cp_report_of_own(struct cp_arena *arena, enum cp_sink_kind kind);

/* What the report needs to know of this process, into its record: engine,
 * machine, command, events.  0 or -errno. */
int cp_record_describe(void);

#endif
