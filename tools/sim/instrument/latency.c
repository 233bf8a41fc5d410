/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "instrument/latency.h"
#include "model/flow.h"
#include "valgrind/operations.h"

enum {
	MOVE = 0,
	SIMPLE = 1,
	MULTIPLY = 3,
	COMMON_FLOAT_ADD = 3,
	COMMON_FLOAT_MULTIPLY = 4,
	DIVIDE = 13,
	ROOT = 18,
	/* From floats to other floats, and from integers to floats. */
	CONVERT = 5,
	MAKE_FLOAT = 6,
	MOST = 4,  /* of two floats, and whether one is it */
	COUNT = 3, /* bits of a kind */
	/* The kinds whose latency a machine file may say. */
	FLOAT_ADD = 1000,
	FLOAT_MULTIPLY
};

static UInt of_one_float(IROp op)
{
	switch (op) {
	case Iop_Sqrt64F0x2:
		return ROOT;
	case Iop_Sqrt32F0x4:
		return DIVIDE;
	case Iop_F32toF64:
		return CONVERT;
	case Iop_I32StoF64:
	case Iop_I32UtoF64:
		return MAKE_FLOAT;
	case Iop_PopCount64:
	case Iop_PopCount32:
	case FIRST_COUNT_OF_ZEROS ... LAST_COUNT_OF_ZEROS:
		return COUNT;
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
		return MAKE_FLOAT;
	case Iop_F64toF32:
		return CONVERT;
	case Iop_F64toI32S:
	case Iop_F64toI64S:
		return FLOAT_MULTIPLY;
	default:
		return SIMPLE;
	}
}

static UInt of_products(IROp op)
{
	switch (op) {
	case Iop_Max64F0x2:
	case Iop_Min64F0x2:
	case Iop_Max32F0x4:
	case Iop_Min32F0x4:
	case Iop_Max64Fx2:
	case Iop_Min64Fx2:
	case Iop_Max32Fx4:
	case Iop_Min32Fx4:
	case Iop_CmpEQ32Fx4 ... Iop_CmpUN32Fx4:
	case Iop_CmpEQ32F0x4 ... Iop_CmpUN32F0x4:
	case Iop_CmpEQ64Fx2 ... Iop_CmpUN64Fx2:
	case Iop_CmpEQ64F0x2 ... Iop_CmpUN64F0x2:
		return MOST;
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
	case Iop_SqrtF32:
		return DIVIDE;
	case Iop_SqrtF64:
	case Iop_Sqrt64Fx2:
	case Iop_Sqrt64Fx4:
		return ROOT;
	default:
		return of_products(op);
	}
}

/* An operation, found out once.  vectors: the sets of ports that its pieces take if it is
 * of those, a bit each; general: the one if it is of integers. */
struct operation {
	Bool known;
	UChar divider, general;
	UShort kind;
	UInt vectors;
};

static const struct operation *operation_of(const IRExpr *e);

static UInt kind_of(const IRExpr *e)
{
	switch (e->tag) {
	case Iex_Unop:
	case Iex_Binop:
	case Iex_Triop:
	case Iex_Qop:
		return operation_of(e)->kind;
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

UInt latency_beside_adder(const IRExpr *e, const struct ooo *of)
{
	return kind_of(e) == FLOAT_ADD && of->float_add &&
			       of->float_add < COMMON_FLOAT_ADD
		       ? COMMON_FLOAT_ADD - of->float_add
		       : 0;
}

Bool only_moves(const IRExpr *e)
{
	return kind_of(e) == MOVE;
}

Bool adds_floats(const IRExpr *e)
{
	return kind_of(e) == FLOAT_ADD;
}

Bool widens(const IRExpr *e)
{
	if (e->tag != Iex_Unop)
		return False;
	switch (e->Iex.Unop.op) {
	case Iop_8Uto32:
	case Iop_8Uto64:
	case Iop_16Uto32:
	case Iop_16Uto64:
		return True;
	default:
		return False;
	}
}

Bool scales(const IRExpr *e)
{
	return e->tag == Iex_Binop && e->Iex.Binop.op == Iop_Shl64 &&
	       e->Iex.Binop.arg2->tag == Iex_Const;
}

Bool is_sum(const IRExpr *e)
{
	return e->tag == Iex_Binop && e->Iex.Binop.op == Iop_Add64;
}

/* ---- units ---- */

static Bool is_vector(IRType type)
{
	return type == Ity_V128 || type == Ity_V256 || type == Ity_F64 || type == Ity_F32;
}

static UInt of_float_divider(IROp op)
{
	switch (op) {
	case Iop_DivF32:
	case Iop_Div32F0x4:
	case Iop_Div32Fx4:
	case Iop_SqrtF32:
	case Iop_Sqrt32F0x4:
		return 3;
	case Iop_DivF64:
	case Iop_Div64F0x2:
	case Iop_Div64Fx2:
		return 4;
	case Iop_Div32Fx8:
		return 5;
	case Iop_SqrtF64:
	case Iop_Sqrt64F0x2:
	case Iop_Sqrt64Fx2:
		return 6;
	case Iop_Div64Fx4:
		return 8;
	case Iop_Sqrt64Fx4:
		return 12;
	default:
		return 0;
	}
}

static UInt of_divider(IROp op)
{
	switch (op) {
	case Iop_DivU32:
	case Iop_DivS32:
	case Iop_DivModU64to32:
	case Iop_DivModS64to32:
		return 6;
	case Iop_DivU64:
	case Iop_DivS64:
	case Iop_DivModU128to64:
	case Iop_DivModS128to64:
		return 10;
	default:
		return of_float_divider(op);
	}
}

/* The ports of operations, those with numbers between two: one set for each piece. */
struct ported {
	IROp from, to;
	UChar one, other;
};

static const struct ported of_general[] = {
	{Iop_Add8, Iop_Sub64, ANY, 0},
	{Iop_Mul8, Iop_Mul64, P1, 0},
	{Iop_Or8, Iop_Xor64, ANY, 0},
	{Iop_Shl8, Iop_Sar64, P0 | P6, 0},
	{Iop_Not8, Iop_Not64, ANY, 0},
	{Iop_MullS8, Iop_MullU64, P1, 0},
	{FIRST_COUNT_OF_ZEROS, LAST_COUNT_OF_ZEROS, P1, 0},
	{Iop_PopCount64, Iop_PopCount32, P1, 0},
};

static const struct ported of_vector[] = {
	{Iop_CmpF64, Iop_CmpF32, P0, 0},
	{Iop_F64toI16S, Iop_F64toI64U, P0, P0 | P1},
	{Iop_64HLtoV128, Iop_64HLtoV128, P1 | P5, 0},
	{Iop_V128HLtoV256, Iop_V128HLtoV256, P5, 0},
	{Iop_InterleaveHI8x16, Iop_InterleaveLO64x2, P1 | P5, 0},
	{Iop_Perm8x16, Iop_Perm32x4, P1 | P5, 0},
	{Iop_CmpEQ8x16, Iop_CmpGT64Ux2, P0 | P1, 0},
	{Iop_ShlN8x16, Iop_SarN64x2, P0 | P1, 0},
	{Iop_Mul8x16, Iop_MullEven32Sx4, P0 | P1, 0},
};

/* And of all others of a kind. */
static const struct {
	UInt kind;
	UChar one, other;
} of_kind[] = {
	{FLOAT_ADD, P1 | P5, 0},
	{FLOAT_MULTIPLY, P0 | P1, 0},
	{MOST, P0 | P1, 0},
	{MAKE_FLOAT, P5, P0 | P1},
	{CONVERT, P5, P0 | P1},
	{DIVIDE, P0, 0},
	{ROOT, P0, 0},
	{MOVE, 0, 0},
};

static const struct ported *ported_as(const struct ported *of, UInt n, IROp op)
{
	for (UInt i = 0; i < n; i++)
		if (op >= of[i].from && op <= of[i].to)
			return &of[i];
	return NULL;
}

#define PORTED_AS(of, op) ported_as(of, sizeof(of) / sizeof((of)[0]), op)

static UInt vectors_of(IROp op, UInt kind)
{
	const struct ported *ported = PORTED_AS(of_vector, op);
	UChar one = OF_VECTORS, other = 0;

	for (UInt i = 0; !ported && i < sizeof(of_kind) / sizeof(of_kind[0]); i++)
		if (of_kind[i].kind == kind) {
			one = of_kind[i].one;
			other = of_kind[i].other;
		}
	if (ported) {
		one = ported->one;
		other = ported->other;
	}
	return (1u << one | 1u << other) & ~1u;
}

static IROp op_of(const IRExpr *e)
{
	switch (e->tag) {
	case Iex_Unop:
		return e->Iex.Unop.op;
	case Iex_Binop:
		return e->Iex.Binop.op;
	case Iex_Triop:
		return e->Iex.Triop.details->op;
	default:
		return e->Iex.Qop.details->op;
	}
}

static Bool computes(const IRExpr *e)
{
	return e->tag == Iex_Unop || e->tag == Iex_Binop || e->tag == Iex_Triop ||
	       e->tag == Iex_Qop;
}

/* Looks up an expression that computes. */
static const struct operation *operation_of(const IRExpr *e)
{
	static struct operation known[Iop_LAST - Iop_INVALID];
	IROp op = op_of(e);
	struct operation *o = &known[op - Iop_INVALID];
	const struct ported *ported;

	if (o->known)
		return o;
	o->known = True;
	o->kind = (UShort)(e->tag == Iex_Qop    ? FLOAT_MULTIPLY
			   : e->tag == Iex_Unop ? of_unop(op)
						: of_floats(op));
	o->divider = (UChar)of_divider(op);
	o->vectors = vectors_of(op, o->kind);
	ported = PORTED_AS(of_general, op);
	o->general = ported ? ported->one : 0;
	return o;
}

UInt cycles_of_divider(const IRExpr *e)
{
	return computes(e) ? operation_of(e)->divider : 0;
}

static const UChar ports_in[PORT_SETS] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,
	1, 2, 2, 3, 2, 3, 3, 4, 2, 3, 3, 4, 3, 4, 4, 5};

/* Adds what the instruction before took, which is known now. */
static void settle_instruction(struct units *units, UInt instruction)
{
	if (instruction == units->instruction)
		return;
	for (UInt sets = units->vectors; sets; sets &= sets - 1)
		units->used[__builtin_ctz(sets)]++;
	if (!units->vectors)
		units->used[units->integers]++;
	units->instruction = instruction;
	units->vectors = units->integers = 0;
}

/* A constant that numbers are moved by to be the offset of one of an array's. */
static Bool is_offset(const IRExpr *e)
{
	return scales(e) && e->Iex.Binop.arg2->Iex.Const.con->Ico.U8 <= 3;
}

/* An instruction of integers takes one piece's set of ports: the set that has the fewest.
 */
static void use_of_general(struct units *units, const IRExpr *e)
{
	UChar set = computes(e) ? operation_of(e)->general : 0;

	if (e->tag == Iex_ITE)
		set = P0 | P6;
	if (is_offset(e))
		set = ANY;
	if (set && (!units->integers || ports_in[set] < ports_in[units->integers]))
		units->integers = set;
}

/* An operation that makes no vector may compare floats, or turn one into an integer. */
void units_use(struct units *units, UInt instruction, const IRExpr *e, IRType type)
{
	UInt kind;

	if (!computes(e) && e->tag != Iex_ITE && e->tag != Iex_CCall)
		return;
	kind = kind_of(e);
	settle_instruction(units, instruction);
	if (!is_vector(type) && kind != FLOAT_ADD && kind != FLOAT_MULTIPLY)
		use_of_general(units, e);
	else
		units->vectors |=
			computes(e) ? operation_of(e)->vectors : 1u << OF_VECTORS;
}

void units_address(struct units *units, UInt instruction)
{
	settle_instruction(units, instruction);
	units->integers = 0;
}

void units_cross(struct units *units, UInt instruction, Bool to_vectors)
{
	settle_instruction(units, instruction);
	units->vectors |= 1u << (to_vectors ? P5 : P0);
}

/* used[set] becomes the work that only ports of `set` can do: the sum over its subsets.
 */
static void add_subsets(UInt *used)
{
	for (UInt port = 1; port < PORT_SETS; port <<= 1)
		for (UInt set = port; set < PORT_SETS; set = (set + 1) | port)
			used[set] += used[set - port];
}

ULong cycles_of_units(const struct units *units)
{
	struct units all = *units;
	ULong most = 0, of[PORTS + 1] = {0};

	settle_instruction(&all, units->instruction + 1);
	all.used[0] = 0; /* what needs none */
	add_subsets(all.used);
	for (UInt ports = 1; ports < PORT_SETS; ports++) {
		UInt n = ports_in[ports];

		of[n] = of[n] > all.used[ports] ? of[n] : all.used[ports];
	}
	for (UInt n = 1; n <= PORTS; n++)
		most = of[n] * 100 / n > most ? of[n] * 100 / n : most;
	return most;
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

/* Each waits from when it is issued, which is half of all the time behind the first one
 * in the mean, until it is ready. */
ULong ticks_by_scheduler(UInt instructions, ULong ready)
{
	return 2 * ready / (2 * SCHEDULER + instructions);
}

static ULong root_of(ULong n)
{
	ULong root = 0;

	for (ULong bit = 1ull << 31; bit; bit >>= 1)
		if ((root | bit) * (root | bit) <= n)
			root |= bit;
	return root;
}

ULong ticks_together(ULong ports, ULong scheduler)
{
	return root_of(ports * ports + scheduler * scheduler);
}

UInt chain_reach(const struct ooo *of, UInt instructions, UInt waiters)
{
	UInt reach = waiters ? SCHEDULER * instructions / waiters : of->window;

	return reach < of->window ? reach : of->window;
}
