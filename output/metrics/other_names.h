/* SPDX-License-Identifier: MIT
 *
 * The names that perf, PAPI and LIKWID have for presets and groups: data, in
 * output/names/others.names.
 */
#ifndef CACHEPEEK_OUTPUT_METRICS_OTHER_NAMES_H
#define CACHEPEEK_OUTPUT_METRICS_OTHER_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

enum cp_named { CP_NAMED_EVENT, CP_NAMED_GROUP };

struct cp_other_name {
	const char *tool, *name;
	const char *ours;    /* the preset or group */
	const char *differs; /* where the meanings differ, or "" */
};

/* Finds whose name that is, in either case of letters; an event with or without "perf::"
 * and ":u".  Strings are in arena.  false: nobody's. */
bool cp_other_name(struct cp_arena *arena, enum cp_named what, const char *name,
	struct cp_other_name *other);

/* The line that says so: "cache-misses: read as llc_misses (…)". */
void cp_other_name_note(
	const struct cp_other_name *other, const char *asked, char *to, size_t size);

/* All of them, NULL-terminated: for cp_nearest() and lists. */
const char *const *cp_other_names(struct cp_arena *arena, enum cp_named what);

#endif
