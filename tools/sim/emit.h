/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Expressions of the code that is added to a superblock.
 */
#ifndef CACHEPEEK_SIM_EMIT_H
#define CACHEPEEK_SIM_EMIT_H

#include "tool.h"

#include "valgrind/guest.h"

static inline Bool is_temp(const IRExpr *e, IRTemp t)
{
	return e->tag == Iex_RdTmp && e->Iex.RdTmp.tmp == t;
}

static inline IRExpr *emit_constant(ULong v)
{
	return IRExpr_Const(IRConst_U64(v));
}

/* The expression's value, in a temporary. */
static inline IRExpr *emit_kept(IRSB *out, IRType type, IRExpr *e)
{
	IRTemp t = newIRTemp(out->tyenv, type);

	addStmtToIRSB(out, IRStmt_WrTmp(t, e));
	return IRExpr_RdTmp(t);
}

static inline IRExpr *emit_register(IRSB *out, Int offset)
{
	return emit_kept(out, Ity_I64, IRExpr_Get(offset, Ity_I64));
}

static inline IRExpr *emit_sp(IRSB *out, const VexGuestLayout *layout)
{
	return emit_register(out, layout->offset_SP);
}

/* Where the function returns to, if that is in a register; else 0. */
static inline IRExpr *emit_link(IRSB *out)
{
#if defined(VGA_amd64)
	(void)out;
	return emit_constant(0);
#else
	return emit_register(out, __builtin_offsetof(VexGuestARM64State, guest_X30));
#endif
}

/* Notes what a call does to the guest's state. */
static inline void emit_effect(IRDirty *d, IREffect effect, UInt offset, UInt size)
{
	Int i = d->nFxState++;

	VG_(memset)(&d->fxState[i], 0, sizeof(d->fxState[i]));
	d->fxState[i].fx = effect;
	d->fxState[i].offset = (UShort)offset;
	d->fxState[i].size = (UShort)size;
}

/* A word of ours. */
static inline IRExpr *emit_load(IRSB *out, const void *at)
{
	return emit_kept(
		out, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, emit_constant((Addr)at)));
}

#endif
