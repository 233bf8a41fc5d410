/* SPDX-License-Identifier: MIT
 *
 * Lays out a new image as the kernel does: the words of the command line and the
 * variables, one string directly behind the other, and the vector of auxiliary values
 * directly behind the array of variables.  Programs rely on it: those that write their
 * title over the strings, and those that look for the vector there.
 */
#ifndef CACHEPEEK_PRELOAD_PROGRAM_LAYOUT_H
#define CACHEPEEK_PRELOAD_PROGRAM_LAYOUT_H

#include <stddef.h>

/*
 * Gives argv[0] this text and takes the variables of these names (NULL behind the
 * last) away, so that the layout is the kernel's again.  Without memory, argv[0] alone
 * lies elsewhere then: where argv0 does.
 */
void cp_layout_restore(
	char **argv, char **envp, const char *argv0, const char *const removed[]);

/*
 * envp with the entries added[] in an array of its own, which the same vector follows.
 * The first and the last entry stay those of envp: some programs take all between
 * those two for theirs.  NULL: no memory.
 */
char **cp_layout_extend(char *const envp[], char *const added[]);

/* Once, in the constructor: where that vector is. */
void cp_layout_start(char *const envp[]);

#endif
