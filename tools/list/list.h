/* SPDX-License-Identifier: MIT
 *
 * The lists of `cachepeek list` that have a file of their own.
 */
#ifndef CACHEPEEK_TOOLS_LIST_LIST_H
#define CACHEPEEK_TOOLS_LIST_LIST_H

#include <stdbool.h>

#include "base/arena.h"
#include "output/metrics/group.h"
#include "output/metrics/other_names.h"
#include "output/metrics/plan.h"
#include "output/metrics/preset.h"

struct cp_list {
	struct cp_arena *arena;
	char *const *names; /* asked for, NULL-terminated; none: all */
	const char *pmu;    /* of a processor that may not be here; NULL: of this one */
	bool check, verbose, json;
};

/* Is the name one of those that were asked for, or are all? */
bool cp_list_wants(const struct cp_list *list, const char *name);

/* Each returns an exit status. */
int cp_list_presets(const struct cp_list *list);
int cp_list_groups(const struct cp_list *list);
/* All groups, NULL-terminated: those that can be counted come first. */
const char *const *cp_list_group_names(const struct cp_list *list);
/* The list of this name as JSON (doc/cachepeek-list-1.schema.json). */
int cp_list_json(const struct cp_list *list, const char *topic);

/* "A + B - C". */
const char *cp_list_terms(
	const struct cp_list *list, const struct cp_preset_alternative *alternative);

/* How the group can be counted: simulated, or on the PMU whose name it returns (NULL:
 * none was found). */
const char *cp_list_plan(const struct cp_list *list, const struct cp_group *group,
	bool simulated, struct cp_plan *plan);

/* Calls `each` with the machines that are compiled in, and what they are. */
void cp_list_each_machine(void (*each)(void *context, const char *name, const char *text),
	void *context, struct cp_arena *arena);

/* 0, or 2 with a line on stderr about the first of list->names that is no machine. */
int cp_list_check_machines(const struct cp_list *list);

/* 2, with a line on stderr: no event has the first of list->names in its name. */
int cp_list_no_event(const struct cp_list *list);

/* Translates another tool's name of a preset or group, with a message; any other
 * name as it is. */
const char *cp_list_ours(
	const struct cp_list *list, enum cp_named what, const char *name);

/* 0, or 2 with a line on stderr if no file is about list->pmu. */
int cp_list_know_pmu(const struct cp_list *list);

#endif
