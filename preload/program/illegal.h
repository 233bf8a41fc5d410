/* SPDX-License-Identifier: MIT
 *
 * The instruction that the process dies of (SIGILL).
 */
#ifndef CACHEPEEK_PRELOAD_PROGRAM_ILLEGAL_H
#define CACHEPEEK_PRELOAD_PROGRAM_ILLEGAL_H

#include <signal.h>

/* For the record: its first bytes, the set that it is of, and where it is. */
void cp_illegal_note(const siginfo_t *info);

#endif
