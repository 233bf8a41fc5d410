/* SPDX-License-Identifier: MIT
 *
 * The lists of `cachepeek list` that have a file of their own.
 */
#ifndef CACHEPEEK_TOOLS_LIST_H
#define CACHEPEEK_TOOLS_LIST_H

#include <stdbool.h>

#include "base/arena.h"
#include "output/other_names.h"

struct cp_list {
	struct cp_arena *arena;
	char *const *names; /* asked for, NULL-terminated; none: all */
	const char *pmu;    /* of a processor that may not be here; NULL: of this one */
	bool check, verbose;
};

/* Each returns an exit status. */
int cp_list_presets(const struct cp_list *list);
int cp_list_groups(const struct cp_list *list);

/* What another tool's name of a preset or group stands for, after saying so; any other
 * name as it is. */
const char *cp_list_ours(
	const struct cp_list *list, enum cp_named what, const char *name);

/* 0, or 2 with a line on stderr if no file is about list->pmu. */
int cp_list_know_pmu(const struct cp_list *list);

#endif
