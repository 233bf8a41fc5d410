/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "native/mend.h"

#include "emit.h"
#include "native/decode.h"
#include "native/mxcsr.h"
#include "native/native.h"

/* Singles: their exponent; the least normal one, which is its lowest bit; their value
 * without the sign. */
enum { EXPONENT = 0x7f800000, LEAST_NORMAL = 0x00800000, MAGNITUDE = 0x7fffffff };
enum { INVALID = 1, DENORMALS_ARE_ZERO = 0x40 };

/* Conversions that are made where their values are used. */
enum { MOST_DELAYED = 16 };

/* The superblock that is being mended; nothing outlives it. */
static struct {
	/* The instruction that statements are of. */
	struct {
		Bool converts; /* singles, to compare them or to make an integer of one */
		Bool is_compare; /* of which quiet NaNs are told */
		Bool may_fault;  /* it is of SSE, and has loaded nothing yet */
		Addr pc;
	} instruction;
	struct {
		IRTemp to;
		IRExpr *from;
	} delayed[MOST_DELAYED];
	UInt ndelayed;
} mending;

/* Jumps, MOVZX, CMOV, BT, and others of 0F that no vector has a part in, are not. */
static Bool is_of_vectors(UInt opcode)
{
	return (opcode >= 0x10 && opcode <= 0x3f) || (opcode >= 0x50 && opcode <= 0x7f) ||
	       opcode == 0xc2 || (opcode >= 0xc4 && opcode <= 0xc6) || opcode >= 0xd0;
}

static void begin_instruction(const IRStmt *mark)
{
	const UChar *code = (const UChar *)mark->Ist.IMark.addr, *opcode;
	UInt map;

	VG_(memset)(&mending.instruction, 0, sizeof(mending.instruction));
	if (!tool_options.native || !native_may_have_opcode(code))
		return;
	opcode = native_opcode(code, code + mark->Ist.IMark.len, &map);
	if (!opcode)
		return;
	mending.instruction.pc = mark->Ist.IMark.addr;
	mending.instruction.converts = map == 1 && *opcode >= 0x2c && *opcode <= 0x2f;
	mending.instruction.is_compare = map == 1 && *opcode == 0x2f;
	mending.instruction.may_fault =
		*code != 0xc4 && *code != 0xc5 && (map > 1 || is_of_vectors(*opcode));
}

/* --- Expressions --- */

static IRExpr *constant_word(UInt v)
{
	return IRExpr_Const(IRConst_U32(v));
}

static IRExpr *emit_binary(IRSB *out, IROp op, IRExpr *a, IRExpr *b)
{
	return emit_kept(out, Ity_I32, IRExpr_Binop(op, a, b));
}

static IRExpr *is_less(IRSB *out, IRExpr *a, IRExpr *b)
{
	return emit_kept(out, Ity_I1, IRExpr_Binop(Iop_CmpLT32U, a, b));
}

static IRExpr *emit_mxcsr(IRSB *out)
{
	return emit_kept(out, Ity_I32, IRExpr_Get((Int)SIDE_OF(mxcsr), Ity_I32));
}

static IRExpr *bits_of(IRSB *out, IRExpr *single)
{
	return emit_kept(out, Ity_I32, IRExpr_Unop(Iop_ReinterpF32asI32, single));
}

/* --- Alignment --- */

/* Is it the instruction's first load, of an operand that has to be? */
static Bool has_to_be_aligned(void)
{
	Bool is_first = mending.instruction.may_fault;
	struct native n;

	mending.instruction.may_fault = False;
	return is_first && native_decode(mending.instruction.pc, &n) && n.shape->aligned;
}

/* The lowest bits of an address that is not aligned make it one that no program has. */
static IRExpr *aligned_or_none(IRSB *out, IRExpr *address)
{
	IRExpr *high = emit_kept(out, Ity_I64,
		IRExpr_Binop(Iop_Shl64, address, IRExpr_Const(IRConst_U8(60))));

	return emit_kept(out, Ity_I64, IRExpr_Binop(Iop_Or64, address, high));
}

static Bool is_aligned(const IRExpr *address)
{
	return address->tag == Iex_Const && address->Iex.Const.con->Ico.U64 % 16 == 0;
}

static void add_load(IRSB *out, IRStmt *s)
{
	const IRExpr *load = s->Ist.WrTmp.data;
	IRExpr *address = load->Iex.Load.addr;

	if (has_to_be_aligned() && !is_aligned(address))
		s = IRStmt_WrTmp(s->Ist.WrTmp.tmp,
			IRExpr_Load(load->Iex.Load.end, load->Iex.Load.ty,
				aligned_or_none(out, address)));
	addStmtToIRSB(out, s);
}

/* --- Denormals --- */

/* The single, with a bit of its exponent set if `bit` is that: then it is normal, of the
 * same sign and nearly as small. */
static IRExpr *with_bit(IRSB *out, IRExpr *bits, IRExpr *bit)
{
	return emit_kept(out, Ity_F32,
		IRExpr_Unop(Iop_ReinterpI32asF32, emit_binary(out, Iop_Or32, bits, bit)));
}

/* Unless denormals are zero to it, which it does not tell of. */
static IRExpr *normal_to_round(IRSB *out, IRExpr *single)
{
	IRExpr *bits = bits_of(out, single), *bit, *less_1;

	less_1 = emit_binary(out, Iop_Sub32,
		emit_binary(out, Iop_And32, bits, constant_word(MAGNITUDE)),
		constant_word(1));
	bit = emit_binary(out, Iop_Shl32, emit_mxcsr(out), IRExpr_Const(IRConst_U8(17)));
	bit = emit_binary(out, Iop_Xor32, bit, constant_word(DENORMALS_ARE_ZERO << 17));
	bit = emit_binary(out, Iop_And32, bit, constant_word(LEAST_NORMAL));
	bit = emit_kept(out, Ity_I32,
		IRExpr_ITE(is_less(out, less_1, constant_word(LEAST_NORMAL - 1)), bit,
			constant_word(0)));
	return with_bit(out, bits, bit);
}

/* Where the other one is a NaN, which is told of, or not, before denormals are. */
static IRExpr *normal_to_compare(IRSB *out, IRExpr *single, IRExpr *other)
{
	IRExpr *bits = bits_of(out, single), *bit;

	bit = emit_binary(out, Iop_And32, bits_of(out, other), constant_word(MAGNITUDE));
	bit = emit_kept(out, Ity_I32,
		IRExpr_ITE(is_less(out, constant_word(EXPONENT), bit),
			constant_word(LEAST_NORMAL), constant_word(0)));
	bit = emit_kept(out, Ity_I32,
		IRExpr_ITE(is_less(out,
				   emit_binary(out, Iop_And32, bits,
					   constant_word(MAGNITUDE)),
				   constant_word(LEAST_NORMAL)),
			bit, constant_word(0)));
	return with_bit(out, bits, bit);
}

/* Does the expression use the double, other than to compare it or to make an integer? */
static Bool uses_double(const IRExpr *e, IRTemp t)
{
	switch (e->tag) {
	case Iex_RdTmp:
		return is_temp(e, t);
	case Iex_Unop:
		return is_temp(e->Iex.Unop.arg, t);
	case Iex_Binop:
		return e->Iex.Binop.op != Iop_CmpF64 &&
		       e->Iex.Binop.op != Iop_F64toI32S &&
		       e->Iex.Binop.op != Iop_F64toI64S &&
		       (is_temp(e->Iex.Binop.arg1, t) || is_temp(e->Iex.Binop.arg2, t));
	case Iex_Triop:
		return is_temp(e->Iex.Triop.details->arg2, t) ||
		       is_temp(e->Iex.Triop.details->arg3, t);
	case Iex_ITE:
		return is_temp(e->Iex.ITE.iftrue, t) || is_temp(e->Iex.ITE.iffalse, t);
	default:
		return False;
	}
}

static Bool is_used_otherwise(const IRSB *in, Int at)
{
	IRTemp t = in->stmts[at]->Ist.WrTmp.tmp;

	for (Int i = at + 1; i < in->stmts_used; i++) {
		const IRStmt *s = in->stmts[i];

		if ((s->tag == Ist_WrTmp && uses_double(s->Ist.WrTmp.data, t)) ||
			(s->tag == Ist_Put && uses_double(s->Ist.Put.data, t)) ||
			(s->tag == Ist_Store && uses_double(s->Ist.Store.data, t)))
			return True;
	}
	return False;
}

static Bool delay_conversion(const IRSB *in, Int at)
{
	const IRStmt *s = in->stmts[at];

	if (!mending.instruction.converts || mending.ndelayed == MOST_DELAYED ||
		is_used_otherwise(in, at))
		return False;
	mending.delayed[mending.ndelayed].to = s->Ist.WrTmp.tmp;
	mending.delayed[mending.ndelayed++].from = s->Ist.WrTmp.data->Iex.Unop.arg;
	return True;
}

/* Returns the float that is converted to it, if that is delayed; else NULL. */
static IRExpr *delayed_for(const IRExpr *e)
{
	for (UInt i = 0; i < mending.ndelayed; i++)
		if (is_temp(e, mending.delayed[i].to))
			return mending.delayed[i].from;
	return NULL;
}

static IRExpr *emit_converted(IRSB *out, IRExpr *single)
{
	return emit_kept(out, Ity_F64, IRExpr_Unop(Iop_F32toF64, single));
}

static IRStmt *mend_rounding(IRSB *out, IRStmt *s)
{
	const IRExpr *e = s->Ist.WrTmp.data;
	IRExpr *single = delayed_for(e->Iex.Binop.arg2);

	return single ? IRStmt_WrTmp(s->Ist.WrTmp.tmp,
				IRExpr_Binop(e->Iex.Binop.op, e->Iex.Binop.arg1,
					emit_converted(
						out, normal_to_round(out, single))))
		      : s;
}

static IRStmt *mend_comparison(IRSB *out, IRStmt *s)
{
	const IRExpr *e = s->Ist.WrTmp.data;
	IRExpr *a = e->Iex.Binop.arg1, *b = e->Iex.Binop.arg2;
	IRExpr *from_a = delayed_for(a), *from_b = delayed_for(b);

	if (!from_a && !from_b)
		return s;
	if (from_a)
		a = from_b ? normal_to_compare(out, from_a, from_b) : from_a;
	if (from_b)
		b = from_a ? normal_to_compare(out, from_b, from_a) : from_b;
	return IRStmt_WrTmp(s->Ist.WrTmp.tmp,
		IRExpr_Binop(Iop_CmpF64, from_a ? emit_converted(out, a) : a,
			from_b ? emit_converted(out, b) : b));
}

/* --- NaNs --- */

/* Bit 2 of the result says that the two cannot be compared. */
static void tell_of_invalid(IRSB *out, IRTemp result)
{
	IRExpr *flag = emit_binary(
		out, Iop_Shr32, IRExpr_RdTmp(result), IRExpr_Const(IRConst_U8(2)));

	flag = emit_binary(out, Iop_And32, flag, constant_word(INVALID));
	flag = emit_binary(out, Iop_Or32, flag, emit_mxcsr(out));
	addStmtToIRSB(out, IRStmt_Put((Int)SIDE_OF(mxcsr), flag));
}

/* --- Statements --- */

void mend_begin_block(void)
{
	mending.ndelayed = 0;
}

static void add_binary(IRSB *out, IRStmt *s)
{
	switch (s->Ist.WrTmp.data->Iex.Binop.op) {
	case Iop_CmpF64:
		addStmtToIRSB(out, mend_comparison(out, s));
		if (mending.instruction.is_compare)
			tell_of_invalid(out, s->Ist.WrTmp.tmp);
		break;
	case Iop_F64toI32S:
	case Iop_F64toI64S:
		addStmtToIRSB(out, mend_rounding(out, s));
		break;
	default:
		addStmtToIRSB(out, s);
	}
}

void mend_statement(IRSB *out, const IRSB *in, Int at)
{
	IRStmt *s = in->stmts[at];
	const IRExpr *e = s->tag == Ist_WrTmp ? s->Ist.WrTmp.data : NULL;

	if (s->tag == Ist_IMark)
		begin_instruction(s);
	if (e && e->tag == Iex_Load)
		add_load(out, s);
	else if (e && e->tag == Iex_Binop)
		add_binary(out, s);
	else if (!e || e->tag != Iex_Unop || e->Iex.Unop.op != Iop_F32toF64 ||
		 !delay_conversion(in, at))
		addStmtToIRSB(out, s);
}
