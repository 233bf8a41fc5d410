/* SPDX-License-Identifier: MIT
 *
 * Running a program several times: each run reads the same input, and one of them
 * is seen.
 */
#ifndef CACHEPEEK_TOOLS_AGAIN_H
#define CACHEPEEK_TOOLS_AGAIN_H

#include <stdbool.h>

#include "tools/launch.h"

/* Keeps what can be read from standard input only once.  Returns where it is now,
 * for cp_run_again(); < 0: a terminal, which is left alone. */
long cp_keep_input(void);

/* Runs argv in a run directory, reading from input on; its records are there
 * then.  seen: its output is.  0 or -errno. */
int cp_run_again(struct cp_launch *launch, const char *directory, char *const argv[],
	long input, bool seen);

#endif
