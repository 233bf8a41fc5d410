/* SPDX-License-Identifier: MIT
 *
 * Working sets (CACHEPEEK_WORKING_SET): what a region touches in a window of
 * instructions, in the mean of its windows, against the reach of the TLBs.
 */
#ifndef CACHEPEEK_OUTPUT_REPORT_WINDOWS_H
#define CACHEPEEK_OUTPUT_REPORT_WINDOWS_H

#include "output/report/report.h"

/* As the record says it; 0: not known, or there is none. */
struct cp_windows {
	uint64_t length; /* instructions */
	uint64_t line, code_line, page;
	uint64_t dtlb, second; /* entries for data: first level, and behind it */
	size_t windows, data_lines, data_pages, code_lines, code_pages; /* quantities */
};

/* False: the report has none. */
bool cp_windows_find(const struct cp_report *report, struct cp_windows *windows);

bool cp_windows_is_quantity(const char *name);

/* So many of the quantity in each window of the region; unavailable where one of both
 * is, or there was no window. */
struct cp_value cp_windows_mean(const struct cp_windows *windows,
	const struct cp_region *region, size_t quantity);

/* The same of a time series, in the intervals from `from` to before `to` of those that
 * the line has; < 0: there was no window. */
struct cp_course_line;
double cp_windows_mean_over(const struct cp_windows *windows,
	const struct cp_course_line *line, size_t quantity, size_t from, size_t to);

/* The level of the TLB that has an entry for each of so many pages: "first", "second" or
 * "none"; NULL: nobody knows. */
const char *cp_windows_reach(const struct cp_windows *windows, double pages);

#endif
