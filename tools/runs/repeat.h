/* SPDX-License-Identifier: MIT
 *
 * cachepeek run --repeat: several runs of one program, and how far their values
 * are apart.
 */
#ifndef CACHEPEEK_TOOLS_RUNS_REPEAT_H
#define CACHEPEEK_TOOLS_RUNS_REPEAT_H

#define CP_MAX_REPEAT 1000

/*
 * Runs argv so many times, with the library preloaded and the environment as it
 * is.  outputs: a comma list, or NULL; one that ends in a slash is the directory
 * (else CACHEPEEK_DIR is) that keeps the runs' records.  Returns the exit status:
 * the first run's.
 */
int cp_repeat(unsigned count, const char *outputs, char **argv);

#endif
