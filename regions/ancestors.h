/* SPDX-License-Identifier: MIT
 *
 * The processes that this one descends from, as /proc has them: which of them
 * started a job.
 */
#ifndef CACHEPEEK_REGIONS_ANCESTORS_H
#define CACHEPEEK_REGIONS_ANCESTORS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct cp_ancestor {
	pid_t pid, ppid;
	uint64_t started; /* ticks since the machine's start */
	char name[20];    /* of the program, as the kernel cuts it */
};

/* False: there is none, or nobody may know. */
bool cp_ancestor_read(pid_t pid, struct cp_ancestor *ancestor);

/* Is this executable (its path) one?  They are left alone: only the ranks that they
 * start are of interest. */
bool cp_is_launcher(const char *exe);

/* The nearest launcher above this process, and the farthest. */
struct cp_launchers {
	bool found;
	struct cp_ancestor nearest, farthest;
};
void cp_launchers_above(struct cp_launchers *launchers);

/* The parent is a launcher: what is no rank is one of its helpers, such as ssh. */
bool cp_is_launchers_helper(void);

/* The same number for the same process on the same machine, and no other. */
uint64_t cp_ancestor_key(const struct cp_ancestor *ancestor);

/* Calls visit with this process and all above it, up to `last` with it. */
void cp_ancestors_visit(
	pid_t last, void (*visit)(void *context, pid_t pid), void *context);

#endif
