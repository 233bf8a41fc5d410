/* SPDX-License-Identifier: MIT
 *
 * Regions that a team of threads executes, each of them once.  A thread's part
 * ends with a rest: the wait for the others, in which tasks may still come.
 * All of these do nothing where nothing is counted, and keep errno.
 */
#ifndef CACHEPEEK_PRELOAD_PARALLEL_TEAMS_H
#define CACHEPEEK_PRELOAD_PARALLEL_TEAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "regions/tree.h"

struct cp_team {
	struct cp_name *name;        /* NULL: not counted */
	const struct cp_node *place; /* where the thread that forks was */
};

/* In the thread that meets the region, before the others know of it.  The team
 * is there until the join. */
void cp_team_fork(struct cp_team *team, struct cp_name *name);

/* In each thread, the one that forked included.  false: it is not counted. */
bool cp_team_begin(const struct cp_team *team);

/* The calling thread waits: what follows is no part of its innermost region of
 * a team, nor of those inside.  Its part has ended if that never goes on.
 * false: it waits already, or has no such region. */
bool cp_team_rest(void);

/* false: it does not wait. */
bool cp_team_go_on(void);

/* The rest was the end.  Nothing if the thread does not wait. */
void cp_team_end_rest(void);

#endif
