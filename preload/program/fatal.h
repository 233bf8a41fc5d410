/* SPDX-License-Identifier: MIT
 *
 * Signals that end the process.  Where the program leaves a signal at SIG_DFL
 * and that means death, a handler of ours takes the last readings and then
 * lets the signal do what it would have done: the wait status is the same.
 * What the program asks the C library about its signals stays as if we were
 * not there (hooks_signal.c).
 */
#ifndef CACHEPEEK_PRELOAD_PROGRAM_FATAL_H
#define CACHEPEEK_PRELOAD_PROGRAM_FATAL_H

#include <signal.h>
#include <stdbool.h>

/* Watches every fatal signal that is at SIG_DFL.  Once per image, before the
 * first thread is counted. */
void cp_fatal_start(void);

/* The signals that we watch are at SIG_DFL again. */
void cp_fatal_stop(void);

/* Watches this signal, if it is fatal and at SIG_DFL; keeps errno. */
void cp_fatal_watch(int number);

/* Is this our handler?  Then what the program believes is in *view. */
bool cp_fatal_is_ours(const struct sigaction *action);
void cp_fatal_view(int number, struct sigaction *view);

/* SIGTRAPs that are sent to us (breakpoints.h) come to take, which says whether it is one
 * of those; yield: the program wants the signal for itself, and why.  false: it has the
 * signal already. */
struct cp_trap_owner {
	bool (*take)(const siginfo_t *info, const void *context);
	void (*yield)(const char *why);
};
bool cp_fatal_own_traps(const struct cp_trap_owner *owner);
void cp_fatal_yield_traps(const char *why);
bool cp_fatal_has_traps(void);
/* The program is about to change its mask by that. */
void cp_fatal_want_mask(int how, const void *set);

#endif
