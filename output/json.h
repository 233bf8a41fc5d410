/* SPDX-License-Identifier: MIT
 *
 * The JSON report, schema "cachepeek-report/1": keys are only added, never
 * renamed or reordered, within a schema version.
 */
#ifndef CACHEPEEK_OUTPUT_JSON_H
#define CACHEPEEK_OUTPUT_JSON_H

#include "output/json_lines.h"

#define CP_JSON_SCHEMA "cachepeek-report/1"

/* Writes the report and a newline.  Counts are integers, other numbers have a
 * decimal point or not as they need; text is UTF-8, and bytes that are not are
 * written as the code point of the same number (\u00XX).  Flush and look at
 * out->error afterwards. */
void cp_json_write(struct cp_out *out, const struct cp_report *report);
/* The same for the script of a page: regions are tables, whose metrics are named once
 * ("metrics"), and threads have theirs only if there are several. */
void cp_json_write_page(struct cp_out *out, const struct cp_report *report);

#endif
