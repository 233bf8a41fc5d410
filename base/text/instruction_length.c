/* SPDX-License-Identifier: MIT */
#include "base/text/instruction_length.h"

#include <stdbool.h>

enum { LONGEST = 15 };

/* Maps of opcodes: one byte, 0F, 0F 38, 0F 3A, and those of AVX-512's FP16. */
enum { MAP_1_BYTE, MAP_0F, MAP_0F38, MAP_0F3A, MAP_5 = 5, MAP_6, MAPS };

/* An instruction that is being read; behind size there is nothing. */
struct reading {
	const uint8_t *code;
	size_t at, size;
	bool operand_size, address_size, w;
	bool is_vector; /* it begins as AVX does */
	unsigned map, opcode;
};

/* --- Prefixes --- */

static bool is_prefix(uint8_t byte)
{
	switch (byte) {
	case 0x26:
	case 0x2e:
	case 0x36:
	case 0x3e:
	case 0x64:
	case 0x65:
	case 0x66:
	case 0x67:
	case 0xf0:
	case 0xf2:
	case 0xf3:
		return true;
	default:
		return false;
	}
}

static bool is_rex(uint8_t byte)
{
	return (byte & 0xf0) == 0x40;
}

size_t cp_instruction_prefixes(const uint8_t *code, size_t size)
{
	size_t n = 0;

	while (n < size && is_prefix(code[n]))
		n++;
	return n < size && is_rex(code[n]) ? n + 1 : n;
}

static unsigned peek_byte(const struct reading *r, size_t ahead)
{
	return r->at + ahead < r->size ? r->code[r->at + ahead] : 0;
}

static unsigned next_byte(struct reading *r)
{
	unsigned byte = peek_byte(r, 0);

	r->at++;
	return byte;
}

static void read_prefixes(struct reading *r)
{
	size_t n = cp_instruction_prefixes(r->code, r->size);

	for (size_t i = 0; i < n; i++) {
		r->operand_size |= r->code[i] == 0x66;
		r->address_size |= r->code[i] == 0x67;
		r->w = is_rex(r->code[i]) && r->code[i] & 8;
	}
	r->at = n;
}

/* --- Opcodes --- */

static void read_legacy_opcode(struct reading *r)
{
	r->map = MAP_1_BYTE;
	r->opcode = next_byte(r);
	if (r->opcode != 0x0f)
		return;
	r->map = MAP_0F;
	r->opcode = next_byte(r);
	if (r->opcode != 0x38 && r->opcode != 0x3a)
		return;
	r->map = r->opcode == 0x38 ? MAP_0F38 : MAP_0F3A;
	r->opcode = next_byte(r);
}

/* VEX of two or of three bytes, and EVEX. */
static void read_vector_opcode(struct reading *r)
{
	unsigned first = next_byte(r), fields = next_byte(r);

	r->is_vector = true;
	r->map = first == 0xc5 ? MAP_0F : fields & (first == 0x62 ? 7 : 31);
	r->at += first == 0xc4 ? 1 : first == 0x62 ? 2 : 0;
	r->opcode = next_byte(r);
}

/* XOP is where POP would have another register field than 0. */
static bool is_xop(const struct reading *r)
{
	return peek_byte(r, 0) == 0x8f && (peek_byte(r, 1) & 31) >= 8;
}

static bool has_modrm_of_1_byte(unsigned opcode)
{
	if (opcode < 0x40)
		return (opcode & 7) < 4;
	switch (opcode) {
	case 0x63:
	case 0x69:
	case 0x6b:
	case 0xc0:
	case 0xc1:
	case 0xc6:
	case 0xc7:
	case 0xf6:
	case 0xf7:
	case 0xfe:
	case 0xff:
		return true;
	default:
		return (opcode >= 0x80 && opcode <= 0x8f) ||
		       (opcode >= 0xd0 && opcode <= 0xd3) ||
		       (opcode >= 0xd8 && opcode <= 0xdf);
	}
}

/* Calls of the system, jumps, and what works on one register, have none. */
static bool has_modrm_of_0f(unsigned opcode)
{
	switch (opcode) {
	case 0x77:
	case 0xa0:
	case 0xa1:
	case 0xa2:
	case 0xa8:
	case 0xa9:
	case 0xaa:
		return false;
	default:
		return !(opcode >= 0x04 && opcode <= 0x0c) && opcode != 0x0e &&
		       !(opcode >= 0x30 && opcode <= 0x37) &&
		       !(opcode >= 0x80 && opcode <= 0x8f) &&
		       !(opcode >= 0xc8 && opcode <= 0xcf);
	}
}

static bool has_modrm(const struct reading *r)
{
	if (r->map == MAP_1_BYTE)
		return has_modrm_of_1_byte(r->opcode);
	return r->map != MAP_0F || has_modrm_of_0f(r->opcode);
}

/* --- Immediate operands --- */

/* A word has 32 bits, or 16 with the prefix. */
static size_t word_size(const struct reading *r)
{
	return r->operand_size && !r->w ? 2 : 4;
}

static size_t immediate_of_1_byte(const struct reading *r)
{
	unsigned o = r->opcode;

	if (o < 0x40)
		return (o & 7) == 4 ? 1 : (o & 7) == 5 ? word_size(r) : 0;
	if (o >= 0xb8 && o <= 0xbf)
		return r->w ? 8 : word_size(r);
	if (o >= 0xa0 && o <= 0xa3)
		return r->address_size ? 4 : 8;
	switch (o) {
	case 0x68:
	case 0x69:
	case 0x81:
	case 0xa9:
	case 0xc7:
		return word_size(r);
	case 0xe8:
	case 0xe9:
		return 4;
	case 0xc2:
	case 0xca:
		return 2;
	case 0xc8:
		return 3;
	case 0x6a:
	case 0x6b:
	case 0x80:
	case 0x83:
	case 0xa8:
	case 0xc0:
	case 0xc1:
	case 0xc6:
	case 0xcd:
	case 0xeb:
		return 1;
	default:
		return (o >= 0x70 && o <= 0x7f) || (o >= 0xb0 && o <= 0xb7) ||
		       (o >= 0xe0 && o <= 0xe7);
	}
}

static size_t immediate_of_0f(const struct reading *r)
{
	switch (r->opcode) {
	case 0x0f: /* 3DNow! */
	case 0x70:
	case 0x71:
	case 0x72:
	case 0x73:
	case 0xa4:
	case 0xac:
	case 0xba:
	case 0xc2:
	case 0xc4:
	case 0xc5:
	case 0xc6:
		return 1;
	default:
		return r->opcode >= 0x80 && r->opcode <= 0x8f && !r->is_vector ? 4 : 0;
	}
}

/* TEST is the one of its group that has one. */
static size_t immediate_of_group(const struct reading *r, unsigned modrm)
{
	if (r->map != MAP_1_BYTE || (r->opcode | 1) != 0xf7 || (modrm >> 3 & 7) > 1)
		return 0;
	return r->opcode == 0xf6 ? 1 : word_size(r);
}

static size_t immediate_size(const struct reading *r)
{
	switch (r->map) {
	case MAP_1_BYTE:
		return immediate_of_1_byte(r);
	case MAP_0F:
		return immediate_of_0f(r);
	default:
		return r->map == MAP_0F3A;
	}
}

/* --- Operands in memory --- */

static size_t displacement_size(const struct reading *r, unsigned modrm)
{
	unsigned mod = modrm >> 6, base = modrm & 7;

	if (mod == 3)
		return 0;
	if (base == 4)
		base = peek_byte(r, 0) & 7;
	if (mod == 0)
		return base == 5 ? 4 : 0;
	return mod == 1 ? 1 : 4;
}

static size_t read_modrm(struct reading *r)
{
	unsigned modrm = next_byte(r);
	bool has_index = modrm >> 6 != 3 && (modrm & 7) == 4;

	r->at += displacement_size(r, modrm) + has_index;
	return immediate_of_group(r, modrm);
}

static bool read_opcode(struct reading *r)
{
	unsigned first = peek_byte(r, 0);

	if (is_xop(r))
		return false;
	if (first == 0x62 || first == 0xc4 || first == 0xc5)
		read_vector_opcode(r);
	else
		read_legacy_opcode(r);
	return !r->is_vector ||
	       (r->map >= MAP_0F && r->map < MAPS && r->map != MAP_0F3A + 1);
}

size_t cp_instruction_length(const uint8_t *code, size_t size)
{
	struct reading r = {.code = code, .size = size < LONGEST ? size : LONGEST};
	size_t more;

	read_prefixes(&r);
	if (!read_opcode(&r))
		return 0;
	more = immediate_size(&r);
	if (has_modrm(&r))
		more += read_modrm(&r);
	r.at += more;
	return r.at <= r.size ? r.at : 0;
}
