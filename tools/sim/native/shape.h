/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The shapes in the table of encodings: table/make.c makes it when the tool is built,
 * decode.c asks it.
 */
#ifndef CACHEPEEK_SIM_NATIVE_SHAPE_H
#define CACHEPEEK_SIM_NATIVE_SHAPE_H

#include <stdint.h>

enum native_form { FORM_LEGACY, FORM_VEX, FORM_EVEX };

/* The kinds of registers that a field of an instruction names. */
enum native_field { FIELD_NONE, FIELD_VECTOR, FIELD_MASK, FIELD_GENERAL };

/* Written by an instruction: its fields, its mask, the flags. */
enum {
	WRITES_REG = 1 << 0,
	WRITES_VVVV = 1 << 1,
	WRITES_RM = 1 << 2,
	WRITES_MASK = 1 << 3,
	WRITES_FLAGS = 1 << 4,
};

/* Registers that no field names, read or written. */
enum {
	IMPLICIT_RAX = 1 << 0,
	IMPLICIT_RCX = 1 << 1,
	IMPLICIT_RDX = 1 << 2,
	IMPLICIT_XMM0 = 1 << 3,
};

/* How a mask changes the operand in memory. */
enum native_masking {
	MASKING_LANES,  /* the lanes that are on */
	MASKING_PACKED, /* as many lanes as are on, from the first */
	MASKING_WHOLE,  /* all of it, if any lane is on */
	MASKING_NONE,   /* all of it, always */
};

#define NATIVE_FEATURE(name, leaf, subleaf, output, bit) FEATURE_##name,
enum native_feature {
#include "features.h"
	NATIVE_NFEATURES
};

struct native_shape {
	uint8_t feature, needs_vl;
	uint8_t reg, vvvv, rm; /* enum native_field */
	uint8_t writes;
	uint8_t implicit_reads, implicit_writes;
	uint8_t immediate;     /* bytes */
	uint8_t wide;          /* some operand has 512 bits */
	uint8_t loads, stores; /* the operand in memory */
	uint8_t size, disp8; /* bytes; what a displacement of one byte is multiplied by */
	uint8_t index;       /* of a gather or scatter: bytes of an index; else 0 */
	uint8_t index_wide;  /* its indices have 512 bits */
	uint8_t lane, lanes, masking;
	uint8_t aligned; /* its operand in memory has to be */
};

/* One for each form, map, mandatory prefix, W, length, broadcast bit, kind of operand and
 * opcode, as NATIVE_KEY has it; those of a group differ in the ModRM.reg that they take,
 * a bit each. */
struct native_encoding {
	uint32_t key;
	uint16_t shape;
	uint8_t regs;
};

#define NATIVE_MAPS 8
#define NATIVE_KEY(form, map, pp, w, length, b, is_register, opcode)                     \
	((((((((uint32_t)(form)*NATIVE_MAPS + (map)) * 4 + (pp)) * 2 + (w)) * 4 +        \
		   (length)) *                                                           \
			  2 +                                                            \
		  (b)) * 2 +                                                             \
		 (is_register)) *                                                        \
			256 +                                                            \
		(opcode))

extern const struct native_encoding native_encodings[];
extern const uint32_t native_nencodings;
extern const struct native_shape native_shapes[];

#endif
