/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Adds the tool's work to the program's code: references are gathered while a superblock
 * is copied, and settled (settle.c) before each exit.
 */
#include "block.h"
#include "watch/functions.h"
#include "instrument/flows.h"
#include "instrument/latency.h"
#include "native/mend.h"
#include "native/native.h"
#include "native/orders.h"
#include "native/upper.h"
#include "instrument/overwritten.h"
#include "watch/lines.h"
#include "watch/stack_writes.h"
#include "instrument/pieces.h"
#include "instrument/spins.h"
#include "model/ahead.h"
#include "paths/paths.h"
#include "pin/pin.h"
#include "profile/profile.h"
#include "sample/log.h"
#include "sample/sample.h"
#include "strings/strings.h"
#include "system/faults.h"

static struct block b;

ULong x87_translated;

/* --- Gathering --- */

static Bool is_within(const struct address *inner, UInt inner_size,
	const struct address *outer, UInt outer_size)
{
	Long from = (Long)(inner->offset - outer->offset);

	return inner->root == outer->root && from >= 0 &&
	       from + inner_size <= (Long)outer_size;
}

/* The place of the batch that covers a reference, or does now. */
static struct place *find_place(const struct address *at, UInt size)
{
	for (UInt i = 0; i < b.nplaces; i++) {
		struct place *p = &b.places[i];

		if (is_within(at, size, &p->at, p->size))
			return p;
		if (!is_within(&p->at, p->size, at, size))
			continue;
		p->at = *at;
		p->size = size;
		return p;
	}
	return NULL;
}

static struct reference *new_reference(enum batch_kind kind)
{
	struct reference *r = &b.refs[b.nrefs++];

	r->kind = kind;
	r->tick = b.now.ticks;
	r->instruction = b.instruction;
	r->number = (Int)b.now.instructions - (kind != BATCH_CODE);
	r->used = 0;
	r->load = -1;
	return r;
}

/* The line that the batch starts in.  Behind another one of the superblock it is entered
 * from where that one ended, as what is between them is counted by flows_taken(), if
 * anything. */
static void open_batch(ULong line)
{
	b.from = b.next ? b.next : b.instruction;
	b.first_line = b.line = line;
	b.lines = 1;
	new_reference(BATCH_CODE)->at.offset = line;
}

static struct place *new_place(const struct address *at, UInt size)
{
	struct place *p;

	if (b.nplaces == BATCH_PLACES)
		settle(&b);
	if (!b.lines)
		open_batch(b.line);
	p = &b.places[b.nplaces++];
	p->at = *at;
	p->size = size;
	p->writes = False;
	return p;
}

static struct reference *add_reference(
	enum batch_kind kind, const struct address *at, UInt size)
{
	struct place *p = find_place(at, size);
	struct reference *r;

	if (!p)
		p = new_place(at, size);
	p->tick = b.now.ticks;
	p->writes |= kind == BATCH_WRITE || kind == BATCH_MODIFY;
	r = new_reference(kind);
	r->place = (UInt)(p - b.places);
	r->size = size;
	r->at = *at;
	return r;
}

struct address address_of(const struct block *in, const IRExpr *a)
{
	struct address at = {IRTemp_INVALID, IRTemp_INVALID, 0};

	if (a->tag == Iex_Const) {
		at.offset = a->Iex.Const.con->Ico.U64;
		return at;
	}
	at.temp = at.root = a->Iex.RdTmp.tmp;
	if (at.temp < MAX_TEMPS) {
		at.root = in->root[at.temp];
		at.offset = (ULong)in->offset[at.temp];
	}
	return at;
}

/* Does this instruction's last reference load from the very same place? */
static struct reference *load_to_modify(const struct address *at, UInt size)
{
	struct reference *r = b.nrefs ? &b.refs[b.nrefs - 1] : NULL;

	if (!r || r->kind != BATCH_READ || r->instruction != b.instruction ||
		r->size != size)
		return NULL;
	return r->at.root == at->root && r->at.offset == at->offset ? r : NULL;
}

/* References larger than a line, and those that only may happen, are made by themselves;
 * what the program did before comes first. */
static void add_direct(Bool reads, Bool writes, IRExpr *a, UInt size, IRExpr *guard)
{
	settle(&b);
	if (reads)
		settle_direct(&b, BATCH_READ, a, size, guard);
	if (writes)
		settle_direct(&b, BATCH_WRITE, a, size, guard);
	if (reads && writes)
		settle_direct(&b, BATCH_MODIFY, a, size, guard);
}

static void add_load_of(enum batch_kind kind, IRExpr *a, UInt size, UInt used, Int load)
{
	struct reference *r;
	struct address at = address_of(&b, a);

	if (size == 0)
		return;
	if (size > tool_options.machine.line) {
		add_direct(True, False, a, size, NULL);
		return;
	}
	r = add_reference(kind, &at, size);
	r->used = used;
	r->load = load;
	b.now.loads++;
	b.now.ticks += 2;
}

static void add_load(IRExpr *a, UInt size)
{
	add_load_of(BATCH_READ, a, size, 0, -1);
}

/* The store of an instruction whose load was of the very same bytes. */
static void make_modify(struct reference *r)
{
	struct place *p = &b.places[r->place];

	r->kind = BATCH_MODIFY;
	r->tick = p->tick = b.now.ticks;
	p->writes = True;
	b.now.rmw++;
}

static void add_store(IRExpr *a, UInt size)
{
	struct address at = address_of(&b, a);
	struct reference *r = load_to_modify(&at, size);

	if (size == 0)
		return;
	if (b.streams) {
		settle_stream(&b, a, size, NULL);
		return;
	}
	if (size > tool_options.machine.line) {
		add_direct(False, True, a, size, NULL);
		return;
	}
	if (r)
		make_modify(r);
	else
		add_reference(BATCH_WRITE, &at, size);
	b.now.stores++;
	b.now.ticks += 2;
}

/* Compare-and-swap; the load that some instructions are given before it is the
 * same access. */
static void add_swap(IRExpr *a, UInt size)
{
	struct address at = address_of(&b, a);

	if (!load_to_modify(&at, size))
		add_load(a, size);
	add_store(a, size);
}

static void add_line(ULong line)
{
	if (b.lines == 1 && line == b.first_line + 1) {
		b.lines = 2;
		b.line = line;
		b.now.ticks++;
		b.second_line_tick = b.now.ticks;
		new_reference(BATCH_CODE)->at.offset = line;
		return;
	}
	settle(&b);
	open_batch(line);
}

/* Where the program may leave the block, or something may ask for its counts. */
static void settle_all(void)
{
	settle(&b);
	if (sample_wanted())
		sample_count(b.out, b.uncounted);
	b.uncounted = 0;
}

static void count_instruction(void)
{
	b.now.instructions++;
	b.uncounted++;
}

static void follow_instruction(Addr a, UInt length)
{
	if (!ahead_wanted())
		return;
	if (b.next && a != b.next) /* VEX follows jumps, and loops */
		flows_taken();
	b.next = a + length;
	flows_instruction();
}

/* It is counted when it is over (end_string): the superblock may be left before that, to
 * come back to its beginning. */
static void begin_string(Addr a, UInt length)
{
	b.string = length;
	if (!b.next)
		b.next = a;
	settle_all();
	follow_instruction(a, length);
}

/* To a place that is known where the batch is run: the operand of that number. */
static void refer_to_operand(UInt operand, enum batch_kind kind, UInt size)
{
	const struct address at = {operand, operand, 0};

	add_reference(kind, &at, size)->number = 0;
	b.now.loads += kind == BATCH_READ;
	b.now.stores += kind == BATCH_WRITE;
	b.now.ticks += 2;
}

/* The batch of a whole block that is loaded or stored: so many rounds. */
static const struct batch *block_batch(enum batch_kind kind, UInt rounds)
{
	b.more_ports = rounds * TICKS_OF_ROUND;
	refer_to_operand(0, kind, STRINGS_BLOCK);
	return settle_apart(&b);
}

/* The batch of a round, with the instruction that it is, or without. */
static const struct batch *round_batch(const struct string *s, UInt instructions)
{
	UInt size = 1u << s->log_size;

	open_batch(b.line);
	b.now.instructions = instructions;
	if (strings_use_first(s->kind))
		refer_to_operand(0, BATCH_READ, size);
	if (strings_use_second(s->kind))
		refer_to_operand(
			1, strings_store(s->kind) ? BATCH_WRITE : BATCH_READ, size);
	return settle_apart(&b);
}

/* The batch of what a round takes beside its block. */
static const struct batch *part_batch(void)
{
	open_batch(b.line);
	b.nrefs = 0;
	b.more_ports = TICKS_OF_ROUND;
	return settle_apart(&b);
}

static void describe_blocks(const struct string *s, struct strings_site *site)
{
	UInt elements = STRINGS_BLOCK >> s->log_size;
	Bool stores = strings_store(s->kind);

	site->load[0] = block_batch(BATCH_READ, !stores);
	site->load[1] = block_batch(BATCH_READ, stores ? 0 : elements);
	site->store[0] = block_batch(BATCH_WRITE, 1);
	site->store[1] = block_batch(BATCH_WRITE, elements);
	if (ahead_wanted())
		site->part = part_batch();
}

/* The models are told of the rounds that have just been made. */
static void add_rounds(void)
{
	struct string s = strings_called(b.string_call);
	struct strings_site site = {.run = NULL};
	UInt places = 0;

	if (!tool_options.whole_strings && !sample_wanted()) {
		site.round[0] = round_batch(&s, 1);
		site.round[1] = round_batch(&s, 0);
		places = strings_use_first(s.kind) + (UInt)strings_use_second(s.kind);
	} else if (!sample_wanted() && tool_options.machine.line >= STRINGS_BLOCK) {
		describe_blocks(&s, &site);
		places = 1;
	}
	settle_string(&b, &site, places);
}

static void end_string(void)
{
	if (!b.lines)
		open_batch(b.line);
	count_instruction();
	b.more_ports = CYCLES_OF_ROUNDS * AHEAD_TICKS;
	b.string = 0;
}

/* The references of one instruction stay in one batch if they touch one place. */
static void add_instruction(Addr a, UInt length, Bool is_string)
{
	ULong line = a >> line_shift(),
	      last = (a + (length ? length : 1) - 1) >> line_shift();

	if (b.nrefs > BATCH_ITEMS / 2)
		settle(&b);
	b.instruction = a;
	for (; line <= last; line++)
		if (!b.lines || line != b.line)
			add_line(line);
	if (is_string) {
		begin_string(a, length);
		return;
	}
	count_instruction();
	follow_instruction(a, length);
}

/* --- Walking the superblock --- */

/* Lanes of a masked move are one reference, from the first that is on to the last. */
static Bool add_masked(enum batch_kind kind, Int at)
{
	struct masked masked;
	enum masked_part part = pieces_masked(at, &masked);

	if (part == MASKED_LAST) {
		settle(&b);
		settle_masked(&b, kind, &masked);
	}
	return part != MASKED_NOT;
}

static UInt size_of(const IRExpr *data)
{
	return sizeofIRType(typeOfIRExpr(b.types, data));
}

static Bool offset_by_constant(const IRExpr *e)
{
	return e->tag == Iex_Binop &&
	       (e->Iex.Binop.op == Iop_Add64 || e->Iex.Binop.op == Iop_Sub64) &&
	       e->Iex.Binop.arg1->tag == Iex_RdTmp && e->Iex.Binop.arg2->tag == Iex_Const;
}

/* Remembers that a temporary is another one plus a constant. */
static void track_value(IRTemp t, const IRExpr *e)
{
	IRTemp from;
	Long by;

	if (!offset_by_constant(e))
		return;
	from = e->Iex.Binop.arg1->Iex.RdTmp.tmp;
	by = (Long)e->Iex.Binop.arg2->Iex.Const.con->Ico.U64;
	if (from >= MAX_TEMPS || t >= MAX_TEMPS)
		return;
	b.root[t] = b.root[from];
	b.offset[t] = b.offset[from] + (e->Iex.Binop.op == Iop_Add64 ? by : -by);
}

static void visit_value(const IRSB *in, Int at)
{
	const IRStmt *s = in->stmts[at];
	IRExpr *e = s->Ist.WrTmp.data;
	Bool is_float =
		e->tag == Iex_Load && tool_options.float_loads && is_float_load(in, at);

	if (e->tag == Iex_Load)
		add_load_of(is_float ? BATCH_FLOAT : BATCH_READ, e->Iex.Load.addr,
			pieces_size(at, sizeofIRType(e->Iex.Load.ty)),
			tool_options.timing ? timed_use(in, at) : 0,
			ahead_wanted() ? flows_load(in, at) : -1);
}

static void visit_guarded_load(const IRLoadG *g, Int at)
{
	IRType result, loaded;

	typeOfIRLoadGOp(g->cvt, &result, &loaded);
	if (!add_masked(BATCH_READ, at))
		add_direct(True, False, g->addr, sizeofIRType(loaded), g->guard);
}

static void visit_guarded_store(const IRStoreG *g, Int at)
{
	if (!add_masked(BATCH_WRITE, at))
		add_direct(False, True, g->addr, size_of(g->data), g->guard);
}

static void add_native(const struct native_step *step)
{
	IRExpr *a = step->address;

	if (step->gives_order) {
		settle_order(&b, step->order, a);
		return;
	}
	if (step->is_sparse) {
		settle(&b);
		native_refer_sparse(b.out, step);
		return;
	}
	if (step->loads)
		add_load_of(tool_options.float_loads && step->is_vector ? BATCH_FLOAT
									: BATCH_READ,
			a, step->size, 0, -1);
	if (step->stores)
		add_store(a, step->size);
}

static void visit_dirty(const IRStmt *s)
{
	const IRDirty *d = s->Ist.Dirty.details;
	IRExpr *guard = d->guard->tag == Iex_Const ? NULL : d->guard;
	struct native_step step;

	if (strings_is_call(s)) {
		b.string_call = s;
		return;
	}
	if (native_early(s, b.instruction, &step))
		add_native(&step);
	else if (d->mFx != Ifx_None)
		add_direct(d->mFx != Ifx_Write, d->mFx != Ifx_Read, d->mAddr, d->mSize,
			guard);
}

static void visit_exclusive(const IRStmt *s)
{
	if (s->Ist.LLSC.storedata)
		add_store(s->Ist.LLSC.addr, size_of(s->Ist.LLSC.storedata));
	else
		add_load(s->Ist.LLSC.addr,
			sizeofIRType(typeOfIRTemp(b.types, s->Ist.LLSC.result)));
}

static void visit_exit(const IRStmt *s)
{
	if (b.string)
		add_rounds();
	else if (ahead_wanted() && s->Ist.Exit.jk == Ijk_Boring)
		flows_branch(s->Ist.Exit.guard, False);
	settle_all();
}

static void visit_swap(const IRCAS *c)
{
	add_swap(c->addr, size_of(c->dataLo) * (c->dataHi ? 2 : 1));
}

/* Among registers in arrays, only those of the x87 unit hold floating-point values. */
static void visit_stack_register(const IRPutI *put)
{
	x87_translated += put->descr->elemTy == Ity_F64;
}

static void visit_statement(const IRSB *in, Int at)
{
	const IRStmt *s = in->stmts[at];

	switch (s->tag) {
	case Ist_WrTmp:
		visit_value(in, at);
		break;
	case Ist_Store:
		add_store(s->Ist.Store.addr, pieces_size(at, size_of(s->Ist.Store.data)));
		break;
	case Ist_StoreG:
		visit_guarded_store(s->Ist.StoreG.details, at);
		break;
	case Ist_LoadG:
		visit_guarded_load(s->Ist.LoadG.details, at);
		break;
	case Ist_CAS:
		visit_swap(s->Ist.CAS.details);
		break;
	case Ist_LLSC:
		visit_exclusive(s);
		break;
	case Ist_Dirty:
		visit_dirty(s);
		break;
	case Ist_AbiHint:
		if (orders_is_mark(s))
			settle_order(&b, orders_marked(s), s->Ist.AbiHint.base);
		break;
	case Ist_Exit:
		visit_exit(s);
		break;
	case Ist_PutI:
		visit_stack_register(s->Ist.PutI.details);
		break;
	default:
		break;
	}
}

static void visit_all(const IRSB *in, Int at, const VexGuestLayout *layout)
{
	visit_statement(in, at);
	if (ahead_wanted())
		flows_statement(in, at);
	if (functions_wanted())
		functions_watch_stack(&b, in, at, layout);
	spins_statement(b.out, in, at);
}

static void begin_block(IRSB *in)
{
	b.out = deepCopyIRSBExceptStmts(in);
	b.types = in->tyenv;
	forget_batch(&b);
	b.uncounted = b.string = 0;
	b.next = 0;
	stack_writes_begin();
	if (ahead_wanted()) {
		flows_begin();
		flows_look(in);
	}
	for (IRTemp t = 0; t < MAX_TEMPS && t < (IRTemp)in->tyenv->types_used; t++) {
		b.root[t] = t;
		b.offset[t] = 0;
	}
	for (Int i = 0; i < in->stmts_used; i++)
		if (in->stmts[i]->tag == Ist_WrTmp)
			track_value(in->stmts[i]->Ist.WrTmp.tmp,
				in->stmts[i]->Ist.WrTmp.data);
}

/* ---- regions ---- */

/* Watches for regions that begin or end at an instruction, or before it; in the midst
 * of a block only lines do.  Returns the line that the instruction belongs to, or -1. */
static Int watch_regions(const VexGuestLayout *layout, Addr a, Bool first, Int before)
{
	Int line = lines_wanted() ? line_at(a) : -1;

	if (!first && line == before)
		return line;
	if (!first) {
		settle_all();
		lines_need_registers();
	}
	if (lines_wanted() && line < 0)
		functions_watch_elsewhere(b.out, layout, a);
	if (first)
		functions_watch_entry(b.out, layout, a);
	if (line >= 0)
		functions_watch_line(b.out, layout, a, line);
	return line;
}

static void watch_end(const VexGuestLayout *layout, Int line, Addr end)
{
	if (line >= 0 && b.out->jumpkind == Ijk_Call)
		functions_watch_line_call(b.out, layout, end);
	if (line >= 0 && b.out->jumpkind == Ijk_Ret)
		functions_watch_line_return(b.out, layout);
	else
		functions_watch_return(b.out, layout);
	if (b.out->jumpkind == Ijk_Call && b.out->next->tag == Iex_Const)
		functions_watch_call(b.out, layout);
}

/* ---- instructions ---- */

/* Where the superblock has got to. */
struct walk {
	const VexGuestLayout *layout;
	Bool counted, first;
	Int line;
	Addr end;
};

static void begin_instruction(struct walk *w, Addr a, UInt length, Bool is_string)
{
	w->counted = !own_code_at(a);
	if (!w->counted && w->first)
		pin_turn_pause(b.out);
	if (sample_wanted() && w->counted && w->first)
		sample_watch(b.out);
	if (tool_options.paths && w->counted && w->first)
		paths_watch_begin(b.out, w->layout, a);
	w->end = a + length;
	w->line = w->counted && functions_wanted()
			  ? watch_regions(w->layout, a, w->first, w->line)
			  : -1;
	w->first = False;
	if (w->counted && profile_wants(a)) {
		settle(&b);
		profile_watch_entry(b.out, w->layout, a);
	}
	b.streams = STREAMS_NOT;
	if (tool_options.hears_orders)
		b.streams = orders_streams((const UChar *)a, (const UChar *)a + length);
	if (w->counted)
		add_instruction(a, length, is_string);
}

static void begin_mark(struct walk *w, const IRSB *in, Int at)
{
	const IRStmt *s = in->stmts[at];

	begin_instruction(w, s->Ist.IMark.addr, s->Ist.IMark.len, strings_begins(in, at));
	if (w->counted)
		pieces_begin(&b, in, at);
}

/* A temporary that VEX knows nothing of. */
static void add_own_root(const IRExpr *a)
{
	if (a->tag != Iex_RdTmp || a->Iex.RdTmp.tmp >= MAX_TEMPS)
		return;
	b.root[a->Iex.RdTmp.tmp] = a->Iex.RdTmp.tmp;
	b.offset[a->Iex.RdTmp.tmp] = 0;
}

/* Behind VEX's part of the superblock. */
static void go_on_natively(struct walk *w)
{
	struct native_step step;

	if (b.string)
		end_string();
	while (native_next(b.out, &step)) {
		addStmtToIRSB(b.out, IRStmt_IMark(step.pc, step.length, 0));
		if (step.may_change) {
			settle_all();
			native_compare(b.out, &step);
		}
		begin_instruction(w, step.pc, step.length, False);
		native_find_address(b.out, &step);
		add_own_root(step.address);
		if (w->counted)
			add_native(&step);
		native_execute(b.out, &step);
		if (step.loads_mxcsr) {
			settle_all();
			rounding_look(b.out);
		}
	}
	if (native_refused(b.out, &step)) {
		settle_all();
		native_compare(b.out, &step);
	}
}

/* At its end, to an address that is computed; returns are foreseen. */
static Bool goes_anywhere(const IRSB *in)
{
	return in->next->tag == Iex_RdTmp &&
	       (in->jumpkind == Ijk_Boring || in->jumpkind == Ijk_Call);
}

IRSB *instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
	const VexGuestExtents *extents, const VexArchInfo *host, IRType guest_word,
	IRType host_word)
{
	struct walk w = {.layout = layout, .first = True, .line = -1};
	Int nstmts = native_split(in);

	(void)extents, (void)host, (void)guest_word, (void)host_word;
	if (native_is_cut())
		return in;
	begin_block(in);
	sample_find(faults_are_handled());
	mend_begin_block();
	spins_begin(closure->nraddr);
	for (Int i = 0; i < nstmts; i++) {
		IRStmt *s = in->stmts[i];

		if (s->tag == Ist_IMark) {
			begin_mark(&w, in, i);
		} else if (w.counted) {
			visit_all(in, i, layout);
		}
		upper_watch(b.out, in, i);
		if (in->stmts[i]->tag != Ist_AbiHint) /* native/unfolded.c, or nobody's */
			mend_statement(b.out, in, i);
	}
	upper_watch_end(b.out);
	go_on_natively(&w);
	if (ahead_wanted() && goes_anywhere(in))
		flows_branch(in->next, True);
	settle_all();
	if (w.counted && in->jumpkind == Ijk_Ret)
		profile_watch_return(b.out, layout);
	if (tool_options.paths)
		paths_watch_end(b.out, layout, w.end, w.counted);
	/* The library's own code returns into lines, too. */
	if (functions_wanted() && (w.counted || lines_wanted()))
		watch_end(layout, w.line, w.end);
	if (w.counted)
		spins_end(b.out, in);
	overwritten_drop(b.out, layout);
	return b.out;
}
