/* SPDX-License-Identifier: MIT
 *
 * Calls of patched functions: each open one has a place in a table, and its return
 * address is that of a few bytes of code of its own (stubs.S), so that whoever returns,
 * in whatever thread and on whatever stack, says which call it was.  The place has the
 * real return address, where unwinders find it, too: exceptions go through.
 *
 * A place is free again when it has been returned through, or when the frame is known to
 * be gone (longjmp, an exception).  Where a call is over without either, as for a
 * coroutine that is never resumed, its region ends when that is seen, and the place is
 * left: something may still return through it.
 */
#ifndef CACHEPEEK_PRELOAD_PATCH_CALLS_H
#define CACHEPEEK_PRELOAD_PATCH_CALLS_H

#define CP_CALLS_ROOM 16384   /* places; the first is none */
#define CP_CALLS_BYTES 131072 /* a word for each */

#ifndef __ASSEMBLER__

#include "preload/patch/patch.h"

/* Not a function's: the dynamic linker has changed its list. */
#define CP_CALL_LOADED 0x7fffffffu

/* CP_PATCH_DONE or CP_PATCH_MEMORY; loaded is called for CP_CALL_LOADED. */
enum cp_patch_why cp_calls_start(const struct cp_patch_host *host, void (*loaded)(void));

/* Makes a function known: its number, -1 where there is no memory.  saved_at: where it
 * has its return address (plan.h). */
long cp_calls_add(void *function, int32_t saved_at);

/* Entries and breakpoints come to it. */
cp_patch_entered cp_call_enter __attribute__((visibility("hidden")));

/* The functions that entries call. */
extern const char cp_call_enter_code[];

uint64_t cp_calls_missed(void);
void cp_calls_jump(uintptr_t sp);

#endif
#endif
