/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * From references to code: the calls that a superblock is given.
 *
 * Each reference has a tick, its place on the core's clock, so that stamps order
 * references as the program made them.
 */
#include "block.h"
#include "emit.h"
#include "model/every.h"
#include "machines/front.h"
#include "instrument/flows.h"
#include "instrument/pieces.h"
#include "instrument/pool.h"
#include "model/ahead.h"
#include "model/timing.h"
#include "profile/profile.h"
#include "sample/log.h"
#include "sample/sample.h"
#include "settled.h"
#include "strings/strings.h"
#include "machines/team.h"

static void model_direct(uint64_t addr, uint32_t size, enum access kind)
{
	if (sample_wanted() && sample_direct(addr, size, kind))
		return;
	if (tool_options.nmachines > 1)
		team_direct(addr, size, kind);
	else if (tool_options.has_front)
		front_direct(addr, size, kind);
	else
		batch_direct(addr, size, kind);
}

static void make_direct(uint64_t addr, uint32_t size, enum access kind)
{
	model_direct(addr, size, kind);
	if (every_has_any())
		every_direct(addr, size, kind);
}

static void on_load(Addr a, UWord size)
{
	make_direct(a, (uint32_t)size, LOAD);
}

static void on_store(Addr a, UWord size)
{
	make_direct(a, (uint32_t)size, STORE);
}

/* By the last instruction before which all is settled. */
static void observe_on(struct core *core, Addr instruction, Addr a, uint64_t instructions)
{
	batch_told.observe(core,
		&(struct batch_origin){
			.instruction = instruction,
			.address = a,
			.number = core->count[CP_SIM_instructions] + instructions - 1,
			.load = -1,
		});
}

static void announce_reference(Addr instruction, Addr a)
{
	if (!batch_told.announce)
		return;
	if (sample_wanted())
		sample_drain(); /* what came before it */
	if (!tool_options.has_front && tool_options.nmachines == 1)
		batch_told.announce(running, instruction, a);
	for (UInt i = 0; tool_options.nmachines > 1 && i < team.size; i++)
		batch_told.announce(team.member[i], instruction, a);
}

/* For prefetchers, until it is made. */
static void say_who(Addr instruction)
{
	if (batch_told.asks_who)
		front->instruction = instruction;
}

static void observe_reference(Addr instruction, Addr a)
{
	if (!batch_told.observe)
		return;
	if (!tool_options.has_front && tool_options.nmachines == 1)
		observe_on(running, instruction, a, running->clock >> 32);
	for (UInt i = 0; tool_options.nmachines > 1 && i < team.size; i++)
		observe_on(team.member[i], instruction, a, team.member[i]->clock >> 32);
	for (UInt i = 0; tool_options.has_front && i < front->nmembers; i++)
		observe_on(front->member[i], instruction, a, front->clock >> 32);
}

/* The same for whoever observes. */
void settled_load(Addr a, UWord size, Addr instruction)
{
	every_by(instruction);
	announce_reference(instruction, a);
	say_who(instruction);
	on_load(a, size);
	observe_reference(instruction, a);
}

void settled_store(Addr a, UWord size, Addr instruction)
{
	every_by(instruction);
	announce_reference(instruction, a);
	say_who(instruction);
	on_store(a, size);
	observe_reference(instruction, a);
}

#define MORE_OF(which, more_loads, more_stores)                                          \
	do {                                                                             \
		(which)->loads += (UInt)(more_loads);                                    \
		(which)->stores += (UInt)(more_stores);                                  \
		(which)->idle_ticks -= 2 * (UInt)((more_loads) + (more_stores));         \
	} while (0)

void settled_more(Int loads, Int stores)
{
	if (!tool_options.has_front && tool_options.nmachines == 1)
		MORE_OF(running, loads, stores);
	for (UInt i = 0; tool_options.nmachines > 1 && i < team.size; i++)
		MORE_OF(team.member[i], loads, stores);
	if (tool_options.has_front)
		MORE_OF(front, loads, stores);
}

/* Finds the lanes of that size whose bits are set: one reference from the first to the
 * last. */
static Bool find_lanes(Addr *a, UWord *size, UWord lanes)
{
	UWord first, last;

	if (!lanes)
		return False;
	first = (UWord)__builtin_ctzl(lanes);
	last = 63 - (UWord)__builtin_clzl(lanes);
	*a += first * *size;
	*size *= last - first + 1;
	return True;
}

static void on_masked_load(Addr a, UWord size, UWord lanes, Addr instruction)
{
	if (find_lanes(&a, &size, lanes))
		settled_load(a, size, instruction);
}

static void on_masked_store(Addr a, UWord size, UWord lanes, Addr instruction)
{
	if (find_lanes(&a, &size, lanes))
		settled_store(a, size, instruction);
}

static void model_order(Addr a, enum cache_order order)
{
	if (sample_wanted() && sample_order(a))
		return;
	if (tool_options.nmachines > 1)
		team_order(a, order);
	else if (tool_options.has_front)
		front_order(a, order);
	else
		core_order(running, a, order);
}

static void model_stream(Addr a, uint32_t size, int is_masked)
{
	if (sample_wanted() && sample_stream(a, size))
		return;
	if (tool_options.nmachines > 1)
		team_stream(a, size, is_masked);
	else if (tool_options.has_front)
		front_stream(a, size, is_masked);
	else
		core_stream(running, a, size, is_masked);
}

/* The effect of these orders on caches that have the line shows in counters that no
 * reference to it has: they are accounted for at once. */
static void conclude_order(Addr instruction, Addr a)
{
	observe_reference(instruction, a);
	if (tool_options.sites)
		profile_settle();
}

static void stream(Addr a, UWord size, Addr instruction, int is_masked)
{
	every_by(instruction);
	announce_reference(instruction, a);
	model_stream(a, (uint32_t)size, is_masked);
	if (every_has_any()) /* whose machine is the first */
		every_other(a, (uint32_t)size,
			tool_options.machine.ignores_orders ? BATCH_WRITE : BATCH_STREAM);
	conclude_order(instruction, a);
}

static void on_stream(Addr a, UWord size, Addr instruction)
{
	stream(a, size, instruction, 0);
}

static void on_masked_stream(Addr a, UWord size, Addr instruction)
{
	stream(a, size, instruction, 1);
}

/* One of memory that there is none of does nothing.  A sample has none. */
static void on_prefetch(Addr a, UWord order, Addr instruction)
{
	if (sample_wanted() || !VG_(am_is_valid_for_client)(a, 1, VKI_PROT_READ))
		return;
	announce_reference(instruction, a);
	model_order(a, (enum cache_order)order);
	every_by(instruction);
	if (every_has_any() && order != ORDER_PREFETCH_L2 &&
		!tool_options.machine.ignores_orders)
		every_other(a, 1, BATCH_PREFETCH);
	conclude_order(instruction, a);
}

static void on_order(Addr a, UWord order, Addr instruction)
{
	announce_reference(instruction, a);
	model_order(a, (enum cache_order)order);
	conclude_order(instruction, a);
}

/* After the load and the store of one instruction. */
static void on_modify(Addr a, UWord size)
{
	(void)a, (void)size;
	if (tool_options.nmachines > 1)
		team_modify();
	else if (tool_options.has_front)
		front_modify();
	else
		running->rmw++;
}

UInt line_shift(void)
{
	return log2_of(tool_options.machine.line);
}

static void add_call(
	struct block *b, const HChar *what, void *helper, IRExpr **args, IRExpr *guard)
{
	IRDirty *d = unsafeIRDirty_0_N(0, what, VG_(fnptr_to_fnentry)(helper), args);

	if (guard)
		d->guard = guard;
	addStmtToIRSB(b->out, IRStmt_Dirty(d));
}

IRExpr *address_value(const struct address *at)
{
	return at->root == IRTemp_INVALID ? emit_constant(at->offset)
					  : IRExpr_RdTmp(at->temp);
}

/* Sorts the places by their ticks; order[n]: which one is n-th. */
static void order_places(const struct block *b, UInt *order)
{
	for (UInt i = 0; i < b->nplaces; i++) {
		UInt at = i;

		for (; at && b->places[order[at - 1]].tick > b->places[i].tick; at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
}

static void describe_item(const struct block *b, const UInt *number,
	const struct reference *r, struct batch_item *item)
{
	Bool is_code = r->kind == BATCH_CODE;
	ULong base = is_code ? b->first_line : b->places[r->place].at.offset;

	item->kind = r->kind;
	item->tick = r->tick;
	item->offset = (int32_t)(r->at.offset - base);
	if (is_code)
		return;
	item->size = r->size;
	item->place = number[r->place];
}

static void describe_counts(const struct block *b, struct batch *batch)
{
	batch->clock = b->now.ticks | (ULong)b->now.instructions << 32;
	batch->loads = b->now.loads;
	batch->stores = b->now.stores;
	batch->rmw = b->now.rmw;
	batch->more_lines = b->lines - 1;
	batch->second_line_tick = b->second_line_tick;
}

/* Places are made in the order of their first references. */
static void describe_first(const struct block *b, const UInt *number, struct batch *batch)
{
	for (UInt i = 0; i < b->nplaces; i++)
		batch_order_place(batch, i, number[i]);
	for (UInt i = b->nrefs; i-- > 0;)
		if (b->refs[i].kind != BATCH_CODE)
			batch_place_first(&batch->place[number[b->refs[i].place]],
				b->refs[i].kind, b->refs[i].tick);
}

static struct batch_note note_of(
	const struct block *b, const struct reference *r, const struct batch_item *item)
{
	return (struct batch_note){
		.at = (int16_t)(r->kind == BATCH_CODE ? 0 : item->offset),
		.offset = (int16_t)(r->instruction - (b->first_line << line_shift())),
		.number = (int16_t)r->number,
		.used = (int16_t)r->used,
		.load = (int16_t)r->load,
	};
}

static void describe_notes(
	const struct block *b, const UInt *number, const struct batch *batch)
{
	struct batch_note *notes = batch_notes(batch);

	for (UInt i = batch->items; i-- > 0;) {
		const struct reference *r = &b->refs[i];

		notes[i] = note_of(b, r, &batch->item[i]);
		if (r->kind != BATCH_CODE)
			notes[batch->items + number[r->place]] = notes[i];
	}
}

/* By where in its line it begins, as branches are known by where they are: superblocks
 * may have the same code, and one of a loop may have more than one round. */
static UShort key_of(const struct batch *batch)
{
	UShort offset = batch->items ? (UShort)batch_notes(batch)->offset : 0;

	return (UShort)((offset + 1) * 40503u);
}

/* A batch that is made of no instruction of the superblock hangs on none of its values.
 */
static struct flowed take_flow(const struct block *b)
{
	if (b->is_apart || !b->now.instructions)
		return (struct flowed){.flow = NULL};
	return flows_take(b->now.instructions, b->now.loads, b->now.stores);
}

static void describe_flow(const struct block *b, struct batch *batch)
{
	struct flowed flowed = take_flow(b);

	batch->key = key_of(batch);
	batch->flow = flowed.flow;
	batch->branches = flowed.branches;
	batch->jumps = flowed.jumps;
	batch->ports = flowed.ports + b->more_ports;
	batch->if_taken = (UShort)flowed.if_taken;
	batch->if_left = (UShort)flowed.if_left;
	batch->from = (Int)((flowed.repeats ? b->instruction : b->from) -
			    (b->first_line << line_shift()));
	batch->behind = (Int)(b->next - (b->first_line << line_shift()));
	batch->chain_of = flowed.chain_of;
	batch->chain_cycles = flowed.chain_cycles;
	batch->anew = flowed.anew;
	batch->chain_reach = (UShort)flowed.chain_reach;
	batch->divides = (UShort)flowed.divides;
	batch->chain_loads = flowed.chain_loads;
	batch->resolves = flowed.resolves;
}

/* As much of it as so many items need. */
static void clear_batch(struct batch *batch, UInt items)
{
	SizeT size = __builtin_offsetof(struct batch, item) +
		     items * sizeof(batch->item[0]) +
		     (items + BATCH_PLACES) * sizeof(struct batch_note);

	VG_(memset)(batch, 0, (size + 7) & ~7ul);
}

static const struct batch *describe_batch(const struct block *b, const UInt *order)
{
	UInt number[BATCH_PLACES];
	struct batch batch;

	clear_batch(&batch, b->nrefs);
	describe_counts(b, &batch);
	for (UInt i = 0; i < b->nplaces; i++) {
		const struct place *p = &b->places[order[i]];

		number[order[i]] = i;
		batch.place[i].last = p->size - 1;
		batch.place[i].tick = p->tick;
		batch_place_writes(&batch.place[i], p->writes);
	}
	describe_first(b, number, &batch);
	for (UInt i = 0; i < b->nrefs; i++)
		batch.has_floats |= b->refs[i].kind == BATCH_FLOAT;
	for (; batch.items < b->nrefs; batch.items++)
		describe_item(b, number, &b->refs[batch.items], &batch.item[batch.items]);
	if (batch_has_notes())
		describe_notes(b, number, &batch);
	if (ahead_wanted())
		describe_flow(b, &batch);
	return batch_keep(&batch);
}

void forget_batch(struct block *b)
{
	b->lines = b->second_line_tick = b->nrefs = b->nplaces = 0;
	b->now = (struct tally){0, 0, 0, 0, 0};
	b->more_ports = 0;
}

/* Only as many arguments as there are places: more would cost code. */
static IRExpr **list_arguments(IRExpr *batch, IRExpr *line, IRExpr **at, UInt n)
{
	return n == 0   ? mkIRExprVec_2(batch, line)
	       : n == 1 ? mkIRExprVec_3(batch, line, at[0])
	       : n == 2 ? mkIRExprVec_4(batch, line, at[0], at[1])
	       : n == 3 ? mkIRExprVec_5(batch, line, at[0], at[1], at[2])
			: mkIRExprVec_6(batch, line, at[0], at[1], at[2], at[3]);
}

static const HChar call_name[] = "batch";

Bool settle_is_call(const IRStmt *s)
{
	return s->tag == Ist_Dirty && s->Ist.Dirty.details->cee->name == call_name;
}

static batch_function *model_function_for(UInt places, UInt lines)
{
	if (tool_options.nmachines > 1)
		return team_function_for(line_shift(), places, lines);
	return tool_options.has_front ? front_function_for(line_shift(), places, lines)
				      : batch_function_for(line_shift(), places, lines);
}

static batch_function *function_for(UInt places, UInt lines)
{
	batch_function *model = model_function_for(places, lines);

	return every_has_any() ? every_function_for(model, places, lines) : model;
}

static void settle_places(
	struct block *b, const struct batch *batch, const struct address *at, UInt places)
{
	batch_function *function = function_for(places, b->lines);
	IRExpr *value[BATCH_PLACES];

	if (sample_wanted()) {
		sample_model(function, places, b->lines);
		sample_write(b->out, batch, b->first_line, at, places);
		return;
	}
	for (UInt i = 0; i < places; i++)
		value[i] = address_value(&at[i]);
	add_call(b, call_name, (void *)function,
		list_arguments(emit_constant((Addr)batch), emit_constant(b->first_line),
			value, places),
		NULL);
}

void settle(struct block *b)
{
	struct address at[BATCH_PLACES];
	UInt order[BATCH_PLACES];

	if (!b->lines)
		return;
	order_places(b, order);
	for (UInt i = 0; i < b->nplaces; i++)
		at[i] = b->places[order[i]].at;
	settle_places(b, describe_batch(b, order), at, b->nplaces);
	forget_batch(b);
}

void settle_direct(
	struct block *b, enum batch_kind kind, IRExpr *a, UInt size, IRExpr *guard)
{
	void *helper = kind == BATCH_READ    ? (void *)on_load
		       : kind == BATCH_WRITE ? (void *)on_store
					     : (void *)on_modify;
	void *by = kind == BATCH_READ ? (void *)settled_load : (void *)settled_store;

	if (batch_has_notes() && kind != BATCH_MODIFY)
		add_call(b, "direct", by,
			mkIRExprVec_3(
				a, emit_constant(size), emit_constant(b->instruction)),
			guard);
	else
		add_call(b, "direct", helper, mkIRExprVec_2(a, emit_constant(size)),
			guard);
}

void settle_order(struct block *b, enum cache_order order, IRExpr *a)
{
	if (!tool_options.hears_orders)
		return;
	settle(b);
	add_call(b, "order",
		order_is_prefetch(order) ? (void *)on_prefetch : (void *)on_order,
		mkIRExprVec_3(a, emit_constant(order), emit_constant(b->instruction)),
		NULL);
}

void settle_stream(struct block *b, IRExpr *a, UInt size, IRExpr *guard)
{
	settle(b);
	add_call(b, "stream",
		b->streams == STREAMS_MASKED ? (void *)on_masked_stream
					     : (void *)on_stream,
		mkIRExprVec_3(a, emit_constant(size), emit_constant(b->instruction)),
		guard);
}

const struct batch *settle_apart(struct block *b)
{
	UInt order[BATCH_PLACES];
	const struct batch *batch;

	order_places(b, order);
	b->is_apart = True;
	batch = describe_batch(b, order);
	b->is_apart = False;
	forget_batch(b);
	return batch;
}

/* Cores in order make one a cycle. */
static void settled_rounds(ULong rounds)
{
	if (!tool_options.timing)
		return;
	if (!tool_options.has_front && tool_options.nmachines == 1)
		timing_rounds(running, rounds);
	for (UInt i = 0; tool_options.nmachines > 1 && i < team.size; i++)
		timing_rounds(team.member[i], rounds);
	for (UInt i = 0; tool_options.has_front && i < front->nmembers; i++)
		timing_rounds(front->member[i], rounds);
}

void settled_instructions(ULong instructions)
{
	sample_now.instructions += instructions;
}

static void on_string(const struct strings_site *site)
{
	if (tool_options.whole_strings)
		settled_rounds(strings_tell(site));
	else
		strings_tell_each(site);
}

/* places: of the batches of the site. */
void settle_string(struct block *b, const struct strings_site *site, UInt places)
{
	static struct pool pool;
	struct strings_site *kept = pool_take(&pool, sizeof(*kept), sizeof(ULong));

	*kept = *site;
	kept->instruction = b->instruction;
	kept->line = b->line;
	kept->run = places ? function_for(places, 1) : NULL;
	kept->run_part = site->part ? function_for(0, 1) : NULL;
	add_call(b, "string rounds", (void *)on_string,
		mkIRExprVec_1(emit_constant((Addr)kept)), NULL);
}

/* The lanes that are on, a bit each. */
static IRExpr *lanes_on(struct block *b, const struct masked *masked)
{
	IRExpr *all = emit_constant(0);

	for (UInt i = 0; i < masked->lanes; i++) {
		IRExpr *on = emit_kept(
			b->out, Ity_I64, IRExpr_Unop(Iop_1Uto64, masked->guard[i]));

		on = emit_kept(b->out, Ity_I64,
			IRExpr_Binop(Iop_Shl64, on, IRExpr_Const(IRConst_U8((UChar)i))));
		all = emit_kept(b->out, Ity_I64, IRExpr_Binop(Iop_Or64, all, on));
	}
	return all;
}

void settle_masked(struct block *b, enum batch_kind kind, const struct masked *masked)
{
	add_call(b, "masked",
		kind == BATCH_READ ? (void *)on_masked_load : (void *)on_masked_store,
		mkIRExprVec_4(masked->first, emit_constant(masked->size),
			lanes_on(b, masked), emit_constant(b->instruction)),
		NULL);
}
