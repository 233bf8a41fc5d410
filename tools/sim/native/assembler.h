/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Writes the few kinds of instructions that stubs are made of.  The program's state is at
 * %rdi; a register is written to, or read from, a place of it.
 */
#ifndef CACHEPEEK_SIM_NATIVE_ASSEMBLER_H
#define CACHEPEEK_SIM_NATIVE_ASSEMBLER_H

#include "tool.h"

struct assembler {
	UChar bytes[1024];
	UInt n;
};

static inline void asm_byte(struct assembler *to, UInt byte)
{
	to->bytes[to->n++] = (UChar)byte;
}

static inline void asm_bytes(struct assembler *to, const void *bytes, UInt n)
{
	VG_(memcpy)(to->bytes + to->n, bytes, n);
	to->n += n;
}

#define ASM(to, string) asm_bytes(to, string, sizeof(string) - 1)

static inline void asm_word(struct assembler *to, UInt word)
{
	asm_bytes(to, &word, sizeof(word));
}

/* ModRM and displacement: register, offset(%rdi). */
static inline void asm_state(struct assembler *to, UInt reg, UInt offset)
{
	asm_byte(to, 0x80 | (reg & 7) << 3 | 7);
	asm_word(to, offset);
}

enum { ASM_LOAD = 0x6f, ASM_STORE = 0x7f }; /* vmovdqu */

static inline void asm_ymm(struct assembler *to, UInt opcode, UInt reg, UInt offset)
{
	asm_byte(to, 0xc5);
	asm_byte(to, reg & 8 ? 0x7e : 0xfe);
	asm_byte(to, opcode);
	asm_state(to, reg, offset);
}

static inline void asm_xmm(struct assembler *to, UInt opcode, UInt reg, UInt offset)
{
	asm_byte(to, 0xc5);
	asm_byte(to, reg & 8 ? 0x7a : 0xfa);
	asm_byte(to, opcode);
	asm_state(to, reg, offset);
}

static inline void asm_evex(struct assembler *to, UInt reg, UInt map, UInt p1)
{
	asm_byte(to, 0x62);
	asm_byte(to, (reg & 8 ? 0 : 0x80) | 0x60 | (reg & 16 ? 0 : 0x10) | map);
	asm_byte(to, p1);
	asm_byte(to, 0x48);
}

static inline void asm_zmm(struct assembler *to, UInt opcode, UInt reg, UInt offset)
{
	asm_evex(to, reg, 1, 0xfe);
	asm_byte(to, opcode);
	asm_state(to, reg, offset);
}

/* vinserti32x8 and vextracti32x8 of the upper half of one of zmm0 to zmm15. */
static inline void asm_load_upper(struct assembler *to, UInt reg, UInt offset)
{
	asm_evex(to, reg, 3, (~reg & 15) << 3 | 5);
	asm_byte(to, 0x3a);
	asm_state(to, reg, offset);
	asm_byte(to, 1);
}

static inline void asm_store_upper(struct assembler *to, UInt reg, UInt offset)
{
	asm_evex(to, reg, 3, 15 << 3 | 5);
	asm_byte(to, 0x3b);
	asm_state(to, reg, offset);
	asm_byte(to, 1);
}

enum { ASM_LOAD_MASK = 0x90, ASM_STORE_MASK = 0x91 }; /* kmovq */

static inline void asm_mask(struct assembler *to, UInt opcode, UInt reg, UInt offset)
{
	ASM(to, "\xc4\xe1\xf8");
	asm_byte(to, opcode);
	asm_state(to, reg, offset);
}

enum { ASM_LOAD_GENERAL = 0x8b, ASM_STORE_GENERAL = 0x89 }; /* mov */

static inline void asm_general(struct assembler *to, UInt opcode, UInt reg, UInt offset)
{
	asm_byte(to, reg & 8 ? 0x4c : 0x48);
	asm_byte(to, opcode);
	asm_state(to, reg, offset);
}

/* With a word of the state and a constant: or, and, cmp are the 0x81 of 1, 4, 7. */
enum { ASM_OR = 1, ASM_AND = 4, ASM_COMPARE = 7 };

static inline void asm_constant(
	struct assembler *to, UInt operation, UInt offset, UInt constant)
{
	asm_byte(to, 0x81);
	asm_state(to, operation, offset);
	asm_word(to, constant);
}

static inline void asm_test(struct assembler *to, UInt offset, UInt constant)
{
	asm_byte(to, 0xf7);
	asm_state(to, 0, offset);
	asm_word(to, constant);
}

/* je over what follows, up to asm_land() with what this returns. */
static inline UInt asm_skip_if_equal(struct assembler *to)
{
	asm_byte(to, 0x74);
	asm_byte(to, 0);
	return to->n;
}

static inline void asm_land(struct assembler *to, UInt from)
{
	to->bytes[from - 1] = (UChar)(to->n - from);
}

#endif
