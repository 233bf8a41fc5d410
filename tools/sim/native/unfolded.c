/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * VEX folds away what does not depend on an operand: x & 0 and x * 0, and one side of a
 * choice, where it finds the rest to be constant, and then the load of x, which no longer
 * matters to anybody (AND of a register that is 0, `and $0` to memory; of mulx and bzhi
 * since 3.27).
 * The processor loads nevertheless: such a load is named in a hint, which VEX keeps, and
 * which instrument.c leaves out.
 */
#include "native/unfolded.h"

#include "emit.h"

static Bool may_ignore_operand(const IRExpr *e)
{
	if (e->tag == Iex_ITE)
		return True;
	if (e->tag != Iex_Binop)
		return False;
	switch (e->Iex.Binop.op) {
	case Iop_And8 ... Iop_And64:
	case Iop_Mul8 ... Iop_Mul64:
	case Iop_MullS8 ... Iop_MullU64:
	case Iop_AndV128:
	case Iop_AndV256:
		return True;
	default:
		return False;
	}
}

/* A word made of the value; Iop_INVALID: it is one.  False: there is none for the type.
 */
static Bool find_widening(IRType type, IROp *op)
{
	*op = type == Ity_I8     ? Iop_8Uto64
	      : type == Ity_I16  ? Iop_16Uto64
	      : type == Ity_I32  ? Iop_32Uto64
	      : type == Ity_V128 ? Iop_V128to64
	      : type == Ity_V256 ? Iop_V256to64_0
				 : Iop_INVALID;
	return *op != Iop_INVALID || type == Ity_I64;
}

static void name_in_hint(IRSB *out, IRTemp loaded)
{
	IRExpr *value = IRExpr_RdTmp(loaded);
	IROp widening;

	if (!find_widening(typeOfIRTemp(out->tyenv, loaded), &widening))
		return;
	if (widening != Iop_INVALID)
		value = emit_kept(out, Ity_I64, IRExpr_Unop(widening, value));
	addStmtToIRSB(out, IRStmt_AbiHint(value, 0, emit_constant(0)));
}

/* The expression, with loads in temporaries of their own. */
static IRExpr *keep_loads(IRSB *out, IRExpr *e)
{
	switch (e->tag) {
	case Iex_Load:
		e = emit_kept(out, e->Iex.Load.ty, e);
		name_in_hint(out, e->Iex.RdTmp.tmp);
		return e;
	case Iex_Unop:
		e->Iex.Unop.arg = keep_loads(out, e->Iex.Unop.arg);
		return e;
	case Iex_Binop:
		e->Iex.Binop.arg1 = keep_loads(out, e->Iex.Binop.arg1);
		e->Iex.Binop.arg2 = keep_loads(out, e->Iex.Binop.arg2);
		return e;
	case Iex_ITE:
		e->Iex.ITE.iftrue = keep_loads(out, e->Iex.ITE.iftrue);
		e->Iex.ITE.iffalse = keep_loads(out, e->Iex.ITE.iffalse);
		return e;
	default:
		return e;
	}
}

/* The expression that a statement computes; NULL: nothing of the kind. */
static IRExpr **computed(IRStmt *s)
{
	return s->tag == Ist_WrTmp   ? &s->Ist.WrTmp.data
	       : s->tag == Ist_Put   ? &s->Ist.Put.data
	       : s->tag == Ist_Store ? &s->Ist.Store.data
				     : NULL;
}

static void look(const IRExpr *e, Bool *loads, Bool *may_ignore)
{
	*loads |= e->tag == Iex_Load;
	*may_ignore |= may_ignore_operand(e);
	if (e->tag == Iex_Unop)
		look(e->Iex.Unop.arg, loads, may_ignore);
	if (e->tag == Iex_Binop) {
		look(e->Iex.Binop.arg1, loads, may_ignore);
		look(e->Iex.Binop.arg2, loads, may_ignore);
	}
	if (e->tag == Iex_ITE) {
		look(e->Iex.ITE.iftrue, loads, may_ignore);
		look(e->Iex.ITE.iffalse, loads, may_ignore);
	}
}

static void add_keeping(IRSB *out, IRStmt *s)
{
	IRExpr **what = computed(s);

	if (what && !(s->tag == Ist_WrTmp && (*what)->tag == Iex_Load))
		*what = keep_loads(out, *what);
	addStmtToIRSB(out, s);
	if (what && (*what)->tag == Iex_Load)
		name_in_hint(out, s->Ist.WrTmp.tmp);
}

void unfolded_keep_loads(IRSB *out, Int from)
{
	enum { MOST = 256 };
	IRStmt *own[MOST];
	Int n = out->stmts_used - from;
	Bool loads = False, may_ignore = False;

	for (Int i = from; i < out->stmts_used; i++)
		if (computed(out->stmts[i]))
			look(*computed(out->stmts[i]), &loads, &may_ignore);
	if (!loads || !may_ignore || n > MOST)
		return;
	for (Int i = 0; i < n; i++)
		own[i] = out->stmts[from + i];
	out->stmts_used = from;
	for (Int i = 0; i < n; i++)
		add_keeping(out, own[i]);
}
