/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What is added to the program's code.
 *
 * References are gathered while a superblock is copied and settled before each
 * exit: a test of the filter and, where it fails, a call, then the stamp; last
 * the counters.  Each reference has a tick, its place on the core's clock, so
 * that stamps order references as the program made them.
 */
#include "tool.h"

/* What is known of an address: root + offset; no root: a constant. */
struct address {
	IRTemp root, temp;
	ULong offset;
};

enum { CODE, READ, WRITE, MODIFY };

struct reference {
	UInt kind, size, tick;
	Addr instruction;
	struct address at; /* of code: the line number, in offset */
};

#define MAX_REFERENCES 64
#define MAX_TEMPS 8192

/* Counts since the start of the superblock. */
struct tally {
	UInt ticks, instructions, loads, stores;
};

static struct {
	IRSB *out;
	IRTypeEnv *types;
	Int shadow; /* offset of the first shadow area in the guest state */
	IRTemp core;
	IRExpr *clock; /* the core's, at the tick below */
	UInt clock_tick;
	IRExpr *refs; /* the core's, at the start of the superblock */
	struct tally now, settled;
	UInt rmw, idle; /* since the last settlement */
	Addr instruction;
	ULong line, line_settled;
	UInt nrefs;
	struct reference refs_seen[MAX_REFERENCES];
	IRTemp root[MAX_TEMPS];
	Long offset[MAX_TEMPS];
} b;

/* --- Helpers: generated code calls these for what the filter leaves. --- */

#define SITE(size, tick) ((size) | (ULong)(tick) << 16)
#define SITE_SIZE(site) ((UInt)(site)&0xffff)

LANES_INLINE uint32_t site_stamp(UWord site)
{
	return (uint32_t)running->clock + (uint32_t)(site >> 16);
}

static void on_load(Addr a, UWord site)
{
	data_access(running, a, SITE_SIZE(site), LOAD, site_stamp(site));
}

static void on_store(Addr a, UWord site)
{
	data_access(running, a, SITE_SIZE(site), STORE, site_stamp(site));
}

/* The tick is the store's; the load's is two earlier. */
static void on_modify(Addr a, UWord site)
{
	data_access(running, a, SITE_SIZE(site), LOAD, site_stamp(site) - 2);
	data_access(running, a, SITE_SIZE(site), STORE, site_stamp(site));
}

static void on_code(UWord line, UWord tick)
{
	running->paths.code(running, line, (uint32_t)running->clock + (uint32_t)tick);
}

/* Guarded references count only here. */
static void on_guarded_load(Addr a, UWord site)
{
	running->count[CP_SIM_l1d_loads]++;
	on_load(a, site);
}

static void on_guarded_store(Addr a, UWord site)
{
	running->count[CP_SIM_l1d_stores]++;
	on_store(a, site);
}

/* After the load and the store of one instruction. */
static void on_guarded_modify(Addr a, UWord site)
{
	(void)a, (void)site;
	running->count[CP_SIM_l1d_rmw]++;
}

/* --- Building IR --- */

#define HOST_ENDNESS Iend_LE
#define CORE(field) ((Int) __builtin_offsetof(struct core, field))

static IRExpr *word(ULong v)
{
	return IRExpr_Const(IRConst_U64(v));
}

static IRExpr *name(IRType type, IRExpr *e)
{
	IRTemp t = newIRTemp(b.out->tyenv, type);

	addStmtToIRSB(b.out, IRStmt_WrTmp(t, e));
	return IRExpr_RdTmp(t);
}

static IRExpr *binop(IROp op, IRExpr *x, IRExpr *y)
{
	return name(Ity_I64, IRExpr_Binop(op, x, y));
}

static IRExpr *plus(IRExpr *x, ULong y)
{
	return y ? binop(Iop_Add64, x, word(y)) : x;
}

static IRExpr *shift_right(IRExpr *x, UInt bits)
{
	return binop(Iop_Shr64, x, IRExpr_Const(IRConst_U8(bits)));
}

static IRExpr *load(IRExpr *a)
{
	return name(Ity_I64, IRExpr_Load(HOST_ENDNESS, Ity_I64, a));
}

static void store(IRExpr *a, IRExpr *v)
{
	addStmtToIRSB(b.out, IRStmt_Store(HOST_ENDNESS, a, v));
}

static IRExpr *in_core(Int offset)
{
	return plus(IRExpr_RdTmp(b.core), (ULong)(Long)offset);
}

/* Element `index` of an array of words in the core. */
static IRExpr *in_array(Int offset, IRExpr *index)
{
	IRExpr *scaled = binop(Iop_Shl64, index, IRExpr_Const(IRConst_U8(3)));

	return plus(binop(Iop_Add64, IRExpr_RdTmp(b.core), scaled), (ULong)(Long)offset);
}

static IRExpr *differs(IRExpr *x, IRExpr *y)
{
	return name(Ity_I1, IRExpr_Binop(Iop_CmpNE64, x, y));
}

static void call(const HChar *what, void *helper, IRExpr *x, ULong y, IRExpr *guard)
{
	IRDirty *d = unsafeIRDirty_0_N(
		0, what, VG_(fnptr_to_fnentry)(helper), mkIRExprVec_2(x, word(y)));

	if (guard)
		d->guard = guard;
	addStmtToIRSB(b.out, IRStmt_Dirty(d));
}

/* --- Settling: from references to code --- */

/* Each made from the one before, which makes it one instruction. */
static IRExpr *stamp_of(UInt tick)
{
	b.clock = plus(b.clock, tick - b.clock_tick);
	b.clock_tick = tick;
	return name(Ity_I32, IRExpr_Unop(Iop_64to32, b.clock));
}

static UInt line_shift(void)
{
	return 31 - (UInt)__builtin_clz(tool_machine.line);
}

static UInt tick_for_helper(UInt tick)
{
	return tick - b.settled.ticks;
}

static void settle_code(const struct reference *r)
{
	ULong line = r->at.offset;
	Int entry = (line & (CODE_FILTER - 1)) * sizeof(struct code_entry);
	IRExpr *known = load(in_core(CORE(code[0].line) + entry));

	call("on_code", on_code, word(line), tick_for_helper(r->tick),
		differs(known, word(line)));
	store(in_core(CORE(code[0].stamp) + entry), stamp_of(r->tick));
}

static void *helper_for(UInt kind)
{
	return kind == READ    ? (void *)on_load
	       : kind == WRITE ? (void *)on_store
			       : (void *)on_modify;
}

static Int filter_for(UInt kind)
{
	return kind == READ ? CORE(data[0].read) : CORE(data[0].write);
}

/* Indexed by the line of the first byte (times four: an entry's words), compared with the
 * line of the last: they differ, and the helper is called, when a reference straddles. */
static void settle_data(const struct reference *r)
{
	UInt shift = line_shift();
	Bool constant = r->at.root == IRTemp_INVALID;
	IRExpr *a = constant ? word(r->at.offset) : IRExpr_RdTmp(r->at.temp);
	IRExpr *index =
		binop(Iop_And64, shift_right(a, shift - 2), word((DATA_FILTER - 1) << 2));
	IRExpr *last = shift_right(plus(a, r->size - 1), shift);
	IRExpr *known = load(in_array(filter_for(r->kind), index));

	call("on_data", helper_for(r->kind), a, SITE(r->size, tick_for_helper(r->tick)),
		differs(last, known));
	store(load(in_array(CORE(data[0].stamp_at), index)), stamp_of(r->tick));
}

static void settle_references(void)
{
	for (UInt i = 0; i < b.nrefs; i++)
		if (b.refs_seen[i].kind == CODE)
			settle_code(&b.refs_seen[i]);
		else
			settle_data(&b.refs_seen[i]);
	b.nrefs = 0;
}

static void bump(Int field, UInt by)
{
	if (by)
		store(in_core(field), plus(load(in_core(field)), by));
}

static void settle_counts(void)
{
	const struct tally *n = &b.now, *old = &b.settled;

	if (n->instructions != old->instructions || n->ticks != old->ticks)
		store(in_core(CORE(clock)),
			plus(b.clock, (n->ticks - b.clock_tick) +
					      ((ULong)n->instructions << 32)));
	if (n->loads != old->loads || n->stores != old->stores)
		store(in_core(CORE(refs)),
			plus(b.refs, n->loads | (ULong)n->stores << 32));
	if (b.line != b.line_settled)
		store(in_core(CORE(last_line)), word(b.line));
	bump(CORE(rmw), b.rmw);
	bump(CORE(idle_ticks), b.idle);
	b.rmw = b.idle = 0;
	b.line_settled = b.line;
	b.settled = b.now;
}

static void settle(void)
{
	if (b.core == IRTemp_INVALID)
		return;
	settle_references();
	settle_counts();
}

/* --- Gathering --- */

static struct reference *add_reference(UInt kind, UInt size)
{
	struct reference *r;

	if (b.nrefs == MAX_REFERENCES)
		settle();
	r = &b.refs_seen[b.nrefs++];
	r->kind = kind;
	r->size = size;
	r->tick = b.now.ticks;
	r->instruction = b.instruction;
	return r;
}

static struct address address_of(const IRExpr *a)
{
	struct address at = {IRTemp_INVALID, IRTemp_INVALID, 0};

	if (a->tag == Iex_Const) {
		at.offset = a->Iex.Const.con->Ico.U64;
		return at;
	}
	at.temp = at.root = a->Iex.RdTmp.tmp;
	if (at.temp < MAX_TEMPS) {
		at.root = b.root[at.temp];
		at.offset = (ULong)b.offset[at.temp];
	}
	return at;
}

/* Does this instruction's last reference load from the very same place? */
static struct reference *load_to_modify(const struct address *at, UInt size)
{
	struct reference *r = b.nrefs ? &b.refs_seen[b.nrefs - 1] : NULL;

	if (!r || r->kind != READ || r->instruction != b.instruction || r->size != size)
		return NULL;
	return r->at.root == at->root && r->at.offset == at->offset ? r : NULL;
}

static void add_load(IRExpr *a, UInt size)
{
	struct reference *r = add_reference(READ, size);

	r->at = address_of(a);
	b.now.loads++;
	b.now.ticks += 2;
}

static void add_store(IRExpr *a, UInt size)
{
	struct address at = address_of(a);
	struct reference *r = load_to_modify(&at, size);

	if (r) {
		r->kind = MODIFY;
		r->tick = b.now.ticks;
		b.rmw++;
	} else {
		r = add_reference(WRITE, size);
		r->at = at;
	}
	b.now.stores++;
	b.now.ticks += 2;
}

/* Compare-and-swap; the load that some instructions are given before it is the
 * same access. */
static void add_swap(IRExpr *a, UInt size)
{
	struct address at = address_of(a);

	if (!load_to_modify(&at, size))
		add_load(a, size);
	add_store(a, size);
}

/* Ticks enough for each line to have its own. */
static UInt ticks_for(UInt size)
{
	return 2 + size / tool_machine.line;
}

static void call_direct(Bool is_store, IRExpr *a, UInt size, IRExpr *guard)
{
	void *helper =
		guard ? (is_store ? (void *)on_guarded_store : (void *)on_guarded_load)
		      : (is_store ? (void *)on_store : (void *)on_load);

	call("on_direct", helper, a, SITE(size, tick_for_helper(b.now.ticks)), guard);
	b.now.ticks += ticks_for(size);
	b.idle += ticks_for(size);
	if (guard)
		return;
	b.idle -= 2;
	b.now.loads += !is_store;
	b.now.stores += is_store;
}

/* Large or conditional references do not go through the filter. */
static void add_direct(Bool reads, Bool writes, IRExpr *a, UInt size, IRExpr *guard)
{
	settle();
	if (reads)
		call_direct(False, a, size, guard);
	if (writes)
		call_direct(True, a, size, guard);
	if (!reads || !writes)
		return;
	if (guard)
		call("on_guarded_modify", on_guarded_modify, a, 0, guard);
	else
		b.rmw++;
}

/* Loads what the superblock needs of the core, at its first counted
 * instruction.  The clock ticks if that is on another line than the
 * instruction before it was. */
static void open_block(ULong line)
{
	IRExpr *moved;

	b.core = newIRTemp(b.out->tyenv, Ity_I64);
	addStmtToIRSB(b.out, IRStmt_WrTmp(b.core, IRExpr_Get(b.shadow, Ity_I64)));
	moved = name(
		Ity_I64, IRExpr_Unop(Iop_1Uto64,
				 differs(load(in_core(CORE(last_line))), word(line))));
	b.clock = binop(Iop_Add64, load(in_core(CORE(clock))), moved);
	b.clock_tick = 0;
	store(in_core(CORE(clock)), b.clock);
	b.refs = load(in_core(CORE(refs)));
}

static void add_line(ULong line)
{
	struct reference *r;

	if (b.core == IRTemp_INVALID)
		open_block(line);
	else
		b.now.ticks++;
	b.line = line;
	r = add_reference(CODE, 0);
	r->at.offset = line;
}

static void add_instruction(Addr a, UInt length)
{
	ULong line = a >> line_shift(),
	      last = (a + (length ? length : 1) - 1) >> line_shift();

	if (b.nrefs > MAX_REFERENCES - 16)
		settle();
	b.instruction = a;
	for (; line <= last; line++)
		if (line != b.line)
			add_line(line);
	b.now.instructions++;
}

/* --- Walking the superblock --- */

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
static void follow(IRTemp t, const IRExpr *e)
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

static void visit_value(const IRStmt *s)
{
	IRExpr *e = s->Ist.WrTmp.data;

	if (e->tag == Iex_Load)
		add_load(e->Iex.Load.addr, sizeofIRType(e->Iex.Load.ty));
	else
		follow(s->Ist.WrTmp.tmp, e);
}

static void visit_guarded_load(const IRLoadG *g)
{
	IRType result, loaded;

	typeOfIRLoadGOp(g->cvt, &result, &loaded);
	add_direct(True, False, g->addr, sizeofIRType(loaded), g->guard);
}

static void visit_dirty(const IRDirty *d)
{
	IRExpr *guard = d->guard->tag == Iex_Const ? NULL : d->guard;

	if (d->mFx != Ifx_None)
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

static void visit(const IRStmt *s)
{
	const IRStoreG *g;
	const IRCAS *c;

	switch (s->tag) {
	case Ist_WrTmp:
		visit_value(s);
		break;
	case Ist_Store:
		add_store(s->Ist.Store.addr, size_of(s->Ist.Store.data));
		break;
	case Ist_StoreG:
		g = s->Ist.StoreG.details;
		add_direct(False, True, g->addr, size_of(g->data), g->guard);
		break;
	case Ist_LoadG:
		visit_guarded_load(s->Ist.LoadG.details);
		break;
	case Ist_CAS:
		c = s->Ist.CAS.details;
		add_swap(c->addr, size_of(c->dataLo) * (c->dataHi ? 2 : 1));
		break;
	case Ist_LLSC:
		visit_exclusive(s);
		break;
	case Ist_Dirty:
		visit_dirty(s->Ist.Dirty.details);
		break;
	case Ist_Exit:
		settle();
		break;
	default:
		break;
	}
}

static void begin_block(IRSB *in, const VexGuestLayout *layout)
{
	b.out = deepCopyIRSBExceptStmts(in);
	b.types = in->tyenv;
	b.shadow = layout->total_sizeB;
	b.core = IRTemp_INVALID;
	b.now = b.settled = (struct tally){0, 0, 0, 0};
	b.rmw = b.idle = b.nrefs = 0;
	b.line = b.line_settled = NO_LINE;
	for (IRTemp t = 0; t < MAX_TEMPS && t < (IRTemp)in->tyenv->types_used; t++) {
		b.root[t] = t;
		b.offset[t] = 0;
	}
}

IRSB *instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
	const VexGuestExtents *extents, const VexArchInfo *host, IRType guest_word,
	IRType host_word)
{
	Bool counted = False;

	(void)closure, (void)extents, (void)host, (void)guest_word, (void)host_word;
	begin_block(in, layout);
	for (Int i = 0; i < in->stmts_used; i++) {
		IRStmt *s = in->stmts[i];

		if (s->tag == Ist_IMark) {
			counted = !own_code_at(s->Ist.IMark.addr);
			if (counted)
				add_instruction(s->Ist.IMark.addr, s->Ist.IMark.len);
		} else if (counted) {
			visit(s);
		}
		addStmtToIRSB(b.out, s);
	}
	settle();
	return b.out;
}
