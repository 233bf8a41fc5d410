/* SPDX-License-Identifier: MIT */
#ifndef CACHEPEEK_TOOLS_ALONE_H
#define CACHEPEEK_TOOLS_ALONE_H

struct cp_machine;

/* Runs argv under the simulated PMU without the library, and prints the counts
 * of the whole run on stderr.  0 and the status of wait(2), or -errno. */
int cp_run_alone(char **argv, const struct cp_machine *machine, int *status);

#endif
