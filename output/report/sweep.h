/* SPDX-License-Identifier: MIT
 *
 * The points of a sweep (CACHEPEEK_SWEEP) in a report: the quantities called
 * LEVEL_misses[FIELD=VALUE], and what the record says of all of them.
 */
#ifndef CACHEPEEK_OUTPUT_REPORT_SWEEP_H
#define CACHEPEEK_OUTPUT_REPORT_SWEEP_H

#include "output/report/report.h"

#define CP_SWEEP_MOST 32

struct cp_sweep {
	char level[16]; /* "l1d", … */
	char title[16]; /* "L1D", "L3", … */
	char field[16]; /* "ways", "size", "entries" */
	uint64_t own;   /* what the machine itself has; 0: not known */
	uint64_t line;  /* bytes; 0: of a TLB, or not known */
	uint64_t sets;  /* of a sweep of ways; ways: of others; 0: not known */
	uint64_t ways;
	size_t npoints;
	struct cp_sweep_point {
		size_t quantity;   /* of the report */
		uint64_t value;    /* bytes, ways, entries */
		const char *label; /* "256K", not NUL-terminated */
		size_t label_length;
		uint64_t sets, ways; /* 0: not known */
	} point[CP_SWEEP_MOST];
};

/* False: the report has none. */
bool cp_sweep_find(const struct cp_report *report, struct cp_sweep *sweep);

bool cp_sweep_is_point(const char *quantity);

/* Why other levels have no curve. */
extern const char cp_sweep_limits[];

/* json_sweep.c: the value of "sweep". */
struct cp_out;
void cp_json_sweep(
	struct cp_out *out, const struct cp_report *report, const struct cp_sweep *sweep);

#endif
