/* SPDX-License-Identifier: MIT
 *
 * Regions as a page has them: a row each, of values in the order of the columns, which
 * say what all of their values share.  The JSON report has 20 kB for each region, and a
 * browser would take ten seconds for 10,000 of them.
 */
#ifndef CACHEPEEK_OUTPUT_JSON_TABLE_H
#define CACHEPEEK_OUTPUT_JSON_TABLE_H

#include <stdbool.h>

#include "output/json_lines.h"

/* The region root and those inside; of all threads (merged), or of one.
 *
 *	{"columns": [STATE, ...], "rows": [[PATH, CALLS, THREADS, RANKS, [CELL, ...]],
 *...], "states": [{"status", "coverage", "error", "reason", "scope"}, ...]}
 *
 * The columns are the time, the report's events, and its metrics.  CELL: VALUE, in the
 *state of its column, or [VALUE, STATE].  STATE: an index into the states, or one in
 *place. */
void cp_json_table(struct cp_json *json, const struct cp_region *root, bool merged);

#endif
