/* SPDX-License-Identifier: MIT
 *
 * Regions of Caliper's: values of attributes.
 */
#ifndef CACHEPEEK_PRELOAD_MARKERS_CALIPER_H
#define CACHEPEEK_PRELOAD_MARKERS_CALIPER_H

#include "preload/markers/markers.h"

extern const struct cp_marker_tool cp_caliper;

/* value NULL: the attribute alone.  attribute NULL: nothing. */
void cp_caliper_begin(const char *attribute, const char *value);
void cp_caliper_begin_int(const char *attribute, int64_t value);
void cp_caliper_begin_double(const char *attribute, double value);

/* The innermost value of that attribute. */
void cp_caliper_end(const char *attribute);

#endif
