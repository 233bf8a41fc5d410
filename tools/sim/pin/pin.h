/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * CACHEPEEK_REPRODUCIBLE: the program finds the same in each environment, in each
 * directory and on each host, as far as a simulator can bring that about.
 */
#ifndef CACHEPEEK_SIM_PIN_PIN_H
#define CACHEPEEK_SIM_PIN_PIN_H

#include "tool.h"

struct pin_user_number {
	UInt user, group;
};

extern struct pin {
	Bool wanted; /* known before the program's first stack is made, and the options */
	/* Causes of differences between runs that remain, by what the program did: enum
	 * cp_unpinned of request.h, a bit each. */
	UWord seen;
	uint64_t random; /* the state of all random numbers */
	/* The environment as the library has it, which the program does not see. */
	HChar **given;
	UChar *of_program; /* by ThreadId: its next call is, which the library makes; or
			      NULL */
	struct {           /* user.c's */
		struct pin_user_number as_root; /* is shown as 0 */
		Bool kept;                      /* every number is shown as it is */
		Bool has_groups;                /* of its own: others than as_root has */
		UChar *changed; /* by ThreadId: arguments of its call, a bit each */
	} user;
} pin;

/* environment.c.  The value of a variable; NULL: it is not there. */
const HChar *pin_find(HChar *const *envp, const HChar *name);
/* Returns the part of envp that the program is to see; fixed: bytes that the rest of
 * the stack takes; more: a variable for the library, or NULL. */
HChar **pin_environment(HChar **envp, HChar *more, SizeT fixed);
/* Does the user keep the variable "NAME=..." of these? */
Bool pin_keeps(HChar *const *envp, const HChar *entry);
/* At least so long, with slashes in front. */
HChar *pin_path(const HChar *path, SizeT length);
SizeT pin_pointer_and_text(const HChar *text);

/* registers.c: of a system call */
enum pin_register {
	PIN_FIRST,
	PIN_SECOND,
	PIN_THIRD,
	PIN_FOURTH,
	PIN_FIFTH,
	PIN_NUMBER,
	PIN_RESULT
};
UWord pin_take(ThreadId tid, enum pin_register which);
void pin_put(ThreadId tid, enum pin_register which, UWord value);
/* An argument behind the call; where the result is in its place, the result stays. */
void pin_put_back(ThreadId tid, enum pin_register which, UWord value);

/* user.c.  Returns what children are to be told, as a variable, or NULL: they are.  Kept:
 * the program sees its user's number. */
HChar *pin_user_start(HChar *const *envp, Bool kept);
UWord pin_user_auxiliary(UWord kind, UWord value);
void pin_user_before(ThreadId tid, UInt number);
void pin_user_behind(ThreadId tid);
void pin_user_after(ThreadId tid, UInt number, const UWord *args, SysRes result);

/* mapping.c: before and after each system call */
void pin_mapping_before(ThreadId tid, UInt number);
void pin_mapping_after(UInt number, const UWord *args, SysRes result);

/* calls.c */
void pin_fill(UChar *to, SizeT size);
void pin_before(ThreadId tid, UInt number);
void pin_behind(ThreadId tid);
/* The next call of the thread, wherever it is made. */
void pin_call_is_programs(ThreadId tid);
void pin_after(ThreadId tid, UInt number, const UWord *args, SysRes result);

/* clock.c: the program's time.  Before and behind each of its system calls: points in
 * time that it waits for are the kernel's meanwhile. */
void pin_clock_start(HChar *const *envp);
void pin_clock_before(ThreadId tid);
void pin_clock_behind(ThreadId tid);
void pin_clock_after(ThreadId tid, UInt number, const UWord *args, SysRes result);
void pin_start(void);

/* turn.c: a thread begins.  And: has one begun, so that there are turns? */
void pin_turn_thread(ThreadId by);
Bool pin_turns(void);
/* Translations are executed from now on. */
void pin_turn_goes_on(const volatile void *state);
/* Does the thread's system call leave it its turn? */
void pin_turn_keep(ThreadId tid, Bool keeps);
/* The turn that is under way: a thread that waits for another one has given the rest of
 * it away; hints to the processor that it waits.  Generated code writes both. */
extern struct pin_spin {
	UInt given, pauses;
} pin_spin;
void pin_turn_begins(void);
/* Would another thread run in the place of this one? */
Bool pin_turn_is_wanted(void);

/* rounds.c: a turn begins; before a system call; around the code of a thread. */
void pin_rounds_begin(void);
void pin_rounds_call(UInt number);
void pin_rounds_before(volatile void *state);
void pin_rounds_behind(HWord *results, volatile void *state);

/* A superblock of the library, which takes nothing of a turn. */
void pin_turn_pause(IRSB *out);

/* cpu.c */
ULong pin_ticks(void); /* of the time stamp counter */
void pin_capabilities(UInt *guest, UInt *host);

#endif
