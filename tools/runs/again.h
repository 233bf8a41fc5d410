/* SPDX-License-Identifier: MIT
 *
 * Running a program several times: each run reads the same input, and one of them
 * is seen.
 */
#ifndef CACHEPEEK_TOOLS_RUNS_AGAIN_H
#define CACHEPEEK_TOOLS_RUNS_AGAIN_H

#include <stdbool.h>

#include "tools/runs/launch.h"

/* Keeps what can be read from standard input only once.  Returns where it is now,
 * for the runs; < 0: a terminal, which is left alone. */
long cp_keep_input(void);

/* Between them a run reads from input on; unless it is seen, its output goes
 * nowhere. */
struct cp_again {
	int saved[2];
};
void cp_again_begin(struct cp_again *again, long input, bool seen);
void cp_again_end(const struct cp_again *again);

/* Runs argv in a run directory, reading from input on; its records are there
 * then.  seen: its output is.  what: in front of the progress, at a
 * terminal.  0 or -errno. */
int cp_run_again(struct cp_launch *launch, const char *directory, char *const argv[],
	const char *what, long input, bool seen);

#endif
