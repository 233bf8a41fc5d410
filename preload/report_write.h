/* SPDX-License-Identifier: MIT
 *
 * A report is written to what CACHEPEEK_OUTPUT names, or why there is none.
 */
#ifndef CACHEPEEK_PRELOAD_REPORT_WRITE_H
#define CACHEPEEK_PRELOAD_REPORT_WRITE_H

#include "output/sink.h"

/* For this run's job; scratch memory comes from arena. */
void cp_report_write(struct cp_arena *arena, const struct cp_report *report);

/* Says why there is none, and what makes one. */
void cp_report_none(const char *error);

/* The records of this process and its children, as far as they can be told from
 * others'; returns how many. */
size_t cp_report_own_records(struct cp_arena *arena, const char *const **paths);

#endif
