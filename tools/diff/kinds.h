/* SPDX-License-Identifier: MIT
 *
 * The kinds of JSON that `cachepeek diff` compares.  What is none of a report is turned
 * into one: each function, line, data, machine or line that threads share is a region of
 * it.
 */
#ifndef CACHEPEEK_TOOLS_DIFF_KINDS_H
#define CACHEPEEK_TOOLS_DIFF_KINDS_H

#include <jansson.h>

#include "base/arena.h"
#include "tools/shared/json_file.h"

#define CP_REPEAT_SCHEMA "cachepeek-repeat/1"
#define CP_REPORT_WHAT "the report of a run"

struct cp_json_kind {
	const char *schema;
	const char *what; /* "a profile by `cachepeek dcache`" */
	/* As a report; NULL: it is one, or that of several runs. */
	json_t *(*report)(const json_t *document);
};

/* NULL: no kind that can be compared. */
const struct cp_json_kind *cp_json_kind_of(const json_t *document);

/* A document's kind, for people: of a profile with the measurement. */
const char *cp_json_what(
	struct cp_arena *arena, const struct cp_json_kind *kind, const json_t *document);

/* {"l1d_misses": 12} as a report has values: {"l1d_misses": {"value": 12, "status": …}}.
 */
json_t *cp_json_values(json_t *counts, const char *status);

/* profile_report.c, sharing_report.c */
json_t *cp_profile_report(const json_t *profile);
json_t *cp_sharing_report(const json_t *sharing);

#endif
