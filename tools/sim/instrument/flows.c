/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A value is known by its trails: from each register as it was when the superblock began,
 * and from each of the superblock's loads, the cycles of the longest one, at the
 * latencies of hits.
 */
#include "instrument/carried.h"
#include "instrument/flow_registers.h"
#include "instrument/flows.h"
#include "instrument/latency.h"
#include "instrument/trails.h"

#define MAX_TEMPS 8192

/* A value that an instruction has made.  Its pieces do not take longer than the
 * slowest one, which others wait for. */
struct value {
	struct trails trails;
	UInt instruction;
	UInt latency;
};

#define MAX_VALUES (FLOW_LOADS + 1)
#define MAX_SOURCES 1024
#define MAX_WORDS 1024

/* The superblock that is being looked at. */
static struct {
	struct value temps[MAX_TEMPS];
	struct trails registers[FLOW_REGISTERS];
	ULong written; /* registers, since the last batch */
	UInt instruction, first_instruction, nloads, first_load;
	UInt straight; /* the instruction before the first one since a branch was taken */
	ULong short_by;     /* ticks, as flows_taken() has it, since the last batch */
	struct units units; /* that the superblock's instructions have used */
	UInt resolves;      /* as struct batch has it */
	ULong issued;       /* ticks, of the superblock so far */
	UChar chained[FLOW_REGISTERS]; /* cycles, of chains that were told */
	/* By how many instructions of the batch each register is waited for, and the last
	 * of them. */
	UInt waiters[FLOW_REGISTERS], waiter[FLOW_REGISTERS];
	Bool begins, branches, jumps;
	struct trails address[FLOW_LOADS], condition;
	struct {
		struct flow flow;
		struct flow_value value[MAX_VALUES];
		struct flow_source source[MAX_SOURCES];
		union flow_word way[MAX_WORDS];
		UInt nvalues, nwords;
	} making;
	struct carried carried;
} flows;

/* The machine that executes out of order: what flows takes is the same on all of a run
 * (options_check()). */
static const struct ooo *out_of_order(void)
{
	UInt i = 0;

	while (i + 1 < tool_options.nmachines && !tool_options.machines[i].ooo.window)
		i++;
	return &tool_options.machines[i].ooo;
}

/* ---- trails ---- */

/* As another instruction sees it. */
static struct trails whole_trails(const struct value *v)
{
	struct trails trails = v->trails;

	lengthen_trails(&trails, v->latency);
	return trails;
}

static void add_operand(struct value *to, const IRExpr *e)
{
	const struct value *v;

	if (!e || e->tag != Iex_RdTmp || e->Iex.RdTmp.tmp >= MAX_TEMPS)
		return;
	v = &flows.temps[e->Iex.RdTmp.tmp];
	if (v->instruction == flows.instruction) {
		merge_trails(&to->trails, &v->trails);
		to->latency = to->latency > v->latency ? to->latency : v->latency;
	} else {
		struct trails trails = whole_trails(v);

		merge_trails(&to->trails, &trails);
	}
}

static ULong ticks_for(UInt n, UInt hundredths)
{
	return hundredths ? (ULong)n * AHEAD_TICKS * 100 / hundredths : 0;
}

/* When the instruction is, by the width alone. */
static UInt issued_at(void)
{
	return (UInt)ticks_for(
		flows.instruction - flows.first_instruction, out_of_order()->width);
}

static struct value no_value(UInt latency)
{
	struct value v = {.instruction = flows.instruction, .latency = latency};

	VG_(memset)(&v.trails, 0, sizeof(v.trails));
	v.trails.ready = issued_at();
	return v;
}

/* ---- statements ---- */

static void add_arguments(struct value *to, IRExpr *const *args)
{
	for (; *args; args++)
		if (!is_IRExpr_VECRET_or_GSPTR(*args))
			add_operand(to, *args);
}

static void read_register(struct value *to, Int offset)
{
	Int at = register_at(offset);

	if (at >= 0)
		merge_trails(&to->trails, &flows.registers[at]);
}

/* The instruction waits for what those hang on. */
static void note_waiter(const struct trails *trails)
{
	for (UInt i = 0; i < FLOW_REGISTERS; i++)
		if (trails->from[i] && flows.waiter[i] != flows.instruction) {
			flows.waiter[i] = flows.instruction;
			flows.waiters[i]++;
		}
}

/* A word of memory, as it was stored. */
static void add_word(struct trails *to, Int word)
{
	struct trails stored = flows.registers[word];

	lengthen_trails(&stored, out_of_order()->l1 + CARRIED_CYCLES);
	merge_trails(to, &stored);
}

/* The value that a load brings; other pieces of its instruction may add to it. */
static struct value value_of_load(const IRExpr *from, Int at)
{
	struct value v = no_value(0);

	add_operand(&v, from);
	v.latency = 0;
	note_waiter(&v.trails);
	if (flows.nloads < FLOW_LOADS)
		flows.address[flows.nloads] = v.trails;
	lengthen_trails(&v.trails, out_of_order()->l1);
	if (carried_at(&flows.carried, at) >= 0)
		add_word(&v.trails, carried_at(&flows.carried, at));
	if (flows.nloads < FLOW_LOADS)
		v.trails.from[FLOW_REGISTERS + flows.nloads] = 1;
	flows.nloads += flows.nloads < FLOW_LOADS;
	return v;
}

static struct value value_of_expression(const IRExpr *e)
{
	struct value v = no_value(latency_of(e, out_of_order()));

	switch (e->tag) {
	case Iex_Get:
		read_register(&v, e->Iex.Get.offset);
		break;
	case Iex_RdTmp:
		add_operand(&v, e);
		break;
	case Iex_Unop:
		add_operand(&v, e->Iex.Unop.arg);
		break;
	case Iex_Binop:
		add_operand(&v, e->Iex.Binop.arg1);
		add_operand(&v, e->Iex.Binop.arg2);
		break;
	case Iex_Triop:
		add_operand(&v, e->Iex.Triop.details->arg2);
		add_operand(&v, e->Iex.Triop.details->arg3);
		break;
	case Iex_Qop:
		add_operand(&v, e->Iex.Qop.details->arg2);
		add_operand(&v, e->Iex.Qop.details->arg3);
		add_operand(&v, e->Iex.Qop.details->arg4);
		break;
	case Iex_ITE:
		add_operand(&v, e->Iex.ITE.cond);
		add_operand(&v, e->Iex.ITE.iftrue);
		add_operand(&v, e->Iex.ITE.iffalse);
		break;
	case Iex_CCall:
		add_arguments(&v, e->Iex.CCall.args);
		break;
	default:
		break;
	}
	v.instruction -= is_comparison(e);
	return v;
}

/* Less than a general register is put into what it holds. */
static void write_register(const IRSB *in, Int offset, const IRExpr *data)
{
	struct value v = no_value(0);
	struct trails trails;
	Int at = register_at(offset);

	if (at < 0)
		return;
	add_operand(&v, data);
	trails = whole_trails(&v);
	if ((at < NGENERAL && sizeofIRType(typeOfIRExpr(in->tyenv, data)) < 4) ||
		(at == FLAGS && flows.written >> FLAGS & 1))
		merge_trails(&trails, &flows.registers[at]);
	note_waiter(&trails);
	flows.registers[at] = trails;
	flows.written |= 1ull << at;
}

static void write_word(Int word, const IRExpr *data)
{
	struct value v = no_value(0);

	if (word < 0)
		return;
	add_operand(&v, data);
	flows.registers[word] = whole_trails(&v);
	note_waiter(&flows.registers[word]);
	flows.written |= 1ull << word;
}

static void set_temp(IRTemp temp, struct value v)
{
	if (temp < MAX_TEMPS)
		flows.temps[temp] = v;
}

static void made_by_helper(const IRDirty *d)
{
	struct value v = no_value(LATENCY_OF_HELPER);

	if (d->tmp == IRTemp_INVALID)
		return;
	add_arguments(&v, d->args);
	set_temp(d->tmp, v);
}

static void load_guarded(const IRLoadG *g, Int at)
{
	struct value v = value_of_load(g->addr, at);

	add_operand(&v, g->alt);
	add_operand(&v, g->guard);
	set_temp(g->dst, v);
}

void flows_statement(const IRSB *in, Int at)
{
	const IRStmt *s = in->stmts[at];

	switch (s->tag) {
	case Ist_WrTmp:
		units_use(&flows.units, flows.instruction, s->Ist.WrTmp.data,
			in->tyenv->types[s->Ist.WrTmp.tmp]);
		set_temp(s->Ist.WrTmp.tmp,
			s->Ist.WrTmp.data->tag == Iex_Load
				? value_of_load(s->Ist.WrTmp.data->Iex.Load.addr, at)
				: value_of_expression(s->Ist.WrTmp.data));
		break;
	case Ist_Put:
		write_register(in, s->Ist.Put.offset, s->Ist.Put.data);
		break;
	case Ist_Store:
		write_word(carried_at(&flows.carried, at), s->Ist.Store.data);
		break;
	case Ist_LoadG:
		load_guarded(s->Ist.LoadG.details, at);
		break;
	case Ist_CAS:
		set_temp(s->Ist.CAS.details->oldLo,
			value_of_load(s->Ist.CAS.details->addr, at));
		break;
	case Ist_LLSC:
		if (!s->Ist.LLSC.storedata)
			set_temp(s->Ist.LLSC.result, value_of_load(s->Ist.LLSC.addr, at));
		break;
	case Ist_Dirty:
		made_by_helper(s->Ist.Dirty.details);
		break;
	default:
		break;
	}
}

/* Called before the statement is followed. */
Int flows_load(const IRSB *in, Int at)
{
	(void)in, (void)at;
	return flows.nloads < FLOW_LOADS ? (Int)flows.nloads : -1;
}

void flows_branch(const IRExpr *on, Bool jumps)
{
	struct value v = no_value(0);

	add_operand(&v, on);
	flows.condition = whole_trails(&v);
	note_waiter(&flows.condition);
	flows.resolves = (flows.condition.ready - issued_at()) / AHEAD_TICKS;
	flows.branches = True;
	flows.jumps = jumps;
}

/* ---- superblocks ---- */

void flows_begin(void)
{
	VG_(memset)(flows.registers, 0, sizeof(flows.registers));
	for (UInt i = 0; i < FLOW_REGISTERS; i++)
		flows.registers[i].from[i] = 1;
	flows.written = 0;
	flows.nloads = flows.first_load = 0;
	flows.issued = 0;
	flows.first_instruction = flows.instruction + 1;
	flows.straight = flows.instruction;
	flows.short_by = 0;
	VG_(memset)(&flows.units, 0, sizeof(flows.units));
	VG_(memset)(flows.chained, 0, sizeof(flows.chained));
	flows.begins = True;
	flows.branches = flows.jumps = False;
}

void flows_look(const IRSB *in)
{
	carried_find(&flows.carried, in);
}

void flows_instruction(void)
{
	flows.instruction++;
}

/* Cores fetch from one place a cycle. */
void flows_taken(void)
{
	ULong took = ticks_for(flows.instruction - flows.straight, out_of_order()->width);

	if (took < AHEAD_TICKS)
		flows.short_by += AHEAD_TICKS - took;
	flows.straight = flows.instruction;
}

/* ---- batches ---- */

static void describe_value(const struct trails *trails, UInt to)
{
	struct flow_value *v = &flows.making.value[flows.making.nvalues++];

	VG_(memset)(v, 0, sizeof(*v));
	v->first = flows.making.flow.nsources;
	v->to = (UChar)to;
	for (UInt i = 0; i < FLOW_SOURCES; i++) {
		if (!trails->from[i] || flows.making.flow.nsources == MAX_SOURCES)
			continue;
		flows.making.source[flows.making.flow.nsources++] =
			(struct flow_source){(UChar)i, trails->from[i] - 1};
		if (i < FLOW_REGISTERS)
			v->registers |= 1ull << i;
		else
			v->loads |= 1ull << (i - FLOW_REGISTERS);
		v->count++;
	}
}

/* The address of a load, which earlier ones of the batch may have had. */
static void describe_address(UInt load)
{
	const struct trails *own = &flows.address[load];

	describe_value(own, load);
	if (!flows.making.value[flows.making.nvalues - 1].count)
		return;
	for (UInt i = flows.first_load; i < load; i++)
		if (VG_(memcmp)(flows.address[i].from, own->from, sizeof(own->from)) == 0)
			flows.making.value[i - flows.first_load].again = 1;
}

static ULong bit_if(Bool set, UInt bit)
{
	return set ? 1ull << bit : 0;
}

/* The registers that get something of a source. */
static void describe_ways_from(UInt from)
{
	struct flow *f = &flows.making.flow;
	union flow_word *way = &flows.making.way[flows.making.nwords], *put = way + 1;

	if (flows.making.nwords + 1 + FLOW_REGISTERS > MAX_WORDS)
		return;
	for (ULong written = flows.written; written; written &= written - 1) {
		UInt to = (UInt)__builtin_ctzll(written);

		if (flows.registers[to].from[from])
			*put++ = (union flow_word){
				.put = {(UChar)to, flows.registers[to].from[from] - 1}};
	}
	if (put == way + 1)
		return;
	way->way = (struct flow_way){(UChar)from, (UChar)(put - way - 1)};
	flows.making.nwords += (UInt)(put - way);
	f->nways++;
	f->reads |= bit_if(from < FLOW_REGISTERS, from % FLOW_REGISTERS);
	f->loads |= bit_if(from >= FLOW_REGISTERS, from % FLOW_REGISTERS);
}

static void describe_all(void)
{
	flows.making.nvalues = flows.making.nwords = 0;
	VG_(memset)(&flows.making.flow, 0, sizeof(flows.making.flow));
	flows.making.flow.begins = flows.begins;
	flows.making.flow.end = flows.branches ? FLOW_BRANCHES : FLOW_GOES_ON;
	flows.making.flow.writes = flows.written;
	for (UInt i = flows.first_load; i < flows.nloads; i++)
		describe_address(i);
	flows.making.flow.nloads = flows.nloads - flows.first_load;
	if (flows.branches)
		describe_value(&flows.condition, 0);
	for (UInt i = 0; flows.written && i < FLOW_REGISTERS + flows.nloads; i++)
		describe_ways_from(i);
}

static UChar *append_piece(UChar *to, const void *piece, SizeT size)
{
	VG_(memcpy)(to, piece, size);
	return to + size;
}

/* One piece: the sources behind the values that there are, and the ways. */
static SizeT pack_flow(UChar *to)
{
	UChar *end = append_piece(to, &flows.making.flow, sizeof(struct flow));

	end = append_piece(end, flows.making.value,
		flows.making.nvalues * sizeof(struct flow_value));
	end = append_piece(end, flows.making.source,
		flows.making.flow.nsources * sizeof(struct flow_source));
	end = append_piece(
		end, flows.making.way, flows.making.nwords * sizeof(union flow_word));
	return (SizeT)(end - to);
}

#define BUCKETS 8192
struct kept {
	struct kept *next;
	SizeT size;
	UInt hash;
	UChar *flow;
};

static UInt hash_of(const UChar *bytes, SizeT size)
{
	ULong hash = 0;

	for (SizeT i = 0; i < size; i++)
		hash = (hash ^ bytes[i]) * 0x9e3779b97f4a7c15ull;
	return (UInt)(hash >> 32);
}

/* Blocks are alike, and batches with them (batches.c). */
static const struct kept *keep_flow(void)
{
	static struct kept *bucket[BUCKETS];
	static UChar packed[sizeof(flows.making)] __attribute__((aligned(8)));
	SizeT size = pack_flow(packed);
	UInt hash = hash_of(packed, size);
	struct kept **first = &bucket[hash % BUCKETS], *k;

	for (k = *first; k; k = k->next)
		if (k->size == size && VG_(memcmp)(k->flow, packed, size) == 0)
			return k;
	k = VG_(malloc)("cachepeek.flow", sizeof(*k));
	*k = (struct kept){*first, size, hash, VG_(malloc)("cachepeek.flow", size)};
	VG_(memcpy)(k->flow, packed, size);
	*first = k;
	return k;
}

static ULong most_of(ULong a, ULong b)
{
	return a > b ? a : b;
}

/* How many more ticks the batch takes by the ports of its loads and stores, by its
 * branches, or by what its superblock needs of units so far, than by its instructions. */
static UInt ports_of(UInt instructions, UInt loads, UInt stores)
{
	const struct ooo *of = out_of_order();
	ULong units = cycles_of_units(&flows.units) * AHEAD_TICKS / 100,
	      slots = ticks_for(instructions, of->width),
	      all = most_of(
		      slots + flows.short_by, most_of(ticks_for(loads, of->loads),
						      ticks_for(stores, of->stores)));

	if (flows.issued + all < units)
		all = units - flows.issued;
	flows.short_by = 0;
	flows.issued += all;
	return (UInt)(all - slots);
}

/* The register with the longest way to itself, which the next round would have to wait
 * for; that of the stack pointer is computed in front. */
static UInt longest_chain(void)
{
	UInt longest = FLAGS;

	for (UInt i = 0; i < FLOW_REGISTERS; i++)
		if (i != STACK_REGISTER && i != FLAGS &&
			flows.registers[i].from[i] >
				(longest == FLAGS
						? 1
						: flows.registers[longest].from[longest]))
			longest = i;
	return longest;
}

/* The batch's loads that the register hangs on. */
static ULong loads_in(UInt of)
{
	ULong loads = 0;

	for (UInt i = flows.first_load; i < flows.nloads; i++)
		loads |= bit_if(flows.registers[of].from[FLOW_REGISTERS + i] != 0, i);
	return loads;
}

/* A chain that takes longer than all instructions so far: by how much it has got longer.
 */
static void tell_chain(struct flowed *flowed, UInt instructions)
{
	UInt of = longest_chain(),
	     cycles = of == FLAGS ? 0 : flows.registers[of].from[of] - 1;

	if ((ULong)cycles * AHEAD_TICKS <= flows.issued || cycles <= flows.chained[of])
		return;
	flowed->chain_of = (UChar)of;
	flowed->chain_cycles = (UChar)(cycles - flows.chained[of]);
	flowed->chain_loads = loads_in(of);
	flowed->chain_reach =
		chain_reach(out_of_order(), instructions, flows.waiters[of]);
	flows.chained[of] = (UChar)cycles;
}

/* Registers that the batch writes and that have nothing of what they were. */
static ULong written_anew(void)
{
	ULong anew = 0;

	for (ULong written = flows.written; written; written &= written - 1) {
		UInt to = (UInt)__builtin_ctzll(written);

		anew |= bit_if(!flows.registers[to].from[to], to);
	}
	return anew;
}

struct flowed flows_take(UInt instructions, UInt loads, UInt stores)
{
	struct flowed flowed = {.branches = flows.branches,
		.jumps = flows.jumps,
		.resolves = flows.branches ? flows.resolves : 0,
		.ports = ports_of(instructions, loads, stores),
		.anew = written_anew()};

	tell_chain(&flowed, instructions);
	describe_all();
	if (flows.making.flow.begins || flows.making.flow.nloads || flows.written ||
		flows.branches) {
		const struct kept *kept = keep_flow();

		flowed.flow = (const struct flow *)kept->flow;
	}
	flows.begins = flows.branches = flows.jumps = False;
	flows.written = 0;
	VG_(memset)(flows.waiters, 0, sizeof(flows.waiters));
	flows.first_load = flows.nloads;
	return flowed;
}
