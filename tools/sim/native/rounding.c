/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "native/rounding.h"

#include "emit.h"
#include "native/native.h"
#include "native/state.h"

static Bool is_other;

static Bool is_prefix(UChar byte)
{
	return byte == 0x66 || byte == 0xf2 || byte == 0xf3 || (byte & 0xf0) == 0x40;
}

/* The opcode of the map 0F, or of 0F 3A, in which case *map is 3; NULL: of none. */
static const UChar *opcode_of(const UChar *code, const UChar *end, UInt *map)
{
	while (code < end && is_prefix(*code))
		code++;
	*map = 1;
	if (end - code > 2 && code[0] == 0xc5)
		return code + 2;
	if (end - code > 3 && code[0] == 0xc4) {
		*map = code[1] & 0x1f;
		return code + 3;
	}
	if (end - code > 3 && code[0] == 0x0f && code[1] == 0x3a) {
		*map = 3;
		return code + 2;
	}
	return end - code > 2 && code[0] == 0x0f ? code + 1 : NULL;
}

Bool rounding_looks_wrong(const UChar *code, UInt length)
{
	UInt map;
	const UChar *opcode = is_other ? opcode_of(code, code + length, &map) : NULL;

	if (!opcode)
		return False;
	if (map == 3) /* dpps, dppd */
		return *opcode == 0x40 || *opcode == 0x41;
	if (map != 1)
		return False;
	switch (*opcode) {
	case 0x51: /* sqrt */
	case 0x58: /* add */
	case 0x59: /* mul */
	case 0x5c: /* sub */
	case 0x5e: /* div */
	case 0x7c: /* hadd */
	case 0x7d: /* hsub */
	case 0xd0: /* addsub */
		return True;
	default:
		return False;
	}
}

/* (V)LDMXCSR */
Bool rounding_looks_set(const UChar *code, UInt length)
{
	UInt map;
	const UChar *opcode = is_other ? NULL : opcode_of(code, code + length, &map);

	return opcode && map == 1 && opcode[0] == 0xae && (opcode[1] >> 3 & 7) == 2 &&
	       opcode[1] < 0xc0;
}

static void note(void)
{
	is_other = True;
}

void rounding_look(IRSB *out)
{
	IRExpr *mode = emit_register(out, (Int)STATE_OF(guest_SSEROUND));
	IRDirty *d = unsafeIRDirty_0_N(
		0, "rounding", VG_(fnptr_to_fnentry)((void *)note), mkIRExprVec_0());

	d->guard =
		emit_kept(out, Ity_I1, IRExpr_Binop(Iop_CmpNE64, mode, emit_constant(0)));
	addStmtToIRSB(out, IRStmt_Dirty(d));
	addStmtToIRSB(out, IRStmt_Put((Int)STATE_OF(guest_CMSTART), emit_constant(0)));
	addStmtToIRSB(out, IRStmt_Put((Int)STATE_OF(guest_CMLEN), emit_constant(~0ull)));
	addStmtToIRSB(out, IRStmt_Exit(d->guard, Ijk_InvalICache,
				   out->next->Iex.Const.con, (Int)STATE_OF(guest_RIP)));
}
