/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "native/orders.h"

#include "emit.h"
#include "native/decode.h"

enum { REGISTER = 0xc0 }; /* ModRM from which on there is no operand in memory */

/* Opcode and ModRM behind the prefixes, and which there are. */
struct bytes {
	const UChar *opcode;
	Bool operand_size, repeat;
};

/* NULL opcode: it is none of the map 0F. */
static struct bytes behind_prefixes(const UChar *code, const UChar *end)
{
	struct bytes b = {NULL, False, False};

	for (; code < end; code++) {
		if (*code == 0x66)
			b.operand_size = True;
		else if (*code == 0xf2 || *code == 0xf3)
			b.repeat = True;
		else if ((*code & 0xe7) != 0x26 && *code != 0x64 && *code != 0x65 &&
			 *code != 0x67)
			break;
	}
	if (code < end && (*code & 0xf0) == 0x40)
		code++;
	if (end - code >= 3 && *code == 0x0f)
		b.opcode = code + 1;
	return b;
}

/* PREFETCHNTA, T0, T1, T2; the others are of code, or nothing. */
static Bool decode_prefetch(UInt reg, enum cache_order *order)
{
	*order = reg < 2 ? ORDER_PREFETCH : ORDER_PREFETCH_L2;
	return reg < 4;
}

Bool orders_decode(const UChar *code, const UChar *end, enum cache_order *order)
{
	enum {
		FENCES = 0xae,
		DEMOTES = 0x1c,
		PREFETCHES = 0x18,
		PREFETCHES_TO_WRITE = 0x0d
	};
	struct bytes b = behind_prefixes(code, end);
	UInt reg;

	if (!b.opcode || b.repeat || b.opcode[1] >= REGISTER)
		return False;
	reg = b.opcode[1] >> 3 & 7;
	if (b.opcode[0] == PREFETCHES)
		return decode_prefetch(reg, order);
	if (b.opcode[0] == PREFETCHES_TO_WRITE && reg < 3) {
		*order = reg ? ORDER_PREFETCH_WRITE : ORDER_PREFETCH;
		return True;
	}
	if (b.opcode[0] == FENCES && reg == 7)
		*order = ORDER_FLUSH; /* CLFLUSH, CLFLUSHOPT */
	else if (b.opcode[0] == FENCES && reg == 6 && b.operand_size)
		*order = ORDER_CLEAN; /* CLWB */
	else if (b.opcode[0] == DEMOTES && reg == 0 && !b.operand_size)
		*order = ORDER_DEMOTE; /* CLDEMOTE */
	else
		return False;
	return True;
}

/* The same behind a prefix of VEX or EVEX. */
static struct bytes behind_vector_prefix(const UChar *code, const UChar *end)
{
	struct bytes b = {NULL, False, False};

	if (end - code >= 4 && code[0] == 0xc5)
		b.opcode = code + 2;
	else if (end - code >= 5 && code[0] == 0xc4 && (code[1] & 31) == 1)
		b.opcode = code + 3;
	else if (end - code >= 6 && code[0] == 0x62 && (code[1] & 7) == 1)
		b.opcode = code + 4;
	return b;
}

enum streams orders_streams(const UChar *code, const UChar *end)
{
	enum { MOVNTI = 0xc3, MOVNTPS = 0x2b, MOVNTDQ = 0xe7, MASKMOVDQU = 0xf7 };
	struct bytes b = behind_vector_prefix(code, end);
	Bool is_vector = b.opcode != NULL, in_memory;

	if (!is_vector)
		b = behind_prefixes(code, end);
	if (!b.opcode)
		return STREAMS_NOT;
	in_memory = b.opcode[1] < REGISTER;
	if (b.opcode[0] == MASKMOVDQU && !in_memory && !b.repeat)
		return STREAMS_MASKED;
	if (!in_memory || (b.opcode[0] == MOVNTDQ && b.repeat))
		return STREAMS_NOT;
	if (b.opcode[0] == MOVNTI)
		return is_vector || b.repeat || b.operand_size ? STREAMS_NOT : STREAMS;
	return b.opcode[0] == MOVNTPS || b.opcode[0] == MOVNTDQ ? STREAMS : STREAMS_NOT;
}

void orders_mark(IRSB *out, Addr pc)
{
	enum { PAGE = 4096 };
	UChar copy[NATIVE_LONGEST];
	const UChar *code = (const UChar *)pc;
	UInt size = NATIVE_LONGEST;
	enum cache_order order;
	struct native n;

	if (pc % PAGE > PAGE - NATIVE_LONGEST) {
		size = native_fetch(pc, copy, NATIVE_LONGEST);
		code = copy;
	}
	if (!orders_decode(code, code + size, &order) || !native_decode_address(pc, &n))
		return;
	addStmtToIRSB(out, IRStmt_AbiHint(native_address(out, &n),
				   ORDERS_FIRST - (Int)order, emit_constant(0)));
}
