/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Where a superblock goes back to its own beginning, and no register that it reads is one
 * that it writes before, and what it has stored was there already, the next round will do
 * the same as this one: until another thread, or the kernel, writes to memory.  There the
 * turn ends.  That is so whatever the values are; no round is lost that could have done
 * anything.
 *
 * Loops with a hint to the processor (pause, yield), which may count their rounds, end
 * the turn at every hundredth.  The core has a rule of its own for these (300 more
 * superblocks), and does not see that another thread gets the turn.
 */
#include "instrument/spins.h"

#include <stddef.h>

#include "pin/pin.h"
#include "valgrind/guest.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_machine.h"

enum { MOST_STATE = 4096, MOST_SWAPS = 8, PAUSES = 100 };

/* By bytes of the guest's state: read before they were written, and written. */
static struct {
	UChar reads[MOST_STATE], writes[MOST_STATE];
	const IRCAS *swaps[MOST_SWAPS];
	UInt nswaps;
	Addr start;
	Bool is_pure;
} loop;

/* ---- is it such a loop? ---- */

void spins_begin(Addr start)
{
	VG_(memset)(&loop, 0, sizeof(loop));
	loop.start = start;
	loop.is_pure = True;
}

static void note_write(Int offset, Int size)
{
	if (offset + size > MOST_STATE) {
		loop.is_pure = False;
		return;
	}
	VG_(memset)(loop.writes + offset, 1, (SizeT)size);
}

static void note_read(Int offset, Int size)
{
	if (offset + size > MOST_STATE) {
		loop.is_pure = False;
		return;
	}
	for (Int i = offset; i < offset + size; i++)
		if (!loop.writes[i])
			loop.reads[i] = 1;
}

static void note_swap(const IRCAS *swap)
{
	if (swap->dataHi || loop.nswaps == MOST_SWAPS)
		loop.is_pure = False;
	else
		loop.swaps[loop.nswaps++] = swap;
}

static void note_value(const IRExpr *e)
{
	if (e->tag == Iex_Get)
		note_read(e->Iex.Get.offset, sizeofIRType(e->Iex.Get.ty));
	else if (e->tag == Iex_GetI)
		loop.is_pure = False;
}

static void note(const IRSB *in, const IRStmt *s)
{
	switch (s->tag) {
	case Ist_NoOp:
	case Ist_IMark:
	case Ist_AbiHint:
	case Ist_MBE:
	case Ist_LoadG:
	case Ist_Exit:
		break;
	case Ist_WrTmp:
		note_value(s->Ist.WrTmp.data);
		break;
	case Ist_Put:
		note_write(s->Ist.Put.offset,
			sizeofIRType(typeOfIRExpr(in->tyenv, s->Ist.Put.data)));
		break;
	case Ist_CAS:
		note_swap(s->Ist.CAS.details);
		break;
	default:
		loop.is_pure = False;
	}
}

static Bool repeats(void)
{
	for (UInt i = 0; loop.is_pure && i < MOST_STATE; i++)
		if (loop.reads[i] && loop.writes[i])
			return False;
	return loop.is_pure;
}

static Bool is_start(const IRConst *to)
{
	return to->tag == Ico_U64 && to->Ico.U64 == loop.start;
}

/* ---- code ---- */

static IRExpr *add_value(IRSB *out, IRType type, IRExpr *e)
{
	IRTemp t = newIRTemp(out->tyenv, type);

	addStmtToIRSB(out, IRStmt_WrTmp(t, e));
	return IRExpr_RdTmp(t);
}

/* 1 or 0: not every back end of VEX's makes a word of a bit. */
static IRExpr *add_word(IRSB *out, IRExpr *bit)
{
	return add_value(out, Ity_I32,
		IRExpr_ITE(
			bit, IRExpr_Const(IRConst_U32(1)), IRExpr_Const(IRConst_U32(0))));
}

static IRExpr *add_both(IRSB *out, IRExpr *one, IRExpr *other)
{
	IRExpr *a = add_word(out, one), *b = add_word(out, other),
	       *both = add_value(out, Ity_I32, IRExpr_Binop(Iop_And32, a, b));

	return add_value(out, Ity_I1,
		IRExpr_Binop(Iop_CmpNE32, both, IRExpr_Const(IRConst_U32(0))));
}

/* Nor does every one compare bytes, or choose between them. */
static IRExpr *add_wide(IRSB *out, IRExpr *e)
{
	switch (typeOfIRExpr(out->tyenv, e)) {
	case Ity_I8:
		return add_value(out, Ity_I64, IRExpr_Unop(Iop_8Uto64, e));
	case Ity_I16:
		return add_value(out, Ity_I64, IRExpr_Unop(Iop_16Uto64, e));
	case Ity_I32:
		return add_value(out, Ity_I64, IRExpr_Unop(Iop_32Uto64, e));
	default:
		return e;
	}
}

static IRExpr *add_same(IRSB *out, IRExpr *one, IRExpr *other)
{
	return add_value(out, Ity_I1, IRExpr_Binop(Iop_CmpEQ64, one, other));
}

/* Has it left memory as it was?  It stored what was there, or nothing. */
static IRExpr *add_swap_kept(IRSB *out, const IRCAS *swap)
{
	IRExpr *old = add_wide(out, IRExpr_RdTmp(swap->oldLo)),
	       *expected = add_wide(out, swap->expdLo),
	       *stored = add_wide(out, swap->dataLo), *now;

	/* The value in memory behind it. */
	now = add_value(
		out, Ity_I64, IRExpr_ITE(add_same(out, old, expected), stored, old));
	return add_same(out, old, now);
}

static void add_end_of_turn(IRSB *out, IRExpr *ends)
{
	const Int counter = offsetof(guest_state, host_EvC_COUNTER);
	IRExpr *left = add_value(out, Ity_I32, IRExpr_Get(counter, Ity_I32)),
	       *given = add_word(out, ends);

	left = add_value(
		out, Ity_I32, IRExpr_ITE(ends, IRExpr_Const(IRConst_U32(0)), left));
	addStmtToIRSB(out, IRStmt_Put(counter, left));
	addStmtToIRSB(out,
		IRStmt_Store(Iend_LE, mkIRExpr_HWord((HWord)&pin_spin.given), given));
}

static void add_round(IRSB *out, IRExpr *ends)
{
	for (UInt i = 0; i < loop.nswaps; i++)
		ends = add_both(out, ends, add_swap_kept(out, loop.swaps[i]));
	add_end_of_turn(out, ends);
}

void spins_statement(IRSB *out, const IRSB *in, Int at)
{
	IRStmt *s = in->stmts[at];

	if (s->tag == Ist_Exit && s->Ist.Exit.jk == Ijk_Boring &&
		is_start(s->Ist.Exit.dst) && repeats())
		add_round(out, s->Ist.Exit.guard);
	note(in, s);
}

static void count_pause(IRSB *out)
{
	IRExpr *count = mkIRExpr_HWord((HWord)&pin_spin.pauses), *n;

	n = add_value(out, Ity_I32, IRExpr_Load(Iend_LE, Ity_I32, count));
	n = add_value(
		out, Ity_I32, IRExpr_Binop(Iop_Add32, n, IRExpr_Const(IRConst_U32(1))));
	addStmtToIRSB(out, IRStmt_Store(Iend_LE, count, n));
	add_end_of_turn(out, add_value(out, Ity_I1,
				     IRExpr_Binop(Iop_CmpLE32U,
					     IRExpr_Const(IRConst_U32(PAUSES)), n)));
	out->jumpkind = Ijk_Boring;
}

void spins_end(IRSB *out, const IRSB *in)
{
	if (in->jumpkind == Ijk_Yield)
		count_pause(out);
	else if (in->jumpkind == Ijk_Boring && in->next->tag == Iex_Const &&
		 is_start(in->next->Iex.Const.con) && repeats())
		add_round(out, IRExpr_Const(IRConst_U1(True)));
}
