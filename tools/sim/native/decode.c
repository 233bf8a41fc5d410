/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/search.h"
#include "native/decode.h"

/* The instruction's bytes, read one by one. */
struct source {
	UChar bytes[NATIVE_LONGEST];
	UInt at, size; /* behind size: zeros */
};

/* The fields of prefixes; one that is stored inverted is true here. */
struct fields {
	UInt map, pp, w, length, b;
	UInt r, x, base, r2, v2;
	UInt zeroing;
	UInt opcode, modrm, sib;
	Bool operand_size;
	UInt repeat, rex;
};

enum { ESCAPE = 0x0f };

/* --- Bytes --- */

static Bool is_code(Addr a, Addr *end)
{
	const NSegment *s = VG_(am_find_nsegment)(a);

	if (!s || !s->hasX || !s->hasR)
		return False;
	*end = s->end;
	return True;
}

UInt native_fetch(Addr pc, UChar *bytes, UInt size)
{
	Addr end;

	if (!is_code(pc, &end))
		return 0;
	if (end - pc < size - 1 && !is_code(end + 1, &end))
		size = (UInt)(end - pc) + 1;
	VG_(memcpy)(bytes, (const void *)pc, size);
	return size;
}

static Bool fetch_bytes(Addr pc, struct source *from)
{
	VG_(memset)(from, 0, sizeof(*from));
	from->size = native_fetch(pc, from->bytes, NATIVE_LONGEST);
	return from->size > 0;
}

static UInt peek_byte(const struct source *from)
{
	return from->at < NATIVE_LONGEST ? from->bytes[from->at] : 0;
}

static UInt next_byte(struct source *from)
{
	UInt byte = peek_byte(from);

	from->at++;
	return byte;
}

static Long next_word(struct source *from)
{
	UInt word = next_byte(from);

	for (UInt shift = 8; shift < 32; shift += 8)
		word |= next_byte(from) << shift;
	return (Int)word;
}

/* --- Prefixes --- */

static Bool legacy_prefix(struct source *from, struct native *n, struct fields *f)
{
	switch (peek_byte(from)) {
	case 0x66:
		f->operand_size = True;
		break;
	case 0xf3:
		f->repeat = 2;
		break;
	case 0xf2:
		f->repeat = 3;
		break;
	case 0x64:
		n->address.fs = True;
		break;
	case 0x65:
		n->address.gs = True;
		break;
	case 0x67:
		n->address.is_short = True;
		break;
	case 0x26:
	case 0x2e:
	case 0x36:
	case 0x3e:
		break;
	default:
		return False;
	}
	from->at++;
	return True;
}

static void evex_prefix(struct source *from, struct native *n, struct fields *f)
{
	UInt p0 = next_byte(from), p1 = next_byte(from), p2 = next_byte(from);

	n->form = FORM_EVEX;
	f->map = p0 & 7;
	f->r = ~p0 >> 7 & 1;
	f->x = ~p0 >> 6 & 1;
	f->base = ~p0 >> 5 & 1;
	f->r2 = ~p0 >> 4 & 1;
	f->w = p1 >> 7;
	n->vvvv = ~p1 >> 3 & 15;
	f->pp = p1 & 3;
	f->zeroing = p2 >> 7;
	f->length = p2 >> 5 & 3;
	f->b = p2 >> 4 & 1;
	f->v2 = ~p2 >> 3 & 1;
	n->mask = p2 & 7;
	/* Bits that have to be so. */
	if (p0 & 8 || !(p1 & 4))
		f->map = 0;
}

static void vex_prefix(
	struct source *from, struct native *n, struct fields *f, Bool is_long)
{
	UInt p0 = next_byte(from), p1 = is_long ? next_byte(from) : p0;

	n->form = FORM_VEX;
	f->r = ~p0 >> 7 & 1;
	f->x = is_long ? ~p0 >> 6 & 1 : 0;
	f->base = is_long ? ~p0 >> 5 & 1 : 0;
	f->map = is_long ? p0 & 31 : 1;
	f->w = is_long ? p1 >> 7 : 0;
	n->vvvv = ~p1 >> 3 & 15;
	f->length = p1 >> 2 & 1;
	f->pp = p1 & 3;
}

static void legacy_map(struct source *from, struct native *n, struct fields *f)
{
	n->form = FORM_LEGACY;
	f->map = 1;
	if (peek_byte(from) == 0x38 || peek_byte(from) == 0x3a)
		f->map = next_byte(from) == 0x38 ? 2 : 3;
	f->pp = f->repeat ? f->repeat : f->operand_size;
}

static void read_rex(struct source *from, struct fields *f)
{
	if ((peek_byte(from) & 0xf0) == 0x40)
		f->rex = next_byte(from);
	f->w = f->rex >> 3 & 1;
	f->r = f->rex >> 2 & 1;
	f->x = f->rex >> 1 & 1;
	f->base = f->rex & 1;
}

static Bool read_prefixes(struct source *from, struct native *n, struct fields *f)
{
	UInt first;
	Bool any;

	while (from->at < 5 && legacy_prefix(from, n, f))
		;
	read_rex(from, f);
	first = next_byte(from);
	any = f->rex || f->operand_size || f->repeat;
	if (first == 0x62 && !any)
		evex_prefix(from, n, f);
	else if ((first == 0xc4 || first == 0xc5) && !any)
		vex_prefix(from, n, f, first == 0xc4);
	else if (first == 0x0f && !(f->operand_size && f->repeat))
		legacy_map(from, n, f);
	else
		return False;
	return f->map > 0 && f->map < NATIVE_MAPS;
}

/* --- The table --- */

static UInt first_of(uint32_t key)
{
	return (UInt)CP_IN_FRONT(native_nencodings, i, native_encodings[i].key < key);
}

static const struct native_shape *find_shape(
	const struct native *n, const struct fields *f)
{
	uint32_t key = NATIVE_KEY(n->form, f->map, f->pp, f->w, f->length, f->b,
		f->modrm >> 6 == 3, f->opcode);

	for (UInt i = first_of(key);
		i < native_nencodings && native_encodings[i].key == key; i++)
		if (native_encodings[i].regs >> (f->modrm >> 3 & 7) & 1)
			return &native_shapes[native_encodings[i].shape];
	return NULL;
}

/* --- Operands --- */

static void read_sib(struct source *from, struct native *n, struct fields *f)
{
	struct native_address *a = &n->address;

	f->sib = next_byte(from);
	a->scale = f->sib >> 6;
	a->index = (Int)((f->sib >> 3 & 7) | f->x << 3);
	if (n->shape->index && n->form == FORM_EVEX)
		a->index |= (Int)(f->v2 << 4);
	else if (!n->shape->index && a->index == 4)
		a->index = -1;
	a->base = (Int)((f->sib & 7) | f->base << 3);
	if (f->modrm >> 6 == 0 && (f->sib & 7) == 5) {
		a->base = -1;
		a->displacement = next_word(from);
	}
}

static void read_address(struct source *from, struct native *n, struct fields *f)
{
	struct native_address *a = &n->address;
	UInt mod = f->modrm >> 6, rm = f->modrm & 7;

	a->used = True;
	if (rm == 4) {
		read_sib(from, n, f);
	} else if (mod == 0 && rm == 5) {
		a->from_ip = True;
		a->displacement = next_word(from);
	} else {
		a->base = (Int)(rm | f->base << 3);
	}
	if (mod == 1)
		a->displacement = (Long)(Char)next_byte(from) *
				  (n->form == FORM_EVEX ? n->shape->disp8 : 1);
	if (mod == 2)
		a->displacement = next_word(from);
}

static void read_registers(struct native *n, const struct fields *f)
{
	n->reg = (f->modrm >> 3 & 7) | f->r << 3;
	n->rm = (f->modrm & 7) | f->base << 3;
	if (n->form != FORM_EVEX)
		return;
	if (n->shape->reg != FIELD_GENERAL)
		n->reg |= f->r2 << 4;
	if (n->shape->rm != FIELD_GENERAL)
		n->rm |= f->x << 4;
	if (!n->shape->index)
		n->vvvv |= f->v2 << 4;
}

/* --- Code to execute --- */

static void put_byte(struct native *n, UInt byte)
{
	n->code[n->ncode++] = (UChar)byte;
}

/* Where general registers and the address are in the stub. */
static void move_operands(const struct native *n, struct fields *f)
{
	UInt reg = f->modrm >> 3 & 7, rm = f->modrm & 7, mod = 3;

	if (n->shape->reg == FIELD_GENERAL) {
		reg = 1;
		f->r = f->r2 = 0;
	}
	if (n->address.used) {
		mod = 0;
		rm = n->shape->index ? 4 : 6;
		f->sib = (f->sib & 0xf8) | 6;
		f->base = 0;
		f->x = n->shape->index ? f->x : 0;
	} else if (n->shape->rm == FIELD_GENERAL) {
		rm = f->x = f->base = 0;
	}
	f->modrm = mod << 6 | reg << 3 | rm;
}

static void put_prefixes(struct native *n, const struct fields *f)
{
	UInt inverted = (~f->r & 1) << 7 | (~f->x & 1) << 6 | (~f->base & 1) << 5;

	if (n->form == FORM_EVEX) {
		put_byte(n, 0x62);
		put_byte(n, inverted | (~f->r2 & 1) << 4 | f->map);
		put_byte(n, f->w << 7 | (~n->vvvv & 15) << 3 | 4 | f->pp);
		put_byte(n, f->zeroing << 7 | f->length << 5 | f->b << 4 |
				    (~f->v2 & 1) << 3 | n->mask);
	} else if (n->form == FORM_VEX) {
		put_byte(n, 0xc4);
		put_byte(n, inverted | f->map);
		put_byte(n, f->w << 7 | (~n->vvvv & 15) << 3 | f->length << 2 | f->pp);
	} else {
		if (f->operand_size)
			put_byte(n, 0x66);
		if (f->repeat)
			put_byte(n, f->repeat == 2 ? 0xf3 : 0xf2);
		put_byte(n, 0x40 | f->w << 3 | f->r << 2 | f->x << 1 | f->base);
		put_byte(n, 0x0f);
		if (f->map > 1)
			put_byte(n, f->map == 2 ? 0x38 : 0x3a);
	}
}

static void put_code(struct source *from, struct native *n, struct fields *f)
{
	move_operands(n, f);
	put_prefixes(n, f);
	put_byte(n, f->opcode);
	put_byte(n, f->modrm);
	if (n->address.used && n->shape->index)
		put_byte(n, f->sib);
	for (UInt i = 0; i < n->shape->immediate; i++)
		put_byte(n, next_byte(from));
}

/* The one instruction of which the decoder says that it uses a register of the system. */
static const struct native_shape xgetbv = {
	.implicit_reads = IMPLICIT_RAX | IMPLICIT_RCX | IMPLICIT_RDX,
	.implicit_writes = IMPLICIT_RAX | IMPLICIT_RDX,
};

Bool native_is_xgetbv(const struct native *n)
{
	return n->shape == &xgetbv;
}

static Bool read_xgetbv(const struct source *from, struct native *n)
{
	static const UChar code[] = {0x0f, 0x01, 0xd0};

	if (VG_(memcmp)(from->bytes, code, sizeof(code)) != 0)
		return False;
	n->form = FORM_LEGACY;
	n->shape = &xgetbv;
	n->length = n->ncode = sizeof(code);
	VG_(memcpy)(n->code, code, sizeof(code));
	return True;
}

static Bool begin(Addr pc, struct native *n, struct source *from)
{
	VG_(memset)(n, 0, sizeof(*n));
	n->pc = pc;
	n->address.base = n->address.index = -1;
	return fetch_bytes(pc, from);
}

Bool native_decode(Addr pc, struct native *n)
{
	struct fields f = {.map = 0};
	struct source from;

	if (!begin(pc, n, &from))
		return False;
	if (read_xgetbv(&from, n))
		return True;
	if (!read_prefixes(&from, n, &f))
		return False;
	f.opcode = next_byte(&from);
	f.modrm = next_byte(&from);
	n->shape = find_shape(n, &f);
	if (!n->shape)
		return False;
	if (f.modrm >> 6 != 3)
		read_address(&from, n, &f);
	read_registers(n, &f);
	put_code(&from, n, &f);
	n->length = from.at;
	return n->length <= from.size && !(n->shape->index && n->address.is_short);
}

Bool native_decode_address(Addr pc, struct native *n)
{
	static const struct native_shape plain;
	struct fields f = {.map = 0};
	struct source from;

	if (!begin(pc, n, &from))
		return False;
	n->shape = &plain;
	while (from.at < NATIVE_LONGEST && legacy_prefix(&from, n, &f))
		;
	read_rex(&from, &f);
	if (next_byte(&from) == ESCAPE)
		next_byte(&from);
	f.modrm = next_byte(&from);
	read_registers(n, &f);
	read_address(&from, n, &f);
	n->length = from.at;
	return n->length <= from.size;
}
