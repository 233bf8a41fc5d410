/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Which loads are floating-point ones: those of a floating-point or vector type,
 * and those of integers that go to a vector register in the same instruction.
 */
#include "pub_tool_guest.h"
#include "emit.h"
#include "tool.h"

#if defined(VGA_amd64)
#define VECTORS_FROM offsetof(VexGuestAMD64State, guest_YMM0)
#define VECTORS_TO (offsetof(VexGuestAMD64State, guest_YMM15) + 32)
#elif defined(VGA_arm64)
#define VECTORS_FROM offsetof(VexGuestARM64State, guest_Q0)
#define VECTORS_TO (offsetof(VexGuestARM64State, guest_Q31) + 16)
#endif

static Bool is_vector_type(IRType type)
{
	return type == Ity_F32 || type == Ity_F64 || type == Ity_V128 || type == Ity_V256;
}

/* Does the statement put the value into a vector? */
static Bool widens_vector(const IRStmt *s, IRTemp t, const IRTypeEnv *types)
{
	const IRExpr *e;

	if (s->tag == Ist_Put)
		return is_temp(s->Ist.Put.data, t) &&
		       s->Ist.Put.offset >= (Int)VECTORS_FROM &&
		       s->Ist.Put.offset < (Int)VECTORS_TO;
	if (s->tag != Ist_WrTmp)
		return False;
	e = s->Ist.WrTmp.data;
	if (!is_vector_type(typeOfIRTemp(types, s->Ist.WrTmp.tmp)))
		return False;
	if (e->tag == Iex_Unop)
		return is_temp(e->Iex.Unop.arg, t);
	return e->tag == Iex_Binop &&
	       (is_temp(e->Iex.Binop.arg1, t) || is_temp(e->Iex.Binop.arg2, t));
}

Bool is_float_load(const IRSB *in, Int at)
{
	const IRStmt *s = in->stmts[at];
	IRTemp t = s->Ist.WrTmp.tmp;

	if (is_vector_type(s->Ist.WrTmp.data->Iex.Load.ty))
		return True;
	for (Int i = at + 1; i < in->stmts_used && in->stmts[i]->tag != Ist_IMark; i++)
		if (widens_vector(in->stmts[i], t, in->tyenv))
			return True;
	return False;
}
