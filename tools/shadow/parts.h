/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the parts of shadow.so share.  It has no libc: all of it is executed in a fork of
 * a program that may hold any lock.
 */
#ifndef CACHEPEEK_SHADOW_PARTS_H
#define CACHEPEEK_SHADOW_PARTS_H

#define _GNU_SOURCE

#include "tool.h"
#include "libvex.h"
#include "libvex_guest_amd64.h"
#include "libvex_trc_values.h"

#include "base/syscall.h"
#include "tools/shadow/shadow.h"

/* execute.c */
extern struct cp_shadow_plan shadow_plan;
/* As translated code wants it: behind the guest's state are two shadows of that, which
 * have what VEX has no place for (tools/sim/native/state.h), and where registers are
 * spilled. */
extern struct shadow_thread {
	VexGuestAMD64State guest;
	UChar side[2 * sizeof(VexGuestAMD64State)];
	UChar spilled[LibVEX_N_SPILL_BYTES] __attribute__((aligned(32)));
} shadow_thread;
#define shadow_guest (shadow_thread.guest)
/* The window is over. */
void shadow_finish(enum cp_shadow_end end, UInt detail, Addr where)
	__attribute__((noreturn));
/* The guest may be where the program was at that tick. */
void shadow_passed(UWord bound);

/* core.c: memory that outlives the shadow, for translations and what they refer to. */
struct shadow_heap {
	UChar *at;
	SizeT size, used;
};
Bool shadow_heap_start(void);
Bool shadow_heap_start_again(void);
void shadow_heap_empty(void);
Bool shadow_heap_has(Addr a);
/* Whatever size, zeroed, from the kernel; NULL: none. */
void *shadow_map(SizeT size, Int protection, Int flags);

/* The same, and empty, where something shared is; False: there is none. */
Bool shadow_map_again(void *at, SizeT size, Int protection);

/* machine.c */
const HChar *machine_start(void); /* why not; NULL: it is there */
ULong machine_instructions(void);
/* Once. */
void machine_store(struct cp_shadow_window *window);
/* The counts alone. */
void machine_count(ULong to[CP_SHADOW_NCOUNTERS]);

/* misses.c: where they are, if somebody asks.  Before anything is translated; in the
 * fork; what follows is not the program's, or is again; and nothing else comes. */
void misses_start(void);
void misses_begin(void);
void misses_pause(void);
void misses_resume(void);
void misses_end(const struct cp_shadow_window *window);

/* translate.c */
const HChar *translate_start(void);
Bool translate_start_again(void);
/* In the fork.  layout: of the executable mappings. */
void translate_begin(ULong layout);
void translate_end(void);
void translate_forget_all(void);
void *translate(Addr guest);
/* Room for what translations call, for as long as they are kept; NULL: there is none. */
UChar *translate_room(SizeT size);
void translate_chain(Addr place, const void *entry, void *code, Bool fast);
/* Code that contains the instruction of a bound looks whether the guest is there. */
void translate_look(void);
/* Is that address in memory that the shadows share? */
Bool translate_owns(Addr a);

/* memory.c: what the fork's memory has in common with others. */
/* Makes shared memory private, or read-only; a hash of what is executable. */
ULong memory_separate(void);
/* The executable mapping that has this address; NULL: none has. */
const NSegment *memory_code(Addr a);
/* Can the code at that address be changed without a change of mappings? */
Bool memory_may_change(Addr code);

/* calls.c: True: the call was made, or what it would have done does not matter. */
void calls_begin(Int parent, Int thread, ULong mask);
Bool calls_make(VexGuestAMD64State *guest);
/* Has it read what the program may have written since the fork? */
Bool calls_have_reread(void);

/* native.c, or no_native.c without the table of encodings.  In the program: looks what
 * the processor can do.  In the fork: takes over what VEX has no place for; True: it
 * computes in another way than kept translations may. */
void extended_start(void);
Bool extended_take(struct shadow_thread *t, const UChar *image, ULong saved, UInt mxcsr);
/* What the processor's MXCSR is to be in translated code. */
UInt extended_mxcsr(const struct shadow_thread *t);

/* saved.c, beside native.c: looks what the processor stores where. */
void saved_start(void);

/* registers.c: False: there is something that cannot be taken over. */
Bool registers_take(struct shadow_thread *thread, const void *context);
/* A number that differs where translations have to. */
ULong registers_kind(void);
Bool registers_are(const VexGuestAMD64State *guest, const struct cp_shadow_place *place);
/* Code that finds out whether they may be; most times they are not. */
IRExpr *registers_may_be(IRSB *out, const struct cp_shadow_place *place);
/* A function of the library goes back to the program, if that is where it goes: what it
 * may have left in registers is different there. */
void registers_forget(Addr to);
void registers_silent(void); /* the next one has no result there either */
/* A system call was made. */
void registers_after_call(void);

#endif
