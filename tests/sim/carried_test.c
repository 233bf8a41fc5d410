/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Which loads get what the superblock has stored (tools/sim/instrument/carried.c): small
 * superblocks by hand.
 */
#include <string.h>

#include "pub_tool_guest.h"
#include "instrument/carried.h"
#include "tests/tap/tap.h"

Int sizeofIRType(IRType type)
{
	return type == Ity_V128 ? 16 : type == Ity_F32 || type == Ity_I32 ? 4 : 8;
}

IRType typeOfIRExpr(const IRTypeEnv *types, const IRExpr *e)
{
	return e->tag == Iex_RdTmp ? types->types[e->Iex.RdTmp.tmp] : Ity_I64;
}

#if defined(VGA_amd64)
#define FIRST_REGISTER ((Int)offsetof(VexGuestAMD64State, guest_RAX))
#elif defined(VGA_arm64)
#define FIRST_REGISTER ((Int)offsetof(VexGuestARM64State, guest_X0))
#endif

enum { MOST = 64, BEGIN = 0x1000, ELSEWHERE = 0x2000, P = 3, I = 5 };

static IRType types[MOST];
static IRTypeEnv environment = {types, MOST, MOST};
static IRStmt made[MOST], *statements[MOST];
static IRExpr temps[MOST], data[MOST], constants[MOST], next;
static IRConst numbers[MOST], destination;
static IRSB block = {&environment, statements, MOST, 0, &next, Ijk_Boring, 0};
static int nconstants;
static struct carried carried;

static IRStmt *add(IRStmtTag tag)
{
	int at = block.stmts_used++;

	memset(&made[at], 0, sizeof(made[at]));
	made[at].tag = tag;
	statements[at] = &made[at];
	return &made[at];
}

static void begin(void)
{
	block.stmts_used = nconstants = 0;
	add(Ist_IMark)->Ist.IMark.addr = BEGIN;
}

/* The superblock is over, and goes there. */
static void end(Addr to)
{
	destination = (IRConst){.tag = Ico_U64, .Ico.U64 = to};
	next.tag = Iex_Const;
	next.Iex.Const.con = &destination;
	carried_find(&carried, &block);
}

/* The temporary of the statement that is added. */
static IRExpr *set(IRExpr e, IRType type)
{
	int at = block.stmts_used;
	IRStmt *s = add(Ist_WrTmp);

	data[at] = e;
	types[at] = type;
	temps[at].tag = Iex_RdTmp;
	temps[at].Iex.RdTmp.tmp = (IRTemp)at;
	s->Ist.WrTmp.tmp = (IRTemp)at;
	s->Ist.WrTmp.data = &data[at];
	return &temps[at];
}

static IRExpr *constant(ULong n)
{
	IRExpr *e = &constants[nconstants];

	numbers[nconstants] = (IRConst){.tag = Ico_U64, .Ico.U64 = n};
	e->tag = Iex_Const;
	e->Iex.Const.con = &numbers[nconstants++];
	return e;
}

static IRExpr *get(int n)
{
	IRExpr e = {.tag = Iex_Get};

	e.Iex.Get.offset = FIRST_REGISTER + 8 * n;
	e.Iex.Get.ty = Ity_I64;
	return set(e, Ity_I64);
}

static void put(int n, IRExpr *value)
{
	IRStmt *s = add(Ist_Put);

	s->Ist.Put.offset = FIRST_REGISTER + 8 * n;
	s->Ist.Put.data = value;
}

static IRExpr *compute(IROp op, IRExpr *one, IRExpr *other, IRType type)
{
	IRExpr e = {.tag = Iex_Binop};

	e.Iex.Binop.op = op;
	e.Iex.Binop.arg1 = one;
	e.Iex.Binop.arg2 = other;
	return set(e, type);
}

static IRExpr *plus(IRExpr *one, ULong n)
{
	return compute(Iop_Add64, one, constant(n), Ity_I64);
}

static int last(void)
{
	return block.stmts_used - 1;
}

static IRExpr *load(IRExpr *address, IRType type)
{
	IRExpr e = {.tag = Iex_Load};

	e.Iex.Load.ty = type;
	e.Iex.Load.addr = address;
	return set(e, type);
}

static int store(IRExpr *address, IRExpr *value)
{
	IRStmt *s = add(Ist_Store);

	s->Ist.Store.addr = address;
	s->Ist.Store.data = value;
	return last();
}

static int is_carried(int from, int to)
{
	return carried_at(&carried, from) >= 0 &&
	       carried_at(&carried, from) == carried_at(&carried, to);
}

/* p[1] = f(p[0]); p += step.  Is it carried to the next round? */
static int advances(IRType type, ULong step, Addr to)
{
	IRExpr *p, *value;
	int from, at;

	begin();
	p = get(P);
	value = load(p, type);
	from = last();
	value = compute(Iop_AddF64, value, value, type);
	at = store(plus(p, 8), value);
	put(P, plus(p, step));
	end(to);
	return is_carried(from, at);
}

static void test_rounds(void)
{
	ok(advances(Ity_F64, 8, BEGIN), "floats: the next round loads what is stored");
	ok(!advances(Ity_F64, 16, BEGIN), "not two words further");
	ok(!advances(Ity_F64, 0, BEGIN), "nor at the same place");
	ok(!advances(Ity_F64, 8, ELSEWHERE), "nor where there is no next round");
	ok(!advances(Ity_I64, 8, BEGIN), "a general register comes back at once");
	ok(!advances(Ity_F32, 4, BEGIN), "nor behind what the next round loads");
}

/* p[i + 1] = f(p[i]); i += 1: with an index. */
static void test_index(void)
{
	IRExpr *p, *i, *value;
	int from, at;

	begin();
	p = get(P);
	i = get(I);
	value = load(compute(Iop_Add64, p, compute(Iop_Shl64, i, constant(3), Ity_I64),
			     Ity_I64),
		Ity_I64);
	from = last();
	i = plus(i, 1);
	value = compute(Iop_Add64, value, value, Ity_I64);
	at = store(compute(Iop_Add64, compute(Iop_Shl64, i, constant(3), Ity_I64), p,
			   Ity_I64),
		value);
	put(I, i);
	end(BEGIN);
	ok(is_carried(from, at), "integers with an index: as floats");
}

/* Two rounds in one superblock, as VEX makes them. */
static void test_unrolled(void)
{
	IRExpr *p, *value;
	int from[2], at[2];

	begin();
	p = get(P);
	for (int i = 0; i < 2; i++) {
		value = load(plus(p, 8 * (ULong)i), Ity_F64);
		from[i] = last();
		value = compute(Iop_AddF64, value, value, Ity_F64);
		at[i] = store(plus(p, 8 * (ULong)i + 8), value);
	}
	put(P, plus(p, 16));
	end(BEGIN);
	ok(is_carried(from[1], at[0]), "from a round to the other");
	ok(is_carried(from[0], at[1]), "and to the next two");
	ok(carried_at(&carried, at[0]) != carried_at(&carried, at[1]), "by two words");
}

/* Places that are not known to be the same. */
static void test_unknown(void)
{
	IRExpr *p, *value;
	int from, at;

	begin();
	p = get(P);
	value = load(p, Ity_F64);
	from = last();
	at = store(plus(p, 8), compute(Iop_AddF64, value, value, Ity_F64));
	put(P, load(plus(p, 64), Ity_I64));
	end(BEGIN);
	ok(!is_carried(from, at), "a register that is loaded");

	begin();
	p = get(P);
	put(P, plus(p, 8));
	value = load(get(P), Ity_F64);
	from = last();
	at = store(plus(p, 16), compute(Iop_AddF64, value, value, Ity_F64));
	end(BEGIN);
	ok(!is_carried(from, at), "one that is looked at behind its change");

	begin();
	p = get(P);
	value = load(p, Ity_F32);
	from = last();
	at = store(plus(p, 8), compute(Iop_AddF64, value, value, Ity_F64));
	put(P, plus(p, 8));
	end(BEGIN);
	ok(!is_carried(from, at), "half of it");
	is_int(carried_at(&carried, 0), -1, "what is neither load nor store");
}

int main(void)
{
	plan(14);
	test_rounds();
	test_index();
	test_unrolled();
	test_unknown();
	return 0;
}
