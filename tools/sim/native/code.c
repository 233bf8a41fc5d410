/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Makes the code of a superblock for an instruction that the host executes.
 */
#include "emit.h"
#include "native/native.h"
#include "native/state.h"
#include "native/stub.h"

/* --- Addresses --- */

static IRExpr *emit_sum(IRSB *out, IRExpr *a, IRExpr *b)
{
	return emit_kept(out, Ity_I64, IRExpr_Binop(Iop_Add64, a, b));
}

static IRExpr *scaled_index(IRSB *out, const struct native_address *a)
{
	IRExpr *index = emit_register(out, (Int)state_general((UInt)a->index));

	return a->scale ? emit_kept(out, Ity_I64,
				  IRExpr_Binop(Iop_Shl64, index,
					  IRExpr_Const(IRConst_U8((UChar)a->scale))))
			: index;
}

IRExpr *native_address(IRSB *out, const struct native *n)
{
	const struct native_address *a = &n->address;
	IRExpr *at = emit_constant(
		(ULong)a->displacement + (a->from_ip ? n->pc + n->length : 0));

	if (a->base >= 0)
		at = emit_sum(
			out, emit_register(out, (Int)state_general((UInt)a->base)), at);
	if (a->index >= 0 && !n->shape->index)
		at = emit_sum(out, at, scaled_index(out, a));
	if (a->is_short)
		at = emit_kept(out, Ity_I64,
			IRExpr_Binop(Iop_And64, at, emit_constant(0xffffffff)));
	if (a->fs || a->gs)
		at = emit_sum(out, at,
			emit_register(out, (Int)(a->fs ? STATE_OF(guest_FS_CONST)
						       : STATE_OF(guest_GS_CONST))));
	return at;
}

/* The instruction's own place is known, should it fault. */
void native_find_address(IRSB *out, struct native_step *step)
{
	const struct native *n = step->instruction;

	addStmtToIRSB(out, IRStmt_Put((Int)STATE_OF(guest_RIP), emit_constant(n->pc)));
	step->address = n->address.used ? native_address(out, n) : emit_constant(0);
}

/* --- The call --- */

static void affects_vector(IRDirty *d, UInt field, UInt number, Bool written)
{
	if (field == FIELD_VECTOR && number < 16)
		emit_effect(d, written ? Ifx_Modify : Ifx_Read, state_ymm(number), 32);
	if (field == FIELD_GENERAL)
		emit_effect(d, written ? Ifx_Modify : Ifx_Read, state_general(number), 8);
}

/* All three of %rax, %rcx and %rdx in one: a call has no more than seven effects. */
static void affects_implicit(IRDirty *d, const struct native_shape *s)
{
	enum { GENERAL = IMPLICIT_RAX | IMPLICIT_RCX | IMPLICIT_RDX };

	if ((s->implicit_reads | s->implicit_writes) & GENERAL)
		emit_effect(d, Ifx_Modify, state_general(0), 3 * 8);
	if ((s->implicit_reads | s->implicit_writes) & IMPLICIT_XMM0)
		affects_vector(
			d, FIELD_VECTOR, 0, (s->implicit_writes & IMPLICIT_XMM0) != 0);
}

/* Where it is known to fault, too; and MXCSR, beside the bits of upper halves. */
static void affects_state(IRDirty *d, const struct native *n)
{
	const struct native_shape *s = n->shape;

	emit_effect(d, Ifx_Read, (UInt)STATE_OF(guest_RIP), 8);
	emit_effect(d, Ifx_Modify, (UInt)SIDE_OF(live), 8);
	affects_vector(d, s->reg, n->reg, s->writes & WRITES_REG);
	affects_vector(d, s->vvvv, n->vvvv, s->writes & WRITES_VVVV);
	if (!n->address.used)
		affects_vector(d, s->rm, n->rm, s->writes & WRITES_RM);
	if (s->writes & WRITES_FLAGS)
		emit_effect(d, Ifx_Write, (UInt)STATE_OF(guest_CC_OP), 4 * 8);
	affects_implicit(d, s);
}

static void affects_memory(IRDirty *d, const struct native *n, IRExpr *address)
{
	const struct native_shape *s = n->shape;

	if (!n->address.used)
		return;
	d->mFx = !s->stores ? Ifx_Read : s->loads ? Ifx_Modify : Ifx_Write;
	d->mAddr = address;
	d->mSize = s->size ? s->size : 1;
}

static const HChar name[] = "native";

Bool native_is_call(const IRStmt *s)
{
	return s->tag == Ist_Dirty && s->Ist.Dirty.details->cee->name == name;
}

static IRDirty *call_of(const struct native *n, IRExpr *address)
{
	void *stub = native_stub(n);

	tl_assert(stub);
	return unsafeIRDirty_0_N(0, name, stub, mkIRExprVec_2(IRExpr_GSPTR(), address));
}

void native_call(IRSB *out, const struct native *n, IRExpr *address)
{
	IRDirty *d = call_of(n, address);

	emit_effect(d, Ifx_Modify, state_general(0), 16 * 8);
	emit_effect(d, Ifx_Modify, (UInt)STATE_OF(guest_CC_OP), 4 * 8);
	emit_effect(d, Ifx_Modify, state_ymm(0), 16 * 32);
	emit_effect(d, Ifx_Modify, (UInt)SIDE_OF(live), 8); /* and MXCSR */
	emit_effect(d, Ifx_Modify, (UInt)STATE_OF(guest_SSEROUND), 8);
	affects_memory(d, n, address);
	addStmtToIRSB(out, IRStmt_Dirty(d));
}

/* The optimiser is yet to see it. */
void native_call_early(IRSB *out, const struct native *n)
{
	IRExpr *address = n->address.used ? native_address(out, n) : emit_constant(0);
	IRDirty *d = call_of(n, address);

	affects_state(d, n);
	affects_memory(d, n, address);
	addStmtToIRSB(out, IRStmt_Dirty(d));
}

/* --- Code that changes --- */

/* The most bytes that one load can have without being behind the instruction's end. */
static IRType widest_load(UInt length)
{
	return length >= 8 ? Ity_I64 : length >= 4 ? Ity_I32 : Ity_I16;
}

static void compare_part(IRSB *out, const struct native_step *step, UInt from)
{
	IRType type = widest_load(step->length);
	Addr at = step->pc + from;
	ULong was = 0;
	IRExpr *is = emit_kept(out, type, IRExpr_Load(Iend_LE, type, emit_constant(at)));

	VG_(memcpy)(&was, (const void *)at, sizeofIRType(type));
	if (type != Ity_I64)
		is = emit_kept(out, Ity_I64,
			IRExpr_Unop(type == Ity_I32 ? Iop_32Uto64 : Iop_16Uto64, is));
	is = emit_kept(out, Ity_I1, IRExpr_Binop(Iop_CmpNE64, is, emit_constant(was)));
	addStmtToIRSB(out, IRStmt_Exit(is, Ijk_InvalICache, IRConst_U64(step->pc),
				   (Int)STATE_OF(guest_RIP)));
}

/* VEX looks at no more than what it has decoded. */
void native_compare(IRSB *out, const struct native_step *step)
{
	addStmtToIRSB(
		out, IRStmt_Put((Int)STATE_OF(guest_CMSTART), emit_constant(step->pc)));
	addStmtToIRSB(
		out, IRStmt_Put((Int)STATE_OF(guest_CMLEN), emit_constant(step->length)));
	compare_part(out, step, 0);
	compare_part(
		out, step, step->length - (UInt)sizeofIRType(widest_load(step->length)));
}
