/* SPDX-License-Identifier: MIT
 *
 * Keeps what this image was given at its start.  The command line and the environment lie
 * in memory of the program, which may shorten its arguments, overwrite them with a title,
 * and free a variable that it has put into the array.  So both are copied once, in the
 * constructor, and nothing is read there later.
 */
#ifndef CACHEPEEK_PRELOAD_GIVEN_H
#define CACHEPEEK_PRELOAD_GIVEN_H

#include <stdbool.h>
#include <stddef.h>

/* Copies both, and makes the copy what cp_env_get() looks at.  0 or -ENOMEM. */
int cp_given_keep(int argc, char *const argv[], char *const envp[]);

/* The words of the command line, each with its NUL, one behind the other: at most
 * 64 KiB of them, the last one cut there. */
const char *cp_given_command(size_t *size);

/* Has one of the words behind the program's name this prefix? */
bool cp_given_argument(const char *prefix);

#endif
