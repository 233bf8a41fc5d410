/* SPDX-License-Identifier: MIT
 *
 * CACHEPEEK_REPRODUCIBLE: the simulated PMU gives the program the same environment
 * everywhere, without our variables.  What we know of them comes from here.
 */
#ifndef CACHEPEEK_PRELOAD_PROGRAM_PINNED_H
#define CACHEPEEK_PRELOAD_PROGRAM_PINNED_H

#include <stdbool.h>

bool cp_is_reproducible(const char *value);

/* Our own variables among others: of envp, or those that it does not show. */
char **cp_pinned_variables(char **envp);

/* In the simulated program, when envp is as it stays: all variables.  One of envp is
 * replaced by what tells ours to the programs that this one starts. */
char **cp_pinned_environment(char **envp);

/* The first argument: an absolute path has the same length wherever the program lies.
 * Room for the longest is in `room`. */
#define CP_PINNED_PATH 256
const char *cp_pinned_first(const char *argv0, char room[CP_PINNED_PATH + 1]);

/* Does envp bring along what pinned programs tell? */
bool cp_pinned_follows(char *const envp[]);

/* Notes in the record that, and how, it is pinned. */
void cp_pinned_note(void);
/* And what differs between runs all the same. */
void cp_pinned_end(void);

#endif
