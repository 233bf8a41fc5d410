/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What operations take, and the units that they need (tools/sim/instrument/latency.c).
 */
#include <string.h>

#include "pub_tool_guest.h"
#include "instrument/latency.h"
#include "tests/tap/tap.h"

static void latencies(void)
{
	static const struct {
		IROp op;
		UInt cycles;
	} of[] = {{Iop_Add64, 1}, {Iop_And32, 1}, {Iop_Mul64, 3}, {Iop_MullU64, 3},
		{Iop_DivModU128to64, 13}, {Iop_Add64F0x2, 3}, {Iop_Mul64Fx2, 4},
		{Iop_Div32F0x4, 13}, {Iop_CmpF64, 3}, {Iop_I64StoF64, 6},
		{Iop_64HLtoV128, 1}, {Iop_V128HLtoV256, 0}, {Iop_SetV128lo64, 0},
		{Iop_F64toF32, 5}, {Iop_F64toI64S, 4}, {Iop_Max64F0x2, 4}};
	static const struct {
		IROp op;
		UInt cycles;
	} of_one[] = {{Iop_64to32, 0}, {Iop_32Uto64, 0}, {Iop_Not64, 1},
		{Iop_Sqrt64F0x2, 18}, {Iop_Sqrt32F0x4, 13}, {Iop_F32toF64, 5},
		{Iop_V128to64, 0}, {Iop_8Uto64, 1}, {Iop_CtzNat64, 3}};

	const struct ooo common = {0}, other = {.float_add = 2, .float_multiply = 5};
	IRExpr add = {.tag = Iex_Binop}, multiply = add;

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		IRExpr e = {.tag = Iex_Binop};

		e.Iex.Binop.op = of[i].op;
		is_u64(latency_of(&e, &common), of[i].cycles, "operation %zu", i);
	}
	for (size_t i = 0; i < sizeof(of_one) / sizeof(of_one[0]); i++) {
		IRExpr e = {.tag = Iex_Unop};

		e.Iex.Unop.op = of_one[i].op;
		is_u64(latency_of(&e, &common), of_one[i].cycles, "operation %zu of one",
			i);
	}
	add.Iex.Binop.op = Iop_Add64F0x2;
	multiply.Iex.Binop.op = Iop_Mul64Fx2;
	is_u64(latency_of(&add, &other), 2, "an addition, as the machine says");
	is_u64(latency_of(&multiply, &other), 5, "a multiplication");
}

/* What so many instructions take that each make that, in two pieces. */
static uint64_t taken_by(UInt n, IROp op, IRType type)
{
	struct units units;
	IRExpr e = {.tag = Iex_Binop};

	memset(&units, 0, sizeof(units));
	e.Iex.Binop.op = op;
	for (UInt i = 1; i <= n; i++) {
		units_use(&units, i, &e, type);
		units_use(&units, i, &e, type);
	}
	return cycles_of_units(&units);
}

static void units(void)
{
	struct units units;
	IRExpr add = {.tag = Iex_Binop}, multiply = add;

	is_u64(taken_by(8, Iop_Add64F0x2, Ity_V128), 400, "eight additions by two units");
	is_u64(taken_by(8, Iop_Mul64F0x2, Ity_V128), 400, "and multiplications");
	is_u64(taken_by(8, Iop_CmpF64, Ity_I32), 400, "and comparisons");
	is_u64(taken_by(12, Iop_XorV128, Ity_V128), 400, "others by three");
	is_u64(taken_by(8, Iop_InterleaveLO32x4, Ity_V128), 400, "shuffles by two");
	is_u64(taken_by(8, Iop_CmpGT32Sx4, Ity_V128), 400,
		"comparisons of vectors by two");
	is_u64(taken_by(4, Iop_I64StoF64, Ity_F64), 400, "what makes floats by one");
	is_u64(taken_by(4, Iop_MullU64, Ity_I64), 400, "products of integers by one");
	is_u64(taken_by(12, Iop_64HLtoV128, Ity_V128), 400, "and what puts two together");
	is_u64(taken_by(8, Iop_Add64, Ity_I64), 0, "of integers there are enough");
	memset(&units, 0, sizeof(units));
	add.Iex.Binop.op = Iop_Add64F0x2;
	multiply.Iex.Binop.op = Iop_Mul64F0x2;
	for (UInt i = 1; i <= 6; i++)
		units_use(&units, i, i % 2 ? &add : &multiply, Ity_V128);
	is_u64(cycles_of_units(&units), 200, "both together are of the three");
}

static void dividers(void)
{
	static const struct {
		IROp op;
		UInt cycles;
	} of[] = {{Iop_DivModU128to64, 10}, {Iop_DivModU64to32, 6}, {Iop_Div64F0x2, 4},
		{Iop_Div32F0x4, 3}, {Iop_Div64Fx4, 8}, {Iop_Mul64F0x2, 0}};

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		IRExpr e = {.tag = Iex_Binop};

		e.Iex.Binop.op = of[i].op;
		is_u64(cycles_of_divider(&e), of[i].cycles, "divider %zu", i);
	}
}

/* Of 97 entries. */
static void scheduler(void)
{
	is_u64(ticks_by_scheduler(6, 1000), 10,
		"each waits ten ticks for one that leaves");
	is_u64(ticks_by_scheduler(206, 1000), 5, "many, which are issued late");
	is_u64(ticks_by_scheduler(0, 0), 0, "none");
}

int main(void)
{
	plan_lazy();
	scheduler();
	dividers();
	latencies();
	units();
	return 0;
}
