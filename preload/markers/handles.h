/* SPDX-License-Identifier: MIT
 *
 * Names behind other tools' handles: domains, registered strings, event types.
 */
#ifndef CACHEPEEK_PRELOAD_MARKERS_HANDLES_H
#define CACHEPEEK_PRELOAD_MARKERS_HANDLES_H

#include <stdint.h>

#include "preload/markers/markers.h"

struct cp_handle {
	uint64_t tag;   /* whose: cp_marker_tag() */
	uint64_t value; /* the tool's own; 0: ours, the address of this */
	struct cp_name *name;
};

/* Remembers the name, in place of an earlier one; value 0 makes a new handle,
 * whose value is its address.  NULL without memory, or while nothing is
 * counted. */
const struct cp_handle *cp_handle_set(uint64_t tag, uint64_t value, struct cp_name *name);

/* NULL if it is not known. */
struct cp_name *cp_handle_name(uint64_t tag, uint64_t value);

void cp_handles_after_fork(void);

#endif
