/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The superblock that flows.c looks at, and how its values hang on each other.
 */
#ifndef CACHEPEEK_SIM_FLOW_VALUES_H
#define CACHEPEEK_SIM_FLOW_VALUES_H

#include "instrument/carried.h"
#include "instrument/flow_keep.h"
#include "instrument/flow_registers.h"
#include "instrument/latency.h"
#include "instrument/trails.h"
#include "instrument/waits.h"

#define MAX_TEMPS 8192

/* Which registers a value comes from, if any. */
enum side { NO_SIDE, GENERAL_SIDE, VECTOR_SIDE };

/* A value that an instruction has made.  Its pieces do not take longer than the
 * slowest one, which others wait for. */
struct value {
	UInt instruction;
	UInt latency;
	UInt beside_adder; /* latency of operands that no addition of floats made */
	Bool added;        /* an addition of floats made it */
	Bool loaded, scaled, widened;
	UChar parts; /* of the sum, of what the instruction has read */
	UChar side;  /* enum side */
	UChar home;  /* the register that it was put into last + 1 */
	struct trails trails;
} __attribute__((aligned(64))); /* a line of the host's, but for its lanes */

/* The superblock that is being looked at. */
static struct {
	struct value temps[MAX_TEMPS];
	struct value no_temp; /* one behind those */
	struct trails registers[FLOW_REGISTERS];
	ULong known;   /* registers that have trails: others are what they were */
	ULong written; /* registers, since the last batch */
	ULong others; /* registers with what no addition of floats made, in the superblock
		       */
	Bool repeats; /* nothing but one instruction */
	UInt divided; /* the last instruction that did */
	UInt divides; /* cycles of the divider, since the last batch */
	UInt instruction, first_instruction, nloads, first_load;
	UInt issued_at; /* ticks, the instruction by the width alone */
	UInt straight; /* the instruction before the first one since a branch was taken */
	ULong short_by;     /* ticks, as flows_taken() has it, since the last batch */
	struct units units; /* that the superblock's instructions have used */
	/* The superblock's instructions that compute: how many there are, the last of
	 * them, when its operands are ready, and the sum of that of those before, in
	 * ticks. */
	UInt computing, computed, ready;
	ULong ready_before;
	struct trails operands; /* that one's */
	/* As how many more the batch's are issued; and pairs of which each is one. */
	UInt besides, fused;
	UInt loading;                  /* the last instruction that loads */
	UInt parts;                    /* of its address */
	UInt resolves;                 /* as struct batch has it */
	ULong issued;                  /* ticks, of the superblock so far */
	UChar chained[FLOW_REGISTERS]; /* cycles, of chains that were told */
	/* By how many instructions of the batch each source is waited for, if any does;
	 * and the last that did, with the sources that it does not wait for. */
	UInt waiters[FLOW_SOURCES], waiter;
	struct sources waited, unwaited;
	Bool begins, branches, jumps;
	struct trails address[FLOW_LOADS], condition;
	UInt size[FLOW_LOADS]; /* bytes that each loads */
	struct made_flow making;
	struct made_waits waits; /* since the last batch */
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

/* The trails of a register, by number. */
static struct trails *register_trails(UInt at)
{
	struct trails *trails = &flows.registers[at];

	if (!(flows.known >> at & 1)) {
		flows.known |= 1ull << at;
		no_trails(trails, 0);
		add_source(trails, at);
	}
	return trails;
}

/* As another instruction sees it. */
static void set_whole(struct trails *to, const struct value *v)
{
	set_later(to, &v->trails, v->latency);
}

static struct value *value_of_temp(const IRExpr *e)
{
	return e && e->tag == Iex_RdTmp && e->Iex.RdTmp.tmp < MAX_TEMPS
		       ? &flows.temps[e->Iex.RdTmp.tmp]
		       : NULL;
}

static void add_operand(struct value *to, const IRExpr *e)
{
	const struct value *v = value_of_temp(e);
	Bool own = v && v->instruction == flows.instruction;

	if (!v)
		return;
	if (own)
		to->latency = to->latency > v->latency ? to->latency : v->latency;
	merge_later(&to->trails, &v->trails,
		(own ? 0 : v->latency) + (v->added ? 0 : to->beside_adder));
	to->added |= v->added;
	to->side = to->side ? to->side : v->side;
	to->home = v->home;
	to->widened |= v->widened;
	to->parts += own ? v->parts : 1;
}

static ULong ticks_for(UInt n, UInt hundredths)
{
	return hundredths ? (ULong)n * AHEAD_TICKS * 100 / hundredths : 0;
}

/* When an instruction is, by the width alone. */
static UInt issue_of(UInt instruction)
{
	return (UInt)ticks_for(
		instruction - flows.first_instruction, out_of_order()->width);
}

static void begin_value(struct value *v, UInt latency)
{
	v->instruction = flows.instruction;
	v->latency = latency;
	v->beside_adder = 0;
	v->added = v->loaded = v->scaled = v->widened = False;
	v->parts = v->home = 0;
	v->side = NO_SIDE;
	no_trails(&v->trails, flows.issued_at);
}

/* The temporary's, which begins. */
static struct value *begin_temp(IRTemp temp, UInt latency)
{
	struct value *v = temp < MAX_TEMPS ? &flows.temps[temp] : &flows.no_temp;

	begin_value(v, latency);
	return v;
}

/* ---- statements ---- */

static void add_arguments(struct value *to, IRExpr *const *args)
{
	for (; *args; args++)
		if (!is_IRExpr_VECRET_or_GSPTR(*args))
			add_operand(to, *args);
}

static enum side side_of(Int at)
{
	return at < NGENERAL ? GENERAL_SIDE : at >= FIRST_VECTOR ? VECTOR_SIDE : NO_SIDE;
}

static void read_register(struct value *to, Int offset)
{
	Int at = register_at(offset);

	if (at < 0)
		return;
	merge_trails(&to->trails, register_trails((UInt)at));
	to->added = !(flows.others >> at & 1);
	to->side = side_of(at);
	to->home = (UChar)(at + 1);
	to->parts = 1;
}

/* The instruction waits for what those hang on. */
static void note_waiter(const struct trails *trails)
{
	if (flows.waiter != flows.instruction)
		flows.unwaited = (struct sources){{~0ull, ~0ull}};
	flows.waiter = flows.instruction;
	for (UInt i = 0; i < SOURCE_WORDS; i++) {
		ULong wait = trails->sources.of[i] & flows.unwaited.of[i],
		      first = wait & ~flows.waited.of[i];

		flows.unwaited.of[i] &= ~wait;
		flows.waited.of[i] |= wait;
		while (first)
			flows.waiters[64 * i + take_source(&first)] = 0;
		while (wait)
			flows.waiters[64 * i + take_source(&wait)]++;
	}
}

/* A word of memory, as it was stored. */
static void add_word(struct trails *to, Int word)
{
	merge_later(to, register_trails((UInt)word), out_of_order()->l1 + CARRIED_CYCLES);
}

/* The instruction waits for those, but for which it is issued at once. */
static void note_wait(const struct trails *of, UInt instruction)
{
	UInt issued;

	if (!(of->sources.of[OF_REGISTERS] | of->sources.of[OF_LOADS]))
		return;
	issued = issue_of(instruction);
	waits_note(&flows.waits, of,
		of->ready > issued ? (of->ready - issued) / AHEAD_TICKS : 0,
		out_of_order()->l1);
}

/* All that the last instruction that computes waits for is known. */
static void note_waits(void)
{
	note_wait(&flows.operands, flows.computed);
	no_trails(&flows.operands, 0);
}

/* An instruction computes that, once its operands are ready. */
static void note_operands(const struct value *v)
{
	if (flows.computed != flows.instruction) {
		note_waits();
		flows.computing++;
		flows.ready_before += flows.ready;
		flows.ready = 0;
		flows.computed = flows.instruction;
	}
	merge_trails(&flows.operands, &v->trails);
	if (v->trails.ready > flows.ready)
		flows.ready = v->trails.ready;
}

static Bool is_vector_type(IRType type)
{
	return type == Ity_F32 || type == Ity_F64 || type == Ity_V128 || type == Ity_V256;
}

/* The value that a load brings; other pieces of its instruction may add to it. */
static void make_load(struct value *v, const IRExpr *from, Int at, IRType type)
{
	add_operand(v, from);
	v->latency = 0;
	flows.loading = flows.instruction;
	flows.parts = v->parts;
	units_address(&flows.units, flows.instruction);
	note_waiter(&v->trails);
	if (flows.nloads < FLOW_LOADS) {
		set_trails(&flows.address[flows.nloads], &v->trails);
		flows.size[flows.nloads] = (UInt)sizeofIRType(type);
	}
	v->added = False;
	v->loaded = True;
	v->side = NO_SIDE;
	v->parts = 1;
	lengthen_trails(&v->trails, out_of_order()->l1);
	if (carried_at(&flows.carried, at) >= 0)
		add_word(&v->trails, carried_at(&flows.carried, at));
	if (flows.nloads < FLOW_LOADS)
		add_source(&v->trails, FLOW_REGISTERS + flows.nloads);
	flows.nloads += flows.nloads < FLOW_LOADS;
}

/* Another piece of the same instruction. */
static Bool is_own(const struct value *v)
{
	return v && v->instruction == flows.instruction;
}

/* The condition that chooses a value was compared by an instruction of its own. */
static void note_comparison(const IRExpr *e)
{
	const struct value *v = value_of_temp(e);

	if (v)
		note_wait(&v->trails, flows.instruction);
}

/* Finishes what was made of its operands. */
static void finish_value(struct value *v, const IRExpr *e, IRType type)
{
	const struct value *one = NULL, *other = NULL;

	if (e->tag == Iex_Unop)
		one = value_of_temp(e->Iex.Unop.arg);
	if (is_sum(e)) {
		one = value_of_temp(e->Iex.Binop.arg1);
		other = value_of_temp(e->Iex.Binop.arg2);
	}
	if (widens(e) && is_own(one) && one->loaded)
		v->latency = one->latency;
	if (is_sum(e) && ((one && one->scaled) || (other && other->scaled)))
		v->latency = SCALED_SUM;
	v->scaled = scales(e);
	v->widened |= widens(e) && v->latency;
	if (only_moves(e))
		return;
	note_operands(v);
	if (e->tag == Iex_ITE)
		note_comparison(e->Iex.ITE.cond);
	if (!widens(e))
		v->home = v->widened = 0;
	v->added = adds_floats(e);
	if (is_vector_type(type))
		v->side = VECTOR_SIDE;
}

static void make_value(struct value *v, const IRExpr *e, IRType type)
{
	v->latency = latency_of(e, out_of_order());
	v->beside_adder = latency_beside_adder(e, out_of_order());
	switch (e->tag) {
	case Iex_Get:
		read_register(v, e->Iex.Get.offset);
		break;
	case Iex_RdTmp:
		add_operand(v, e);
		break;
	case Iex_Unop:
		add_operand(v, e->Iex.Unop.arg);
		break;
	case Iex_Binop:
		add_operand(v, e->Iex.Binop.arg1);
		add_operand(v, e->Iex.Binop.arg2);
		break;
	case Iex_Triop:
		add_operand(v, e->Iex.Triop.details->arg2);
		add_operand(v, e->Iex.Triop.details->arg3);
		break;
	case Iex_Qop:
		add_operand(v, e->Iex.Qop.details->arg2);
		add_operand(v, e->Iex.Qop.details->arg3);
		add_operand(v, e->Iex.Qop.details->arg4);
		break;
	case Iex_ITE:
		add_operand(v, e->Iex.ITE.cond);
		add_operand(v, e->Iex.ITE.iftrue);
		add_operand(v, e->Iex.ITE.iffalse);
		break;
	case Iex_CCall:
		add_arguments(v, e->Iex.CCall.args);
		break;
	default:
		break;
	}
	finish_value(v, e, type);
	v->instruction -= is_comparison(e);
}

/* A value goes to a register: maybe of the other side.  Cores have it there at once if it
 * is another one's, with zeros in front. */
static void settle_value(struct value *v, Int at)
{
	enum side side = side_of(at);

	if (side && v->side && v->side != side) {
		v->latency += CROSSING;
		units_cross(&flows.units, flows.instruction, side == VECTOR_SIDE);
	}
	if (v->widened && v->home && v->home != at + 1)
		v->latency = 0;
	v->widened = v->scaled = False;
	v->side = side ? side : v->side;
	v->home = (UChar)(at + 1);
}

static void set_register(UInt at, const struct trails *trails, UInt cycles)
{
	flows.known |= 1ull << at;
	flows.written |= 1ull << at;
	set_later(&flows.registers[at], trails, cycles);
}

/* Less than a general register is put into what it holds. */
static void write_register(const IRSB *in, Int offset, const IRExpr *data)
{
	struct value v, *temp = value_of_temp(data);
	Int at = register_at(offset);

	if (at < 0)
		return;
	begin_value(&v, 0);
	if (temp)
		settle_value(temp, at);
	add_operand(&v, data);
	lengthen_trails(&v.trails, v.latency);
	if (at < NGENERAL && sizeofIRType(typeOfIRExpr(in->tyenv, data)) < 4) {
		lengthen_trails(register_trails((UInt)at), MERGING);
		merge_trails(&v.trails, &flows.registers[at]);
		if (temp) {
			set_trails(&temp->trails, &v.trails);
			temp->latency = 0;
		}
	} else if (at == FLAGS && flows.written >> FLAGS & 1) {
		merge_trails(&v.trails, &flows.registers[at]);
	}
	note_waiter(&v.trails);
	set_register((UInt)at, &v.trails, 0);
	flows.others = (flows.others & ~(1ull << at)) | (ULong)!v.added << at;
}

/* An instruction that stores to where it has loaded from is issued as two, and as three
 * if two registers say where that is. */
static void note_change(void)
{
	if (flows.loading == flows.instruction)
		flows.besides += flows.parts > 1 ? 2 : 1;
	flows.loading = 0;
}

/* A value that a store computes besides may be what it stores. */
static void write_word(Int word, const IRExpr *data)
{
	struct value v, *temp = value_of_temp(data);

	if (!is_own(temp) || !temp->latency)
		units_address(&flows.units, flows.instruction);
	note_change();
	begin_value(&v, 0);
	add_operand(&v, data);
	lengthen_trails(&v.trails, v.latency);
	note_waiter(&v.trails);
	if (word >= 0)
		set_register((UInt)word, &v.trails, 0);
}

static void made_by_helper(const IRDirty *d)
{
	if (d->tmp != IRTemp_INVALID)
		add_arguments(begin_temp(d->tmp, LATENCY_OF_HELPER), d->args);
}

static void load_guarded(const IRLoadG *g, Int at, IRType type)
{
	struct value *v = begin_temp(g->dst, 0);

	make_load(v, g->addr, at, type);
	add_operand(v, g->alt);
	add_operand(v, g->guard);
}

#endif
