/* SPDX-License-Identifier: MIT
 *
 * Instructions, as far as moving them takes: where they end, where they jump, and what
 * of them is relative to where they are.
 */
#ifndef CACHEPEEK_PRELOAD_PATCH_DECODE_H
#define CACHEPEEK_PRELOAD_PATCH_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cp_instruction_kind {
	CP_PLAIN,
	CP_JUMP,          /* to target */
	CP_BRANCH,        /* to target, or on */
	CP_CALL,          /* of target */
	CP_CALL_INDIRECT, /* of what a register or memory has */
	CP_END,           /* does not go on behind it */
	CP_PADDING,       /* a nop, or int3 */
	CP_RELATIVE,      /* to target, in a way that has no longer form */
	CP_NO_INSTRUCTION,
};

struct cp_instruction {
	enum cp_instruction_kind kind;
	uint8_t size;
	uint8_t displacement_at; /* of 4 bytes relative to its end; 0: nothing is */
	bool uses_stack_pointer;
	uint8_t condition; /* of a branch */
	uintptr_t target;
};

/* -ENOMEM where the disassembler does not start; 0. */
int cp_decode_start(void);

/* The instruction at code, of at most size bytes, which is at address. */
struct cp_instruction cp_decode(const uint8_t *code, size_t size, uintptr_t address);

#endif
