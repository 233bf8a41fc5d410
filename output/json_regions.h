/* SPDX-License-Identifier: MIT
 *
 * The regions of a JSON report, a line each.
 */
#ifndef CACHEPEEK_OUTPUT_JSON_REGIONS_H
#define CACHEPEEK_OUTPUT_JSON_REGIONS_H

#include "output/json_lines.h"

/* "regions": [...]: of the whole run. */
void cp_json_regions(struct cp_json *json);

/* The same of a thread; nothing in a brief report, if that is the run's only one, which
 * has the same. */
void cp_json_thread_regions(struct cp_json *json, const struct cp_region *root);

#endif
