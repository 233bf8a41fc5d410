/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * How values flow through superblocks (tools/sim/instrument/flows.c): some by hand, and
 * random ones against a reference that knows no trails: it gives each register and each
 * load a time, executes the superblock statement by statement, and looks when each value
 * is ready.
 */
#include "tests/sim/flow_statements.h"
#include "tests/sim/random.h"
#include "tests/tap/tap.h"

/* ---- what a flow says ---- */

static uint64_t register_at[FLOW_REGISTERS],
	load_at[FLOW_LOADS]; /* when they are ready */

static uint64_t ready_at(const struct flow *f, const struct flow_value *value)
{
	const struct flow_source *s = flow_sources(f) + value->first;
	uint64_t latest = 0;

	for (int i = 0; i < value->count; i++, s++) {
		uint64_t at = s->from < FLOW_REGISTERS
				      ? register_at[s->from]
				      : load_at[s->from - FLOW_REGISTERS];

		if (at + s->add > latest)
			latest = at + s->add;
	}
	return latest;
}

/* The value that a batch puts into a register; 0: nothing. */
static uint64_t put_at(const struct flow *f, uint32_t to)
{
	const union flow_word *word = flow_ways(f);
	uint64_t latest = 0;

	for (int n = 0; n < f->nways; n++) {
		uint32_t from = word->way.from, count = word->way.count;
		uint64_t at = from < FLOW_REGISTERS ? register_at[from]
						    : load_at[from - FLOW_REGISTERS];

		for (word++; count; count--, word++)
			if (word->put.to == to && at + word->put.add > latest)
				latest = at + word->put.add;
	}
	return latest;
}

/* Do the sums tell all that it comes to? */
static int sums_are_right(const struct flow *f)
{
	const union flow_word *word = flow_ways(f);
	uint64_t reads = 0, loads = 0, writes = 0;

	for (int n = 0; n < f->nways; n++) {
		uint32_t from = word->way.from, count = word->way.count;

		if (from < FLOW_REGISTERS)
			reads |= 1ull << from;
		else
			loads |= 1ull << (from - FLOW_REGISTERS);
		for (word++; count; count--, word++)
			writes |= 1ull << word->put.to;
	}
	return f->reads == reads && f->loads == loads && f->writes == writes;
}

/* ---- by hand ---- */

static void one_register(void)
{
	struct flowed flowed;
	const struct flow *f;
	IRTemp sum, loaded;

	memset(register_at, 0, sizeof(register_at));
	memset(load_at, 0, sizeof(load_at));
	register_at[0] = 100, load_at[0] = 300;
	begin();
	flows_instruction();
	sum = get_register(0);
	sum = compute(Iop_Mul64, sum, sum);
	put_register(1, sum, Ity_I64);
	flows_instruction();
	sum = compute(Iop_Add64, get_register(1), sum);
	loaded = load_from(sum);
	put_register(2, loaded, Ity_I64);
	flows_branch(&temps[loaded], False);
	flowed = flows_take(2, 1, 0);
	f = flowed.flow;
	is_u64(flowed.branches + 2 * flowed.jumps, 1, "it ends in a branch of two ways");
	is_u64(f->begins, 1, "a superblock begins");
	is_u64(f->nloads, 1, "one load");
	is_u64(f->writes, 6, "two registers");
	is_u64(f->end, FLOW_BRANCHES, "a branch");
	is_u64(ready_at(f, &f->value[0]), 103,
		"its address: a product of 3 cycles, and a sum that is its own");
	is_u64(put_at(f, 1), 103, "the product");
	is_u64(put_at(f, 2), 300, "what was loaded, late");
	load_at[0] = 0;
	is_u64(put_at(f, 2), 103 + L1, "a hit");
	is_u64(ready_at(f, &f->value[1]), 103 + L1, "the branch");
	is_u64(flowed.resolves, 6, "which is known so long after it is issued");
}

/* A load is issued when its turn is, not when the superblock begins. */
static void issued_late(void)
{
	begin();
	for (int i = 0; i < 40; i++)
		flows_instruction();
	flows_branch(&temps[load_from(get_register(0))], False);
	is_u64(flows_take(40, 1, 0).resolves, L1, "a load behind forty instructions");
}

/* Less than half of a register is put into what it holds. */
static void a_byte(void)
{
	struct flowed flowed;
	const struct flow *f;

	memset(register_at, 0, sizeof(register_at));
	register_at[0] = 7;
	register_at[1] = 50;
	begin();
	flows_instruction();
	put_register(1, get_register(0), Ity_I8);
	flowed = flows_take(1, 0, 0);
	f = flowed.flow;
	is_u64(flowed.branches, 0, "it ends in none");
	is_u64(put_at(f, 1), 51, "a byte, merged with what is late");
	flows_instruction();
	put_register(1, get_register(0), Ity_I32);
	f = flows_take(1, 0, 0).flow;
	is_u64(f->begins, 0, "the same superblock");
	is_u64(put_at(f, 1), 7, "four bytes are all of it");
}

/* A pointer that the model follows once for both. */
static void two_by_a_pointer(void)
{
	const struct flow *f;
	IRTemp pointer;

	begin();
	flows_instruction();
	pointer = get_register(0);
	put_register(1, load_from(pointer), Ity_I64);
	flows_instruction();
	put_register(2, load_from(get_register(3)), Ity_I64);
	flows_instruction();
	put_register(3, load_from(get_register(0)), Ity_I64);
	f = flows_take(3, 3, 0).flow;
	is_u64(f->nloads, 3, "three loads");
	is_u64(f->value[0].again, 1, "another one hangs on the same");
	is_u64(f->value[1].again, 0, "none on this pointer");
	is_u64(f->value[2].again, 0, "none comes later");
}

/* Loads of a byte. */
static void loads_of_lines(void)
{
	for (UInt bytes = 64; bytes <= 256; bytes *= 4) {
		tool_options.machine.line = bytes;
		begin();
		flows_instruction();
		put_register(1, load_from(get_register(0)), Ity_I64);
		is_u64(flows_take(1, 1, 0).flow->value[0].fit, bytes < 255 ? bytes : 255,
			"of a line of %u bytes", bytes);
	}
}

/* A register gets what that makes of one. */
static void put_operation(int to, IROp op, int from)
{
	IRTemp temp;

	flows_instruction();
	temp = get_register(from);
	put_register(to, compute(op, temp, temp), Ity_I64);
}

/* Two instructions take half a cycle of a width of four, a product of itself three. */
static void chains(void)
{
	struct flowed flowed;

	begin();
	put_operation(0, Iop_Mul64, 0);
	flowed = flows_take(2, 0, 0);
	is_u64(flowed.chain_of, 0, "a chain");
	is_u64(flowed.chain_cycles, 3, "of a product");
	is_u64(flowed.chain_reach, 2 * 97, "half of the instructions wait for it");
	is_u64(flowed.anew, 0, "it is nothing new");
	put_operation(1, Iop_Add64, 2);
	flowed = flows_take(2, 0, 0);
	is_u64(flowed.chain_cycles, 0, "what goes beside it makes it no longer");
	is_u64(flowed.anew, 2, "and is new");
	put_operation(3, Iop_DivU64, 3);
	flowed = flows_take(2, 0, 0);
	is_u64(flowed.chain_of, 3, "another one is longer");
	is_u64(flowed.chain_cycles, 13, "and is told from its beginning");
	put_operation(3, Iop_Mul64, 3);
	flowed = flows_take(2, 0, 0);
	is_u64(flowed.chain_cycles, 3, "it goes on");
	put_operation(3, Iop_Mul64, 0);
	is_u64(flows_take(2, 0, 0).anew, 8, "and is given up");
}

/* One, two or three of four instructions wait for a chain: 97 of them fill the scheduler.
 */
static void reaches(void)
{
	begin();
	put_operation(0, Iop_DivU64, 0);
	put_operation(1, Iop_Add64, 2);
	is_u64(flows_take(4, 0, 0).chain_reach, 224,
		"one waits: the window is full first");
	begin();
	put_operation(0, Iop_DivU64, 0);
	put_operation(1, Iop_Add64, 0);
	is_u64(flows_take(4, 0, 0).chain_reach, 97 * 4 / 2, "two wait");
	begin();
	put_operation(0, Iop_DivU64, 0);
	put_operation(1, Iop_Add64, 0);
	put_operation(2, Iop_Add64, 1);
	is_u64(flows_take(4, 0, 0).chain_reach, 97 * 4 / 3, "one by another, too");
}

/* A list, and a counter beside a load. */
static void chains_of_loads(void)
{
	struct flowed flowed;

	begin();
	flows_instruction();
	put_register(1, load_from(get_register(0)), Ity_I64);
	flows_instruction();
	put_register(0, load_from(get_register(0)), Ity_I64);
	flowed = flows_take(2, 2, 0);
	is_u64(flowed.chain_cycles, L1, "a pointer");
	is_u64(flowed.chain_loads, 2, "hangs on its load alone");
	begin();
	put_operation(0, Iop_Mul64, 0);
	flows_instruction();
	put_register(1, load_from(get_register(0)), Ity_I64);
	flowed = flows_take(2, 1, 0);
	is_u64(flowed.chain_cycles, 3, "a counter");
	is_u64(flowed.chain_loads, 0, "hangs on none");
}

static void no_chains(void)
{
	struct flowed flowed;

	begin();
	put_operation(0, Iop_Mul64, 1);
	flowed = flows_take(2, 0, 0);
	is_u64(flowed.chain_cycles, 0, "another register is no chain");
	is_u64(flowed.anew, 1, "but something new");
	begin();
	put_operation(0, Iop_Mul64, 0);
	is_u64(flows_take(12, 0, 0).chain_cycles, 0, "twelve instructions take as long");
	begin();
	put_operation(4, Iop_Mul64, 4);
	is_u64(flows_take(2, 0, 0).chain_cycles, 0, "a stack pointer is none");
}

/* With a width of four, each instruction takes a quarter of a cycle. */
static void taken(void)
{
	begin();
	flows_instruction();
	flows_taken();
	is_u64(flows_take(1, 0, 0).ports, AHEAD_TICKS * 3 / 4,
		"one instruction, and a branch is taken");
	is_u64(flows_take(0, 0, 0).ports, 0, "once");
	for (int i = 0; i < 2; i++) {
		flows_instruction();
		flows_instruction();
		flows_taken();
	}
	is_u64(flows_take(4, 0, 0).ports, AHEAD_TICKS, "two after two");
	for (int i = 0; i < 5; i++)
		flows_instruction();
	flows_taken();
	is_u64(flows_take(5, 0, 0).ports, 0, "one after five");
	flows_instruction();
	is_u64(flows_take(1, 0, 0).if_taken, AHEAD_TICKS * 3 / 4,
		"the next branch may be");
	flows_instruction();
	is_u64(flows_take(1, 0, 0).if_taken, AHEAD_TICKS / 2, "or the one behind it");
	flows_instruction();
	is_u64(flows_take(1, 4, 0).if_taken, 0, "a cycle has passed by loads");
	flows_taken();
	flows_instruction();
	flows_taken();
	is_u64(flows_take(1, 4, 0).ports, AHEAD_TICKS * 7 / 4,
		"four loads take two cycles anyway");
}

/* The larger of two: it is compared, and then moved. */
static void comparisons(void)
{
	IRExpr e = {.tag = Iex_ITE};
	IRTemp one, other, larger;

	begin();
	flows_instruction();
	one = get_register(0);
	flows_instruction();
	other = get_register(1);
	larger = compute(Iop_CmpLT64S, one, other);
	e.Iex.ITE.cond = &temps[larger];
	e.Iex.ITE.iftrue = &temps[other];
	e.Iex.ITE.iffalse = &temps[one];
	put_register(0, set_temp(&e), Ity_I64);
	is_u64(flows_take(2, 0, 0).chain_cycles, 2, "a cycle each");
	begin();
	flows_instruction();
	flows_branch(
		&temps[compute(Iop_CmpEQ64, get_register(0), get_register(1))], False);
	is_u64(flows_take(1, 0, 0).resolves, 1, "with a branch it is one");
}

static void ports(void)
{
	begin();
	is_u64(flows_take(4, 4, 0).ports, AHEAD_TICKS,
		"four loads by two ports: a cycle more");
	begin();
	is_u64(flows_take(4, 0, 4).ports, 3 * AHEAD_TICKS, "four stores by one");
	begin();
	is_u64(flows_take(4, 2, 1).ports, 0, "beside instructions they take no time");
}

/* ---- random ones, and the reference ---- */

/* A value that an instruction makes is ready so long after what it is made of. */
struct timed {
	uint64_t at;
	UInt instruction, latency;
	int added; /* an addition of floats made it */
};

static struct {
	struct timed temp[TEMPS];
	uint64_t now[REGISTERS + 4];
	int others; /* registers that no addition of floats made */
	UInt instruction, divided;
	uint64_t divides, written;
	int loads;
	uint64_t address[FLOW_LOADS];
} plain;

/* When another instruction may use it; the same one need not wait for its pieces. */
static uint64_t when_for(const struct timed *t)
{
	return t->instruction == plain.instruction ? t->at : t->at + t->latency;
}

static UInt pieces_of(const struct timed *t)
{
	return t->instruction == plain.instruction ? t->latency : 0;
}

static uint64_t later_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* An addition of floats takes a cycle more of what none has made. */
static uint64_t operand(const struct timed *t, IROp op)
{
	return when_for(t) + (op == Iop_Add64F0x2 && !t->added);
}

static void divide(IROp op)
{
	if (op != Iop_DivU64 || plain.divided == plain.instruction)
		return;
	plain.divided = plain.instruction;
	plain.divides += 10;
}

static void random_operation(void)
{
	static const struct {
		IROp op;
		UInt latency;
	} ops[] = {{Iop_Add64, 1}, {Iop_Mul64, 3}, {Iop_DivU64, 13},
		{Iop_V128HLtoV256, 0}, {Iop_Add64F0x2, 2}};
	unsigned which = (unsigned)random_below(5);
	IROp op = ops[which].op;
	IRTemp one = (IRTemp)random_below(ntemps), other = (IRTemp)random_below(ntemps);
	const struct timed *a = &plain.temp[one], *b = &plain.temp[other];
	UInt latency = ops[which].latency;

	latency = (UInt)later_of(latency, later_of(pieces_of(a), pieces_of(b)));
	plain.temp[ntemps] = (struct timed){later_of(operand(a, op), operand(b, op)),
		plain.instruction, latency,
		op == Iop_Add64F0x2 ||
			(op == Iop_V128HLtoV256 && (a->added || b->added))};
	divide(op);
	compute(op, one, other);
}

static void random_load(void)
{
	IRTemp from = (IRTemp)random_below(ntemps);
	uint64_t address = when_for(&plain.temp[from]);

	plain.address[plain.loads] = address;
	plain.temp[ntemps] = (struct timed){
		later_of(address + L1, load_at[plain.loads++]), plain.instruction, 0, 0};
	load_from(from);
}

static void random_get(int n)
{
	plain.temp[ntemps] = (struct timed){
		plain.now[n], plain.instruction, 0, !(plain.others >> n & 1)};
	get_register(n);
}

static void random_statement(void)
{
	int n = (int)random_below(REGISTERS);
	IRTemp temp;

	switch (random_below(4)) {
	case 0:
		random_get(n);
		break;
	case 1:
		random_operation();
		break;
	case 2:
		random_load();
		break;
	default:
		temp = (IRTemp)random_below(ntemps);
		plain.now[n] = plain.temp[temp].at + plain.temp[temp].latency;
		plain.written |= 1ull << n;
		plain.others &= ~(1 << n);
		plain.others |= !plain.temp[temp].added << n;
		put_register(n, temp, Ity_I64);
	}
}

static int same_flow(const struct flow *f, int first_load)
{
	int same = f && f->nloads == plain.loads - first_load &&
		   f->writes == plain.written && sums_are_right(f);

	for (int i = 0; same && i < f->nloads; i++)
		same = f->value[i].to == first_load + i &&
		       ready_at(f, &f->value[i]) == plain.address[first_load + i];
	for (uint32_t n = 0; same && n < REGISTERS; n++)
		same = !(plain.written >> n & 1) || put_at(f, n) == plain.now[n];
	return same;
}

static void random_superblock(int round)
{
	int first_load = 0, same = 1;
	struct flowed flowed;

	memset(&plain, 0, sizeof(plain));
	for (int i = 0; i < FLOW_REGISTERS; i++)
		register_at[i] = random_below(300);
	for (int i = 0; i < FLOW_LOADS; i++)
		load_at[i] = random_below(500);
	begin();
	for (int n = 0; n < REGISTERS; n++)
		plain.now[n] = register_at[n];
	for (int batch = 0; batch < 3; batch++) {
		for (int i = 0; i < 4; i++) {
			plain.instruction++;
			flows_instruction();
			random_get(0);
			for (uint64_t s = random_below(5); s > 0; s--)
				random_statement();
		}
		flowed = flows_take(4, 0, 0);
		same &= same_flow(flowed.flow, first_load) ||
			(!plain.written && first_load == plain.loads);
		same &= flowed.divides == plain.divides;
		first_load = plain.loads;
		plain.written = plain.divides = 0;
	}
	ok(same, "random superblock %d", round);
}

int main(void)
{
	begin_test();
	one_register();
	issued_late();
	a_byte();
	two_by_a_pointer();
	loads_of_lines();
	chains();
	reaches();
	chains_of_loads();
	no_chains();
	ports();
	taken();
	comparisons();
	for (int i = 0; i < 300; i++)
		random_superblock(i);
	return 0;
}
