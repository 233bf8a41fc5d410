/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "emit.h"
#include "native/mxcsr.h"
#include "native/native.h"

static Bool is_prefix(UChar byte)
{
	return byte == 0x66 || byte == 0xf2 || byte == 0xf3 || (byte & 0xf0) == 0x40;
}

const UChar *native_opcode(const UChar *code, const UChar *end, UInt *map)
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
	if (end - code > 3 && code[0] == 0x0f && (code[1] | 2) == 0x3a) {
		*map = code[1] == 0x38 ? 2 : 3;
		return code + 2;
	}
	return end - code > 2 && code[0] == 0x0f ? code + 1 : NULL;
}

static Bool is_computing(UInt opcode)
{
	switch (opcode) {
	case 0x2a: /* cvtpi2ps, cvtsi2ss ... */
	case 0x2c: /* cvttss2si ... */
	case 0x2d: /* cvtss2si ... */
	case 0x2e: /* ucomis */
	case 0x2f: /* comis */
	case 0x51: /* sqrt */
	case 0x7c: /* hadd */
	case 0x7d: /* hsub */
	case 0xc2: /* cmp */
	case 0xe6: /* cvtpd2dq ... */
		return True;
	default: /* add, mul, cvtps2pd ..., cvtdq2ps ..., sub, min, div, max */
		return opcode >= 0x58 && opcode <= 0x5f;
	}
}

/* By a number of 16 bytes in memory, of which VEX loads the 8 that count. */
static Bool is_shift(UInt opcode)
{
	return (opcode >= 0xd1 && opcode <= 0xd3) || opcode == 0xe1 || opcode == 0xe2 ||
	       (opcode >= 0xf1 && opcode <= 0xf3);
}

/* VMOVDDUP of 32 bytes, of which VEX loads the 16 that count. */
static Bool is_duplicate(const UChar *opcode)
{
	enum { FIELDS = 7, OF_32_BYTES_WITH_F2 = 7 };

	return *opcode == 0x12 && (opcode[-1] & FIELDS) == OF_32_BYTES_WITH_F2;
}

/* Instructions of the map 0F 3A whose operand in memory has no part in the result, or
 * only one of its halves: VEX does not load the rest.  PALIGNR by all of its bytes,
 * INSERTPS into a lane that is cleared, blends of all that is not in memory, VPERM2F128.
 */
static Bool loads_less(const UChar *opcode, UInt immediate)
{
	if (opcode[1] >= 0xc0)
		return False;
	switch (*opcode) {
	case 0x0f:
		return immediate >= 16;
	case 0x21:
		return immediate >> (immediate >> 4 & 3) & 1;
	case 0x0d:
		return (immediate & 3) == 0;
	case 0x02:
	case 0x0c:
		return (immediate & 15) == 0;
	case 0x0e:
		return immediate == 0;
	case 0x06:
	case 0x46:
		return True;
	default:
		return False;
	}
}

/* CVTSI2SS of 64 bits: VEX makes a double of them first, and so rounds twice. */
static Bool is_long_to_single(const UChar *code, const UChar *opcode)
{
	enum { ESCAPE = 0x0f, W = 0x80, PREFIX = 3, F3 = 2, REX_W = 8 };

	if (*opcode != 0x2a)
		return False;
	if (*code == 0xc4)
		return (opcode[-1] & W) && (opcode[-1] & PREFIX) == F3;
	return *code == 0xf3 && opcode[-1] == ESCAPE && (opcode[-2] & 0xf0) == 0x40 &&
	       (opcode[-2] & REX_W);
}

Bool rounding_may_look_wrong(UInt map, UInt opcode)
{
	return map != 1 || opcode == 0x12 || opcode == 0x2a || opcode == 0x5a ||
	       opcode == 0xc2 || opcode == 0xd0 || is_shift(opcode) ||
	       (mxcsr.is_other && is_computing(opcode));
}

Bool rounding_looks_wrong(const UChar *code, UInt length)
{
	UInt map;
	const UChar *opcode = native_opcode(code, code + length, &map);

	if (!opcode || !rounding_may_look_wrong(map, *opcode))
		return False;
	/* Instructions of which VEX raises other flags: round; cvtps2ph; dpps, dppd;
	 * cvtph2ps.  Of pcmpestrm and its like it makes other results, where the string
	 * to find is empty or longer than what is left. */
	if (map == 3)
		return (*opcode >= 0x08 && *opcode <= 0x0b) || *opcode == 0x1d ||
		       *opcode == 0x40 || *opcode == 0x41 ||
		       (*opcode >= 0x60 && *opcode <= 0x63) ||
		       loads_less(opcode, code[length - 1]);
	if (map == 2)
		return *opcode == 0x13;
	/* Predicates of AVX: VEX takes a quiet one for one that signals. */
	if (map == 1 && *opcode == 0xc2 && code[length - 1] >= 8)
		return True;
	/* VEX adds and subtracts in each lane; it loads the second single of CVTPS2PD
	 * first. */
	if (map == 1 && (*opcode == 0xd0 || (*opcode == 0x5a && opcode[1] < 0xc0)))
		return True;
	if (map == 1 && is_long_to_single(code, opcode))
		return True;
	if (map == 1 && (*code == 0xc4 || *code == 0xc5) &&
		(is_shift(*opcode) || is_duplicate(opcode)))
		return opcode[1] < 0xc0;
	return map == 1 && mxcsr.is_other && is_computing(*opcode);
}

/* --- What sets it --- */

/* (V)LDMXCSR or (V)STMXCSR. */
static Bool is_control(const UChar *code, UInt length, UInt which)
{
	UInt map;
	const UChar *opcode = native_opcode(code, code + length, &map);

	return opcode && map == 1 && opcode[0] == 0xae && (opcode[1] >> 3 & 7) == which &&
	       opcode[1] < 0xc0;
}

Bool mxcsr_is_load(const UChar *code, UInt length)
{
	return is_control(code, length, 2);
}

Bool mxcsr_is_store(const UChar *code, UInt length)
{
	return is_control(code, length, 3);
}

static void note_other(void)
{
	mxcsr.is_other = True;
}

static IRExpr *wants_other(IRSB *out)
{
	IRExpr *all = emit_kept(out, Ity_I32, IRExpr_Get((Int)SIDE_OF(mxcsr), Ity_I32));
	IRExpr *bits = IRExpr_Const(IRConst_U32(~mxcsr.hosted));

	bits = emit_kept(out, Ity_I32, IRExpr_Binop(Iop_And32, all, bits));
	return emit_kept(out, Ity_I1,
		IRExpr_Binop(Iop_CmpNE32, bits, IRExpr_Const(IRConst_U32(0))));
}

void rounding_look(IRSB *out)
{
	IRDirty *d;

	if (mxcsr.is_other)
		return;
	d = unsafeIRDirty_0_N(0, "rounding", VG_(fnptr_to_fnentry)((void *)note_other),
		mkIRExprVec_0());
	d->guard = wants_other(out);
	addStmtToIRSB(out, IRStmt_Dirty(d));
	addStmtToIRSB(out, IRStmt_Put((Int)STATE_OF(guest_CMSTART), emit_constant(0)));
	addStmtToIRSB(out, IRStmt_Put((Int)STATE_OF(guest_CMLEN), emit_constant(~0ull)));
	addStmtToIRSB(out, IRStmt_Exit(d->guard, Ijk_InvalICache,
				   out->next->Iex.Const.con, (Int)STATE_OF(guest_RIP)));
}
