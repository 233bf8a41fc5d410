/* SPDX-License-Identifier: MIT
 *
 * The JSON report: keys are only added, never renamed or reordered, within a schema
 * version.  That is cachepeek-report/1, where each value is complete, but in a report of
 * more than CP_JSON_COMPLETE regions cachepeek-report/2, which says once what values have
 * in common (json_values.h).
 */
#ifndef CACHEPEEK_OUTPUT_JSON_H
#define CACHEPEEK_OUTPUT_JSON_H

#include "output/formats.h"
#include "output/json_lines.h"

#define CP_JSON_SCHEMA "cachepeek-report/1"
#define CP_JSON_BRIEF_SCHEMA "cachepeek-report/2"

/* A complete region takes some 40 kB (90 values of 20 keys, for the run and again for a
 * thread): a report of so many is one of 40 MB, which programs still read in a second. */
#define CP_JSON_COMPLETE 1000

/* cp_json_write() (output/formats.h) writes the report and a newline.  Counts are
 * integers, other numbers have a decimal point or not as they need; text is UTF-8, and
 * bytes that are not are written as the code point of the same number (\u00XX).  This
 * is the same for the script of a page: regions are tables, whose metrics are named once
 * ("metrics"), and threads have theirs only if there are several. */
void cp_json_write_page(struct cp_out *out, const struct cp_report *report);

#endif
