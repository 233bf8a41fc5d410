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

Bool orders_decode(const UChar *code, const UChar *end, enum cache_order *order)
{
	enum { FENCES = 0xae, DEMOTES = 0x1c };
	struct bytes b = behind_prefixes(code, end);
	UInt reg;

	if (!b.opcode || b.repeat || b.opcode[1] >= REGISTER)
		return False;
	reg = b.opcode[1] >> 3 & 7;
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
