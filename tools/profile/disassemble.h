/* SPDX-License-Identifier: MIT */
#ifndef CACHEPEEK_TOOLS_DISASSEMBLE_H
#define CACHEPEEK_TOOLS_DISASSEMBLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/* The text of the instruction at bytes, for a processor of ELF's number; "" for
 * others, and for what is none. */
const char *cp_disassemble(struct cp_arena *arena, unsigned machine, const uint8_t *bytes,
	size_t size, uint64_t address);

#endif
