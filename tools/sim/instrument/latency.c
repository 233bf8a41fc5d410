/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "instrument/latency.h"

enum {
	MOVE = 0,
	SIMPLE = 1,
	MULTIPLY = 3,
	COMMON_FLOAT_ADD = 3,
	COMMON_FLOAT_MULTIPLY = 4,
	DIVIDE = 13,
	/* Those that a machine file may say. */
	FLOAT_ADD = 1000,
	FLOAT_MULTIPLY
};

static UInt of_one_float(IROp op)
{
	switch (op) {
	case Iop_Sqrt64F0x2:
	case Iop_Sqrt32F0x4:
		return DIVIDE;
	case Iop_F32toF64:
	case Iop_I32StoF64:
	case Iop_I32UtoF64:
		return FLOAT_MULTIPLY;
	default:
		return SIMPLE;
	}
}

static UInt of_unop(IROp op)
{
	switch (op) {
	case Iop_64to32:
	case Iop_64to16:
	case Iop_64to8:
	case Iop_64to1:
	case Iop_32to16:
	case Iop_32to8:
	case Iop_32to1:
	case Iop_8Uto32:
	case Iop_8Uto64:
	case Iop_16Uto32:
	case Iop_16Uto64:
	case Iop_32Uto64:
	case Iop_1Uto8:
	case Iop_1Uto32:
	case Iop_1Uto64:
	case Iop_64HIto32:
	case Iop_128to64:
	case Iop_128HIto64:
	case Iop_V128to64:
	case Iop_V128HIto64:
	case Iop_V256to64_0:
	case Iop_V256toV128_0:
	case Iop_V256toV128_1:
	case Iop_32UtoV128:
	case Iop_64UtoV128:
	case Iop_ReinterpF64asI64:
	case Iop_ReinterpI64asF64:
	case Iop_ReinterpF32asI32:
	case Iop_ReinterpI32asF32:
		return MOVE;
	default:
		return of_one_float(op);
	}
}

static UInt of_integers(IROp op)
{
	switch (op) {
	case Iop_64HLtoV128:
	case Iop_V128HLtoV256:
	case Iop_64HLto128:
	case Iop_32HLto64:
	case Iop_SetV128lo64:
	case Iop_SetV128lo32:
		return MOVE;
	case Iop_Mul16:
	case Iop_Mul32:
	case Iop_Mul64:
	case Iop_MullU32:
	case Iop_MullS32:
	case Iop_MullU64:
	case Iop_MullS64:
		return MULTIPLY;
	case Iop_DivU32:
	case Iop_DivS32:
	case Iop_DivU64:
	case Iop_DivS64:
	case Iop_DivModU64to32:
	case Iop_DivModS64to32:
	case Iop_DivModU128to64:
	case Iop_DivModS128to64:
		return DIVIDE;
	case Iop_I64StoF64:
	case Iop_F64toI32S:
	case Iop_F64toI64S:
	case Iop_F64toF32:
		return FLOAT_MULTIPLY;
	default:
		return SIMPLE;
	}
}

static UInt of_products(IROp op)
{
	switch (op) {
	case Iop_MulF64:
	case Iop_MulF32:
	case Iop_Mul64F0x2:
	case Iop_Mul32F0x4:
	case Iop_Mul64Fx2:
	case Iop_Mul32Fx4:
	case Iop_Mul64Fx4:
	case Iop_Mul32Fx8:
	case Iop_MAddF64:
	case Iop_MAddF32:
		return FLOAT_MULTIPLY;
	default:
		return of_integers(op);
	}
}

static UInt of_floats(IROp op)
{
	switch (op) {
	case Iop_AddF64:
	case Iop_SubF64:
	case Iop_AddF32:
	case Iop_SubF32:
	case Iop_Add64F0x2:
	case Iop_Sub64F0x2:
	case Iop_Add32F0x4:
	case Iop_Sub32F0x4:
	case Iop_Add64Fx2:
	case Iop_Sub64Fx2:
	case Iop_Add32Fx4:
	case Iop_Sub32Fx4:
	case Iop_Add64Fx4:
	case Iop_Sub64Fx4:
	case Iop_Add32Fx8:
	case Iop_Sub32Fx8:
	case Iop_CmpF64:
	case Iop_CmpF32:
		return FLOAT_ADD;
	case Iop_DivF64:
	case Iop_DivF32:
	case Iop_Div64F0x2:
	case Iop_Div32F0x4:
	case Iop_Div64Fx2:
	case Iop_Div32Fx4:
	case Iop_Div64Fx4:
	case Iop_Div32Fx8:
	case Iop_SqrtF64:
	case Iop_SqrtF32:
	case Iop_Sqrt64Fx2:
	case Iop_Sqrt64Fx4:
		return DIVIDE;
	default:
		return of_products(op);
	}
}

static UInt kind_of(const IRExpr *e)
{
	switch (e->tag) {
	case Iex_Unop:
		return of_unop(e->Iex.Unop.op);
	case Iex_Binop:
		return of_floats(e->Iex.Binop.op);
	case Iex_Triop:
		return of_floats(e->Iex.Triop.details->op);
	case Iex_Qop:
		return FLOAT_MULTIPLY;
	case Iex_ITE:
	case Iex_CCall:
		return SIMPLE;
	default:
		return MOVE;
	}
}

UInt latency_of(const IRExpr *e, const struct ooo *of)
{
	UInt kind = kind_of(e);

	if (kind == FLOAT_ADD)
		return of->float_add ? of->float_add : COMMON_FLOAT_ADD;
	if (kind == FLOAT_MULTIPLY)
		return of->float_multiply ? of->float_multiply : COMMON_FLOAT_MULTIPLY;
	return kind;
}

static Bool is_vector(IRType type)
{
	return type == Ity_V128 || type == Ity_V256 || type == Ity_F64 || type == Ity_F32;
}

/* What only moves takes a unit if it puts a vector together. */
static Bool shuffles(const IRExpr *e)
{
	return e->tag == Iex_Binop &&
	       (e->Iex.Binop.op == Iop_64HLtoV128 || e->Iex.Binop.op == Iop_V128HLtoV256);
}

static enum unit unit_of(const IRExpr *e, IRType type)
{
	switch (kind_of(e)) {
	case FLOAT_ADD:
		return UNIT_ADD;
	case FLOAT_MULTIPLY:
		return UNIT_MULTIPLY;
	case MOVE:
		return shuffles(e) ? UNIT_VECTOR : UNIT_ANY;
	default:
		return is_vector(type) ? UNIT_VECTOR : UNIT_ANY;
	}
}

void units_use(struct units *units, UInt instruction, const IRExpr *e, IRType type)
{
	enum unit unit = unit_of(e, type);

	if (instruction != units->instruction)
		units->uses = 0;
	units->instruction = instruction;
	units->used[unit] += !(units->uses >> unit & 1);
	units->uses |= 1u << unit;
}

ULong cycles_of_units(const struct units *units)
{
	UInt add = units->used[UNIT_ADD], multiply = units->used[UNIT_MULTIPLY],
	     floats = 50 * (add > multiply ? add : multiply),
	     vectors = (units->used[UNIT_VECTOR] + add + multiply) * 100 / 3;

	return floats > vectors ? floats : vectors;
}

Bool is_comparison(const IRExpr *e)
{
	if (e->tag == Iex_CCall)
		return True;
	if (e->tag != Iex_Binop)
		return False;
	switch (e->Iex.Binop.op) {
	case Iop_CmpEQ8 ... Iop_CmpNE64:
	case Iop_CmpLT32S ... Iop_CmpLE64U:
		return True;
	default:
		return False;
	}
}

/* Entries for instructions that wait for others: Skylake's (WikiChip, "Skylake (client)",
 * key changes from Broadwell); of other cores that is assumed. */
#define SCHEDULER 97

UInt chain_reach(const struct ooo *of, UInt instructions, UInt waiters)
{
	UInt reach = waiters ? SCHEDULER * instructions / waiters : of->window;

	return reach < of->window ? reach : of->window;
}
