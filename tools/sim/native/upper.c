/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "native/upper.h"

#include "emit.h"
#include "native/state.h"

/* The upper halves of registers: whether the program uses them, and those of the
 * superblock. */
static struct {
	Bool are_used;
	/* In the superblock being made: registers whose bits are still to be cleared; the
	 * instruction restores what it writes. */
	UInt pending;
	Bool restores;
} upper;

Bool upper_first_use(IRSB *out, Addr pc)
{
	if (upper.are_used)
		return False;
	upper.are_used = True;
	addStmtToIRSB(out, IRStmt_Put((Int)STATE_OF(guest_CMSTART), emit_constant(0)));
	addStmtToIRSB(out, IRStmt_Put((Int)STATE_OF(guest_CMLEN), emit_constant(~0ull)));
	out->next = emit_constant(pc);
	out->jumpkind = Ijk_InvalICache;
	return True;
}

Bool upper_is_used(void)
{
	return upper.are_used;
}

/* XRSTOR, which the dynamic linker executes between a call and the function: to VEX there
 * are no zmm registers to restore, so they stay as they are. */
static Bool is_restore(Addr pc)
{
	const UChar *code = (const UChar *)pc;

	if ((*code & 0xf0) == 0x40)
		code++;
	return code[0] == 0x0f && code[1] == 0xae && (code[2] >> 3 & 7) == 5 &&
	       code[2] < 0xc0;
}

/* Only instructions encoded as AVX write the upper half of a ymm register, if with 0. */
static UInt registers_cleared(const IRTypeEnv *types, const IRStmt *s)
{
	Int from, size;

	if (s->tag != Ist_Put)
		return 0;
	from = s->Ist.Put.offset - (Int)state_ymm(0);
	if (from < 0 || from >= 16 * 32)
		return 0;
	size = sizeofIRType(typeOfIRExpr(types, s->Ist.Put.data));
	return from % 32 + size > 16 ? 1u << from / 32 : 0;
}

static Bool may_leave(const IRStmt *s)
{
	switch (s->tag) {
	case Ist_WrTmp:
		return s->Ist.WrTmp.data->tag == Iex_Load;
	case Ist_Store:
	case Ist_StoreG:
	case Ist_LoadG:
	case Ist_CAS:
	case Ist_LLSC:
	case Ist_Dirty:
	case Ist_Exit:
		return True;
	default:
		return False;
	}
}

void upper_watch_end(IRSB *out)
{
	IRExpr *live;

	if (!upper.pending)
		return;
	live = emit_kept(out, Ity_I32, IRExpr_Get((Int)SIDE_OF(live), Ity_I32));
	live = emit_kept(out, Ity_I32,
		IRExpr_Binop(Iop_And32, live, IRExpr_Const(IRConst_U32(~upper.pending))));
	addStmtToIRSB(out, IRStmt_Put((Int)SIDE_OF(live), live));
	upper.pending = 0;
}

void upper_watch(IRSB *out, const IRSB *in, Int at)
{
	const IRStmt *s = in->stmts[at];

	if (!upper.are_used)
		return;
	if (s->tag == Ist_IMark)
		upper.restores = is_restore(s->Ist.IMark.addr);
	if (may_leave(s))
		upper_watch_end(out);
	if (!upper.restores)
		upper.pending |= registers_cleared(in->tyenv, s);
}
