/* SPDX-License-Identifier: MIT
 *
 * The parent of a counted program: starts it, stays out of its way, and knows
 * for certain how it ended and what all of it cost the kernel, even when it
 * was killed.
 */
#ifndef CACHEPEEK_TOOLS_RUNS_LAUNCH_H
#define CACHEPEEK_TOOLS_RUNS_LAUNCH_H

#include <stdint.h>
#include <sys/types.h>

#define CP_LAUNCH_TOTALS 8

struct cp_launch {
	pid_t pid;
	int status; /* of wait(2) */
	/* Events of the whole tree, in user and kernel mode; and what wait4(2)
	 * says of the program and the children that it waited for.  Both from
	 * the exec on.  The second also has pages that the kernel touched for
	 * itself: at least those of the new program's arguments. */
	unsigned ntotals;
	struct {
		const char *name;
		uint64_t value;
	} totals[CP_LAUNCH_TOTALS];
};

struct cp_watch;

/* cp_run_make, which says where records stay that nobody would look for. */
int cp_launch_make_run(const char *wanted, char *to, size_t size);

/*
 * Runs argv in the environment as it is, and returns when it has ended: 0, or
 * -errno if it could not be executed.  Meanwhile the terminal's signals are the
 * program's, and those sent to us are passed on; watch (or NULL) says what else is
 * done.
 */
int cp_launch(struct cp_launch *launch, char *const argv[], struct cp_watch *watch);

/* Puts what only the parent knows into the program's last record in the run's
 * directory, if it has one: how it ended and the totals. */
void cp_launch_note(const struct cp_launch *launch, const char *directory);

#endif
