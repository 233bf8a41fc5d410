/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Which instructions change the stack pointer by more than a constant.
 */
#include "watch/stack_writes.h"
#include "emit.h"

#if defined(VGA_amd64)
#define FRAME_POINTER STATE_OF(guest_RBP)
#else
#define FRAME_POINTER STATE_OF(guest_X29)
#endif

/* The last write in this superblock, if it was one of these. */
static Int last_write;
static IRTemp last_root;

void stack_writes_begin(void)
{
	last_write = -1;
	last_root = IRTemp_INVALID;
}

/* The statement before `at` that has set it; -1: none has, it is of our own making. */
static Int find_setter(const IRSB *in, Int at, IRTemp t)
{
	while (at-- > 0)
		if (in->stmts[at]->tag == Ist_WrTmp && in->stmts[at]->Ist.WrTmp.tmp == t)
			return at;
	return -1;
}

static Bool reads_register(const IRSB *in, Int setter, Int offset)
{
	const IRExpr *e = setter < 0 ? NULL : in->stmts[setter]->Ist.WrTmp.data;

	return e && e->tag == Iex_Get && e->Iex.Get.offset == offset;
}

static Bool is_stack_pointer(
	const struct block *b, const IRSB *in, Int at, Int offset_sp, const IRExpr *e)
{
	IRTemp root;
	Int setter;

	if (e->tag != Iex_RdTmp)
		return False;
	root = address_of(b, e).root;
	setter = find_setter(in, at, root);
	return root == last_root ||
	       (setter > last_write && reads_register(in, setter, offset_sp));
}

/* *from: what it is the sum of, if it is one. */
static enum stack_source source_of(const struct block *b, const IRSB *in, Int at,
	Int offset_sp, const IRExpr *e, IRExpr **from)
{
	Int setter =
		e->tag == Iex_RdTmp ? find_setter(in, at, address_of(b, e).root) : -1;
	const IRExpr *data;

	if (reads_register(in, setter, FRAME_POINTER))
		return STACK_FROM_FRAME;
	data = setter < 0 ? NULL : in->stmts[setter]->Ist.WrTmp.data;
	if (!data || data->tag != Iex_Binop)
		return STACK_FROM_ANYWHERE;
	if (is_stack_pointer(b, in, setter, offset_sp, data->Iex.Binop.arg1))
		*from = data->Iex.Binop.arg1;
	else if (is_stack_pointer(b, in, setter, offset_sp, data->Iex.Binop.arg2))
		*from = data->Iex.Binop.arg2;
	else
		return STACK_FROM_ANYWHERE;
	return STACK_FROM_SUM;
}

static IRExpr *either(IRSB *out, IRExpr *a, IRExpr *b)
{
	IRExpr *left = emit_kept(out, Ity_I64, IRExpr_Unop(Iop_1Uto64, a)),
	       *right = emit_kept(out, Ity_I64, IRExpr_Unop(Iop_1Uto64, b)),
	       *both = emit_kept(out, Ity_I64, IRExpr_Binop(Iop_Or64, left, right));

	return emit_kept(out, Ity_I1, IRExpr_Binop(Iop_CmpNE64, both, emit_constant(0)));
}

static IRExpr *compare(IRSB *out, IROp how, IRExpr *a, IRExpr *b)
{
	return emit_kept(out, Ity_I1, IRExpr_Binop(how, a, b));
}

void stack_writes_watch(const struct block *b, const IRSB *in, Int at, Int offset_sp,
	const struct stack_now *now, void *helper)
{
	const IRStmt *s = in->stmts[at];
	enum stack_source source;
	IRExpr *from, *to;
	IRDirty *d;

	if (s->tag != Ist_Put || s->Ist.Put.offset != offset_sp ||
		is_stack_pointer(b, in, at, offset_sp, s->Ist.Put.data))
		return;
	to = s->Ist.Put.data;
	if (to->tag == Iex_RdTmp) /* what is pushed, or called, behind it is in there */
		to = IRExpr_RdTmp(address_of(b, to).root);
	from = emit_register(b->out, offset_sp);
	source = source_of(b, in, at, offset_sp, to, &from);
	d = unsafeIRDirty_0_N(0, "stack pointer", VG_(fnptr_to_fnentry)(helper),
		mkIRExprVec_3(from, to, emit_constant(source)));
	d->guard = source == STACK_FROM_FRAME
			   ? either(b->out, compare(b->out, Iop_CmpLT64U, to, from),
				     compare(b->out, Iop_CmpLT64U,
					     emit_load(b->out, &now->top), to))
			   : compare(b->out, Iop_CmpNE64, to, from);
	addStmtToIRSB(b->out, IRStmt_Dirty(d));
	last_write = at;
	last_root = address_of(b, to).root;
}
