/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The time of operations, and the units that they need (tools/sim/instrument/latency.c).
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

/* The time of so many instructions that each make that, in two pieces. */
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
	static const struct {
		const char *what;
		IROp op;
		IRType type;
		UInt n, cycles;
	} of[] = {{"additions of floats by two ports", Iop_Add64F0x2, Ity_V128, 8, 4},
		{"multiplications", Iop_Mul64F0x2, Ity_V128, 8, 4},
		{"floats that are compared for a branch", Iop_CmpF64, Ity_I32, 4, 4},
		{"for a vector", Iop_CmpLT32F0x4, Ity_V128, 8, 4},
		{"others by three", Iop_XorV128, Ity_V128, 12, 4},
		{"shuffles by two", Iop_InterleaveLO32x4, Ity_V128, 8, 4},
		{"what puts two together", Iop_64HLtoV128, Ity_V128, 8, 4},
		{"comparisons of vectors", Iop_CmpGT32Sx4, Ity_V128, 8, 4},
		{"shifts of vectors", Iop_ShrN32x4, Ity_V128, 8, 4},
		{"integers that become floats", Iop_I64StoF64, Ity_F64, 4, 4},
		{"and floats integers", Iop_F64toI64S, Ity_I64, 4, 4},
		{"floats of other precision", Iop_F64toF32, Ity_F32, 4, 4},
		{"products of integers by one", Iop_MullU64, Ity_I64, 4, 4},
		{"bits that are counted", Iop_PopCount64, Ity_I64, 4, 4},
		{"shifts by two", Iop_Shr32, Ity_I32, 8, 4},
		{"other integers by five", Iop_Add64, Ity_I64, 20, 4},
		{"moves by none", Iop_SetV128lo64, Ity_V128, 8, 0}};

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		is_u64(taken_by(of[i].n, of[i].op, of[i].type), of[i].cycles * 100, "%s",
			of[i].what);
}

/* The time of instructions that are made of both. */
static uint64_t taken_by_both(UInt n, IROp one, IROp other, IRType type)
{
	struct units units;
	IRExpr first = {.tag = Iex_Binop}, second = first;

	memset(&units, 0, sizeof(units));
	first.Iex.Binop.op = one;
	second.Iex.Binop.op = other;
	for (UInt i = 1; i <= n; i++) {
		units_use(&units, i, &first, type);
		units_use(&units, i, &second, type);
	}
	return cycles_of_units(&units);
}

/* Pieces that make floats beside products, and integers of a vector's instruction. */
static void pieces(void)
{
	struct units units;
	IRExpr make = {.tag = Iex_Binop}, multiply = make;

	memset(&units, 0, sizeof(units));
	make.Iex.Binop.op = Iop_I64StoF64;
	multiply.Iex.Binop.op = Iop_Mul64F0x2;
	for (UInt i = 1; i <= 12; i++)
		units_use(&units, i, i % 3 ? &multiply : &make, Ity_V128);
	is_u64(cycles_of_units(&units), 600, "what makes floats has a second piece");
	memset(&units, 0, sizeof(units));
	make.Iex.Binop.op = Iop_XorV128;
	multiply.Iex.Binop.op = Iop_Mul64;
	for (UInt i = 1; i <= 12; i++) {
		units_use(&units, i, &make, Ity_V128);
		units_use(&units, i, &multiply, Ity_I64);
	}
	is_u64(cycles_of_units(&units), 400, "an integer of a vector's has no port");
}

/* Ports that two kinds share, and pieces of one instruction. */
static void shared(void)
{
	struct units units;
	IRExpr add = {.tag = Iex_Binop}, multiply = add, offset = add;
	IRConst by = {.tag = Ico_U8};
	IRExpr number = {.tag = Iex_Const};

	memset(&units, 0, sizeof(units));
	add.Iex.Binop.op = Iop_Add64F0x2;
	multiply.Iex.Binop.op = Iop_Mul64F0x2;
	for (UInt i = 1; i <= 6; i++)
		units_use(&units, i, i % 2 ? &add : &multiply, Ity_V128);
	is_u64(cycles_of_units(&units), 200, "both together are of the three");
	is_u64(taken_by_both(8, Iop_Or32, Iop_Shl32, Ity_I32), 400,
		"pieces of an instruction are one, that which has fewest ports");
	is_u64(taken_by_both(8, Iop_Shl32, Iop_Or32, Ity_I32), 400, "whichever is first");

	memset(&units, 0, sizeof(units));
	number.Iex.Const.con = &by;
	offset.Iex.Binop.op = Iop_Shl64;
	offset.Iex.Binop.arg2 = &number;
	by.Ico.U8 = 3;
	for (UInt i = 1; i <= 20; i++)
		units_use(&units, i, &offset, Ity_I64);
	is_u64(cycles_of_units(&units), 400, "an offset is no shift");
}

/* The other work of instructions. */
static void besides(void)
{
	struct units units;
	IRExpr add = {.tag = Iex_Binop};

	memset(&units, 0, sizeof(units));
	add.Iex.Binop.op = Iop_Add64;
	for (UInt i = 1; i <= 20; i++) {
		units_use(&units, i, &add, Ity_I64);
		units_address(&units, i);
	}
	is_u64(cycles_of_units(&units), 0, "addresses have ports of their own");
	memset(&units, 0, sizeof(units));
	for (UInt i = 1; i <= 4; i++)
		units_cross(&units, i, True);
	is_u64(cycles_of_units(&units), 400, "ways to vectors one");
	for (UInt i = 5; i <= 10; i++)
		units_cross(&units, i, False);
	is_u64(cycles_of_units(&units), 600, "and ways back another one");
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

/* The scheduler has 97 entries. */
static void scheduler(void)
{
	is_u64(ticks_by_scheduler(6, 1000), 10,
		"each waits ten ticks for one that leaves");
	is_u64(ticks_by_scheduler(206, 1000), 5, "many, which are issued late");
	is_u64(ticks_by_scheduler(0, 0), 0, "none");
	is_u64(ticks_together(30, 40), 50, "ports and scheduler are in each other's way");
	is_u64(ticks_together(1ull << 20, 0), 1ull << 20, "one alone");
}

int main(void)
{
	plan_lazy();
	scheduler();
	dividers();
	latencies();
	units();
	pieces();
	shared();
	besides();
	return 0;
}
