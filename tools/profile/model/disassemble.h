/* SPDX-License-Identifier: MIT */
#ifndef CACHEPEEK_TOOLS_DISASSEMBLE_H
#define CACHEPEEK_TOOLS_DISASSEMBLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/* The text of the instruction at bytes, for a processor of ELF's number; "" for
 * others, and for what is none. */
const char *cp_disassemble(struct cp_arena *arena, unsigned machine, const uint8_t *bytes,
	size_t size, uint64_t address);

/* A function's code, from its start on. */
struct cp_code {
	const uint8_t *bytes;
	size_t size;
	uint64_t start;
};

/* In the code from start on: is the address of the instruction at `address` what an
 * instruction before it loads from an array by an index, or what that points to: the
 * first node of a hash table's chain? */
bool cp_disassemble_chains(
	unsigned machine, const struct cp_code *code, uint64_t address);

/* Does the loop around it load that anew each time: for (i = 0; i < n; i++) array[i]->x?
 */
bool cp_disassemble_indexes(
	unsigned machine, const struct cp_code *code, uint64_t address);

/* Does the instruction read memory that it, or one of the next few, writes again:
 * table[i]++? */
bool cp_disassemble_updates(
	unsigned machine, const struct cp_code *code, uint64_t address);

#endif
