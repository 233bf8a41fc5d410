/* SPDX-License-Identifier: MIT
 *
 * The instruction that the process dies of (SIGILL).
 */
#ifndef CACHEPEEK_PRELOAD_PROGRAM_ILLEGAL_H
#define CACHEPEEK_PRELOAD_PROGRAM_ILLEGAL_H

#include <signal.h>
#include <stddef.h>

/* The first bytes of the instruction there, its set and where it is.  NULL: the set that
 * they are of. */
void cp_illegal_tell(char *to, size_t size, const void *code, const char *set);

/* For the record: its first bytes, and where it is. */
void cp_illegal_note(const siginfo_t *info);

#endif
