/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Statements for tests of flows.c, one by one, and what it needs of Valgrind's core.
 */
#ifndef CACHEPEEK_TESTS_SIM_FLOW_STATEMENTS_H
#define CACHEPEEK_TESTS_SIM_FLOW_STATEMENTS_H

#include <stdlib.h>
#include <string.h>

#include "pub_tool_guest.h"
#include "instrument/flows.h"
#include "model/ahead.h"
#include "tests/tap/tap.h"

/* ---- what of the core of Valgrind is needed ---- */

struct tool_options tool_options;

void *VG_(memset)(void *to, Int value, SizeT size)
{
	return memset(to, value, size);
}

void *VG_(memcpy)(void *to, const void *from, SizeT size)
{
	return memcpy(to, from, size);
}

Int VG_(memcmp)(const void *one, const void *other, SizeT size)
{
	return memcmp(one, other, size);
}

void *VG_(malloc)(const HChar *what, SizeT size)
{
	(void)what;
	return malloc(size);
}

Int sizeofIRType(IRType type)
{
	return type == Ity_I64 ? 8 : type == Ity_I32 ? 4 : 1;
}

IRType typeOfIRExpr(const IRTypeEnv *types, const IRExpr *e)
{
	return types->types[e->Iex.RdTmp.tmp];
}

/* ---- statements ---- */

#if defined(VGA_amd64)
#define FIRST_REGISTER ((Int)offsetof(VexGuestAMD64State, guest_RAX))
#elif defined(VGA_arm64)
#define FIRST_REGISTER ((Int)offsetof(VexGuestARM64State, guest_X0))
#endif

enum { TEMPS = 400, REGISTERS = 4, L1 = 4 }; /* the fifth register is a stack pointer */

static IRType types[TEMPS];
static IRTypeEnv environment = {types, TEMPS, TEMPS};
static IRExpr temps[TEMPS];
static IRStmt statement, *statements[1] = {&statement};
static IRSB block = {&environment, statements, 1, 1, NULL, Ijk_Boring, 0};
static IRTemp ntemps;

static void follow(IRStmt s)
{
	statement = s;
	flows_statement(&block, 0);
}

/* The temporary that gets that. */
__attribute__((unused)) static IRTemp set_temp(IRExpr *data)
{
	IRStmt s = {.tag = Ist_WrTmp};

	s.Ist.WrTmp.tmp = ntemps;
	s.Ist.WrTmp.data = data;
	temps[ntemps].tag = Iex_RdTmp;
	temps[ntemps].Iex.RdTmp.tmp = ntemps;
	types[ntemps] = Ity_I64;
	follow(s);
	return ntemps++;
}

__attribute__((unused)) static IRTemp get_register(int n)
{
	IRExpr e = {.tag = Iex_Get};

	e.Iex.Get.offset = FIRST_REGISTER + 8 * n;
	e.Iex.Get.ty = Ity_I64;
	return set_temp(&e);
}

__attribute__((unused)) static IRTemp compute(IROp op, IRTemp one, IRTemp other)
{
	IRExpr e = {.tag = Iex_Binop};

	e.Iex.Binop.op = op;
	e.Iex.Binop.arg1 = &temps[one];
	e.Iex.Binop.arg2 = &temps[other];
	return set_temp(&e);
}

__attribute__((unused)) static IRTemp load_from(IRTemp address)
{
	IRExpr e = {.tag = Iex_Load};

	e.Iex.Load.addr = &temps[address];
	return set_temp(&e);
}

__attribute__((unused)) static void put_register(int n, IRTemp temp, IRType type)
{
	IRStmt s = {.tag = Ist_Put};

	types[temp] = type;
	s.Ist.Put.offset = FIRST_REGISTER + 8 * n;
	s.Ist.Put.data = &temps[temp];
	follow(s);
}

/* A core that executes out of order; the test's plan is open. */
static void begin_test(void)
{
	plan_lazy();
	tool_options.nmachines = 1;
	tool_options.machines[0].ooo = (struct ooo){.l1 = L1,
		.window = 224,
		.width = 400,
		.loads = 200,
		.stores = 100,
		.float_add = 2};
}

static void begin(void)
{
	ntemps = 0;
	flows_begin();
}

#endif
