/* SPDX-License-Identifier: MIT
 *
 * The report as Chrome's trace events, which Perfetto, Chrome and speedscope open.
 */
#ifndef CACHEPEEK_OUTPUT_TRACE_H
#define CACHEPEEK_OUTPUT_TRACE_H

#include "base/out.h"
#include "output/report/report.h"

/*
 * A slice for each process, from its begin to its end.  With a time series
 * (CACHEPEEK_INTERVAL), a counter for each count, of the process and of each region:
 * what each interval counted; and slices for the intervals in which a region counted
 * anything.  Where regions have times, a row for each thread in which they are as long
 * as all their executions together: when each was, no record says.
 */
void cp_trace_write(struct cp_out *out, const struct cp_report *report);

#endif
