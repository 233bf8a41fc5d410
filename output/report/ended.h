/* SPDX-License-Identifier: MIT
 *
 * How the processes of a run ended, in words.
 */
#ifndef CACHEPEEK_OUTPUT_REPORT_ENDED_H
#define CACHEPEEK_OUTPUT_REPORT_ENDED_H

#include "base/arena.h"
#include "output/report/report.h"

/* "exit 0", "SIGTERM", "killed by SIGKILL", "running", "end not seen". */
const char *cp_process_ended(struct cp_arena *arena, const struct cp_process *process);

/* The same of a process's status of wait(2); NULL: it exited by itself. */
const char *cp_status_cut(struct cp_arena *arena, int status);

/* The last image of the process at the root of the tree; NULL if it is not there. */
const struct cp_process *cp_report_root(const struct cp_report *report);

/* The line to say of a run whose root, or a job whose ranks, did not end by themselves;
 * NULL if they did. */
const char *cp_report_cut(struct cp_arena *arena, const struct cp_report *report);

/* "2026-11-30T23:04:05Z", of nanoseconds since 1970; NULL: it is 0. */
const char *cp_utc_text(struct cp_arena *arena, uint64_t realtime_ns);

/* When the root, or what there is, began, as cp_utc_text() has it; NULL: not known. */
const char *cp_report_began(struct cp_arena *arena, const struct cp_report *report);

#endif
