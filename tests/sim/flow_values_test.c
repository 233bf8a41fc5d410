/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The time of values beside their operations (tools/sim/instrument/flow_values.h): by
 * where they come from and go to.  Each is told as a chain of a register by itself.
 */
#include "tests/sim/flow_statements.h"
#include "tests/tap/tap.h"

#if defined(VGA_amd64)
#define FIRST_VECTOR ((Int)offsetof(VexGuestAMD64State, guest_YMM0))
#elif defined(VGA_arm64)
#define FIRST_VECTOR ((Int)offsetof(VexGuestARM64State, guest_Q0))
#endif

static IRTemp unary(IROp op, IRTemp one)
{
	IRExpr e = {.tag = Iex_Unop};

	e.Iex.Unop.op = op;
	e.Iex.Unop.arg = &temps[one];
	return set_temp(&e);
}

static IRTemp get_vector(void)
{
	IRExpr e = {.tag = Iex_Get};

	e.Iex.Get.offset = FIRST_VECTOR;
	e.Iex.Get.ty = Ity_V128;
	return set_temp(&e);
}

static void put_vector(IRTemp temp)
{
	IRStmt s = {.tag = Ist_Put};

	types[temp] = Ity_V128;
	s.Ist.Put.offset = FIRST_VECTOR;
	s.Ist.Put.data = &temps[temp];
	follow(s);
}

static void begin_with_instruction(void)
{
	begin();
	flows_instruction();
}

static UInt chain(void)
{
	return flows_take(1, 0, 0).chain_cycles;
}

static void additions_of_floats(void)
{
	IRTemp temp;

	begin_with_instruction();
	temp = get_vector();
	put_vector(compute(Iop_Add64F0x2, temp, temp));
	is_u64(chain(), 2, "an addition of a sum");
	begin_with_instruction();
	temp = get_vector();
	temp = compute(Iop_Mul64F0x2, temp, temp);
	put_vector(temp);
	flows_instruction();
	put_vector(compute(Iop_Add64F0x2, temp, temp));
	is_u64(chain(), 4 + 3, "of a product: a cycle more");
}

/* x + 4 * y, where VEX has it in one instruction, or has made the product before. */
static void scaled_sums(void)
{
	IRConst two = {.tag = Ico_U8, .Ico.U8 = 2};
	IRExpr by = {.tag = Iex_Const, .Iex.Const.con = &two}, e = {.tag = Iex_Binop};
	IRTemp times;

	begin_with_instruction();
	temps[ntemps] = (IRExpr){.tag = Iex_RdTmp, .Iex.RdTmp.tmp = ntemps};
	times = get_register(1);
	e.Iex.Binop.op = Iop_Shl64;
	e.Iex.Binop.arg1 = &temps[times];
	e.Iex.Binop.arg2 = &by;
	times = set_temp(&e);
	put_register(0, compute(Iop_Add64, get_register(0), times), Ity_I64);
#if defined(VGA_amd64)
	is_u64(chain(), 2, "a sum with a multiple");
#else
	is_u64(chain(), 1, "a sum with a multiple takes no longer than others");
#endif
	begin_with_instruction();
	times = get_register(1);
	e.Iex.Binop.arg1 = &temps[times];
	times = set_temp(&e);
	put_register(1, times, Ity_I64);
	flows_instruction();
	put_register(0, compute(Iop_Add64, get_register(0), times), Ity_I64);
	is_u64(chain(), 1, "one of two instructions is a cycle of each");
}

static void put_widened(int to, int from)
{
	put_register(
		to, unary(Iop_8Uto64, unary(Iop_64to8, get_register(from))), Ity_I64);
}

static void widened(void)
{
	begin_with_instruction();
	put_widened(0, 0);
	flows_instruction();
	put_widened(0, 0);
	is_u64(chain(), 2, "a byte of the register itself takes a cycle");
	begin_with_instruction();
	put_widened(1, 0);
	flows_instruction();
	put_widened(0, 1);
	flows_instruction();
	put_register(0, compute(Iop_Mul64, get_register(0), get_register(0)), Ity_I64);
	is_u64(chain(), 3, "of another one none");
	begin_with_instruction();
	put_register(0, unary(Iop_8Uto64, load_from(get_register(0))), Ity_I64);
	is_u64(chain(), L1, "nor one that is loaded");
}

static void merged(void)
{
	begin_with_instruction();
	put_register(0, get_register(1), Ity_I8);
	flows_instruction();
	put_register(0, get_register(2), Ity_I8);
	is_u64(chain(), 2, "a cycle for each byte that goes into what there is");
}

static void crossings(void)
{
	begin_with_instruction();
	put_vector(get_register(0));
	flows_instruction();
	put_register(0, get_vector(), Ity_I64);
	is_u64(chain(), 4, "to the vectors and back");
	begin_with_instruction();
	put_vector(load_from(get_register(0)));
	flows_instruction();
	put_register(0, get_vector(), Ity_I64);
	is_u64(chain(), L1 + 2, "what is loaded is there at once");
}

/* The last of 40 that wait for each other waits for 195 cycles, which all others share
 * with those of other rounds. */
/* A superblock that is a round of a loop, or not. */
static void begin_round(Bool loops)
{
	IRConst at = {.tag = Ico_U64, .Ico.U64 = 0x1000}, next = at;
	IRExpr to = {.tag = Iex_Const, .Iex.Const.con = &next};
	IRStmt mark = {.tag = Ist_IMark}, branch = {.tag = Ist_Exit},
	       *both[] = {&mark, &branch};
	IRSB of = {&environment, both, 2, 2, &to, Ijk_Boring, 0};

	mark.Ist.IMark.addr = 0x1000;
	branch.Ist.Exit.dst = &at;
	next.Ico.U64 = 0x2000;
	at.Ico.U64 += !loops;
	flows_look(&of);
	begin();
}

static void waiting(void)
{
	IRTemp made = 0;

	begin_round(True);
	for (int i = 0; i < 40; i++) {
		flows_instruction();
		made = i ? made : get_register(0);
		made = compute(Iop_F64toF32, made, made);
	}
	put_register(1, made, Ity_I64);
	is_u64(flows_take(40, 0, 0).ports,
		AHEAD_TICKS * 5 * 20 * 39 * 2 / (2 * 97 + 40) - 10 * AHEAD_TICKS,
		"a long way fills the scheduler");
}

static const struct flow_wait *wait_of(struct flowed flowed, UInt i)
{
	return &flowed.flow->waits->of[i];
}

/* Which of a batch's instructions wait for what, but for their line. */
static void waits(void)
{
	struct flowed flowed;
	IRTemp loaded, made;

	begin_with_instruction();
	loaded = load_from(load_from(get_register(1)));
	flows_instruction();
	made = compute(Iop_Add64, loaded, loaded);
	flows_instruction();
	put_register(0, compute(Iop_Mul64, made, made), Ity_I64);
	flows_instruction();
	put_register(2, get_register(1), Ity_I64);
	flowed = flows_take(4, 2, 0);
	is_u64(flowed.flow->waits->n, 1, "two wait for the same");
	is_u64(flowed.flow->waits->registers, 2, "that hangs on a register");
	is_u64(flowed.flow->waits->loads, 3, "and on two loads");
	is_u64(wait_of(flowed, 0)->instructions, 2, "what moves does not wait");
	is_u64(wait_of(flowed, 0)->longer, (L1 - 1 + L1) / 2,
		"the first load takes a hit's time, and the sum a cycle: half of both each");
	flows_instruction();
	put_register(3, compute(Iop_Add64, get_register(2), get_register(2)), Ity_I64);
	flows_instruction();
	put_register(3, compute(Iop_Add64, get_register(0), get_register(0)), Ity_I64);
	flowed = flows_take(2, 0, 0);
	is_u64(flowed.flow->waits->n, 2, "others wait for others");
	is_u64(wait_of(flowed, 0)->loads, 0, "for a register");
	is_u64(wait_of(flowed, 1)->loads, 3, "or for what was made in another batch");
	flows_instruction();
	put_register(2, get_register(1), Ity_I64);
	ok(!flows_take(1, 0, 0).flow->waits, "none do");
}

/* A comparison by which a value is chosen is an instruction of its own. */
static void chosen(void)
{
	IRExpr e = {.tag = Iex_ITE};
	IRTemp one, other;

	begin_with_instruction();
	one = get_register(1);
	other = get_register(2);
	e.Iex.ITE.cond = &temps[compute(Iop_CmpLT64S, one, other)];
	e.Iex.ITE.iftrue = &temps[one];
	e.Iex.ITE.iffalse = &temps[one];
	put_register(0, set_temp(&e), Ity_I64);
	is_u64(wait_of(flows_take(2, 0, 0), 0)->instructions, 2,
		"a comparison and a choice");
}

/* Nothing hangs on them but that they are done one behind the other, beside all chains.
 */
static void dividers(void)
{
	struct flowed flowed;

	begin_with_instruction();
	put_register(0, compute(Iop_DivU64, get_register(1), get_register(2)), Ity_I64);
	flows_instruction();
	put_register(3, compute(Iop_DivU64, get_register(1), get_register(2)), Ity_I64);
	flowed = flows_take(2, 0, 0);
	is_u64(flowed.divides, 20, "two divisions by one divider");
	is_u64(flowed.chain_cycles, 0, "that are no chain");
	flows_instruction();
	put_register(2, compute(Iop_DivU32, get_register(2), get_register(1)), Ity_I64);
	flowed = flows_take(1, 0, 0);
	is_u64(flowed.divides, 6, "another one");
	is_u64(flowed.chain_cycles, 13, "that is one");
	flows_instruction();
	put_register(3, compute(Iop_Add64, get_register(1), get_register(2)), Ity_I64);
	is_u64(flows_take(1, 0, 0).divides, 0, "a sum");
	put_register(1, compute(Iop_DivU64, get_register(1), get_register(2)), Ity_I64);
	begin_with_instruction();
	is_u64(flows_take(1, 0, 0).divides, 0, "a superblock begins without");
}

/* rep movs: a superblock that goes to its only instruction. */
static void repeated(ULong next)
{
	IRStmt mark = {.tag = Ist_IMark, .Ist.IMark.addr = 0x1000}, *marks[1] = {&mark};
	IRConst to = {.tag = Ico_U64, .Ico.U64 = next};
	IRExpr constant = {.tag = Iex_Const, .Iex.Const.con = &to};
	IRSB of = {&environment, marks, 1, 1, &constant, Ijk_Boring, 0};
	IRTemp temp;

	begin();
	flows_look(&of);
	flows_instruction();
	temp = get_register(0);
	put_register(0, compute(Iop_Mul64, temp, temp), Ity_I64);
	flows_taken();
	flows_branch(&temps[temp], False);
}

static void repetitions(void)
{
	struct flowed flowed;

	repeated(0x1000);
	flowed = flows_take(1, 1, 1);
	is_u64(flowed.ports, 0, "a repeated instruction waits for no ports");
	is_u64(flowed.chain_cycles, 0, "nor for itself");
	is_u64(flowed.if_left, 30 * AHEAD_TICKS, "to begin with it takes time, once");
	is_u64(flowed.branches, 0, "its end is no branch");
	is_u64(flows_take(0, 0, 1).if_left, 0, "what a round stores is no end");
	repeated(0x1001);
	flowed = flows_take(1, 1, 1);
	is_u64(flowed.ports, AHEAD_TICKS * 3 / 4, "another one does: for a store");
	is_u64(flowed.chain_cycles, 3, "and the one before");
	is_u64(flowed.if_left, 0, "begins at once");
	is_u64(flowed.branches, 1, "and ends in a branch");
}

/* ---- ports: what a batch takes longer than its instructions at the width ---- */

static void store_to(IRTemp address, IRTemp data)
{
	IRStmt s = {.tag = Ist_Store};

	s.Ist.Store.addr = &temps[address];
	s.Ist.Store.data = &temps[data];
	follow(s);
}

static uint64_t ports(UInt instructions)
{
	return flows_take(instructions, 0, 0).ports;
}

/* A word of memory is changed by one instruction. */
static void change_word(Bool indexed)
{
	IRTemp address;

	flows_instruction();
	address = get_register(0);
	if (indexed)
		address = compute(Iop_Add64, address, get_register(1));
	store_to(address, compute(Iop_Xor64, load_from(address), get_register(2)));
}

static void changes(void)
{
	begin();
	change_word(False);
	is_u64(ports(1), AHEAD_TICKS / 4, "what changes memory is issued as two");
	is_u64(ports(1), 0, "once");
	begin();
	change_word(True);
	is_u64(ports(1), AHEAD_TICKS / 2, "as three by two registers");
	begin();
	change_word(False);
	flows_instruction();
	flows_instruction();
	flows_branch(
		&temps[compute(Iop_CmpEQ64, get_register(1), get_register(2))], False);
#if defined(VGA_amd64)
	is_u64(ports(3), 0, "a comparison and its branch as one");
#else
	is_u64(ports(3), AHEAD_TICKS / 4, "a comparison and its branch as two");
#endif
	begin();
	for (int i = 0; i < 4; i++) {
		flows_instruction();
		load_from(get_register(0));
		flows_instruction();
		store_to(get_register(0), get_register(1));
	}
	is_u64(ports(8), 0, "two instructions are two");
}

/* Each of eight instructions shifts, and loads, or stores what it has shifted or not. */
static void shift_and(Bool loads, Bool shifted)
{
	IRTemp by, other;

	begin_round(True);
	for (int i = 0; i < 8; i++) {
		flows_instruction();
		other = get_register(1);
		by = compute(Iop_Shr64, get_register(0), other);
		if (loads)
			load_from(by);
		else
			store_to(shifted ? other : by, shifted ? by : other);
	}
}

static void shift_registers(Bool loops)
{
	begin_round(loops);
	for (int i = 0; i < 8; i++) {
		flows_instruction();
		compute(Iop_Shr64, get_register(0), get_register(1));
	}
}

static void addresses(void)
{
	shift_registers(True);
	is_u64(ports(8), 2 * AHEAD_TICKS, "shifts have two ports");
	is_u64(ports(0), 0, "once");
	shift_registers(False);
	is_u64(ports(8), 2 * AHEAD_TICKS * 2 / 3,
		"of which others than a round may have less");
	is_u64(ports(0), 0, "once, too");
	shift_and(True, False);
	is_u64(ports(8), 0, "but not those of an address");
	shift_and(False, False);
	is_u64(ports(8), 0, "of a store");
	shift_and(False, True);
	is_u64(ports(8), 2 * AHEAD_TICKS, "what is stored has");
}

static void crossing_ports(void)
{
	begin_round(True);
	for (int i = 0; i < 4; i++) {
		flows_instruction();
		put_vector(get_register(0));
	}
	is_u64(ports(4), 3 * AHEAD_TICKS, "one port is the way to vectors");
	begin_round(True);
	for (int i = 0; i < 4; i++) {
		flows_instruction();
		put_register(0, get_vector(), Ity_I64);
	}
	is_u64(ports(4), 3 * AHEAD_TICKS, "and one the way back");
}

int main(void)
{
	begin_test();
	additions_of_floats();
	scaled_sums();
	widened();
	merged();
	crossings();
	dividers();
	waiting();
	waits();
	chosen();
	repetitions();
	changes();
	addresses();
	crossing_ports();
	return 0;
}
