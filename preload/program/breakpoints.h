/* SPDX-License-Identifier: MIT
 *
 * The CPU's breakpoints, at the first instruction of functions that cannot be patched:
 * the kernel sends the thread that comes to one a SIGTRAP of its own, which says which it
 * is, before the instruction is executed.  They are few, and a stop takes microseconds.
 *
 * Fork children have none until they are opened there, other programs never.  As soon as
 * the program wants SIGTRAP for itself, blocks it or is about to be confined, they are
 * given up: what they would do to it then could be seen.
 */
#ifndef CACHEPEEK_PRELOAD_PROGRAM_BREAKPOINTS_H
#define CACHEPEEK_PRELOAD_PROGRAM_BREAKPOINTS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/once.h"

#define CP_BREAKPOINTS 4 /* x86 has no more */

/* Called at a stop: the function's number, where its return address is, its
 * arguments in registers, and the highest word of its frame. */
typedef void cp_breakpoint_entered(
	uint32_t number, uintptr_t *address, const uintptr_t *arguments, uintptr_t frame);

struct cp_breakpoint {
	uintptr_t address;
	uint32_t number;
	int fd;        /* -1: it is not open */
	uint64_t hits; /* the kernel's count, once it is closed */
};

struct cp_breakpoints {
	struct cp_breakpoint all[CP_BREAKPOINTS];
	unsigned count;  /* those that are set */
	unsigned room;   /* those that nobody else needs */
	const char *why; /* there are no more; NULL: nothing is known against it */
	int error;       /* the kernel's, if that is why */
	bool tried;
	struct cp_once stopped;
	const char *given_up; /* why; NULL: they were not */
	uint64_t seen;        /* signals; atomic */
	uint64_t late;        /* of them those that came behind the stop; atomic */
	cp_breakpoint_entered *entered;
};

/* On this kind of CPU? */
bool cp_breakpoints_are_used(void);

/* Sets one; false, with why, if that is not possible or not safe. */
bool cp_breakpoint_set(struct cp_breakpoints *b, uintptr_t address, uint32_t number);

/* A SIGTRAP; false: it is none of theirs. */
bool cp_breakpoints_take(
	struct cp_breakpoints *b, const siginfo_t *info, const void *context);

/* Closes them all, when the signals that are under way have been taken; why: given up;
 * NULL: it is over. */
void cp_breakpoints_stop(struct cp_breakpoints *b, const char *why);

/* In a fork child: they are the parent's; and: opens its own. */
void cp_breakpoints_forget(struct cp_breakpoints *b);
void cp_breakpoints_reopen(struct cp_breakpoints *b);

/* How many calls were not seen as calls, once they are stopped. */
uint64_t cp_breakpoints_missed(const struct cp_breakpoints *b);

#endif
