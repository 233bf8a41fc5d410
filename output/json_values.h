/* SPDX-License-Identifier: MIT
 *
 * The values of a JSON report; and what most of them have in common, which a brief one
 * says once (its key "usual"): a region with 90 values takes 20 kB, of which 18 are the
 * same for the others.  That document's schema says what is meant by a key that is left
 * out.
 */
#ifndef CACHEPEEK_OUTPUT_JSON_VALUES_H
#define CACHEPEEK_OUTPUT_JSON_VALUES_H

#include "output/json_lines.h"

/* The row that values are of. */
struct cp_json_row {
	uint64_t calls;            /* executions; 0: it is no region */
	bool full;                 /* says all of each value */
	bool merged;               /* over threads (or ranks), of which the extent is */
	const struct cp_place *at; /* the only one that has values; or NULL */
};

/* The only thread (or rank) that each value of the region is of; or NULL. */
const struct cp_place *cp_json_only_place(
	const struct cp_report *report, const struct cp_region *region);

/* "usual": {...}: status and reason, coverage and unit of the whole run's values. */
void cp_json_usual(struct cp_json *json);

/* The number; null: of no MPI job. */
void cp_json_rank(struct cp_json *json, int rank);

/* ", "NAME": {"rank": ..., "pid": ..., "tid": ...} */
void cp_json_place(struct cp_json *json, const char *name, const struct cp_place *at);

/* "time_s": {...}, "counts": {...} (of all, [nquantities]), and "metrics": {...} */
void cp_json_seconds(struct cp_json *json, const struct cp_region *region,
	const struct cp_json_row *row);
void cp_json_counts(
	struct cp_json *json, const struct cp_count *all, const struct cp_json_row *row);
void cp_json_metrics(
	struct cp_json *json, const struct cp_result *all, const struct cp_json_row *row);

#endif
