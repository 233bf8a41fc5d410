/* SPDX-License-Identifier: MIT
 *
 * Region names, interned: one struct per distinct name and process, whose
 * address is the handle that the marker API gives out.
 */
#ifndef CACHEPEEK_REGIONS_NAMES_H
#define CACHEPEEK_REGIONS_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CP_MAX_REGION_NAME 4096

struct cp_name {
	uint64_t
		record_offset; /* of its string in the current record, 0: not there yet */
	size_t length;
	const char *text;
	bool left_out; /* by the filter: markers with it do nothing */
};

/* The name's struct, made if it is new; longer names are cut to
 * CP_MAX_REGION_NAME.  NULL when memory is out.  Thread-safe; handles live as
 * long as the process. */
struct cp_name *cp_name_intern(const char *text, size_t length);

/* Which names are counted: see cp_filter_allows.  Once, before any name. */
void cp_names_filter(const char *patterns);

/* In a fork child, before any other thread runs: its record has no strings. */
void cp_names_after_fork(void);

#endif
