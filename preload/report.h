/* SPDX-License-Identifier: MIT */
#ifndef CACHEPEEK_PRELOAD_REPORT_H
#define CACHEPEEK_PRELOAD_REPORT_H

/* When the run directory is known to be there. */
void cp_report_start(void);

/* Writes the report of the run directory to what CACHEPEEK_OUTPUT names. */
void cp_report_at_exit(void);

/* The same for a report that is there; scratch memory comes from arena. */
struct cp_arena;
struct cp_report;
void cp_report_write(struct cp_arena *arena, const struct cp_report *report);

/* What the report needs to know of this process, into its record: engine,
 * machine, command, events.  0 or -errno. */
int cp_record_describe(void);

#endif
