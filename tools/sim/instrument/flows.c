/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A value is known by its trails: from each register as it was when the superblock began,
 * and from each of the superblock's loads, the cycles of the longest one, at the
 * latencies of hits.
 */
#include "instrument/flow_values.h"
#include "instrument/flows.h"

/* An instruction has the divider once, however many pieces it is of. */
static void use_divider(const IRExpr *e)
{
	UInt cycles = cycles_of_divider(e);

	if (!cycles || flows.divided == flows.instruction)
		return;
	flows.divided = flows.instruction;
	flows.divides += cycles;
}

static void load_to(const IRSB *in, IRTemp to, const IRExpr *from, Int at)
{
	make_load(begin_temp(to, 0), from, at, in->tyenv->types[to]);
}

static void make_temp(const IRSB *in, Int at)
{
	IRTemp to = in->stmts[at]->Ist.WrTmp.tmp;
	const IRExpr *data = in->stmts[at]->Ist.WrTmp.data;
	IRType type = in->tyenv->types[to];

	use_divider(data);
	units_use(&flows.units, flows.instruction, data, type);
	if (data->tag == Iex_Load)
		make_load(begin_temp(to, 0), data->Iex.Load.addr, at, data->Iex.Load.ty);
	else
		make_value(begin_temp(to, 0), data, type);
}

void flows_statement(const IRSB *in, Int at)
{
	const IRStmt *s = in->stmts[at];

	switch (s->tag) {
	case Ist_WrTmp:
		make_temp(in, at);
		break;
	case Ist_Put:
		write_register(in, s->Ist.Put.offset, s->Ist.Put.data);
		break;
	case Ist_Store:
		write_word(carried_at(&flows.carried, at), s->Ist.Store.data);
		break;
	case Ist_LoadG:
		load_guarded(s->Ist.LoadG.details, at,
			in->tyenv->types[s->Ist.LoadG.details->dst]);
		break;
	case Ist_CAS:
		load_to(in, s->Ist.CAS.details->oldLo, s->Ist.CAS.details->addr, at);
		break;
	case Ist_LLSC:
		if (!s->Ist.LLSC.storedata)
			load_to(in, s->Ist.LLSC.result, s->Ist.LLSC.addr, at);
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

/* A comparison of integers, and the branch behind it that asks, are issued as one. */
#if defined(VGA_amd64)
#define FUSES True
#else
#define FUSES False
#endif

void flows_branch(const IRExpr *on, Bool jumps)
{
	const struct value *temp = value_of_temp(on);
	struct value v;

	begin_value(&v, 0);
	add_operand(&v, on);
	flows.fused += FUSES && temp && temp->instruction == flows.instruction - 1;
	set_whole(&flows.condition, &v);
	note_waiter(&flows.condition);
	flows.resolves = (flows.condition.ready - flows.issued_at) / AHEAD_TICKS;
	flows.branches = True;
	flows.jumps = jumps;
}

/* ---- superblocks ---- */

void flows_begin(void)
{
	flows.known = flows.written = flows.others = 0;
	flows.divides = 0;
	VG_(memset)(&flows.making.flow, 0, sizeof(flows.making.flow));
	flows.nloads = flows.first_load = 0;
	flows.issued = flows.ready_before = 0;
	flows.computing = flows.ready = 0;
	flows.first_instruction = flows.instruction + 1;
	flows.issued_at = issue_of(flows.instruction);
	flows.straight = flows.instruction;
	flows.short_by = 0;
	flows.besides = flows.fused = 0;
	VG_(memset)(&flows.units, 0, sizeof(flows.units));
	VG_(memset)(flows.chained, 0, sizeof(flows.chained));
	flows.begins = True;
	flows.branches = flows.jumps = False;
}

/* Rounds of one instruction, rep movs say: cores do many of them at a time. */
static Bool repeats_one(const IRSB *in)
{
	const IRExpr *next = in->next;
	Bool any = False;

	if (!next || next->tag != Iex_Const)
		return False;
	for (Int i = 0; i < in->stmts_used; i++) {
		const IRStmt *s = in->stmts[i];

		if (s->tag != Ist_IMark)
			continue;
		if (s->Ist.IMark.addr != next->Iex.Const.con->Ico.U64)
			return False;
		any = True;
	}
	return any;
}

void flows_look(const IRSB *in)
{
	carried_find(&flows.carried, in);
	flows.repeats = repeats_one(in);
}

void flows_instruction(void)
{
	flows.instruction++;
	flows.issued_at = issue_of(flows.instruction);
}

/* Cores fetch from one place a cycle: by how many ticks what was executed since a branch
 * was taken is too short for one that is taken now. */
static ULong short_of_cycle(void)
{
	ULong took = ticks_for(flows.instruction - flows.straight, out_of_order()->width);

	return took < AHEAD_TICKS ? AHEAD_TICKS - took : 0;
}

void flows_taken(void)
{
	flows.short_by += short_of_cycle();
	flows.straight = flows.instruction;
}

/* ---- batches ---- */

/* Tells those for which there is room. */
static ULong describe_sources(
	struct flow_value *v, const struct trails *trails, UInt first)
{
	ULong all = trails->sources.of[first / 64], sources = all;

	while (sources && flows.making.flow.nsources < MAX_SOURCES) {
		UInt from = first + take_source(&sources);

		flows.making.source[flows.making.flow.nsources++] =
			(struct flow_source){(UChar)from, trails->from[from] - 1};
		v->count++;
	}
	return all & ~sources;
}

static void describe_value(const struct trails *trails, UInt to)
{
	struct flow_value *v = &flows.making.value[flows.making.nvalues++];

	VG_(memset)(v, 0, sizeof(*v));
	v->first = flows.making.flow.nsources;
	v->to = (UChar)to;
	v->registers = describe_sources(v, trails, 0);
	v->loads = describe_sources(v, trails, FLOW_REGISTERS);
}

/* So many loads of that size are of one line, as far as a byte holds. */
static UChar loads_of_line(UInt size)
{
	UInt loads = tool_options.machine.line / size;

	return (UChar)(loads < 255 ? loads : 255);
}

/* The address of a load, which earlier ones of the batch may have had. */
static void describe_address(UInt load)
{
	const struct trails *own = &flows.address[load];
	struct flow_value *v;

	describe_value(own, load);
	v = &flows.making.value[flows.making.nvalues - 1];
	v->fit = loads_of_line(flows.size[load]);
	if (!v->count)
		return;
	for (UInt i = flows.first_load; i < load; i++)
		if (are_same(&flows.address[i], own))
			flows.making.value[i - flows.first_load].again++;
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
	for (ULong written = flows.written; written;) {
		UInt to = take_source(&written),
		     cycles = trail_from(&flows.registers[to], from);

		if (cycles)
			*put++ = (union flow_word){
				.put = {(UChar)to, (UChar)(cycles - 1)}};
	}
	way->way = (struct flow_way){(UChar)from, (UChar)(put - way - 1)};
	flows.making.nwords += (UInt)(put - way);
	f->nways++;
	f->reads |= bit_if(from < FLOW_REGISTERS, from % FLOW_REGISTERS);
	f->loads |= bit_if(from >= FLOW_REGISTERS, from % FLOW_REGISTERS);
}

static void describe_ways(void)
{
	for (UInt i = 0; i < SOURCE_WORDS; i++) {
		ULong sources = 0;

		for (ULong written = flows.written; written;)
			sources |= flows.registers[take_source(&written)].sources.of[i];
		while (sources)
			describe_ways_from(64 * i + take_source(&sources));
	}
}

/* So many instructions of the batch wait for that source. */
static UInt waiters_for(UInt source)
{
	return is_source(&flows.waited, source) ? flows.waiters[source] : 0;
}

static void describe_all(void)
{
	flows.making.nvalues = flows.making.nwords = 0;
	flows.making.flow.begins = flows.begins;
	flows.making.flow.end = flows.branches ? FLOW_BRANCHES : FLOW_GOES_ON;
	flows.making.flow.writes = flows.written;
	for (UInt i = flows.first_load; i < flows.nloads; i++)
		describe_address(i);
	flows.making.flow.nloads = flows.nloads - flows.first_load;
	if (flows.branches)
		describe_value(&flows.condition, 0);
	note_waits();
	flows.making.flow.waits = waits_take(&flows.waits);
	describe_ways();
	flows.making.flow.nwords = (UShort)flows.making.nwords;
}

static ULong most_of(ULong a, ULong b)
{
	return a > b ? a : b;
}

/* As how many the instructions are issued; pairs make up for others only. */
static UInt issued_as(UInt instructions)
{
	UInt more = flows.besides > flows.fused ? flows.besides - flows.fused : 0;

	flows.besides = flows.fused = 0;
	return instructions + more;
}

/* The least time that the superblock's instructions take by what they need of units, and
 * of places to wait. */
static ULong units_so_far(void)
{
	ULong ports = cycles_of_units(&flows.units) * AHEAD_TICKS / 100;

	return ticks_together(ports,
		ticks_by_scheduler(flows.computing, flows.ready_before + flows.ready));
}

/* The next superblock may not need the ports that one needs, unless it is another round
 * of it: of what it takes longer for those, so many thirds count (by the clock of Golden
 * Cove 0.8 of it where all need the same, and 0.45 where comparisons and sums of floats
 * take turns). */
#define ELSEWHERE 2

/* How many more ticks the batch takes by the ports of its loads and stores, by its
 * branches, or by what its superblock needs of units so far, than by its instructions. */
static void use_ports(struct flowed *flowed, UInt instructions, UInt loads, UInt stores)
{
	const struct ooo *of = out_of_order();
	ULong units = units_so_far(), slots = ticks_for(instructions, of->width),
	      width = ticks_for(issued_as(instructions), of->width) + flows.short_by,
	      all = most_of(width, most_of(ticks_for(loads, of->loads),
					   ticks_for(stores, of->stores))),
	      alone = flows.issued + all < units ? units - flows.issued : all, taken;

	all += (alone - all) * (flows.carried.loops ? 3 : ELSEWHERE) / 3;
	taken = width + short_of_cycle();
	flowed->if_taken = taken > all ? (UInt)(taken - all) : 0;
	flows.short_by = 0;
	flows.issued += alone;
	flowed->ports = (UInt)(all - slots);
}

/* The register with the longest way to itself, which the next round would have to wait
 * for; that of the stack pointer is computed in front. */
static UInt longest_chain(UInt *cycles)
{
	UInt longest = FLAGS, most = 1;
	ULong known = flows.known & ~(1ull << STACK_REGISTER | 1ull << FLAGS);

	while (known) {
		UInt of = take_source(&known),
		     from = trail_from(&flows.registers[of], of);

		if (from > most) {
			longest = of;
			most = from;
		}
	}
	*cycles = most - 1;
	return longest;
}

/* The batch's loads that the register hangs on. */
static ULong loads_in(UInt of)
{
	return flows.first_load < FLOW_LOADS ? flows.registers[of].sources.of[OF_LOADS] &
						       ~0ull << flows.first_load
					     : 0;
}

/* A chain that takes longer than all instructions so far: by how much it has got longer.
 */
static void tell_chain(struct flowed *flowed, UInt instructions)
{
	UInt cycles, of = longest_chain(&cycles);

	if ((ULong)cycles * AHEAD_TICKS <= flows.issued || cycles <= flows.chained[of])
		return;
	flowed->chain_of = (UChar)of;
	flowed->chain_cycles = (UChar)(cycles - flows.chained[of]);
	flowed->chain_loads = loads_in(of);
	flowed->chain_reach = chain_reach(out_of_order(), instructions, waiters_for(of));
	flows.chained[of] = (UChar)cycles;
}

/* Registers that the batch writes and that have nothing of what they were. */
static ULong written_anew(void)
{
	ULong anew = 0;

	for (ULong written = flows.written; written;) {
		UInt to = take_source(&written);

		anew |= bit_if(!trail_from(&flows.registers[to], to), to);
	}
	return anew;
}

/* The rounds of an instruction: at the width, and together as long as it takes to begin
 * with them. */
static void use_rounds(struct flowed *flowed)
{
	flowed->ports = flowed->if_taken = 0;
	flowed->if_left = flowed->branches ? CYCLES_OF_ROUNDS * AHEAD_TICKS : 0;
	flowed->branches = False;
}

struct flowed flows_take(UInt instructions, UInt loads, UInt stores)
{
	struct flowed flowed = {.branches = flows.branches,
		.jumps = flows.jumps,
		.repeats = flows.repeats,
		.resolves = flows.branches ? flows.resolves : 0,
		.divides = flows.divides,
		.anew = written_anew()};

	use_ports(&flowed, instructions, loads, stores);
	if (flows.repeats)
		use_rounds(&flowed);
	else
		tell_chain(&flowed, instructions);
	describe_all();
	if (flows.making.flow.begins || flows.making.flow.nloads || flows.written ||
		flows.branches || flows.making.flow.waits)
		flowed.flow = flow_keep(&flows.making);
	VG_(memset)(&flows.making.flow, 0, sizeof(flows.making.flow));
	flows.begins = flows.branches = flows.jumps = False;
	flows.written = 0;
	flows.divides = 0;
	flows.waited = (struct sources){{0, 0}};
	flows.first_load = flows.nloads;
	return flowed;
}
