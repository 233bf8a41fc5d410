/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Prefixes that mean nothing to the processor, and other spellings of an instruction: VEX
 * decodes the usual one only.  A prefix gives way to one that VEX knows to mean nothing,
 * so that the length stays as it is.
 */
#include "native/spelling.h"

enum { CS = 0x2e, REX_W = 8, ESCAPE = 0x0f, MOVE = 0x8b };

/* An instruction, where its prefixes are; NULL: it has none such. */
struct spelling {
	UChar *operand_size, *repeat, *rex;
	UChar *opcode; /* behind the escape byte, if there is one */
};

static Bool is_segment(UChar byte)
{
	return byte == 0x26 || byte == 0x2e || byte == 0x36 || byte == 0x3e ||
	       byte == 0x64 || byte == 0x65;
}

static struct spelling take_apart(UChar *code, const UChar *end)
{
	struct spelling s = {NULL, NULL, NULL, NULL};

	for (; code < end; code++) {
		if (*code == 0x66)
			s.operand_size = code;
		else if (*code == 0xf2 || *code == 0xf3)
			s.repeat = code;
		else if (*code != 0x67 && *code != 0xf0 && !is_segment(*code))
			break;
	}
	if ((*code & 0xf0) == 0x40)
		s.rex = code++;
	s.opcode = code;
	return s;
}

static void drop_prefix(UChar *prefix)
{
	if (prefix)
		*prefix = CS;
}

static void drop_w(const struct spelling *s)
{
	if (s->rex)
		*s->rex &= (UChar)~REX_W;
}

static UInt reg_of(UChar modrm)
{
	return modrm >> 3 & 7;
}

static Bool has_w(const struct spelling *s)
{
	return s->rex && *s->rex & REX_W;
}

/* The byte of opcode in the place of that and the next one. */
static void shorten(const struct spelling *s, UChar *opcode, UInt as)
{
	UChar rex = s->rex ? *s->rex : CS;

	if (s->rex)
		*s->rex = CS;
	opcode[0] = rex;
	opcode[1] = (UChar)as;
}

/* --- x87 --- */

/* FLDENV, FNSTENV, FRSTOR and FNSAVE have a layout of 16 bits. */
static Bool has_layouts(const UChar *opcode)
{
	return (opcode[0] == 0xd9 || opcode[0] == 0xdd) && opcode[1] < 0xc0 &&
	       (reg_of(opcode[1]) == 4 || reg_of(opcode[1]) == 6);
}

/* FFREEP of the top, and FSTPNCE, as FSTP. */
static void spell_pop(UChar *opcode)
{
	if (opcode[0] == 0xdf && opcode[1] == 0xc0)
		opcode[1] = 0xd8;
	else if (opcode[0] != 0xd9 || (opcode[1] & 0xf8) != 0xd8)
		return;
	opcode[0] = 0xdd;
}

static void spell_x87(const struct spelling *s)
{
	if (!has_layouts(s->opcode) || has_w(s))
		drop_prefix(s->operand_size);
	drop_prefix(s->repeat);
	drop_w(s);
	spell_pop(s->opcode);
}

/* --- Two bytes of opcode --- */

/* Forms of MMX, and of SSE with the same opcode, that have no general register. */
static Bool is_of_vectors(const UChar *opcode)
{
	UChar at = *opcode;

	if (at == 0x38)
		return opcode[1] <= 0x0b || (opcode[1] >= 0x1c && opcode[1] <= 0x1e);
	if (at == 0x3a)
		return opcode[1] == 0x0f;
	return at == 0x2a || at == 0x2c || at == 0x2d || (at >= 0x60 && at <= 0x6b) ||
	       (at >= 0x6f && at <= 0x77) || at == 0x7f ||
	       (at >= 0xd1 && at <= 0xfe && at != 0xd7 && at != 0xd6 && at != 0xf0);
}

/* PREFETCH of all kinds, and what is kept for hints to come: in memory it changes nothing
 * on any processor.  CLDEMOTE, ENDBR and what MPX had are among them. */
static Bool is_hint(const UChar *opcode)
{
	return *opcode == 0x0d || (*opcode >= 0x18 && *opcode <= 0x1f);
}

/* CMOV, BT and its like, CMPXCHG, IMUL. */
static Bool ignores_repeat(UChar at)
{
	return (at & 0xf0) == 0x40 || at == 0xa3 || at == 0xab || at == 0xaf ||
	       at == 0xb0 || at == 0xb1 || at == 0xb3 || at == 0xba || at == 0xbb;
}

/* As the one that is called NOP.  Those of registers are not all the same everywhere:
 * missing.c. */
static void spell_hint(const struct spelling *s)
{
	drop_prefix(s->operand_size);
	drop_prefix(s->repeat);
	drop_w(s);
	if (s->opcode[1] >= 0xc0)
		return;
	s->opcode[0] = 0x1f;
	s->opcode[1] &= (UChar) ~(7u << 3);
}

/* XSAVEOPT, which may leave out what XSAVE stores, but need not. */
static Bool is_xsaveopt(const struct spelling *s)
{
	return *s->opcode == 0xae && reg_of(s->opcode[1]) == 6 && s->opcode[1] < 0xc0 &&
	       !s->repeat && !s->operand_size;
}

/* MOVZX and MOVSX of 16 bits to 16 bits. */
static Bool is_plain_move(const struct spelling *s)
{
	return (*s->opcode == 0xb7 || *s->opcode == 0xbf) && s->operand_size &&
	       !s->repeat && !has_w(s);
}

static void spell_two_bytes(const struct spelling *s)
{
	UChar *opcode = s->opcode;
	Bool is_f2 = s->repeat && *s->repeat == 0xf2;

	if (is_hint(opcode))
		spell_hint(s);
	else if (is_xsaveopt(s))
		opcode[1] ^= 2 << 3;
	else if (is_plain_move(s))
		shorten(s, opcode - 1, MOVE);
	else if (*opcode == 0xae && reg_of(opcode[1]) == 7 && opcode[1] < 0xc0 &&
		 !s->repeat) {
		drop_prefix(s->operand_size); /* CLFLUSHOPT as CLFLUSH */
		drop_w(s);
	} else if (*opcode == 0xc7 && reg_of(opcode[1]) == 1)
		drop_prefix(s->operand_size); /* CMPXCHG8B, CMPXCHG16B */
	else if (is_of_vectors(opcode) ? !s->repeat : s->repeat && *opcode == 0xd6)
		drop_w(s);
	else if (ignores_repeat(*opcode) ||
		 (is_f2 && (*opcode | 1) == 0xbd)) /* BSF, BSR */
		drop_prefix(s->repeat);
}

/* --- One byte --- */

/* Arithmetic, MOV, PUSH, POP, shifts: HLE's prefixes, too. */
static Bool is_integer(const UChar *opcode)
{
	UChar at = *opcode;
	UInt reg = reg_of(opcode[1]);

	if (at < 0x40)
		return (at & 7) < 6;
	if (at == 0xff)
		return reg <= 1 || reg == 6;
	return (at >= 0x50 && at <= 0x5f) || (at >= 0x68 && at <= 0x6b) ||
	       (at >= 0x80 && at <= 0x8b) || at == 0x8f || at == 0x98 || at == 0x99 ||
	       at == 0x9c || at == 0x9d || at == 0xa8 || at == 0xa9 ||
	       (at >= 0xb0 && at <= 0xc1) || at == 0xc6 || at == 0xc7 ||
	       (at >= 0xd0 && at <= 0xd3) || at == 0xf6 || at == 0xf7 || at == 0xfe;
}

/* LEAVE and POP of 64 bits, which is what they have without a prefix of its size. */
static void spell_size(const struct spelling *s)
{
	UChar at = *s->opcode;

	if (!has_w(s) || (at != 0x8f && at != 0xc9))
		return;
	drop_prefix(s->operand_size);
	drop_w(s);
}

/* MOVSXD of 32 bits, which Free Pascal makes, as MOV; POP of a register by the longer
 * code as by the short one; a pause that does not pause as NOP, one with a size
 * as without. */
static void spell_one_byte(const struct spelling *s)
{
	enum { MOVSXD = 0x63, POP_ANY = 0x8f, POP = 0x58, NOP = 0x90 };
	UChar *opcode = s->opcode;

	spell_size(s);
	if (*opcode == MOVSXD && !has_w(s))
		*opcode = MOVE;
	else if (*opcode == POP_ANY && opcode[1] >= 0xc0 && opcode[1] < 0xc8)
		shorten(s, opcode, POP + (opcode[1] & 7u));
	else if (is_integer(opcode) ||
		 (*opcode == NOP && s->repeat && *s->repeat == 0xf2))
		drop_prefix(s->repeat);
	if (*opcode == NOP && s->repeat)
		drop_prefix(s->operand_size);
}

void spelling_make_usual(UChar *code, const UChar *end)
{
	struct spelling s = take_apart(code, end);

	if (*s.opcode >= 0xd8 && *s.opcode <= 0xdf) {
		spell_x87(&s);
	} else if (*s.opcode == ESCAPE) {
		s.opcode++;
		spell_two_bytes(&s);
	} else {
		spell_one_byte(&s);
	}
}
