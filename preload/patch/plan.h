/* SPDX-License-Identifier: MIT
 *
 * Where a function's entry can be patched, and the code that takes the place of what the
 * patch overwrites.
 */
#ifndef CACHEPEEK_PRELOAD_PATCH_PLAN_H
#define CACHEPEEK_PRELOAD_PATCH_PLAN_H

#include "preload/patch/architecture.h"
#include "preload/patch/patch.h"

#define CP_TRAMPOLINE_SIZE 128 /* room for any */
#define CP_SAVED_NOWHERE INT32_MIN

/* A function as it is in memory. */
struct cp_code {
	uintptr_t address;
	size_t size;         /* 0: not known */
	uintptr_t end;       /* the next one's beginning */
	uintptr_t low, high; /* of the code around it */
};

struct cp_plan {
	uintptr_t at;      /* the jump's: behind a mark of entries (endbr64, bti) */
	unsigned replaced; /* whole instructions, at least a jump's bytes */
	/* Where the function has its return address once it calls others, from the
	 * highest word of its frame on; or CP_SAVED_NOWHERE. */
	int32_t saved_at;
	bool is_signed; /* by the instruction before, with the stack pointer */
};

/* CP_PATCH_DONE, or why there is none. */
enum cp_patch_why cp_plan_make(const struct cp_code *code, struct cp_plan *plan);

/*
 * Makes the code that the jump goes to, for memory at address: the call of *enter (a
 * pointer within reach) with the function's number, the instructions that were replaced,
 * and the jump back.  Returns its size, 0 if something is out of reach.
 */
size_t cp_plan_build(const struct cp_plan *plan, uint32_t number, uintptr_t enter,
	uintptr_t address, uint8_t to[CP_TRAMPOLINE_SIZE]);

/* The jump itself; false: out of reach. */
bool cp_plan_jump(
	const struct cp_plan *plan, uintptr_t trampoline, uint8_t to[CP_JUMP_SIZE]);

#endif
