/* SPDX-License-Identifier: MIT
 *
 * The formats of reports, but for text (output/text/text.h): the ending that picks the
 * format, and its writer.  A new format is a file of output/, and a line here.  Whoever
 * calls one by itself flushes out and looks at out->error afterwards.
 */
#ifndef CACHEPEEK_OUTPUT_FORMATS_H
#define CACHEPEEK_OUTPUT_FORMATS_H

#include "base/out.h"
#include "output/report/report.h"

#define CP_REPORT_FORMATS(X)                                                             \
	X(".trace.json", cp_trace_write)                                                 \
	X(".json", cp_json_write)                                                        \
	X(".csv", cp_csv_write)                                                          \
	X(".html", cp_html_write)                                                        \
	X(".prom", cp_openmetrics_write)

#define X(ending, write) void write(struct cp_out *out, const struct cp_report *report);
CP_REPORT_FORMATS(X)
#undef X

#endif
