/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sample/sample.h"
#include "emit.h"

/* The state of a thread until `next`. */
enum phase { BETWEEN, WARMING, COUNTING };

struct sample_thread {
	ULong instructions, collected; /* of the first, those that are the thread's */
	ULong next, period;            /* in them; period: when this one began */
	enum phase phase;
	UInt part; /* of this burst */
	uint64_t random;
	ULong count[CP_SIM_SAMPLE_WORDS];
};

enum table { LOADED, STORED, FETCHED, TABLES };

/* What generated code looks at: the running thread's.  By group of lines: due has the
 * bits of an address that tell lines apart if anything is to be done for it, or 0.  There
 * is nothing to do for the line in newest (its address, or NO_LINE), which was the
 * group's last one: loaded or stored to, stored to, fetched from. */
static struct {
	ULong instructions, next;
	ULong due[SAMPLE_MOST_GROUPS];
	ULong newest[TABLES][SAMPLE_MOST_GROUPS];
} now = {.next = ~0ull};

static struct sample_sets sets;
static struct sample_thread *current; /* NULL: nothing is counted */
static struct core *current_core;

/* ---- counts ---- */

static void take_bursts(struct sample_thread *t, const struct core *core)
{
	ULong *count = t->count + t->part;

#define X(name) count[CP_SIM_BURST_##name * CP_SIM_PARTS] += core->count[CP_SIM_##name];
	CP_SIM_BURST_COUNTERS(X)
#undef X
}

/* All that comes from beyond L2 has missed there. */
static void take_sets(struct sample_thread *t, struct core *core)
{
	for (UInt g = 0; g < sample_plan.sets; g++) {
		uint64_t *from = core->sets->count[g] - CP_SIM_NBURST;
		ULong missed = from[CP_SIM_SET_l2_ifetch_misses] +
			       from[CP_SIM_SET_l2_load_lines] +
			       from[CP_SIM_SET_l2_store_lines];

		from[CP_SIM_SET_beyond_l2_lines] = missed;
		from[CP_SIM_SET_llc_accesses] = missed;
		for (UInt i = CP_SIM_NBURST; i < CP_SIM_NSAMPLED; i++)
			t->count[i * CP_SIM_PARTS + g] += from[i];
	}
	VG_(memset)(core->sets->count, 0, sizeof(core->sets->count));
}

/* Takes what was counted since the last time. */
static void take(struct sample_thread *t, struct core *core)
{
	if (t->phase == COUNTING)
		take_bursts(t, core);
	take_sets(t, core);
	VG_(memset)(core->count, 0, sizeof(core->count));
}

/* ---- phases ---- */

static void show_due(enum phase phase)
{
	for (UInt i = 0; i <= sets.mask; i++)
		now.due[i] = current && (phase != BETWEEN || sets.part[i])
				     ? ~0ull << line_shift()
				     : 0;
	VG_(memset)(now.newest, 0xff, sizeof(now.newest)); /* NO_LINE */
}

/* Somewhere in the period that begins. */
static ULong next_burst(struct sample_thread *t)
{
	ULong room = sample_plan.period - sample_plan.warm - sample_plan.burst;

	return t->period + sample_random(&t->random) % (room + 1);
}

static void change_phase(struct sample_thread *t)
{
	switch (t->phase) {
	case BETWEEN:
		current_core->last_line = NO_LINE; /* it was not kept */
		t->phase = WARMING;
		t->next = now.instructions + sample_plan.warm;
		break;
	case WARMING:
		t->phase = COUNTING;
		t->part = sample_random(&t->random) % CP_SIM_GROUPS;
		t->next = now.instructions + sample_plan.burst;
		break;
	case COUNTING:
		t->phase = BETWEEN;
		t->period = t->part == CP_SIM_IN_FULL ? t->next
						      : t->period + sample_plan.period;
		t->next = next_burst(t);
		break;
	}
}

/* Called by generated code when the running thread has come to its next phase. */
static void step(void)
{
	struct sample_thread *t = current;

	core_collect(current_core);
	take(t, current_core);
	do
		change_phase(t);
	while (t->next <= now.instructions);
	now.next = t->next;
	show_due(t->phase);
}

/* ---- threads ---- */

static ULong forks;

static void on_fork(ThreadId tid)
{
	(void)tid;
	forks++;
}

/* Each child draws bursts of its own: samples of the same code at the same times would
 * tell no more than one of them. */
static void on_fork_child(ThreadId tid)
{
	(void)tid;
	uint64_t seed = sample_plan.seed + forks;

	if (current)
		current->random ^= sample_random(&seed);
}

void sample_start(const struct machine *m)
{
	UInt groups = sample_groups(m);

	sample_sets_choose(&sets, groups, sample_plan.sets, sample_plan.seed);
	VG_(atfork)(on_fork, NULL, on_fork_child);
}

void sample_core_begin(struct core *core)
{
	if (sample_sets_begin(core, &sets) == 0)
		return;
	VG_(fmsg)("no memory to simulate another core\n");
	VG_(exit)(1);
}

struct sample_thread *sample_thread_begin(struct sample_thread *again)
{
	static ULong threads;
	struct sample_thread *t = again;

	if (!t)
		t = VG_(malloc)("cachepeek.sample", sizeof(*t));
	VG_(memset)(t, 0, sizeof(*t));
	t->random = sample_plan.seed ^ threads << 32;
	t->phase = COUNTING;
	t->part = CP_SIM_IN_FULL;
	t->next = threads++ ? sample_plan.warm + sample_plan.burst : sample_plan.period;
	return t;
}

void sample_use(struct sample_thread *t, struct core *core)
{
	if (current)
		current->instructions = now.instructions;
	current = t;
	current_core = core;
	now.instructions = t ? t->instructions : 0;
	now.next = t ? t->next : ~0ull;
	show_due(t ? t->phase : BETWEEN);
}

void sample_collect(struct sample_thread *t, struct core *core)
{
	if (t == current)
		t->instructions = now.instructions;
	take(t, core);
	core->count[CP_SIM_instructions] = t->instructions - t->collected;
	t->collected = t->instructions;
}

void sample_forget(struct sample_thread *t)
{
	t->collected = t->instructions;
	VG_(memset)(t->count, 0, sizeof(t->count));
}

const ULong *sample_counts(const struct sample_thread *t)
{
	return t->count;
}

void sample_report(const struct sample_thread *t, UInt tid)
{
	static const HChar *const names[] = {
#define X(name) #name,
		CP_SIM_BURST_COUNTERS(X) CP_SIM_SET_COUNTERS(X)
#undef X
	};

	for (UInt i = 0; i < CP_SIM_NSAMPLED; i++)
		for (UInt g = 0; g < CP_SIM_PARTS; g++)
			VG_(umsg)
	("thread %u sample_%s_%u %llu\n", tid, names[i], g,
		t->count[i * CP_SIM_PARTS + g]);
}

/* ---- generated code ---- */

void sample_watch(IRSB *out)
{
	IRExpr *due = emit_kept(out, Ity_I1,
		IRExpr_Binop(Iop_CmpLE64U, emit_load(out, &now.next),
			emit_load(out, &now.instructions)));
	IRDirty *d = unsafeIRDirty_0_N(
		0, "sample", VG_(fnptr_to_fnentry)((void *)step), mkIRExprVec_0());

	d->guard = due;
	addStmtToIRSB(out, IRStmt_Dirty(d));
}

void sample_count(IRSB *out, UInt instructions)
{
	IRExpr *sum;

	if (!instructions)
		return;
	sum = emit_kept(out, Ity_I64,
		IRExpr_Binop(Iop_Add64, emit_load(out, &now.instructions),
			emit_constant(instructions)));
	addStmtToIRSB(
		out, IRStmt_Store(Iend_LE, emit_constant((Addr)&now.instructions), sum));
}

/* A word of a table, which is so many bytes from its start. */
static IRExpr *word_of(IRSB *out, const ULong *table, IRExpr *offset)
{
	IRExpr *at = emit_kept(out, Ity_I64,
		IRExpr_Binop(Iop_Add64, offset, emit_constant((Addr)table)));

	return emit_kept(out, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, at));
}

/* Not 0: something is to be done for a line that is not the newest of its group. */
static IRExpr *due_unless(IRSB *out, IRExpr *address, IRExpr *newest, IRExpr *due)
{
	IRExpr *other = emit_kept(out, Ity_I64, IRExpr_Binop(Iop_Xor64, address, newest));

	return emit_kept(out, Ity_I64, IRExpr_Binop(Iop_And64, other, due));
}

static IRExpr *due_of(IRSB *out, IRExpr *address, enum table table)
{
	enum { WORD = 3 }; /* of 2 ** 3 bytes */
	IRExpr *offset = emit_kept(out, Ity_I64,
		IRExpr_Binop(Iop_Shr64, address,
			IRExpr_Const(IRConst_U8((UChar)line_shift() - WORD))));

	offset = emit_kept(out, Ity_I64,
		IRExpr_Binop(Iop_And64, offset, emit_constant(sets.mask << WORD)));
	return due_unless(out, address, word_of(out, now.newest[table], offset),
		word_of(out, now.due, offset));
}

static IRExpr *due_of_code(IRSB *out, ULong line)
{
	UInt group = line & sets.mask;
	IRExpr *due = emit_load(out, &now.due[group]);

	if (!sets.part[group])
		return due;
	return due_unless(out, emit_constant(line << line_shift()),
		emit_load(out, &now.newest[FETCHED][group]), due);
}

static IRExpr *either(IRSB *out, IRExpr *a, IRExpr *b)
{
	return a ? emit_kept(out, Ity_I64, IRExpr_Binop(Iop_Or64, a, b)) : b;
}

/* A reference of up to a word that spans two lines is rare, and the second line then has
 * references of its own, as a rule: it is looked for in wider ones only. */
static IRExpr *due_of_place(IRSB *out, const struct sample_place *p, IRExpr *due)
{
	enum { WORD = 8 };
	enum table table = p->writes ? STORED : LOADED;

	due = either(out, due, due_of(out, p->at, table));
	if (p->size <= WORD)
		return due;
	return either(out, due,
		due_of(out,
			emit_kept(out, Ity_I64,
				IRExpr_Binop(
					Iop_Add64, p->at, emit_constant(p->size - 1))),
			table));
}

IRExpr *sample_guard(
	IRSB *out, ULong line, UInt lines, const struct sample_place *places, UInt n)
{
	IRExpr *due = NULL;

	if (!sample_wanted())
		return NULL;
	for (UInt i = 0; i < lines; i++)
		if (!n || sets.part[(line + i) & sets.mask])
			due = either(out, due, due_of_code(out, line + i));
	for (UInt i = 0; i < n; i++)
		due = due_of_place(out, &places[i], due);
	return emit_kept(out, Ity_I1, IRExpr_Binop(Iop_CmpNE64, due, emit_constant(0)));
}

/* ---- what it calls ---- */

static Bool in_burst(void)
{
	return current && current->phase != BETWEEN;
}

static void touch_code(struct core *core, ULong line)
{
	ULong *newest = &now.newest[FETCHED][line & sets.mask], at = line << line_shift();

	if (sample_leaves_out(&sets, line) || *newest == at)
		return;
	*newest = at;
	sample_sets_code(core, line);
}

static void touch_data(struct core *core, ULong line, enum access kind, Bool writes)
{
	ULong *newest = &now.newest[LOADED][line & sets.mask],
	      *stored = &now.newest[STORED][line & sets.mask], at = line << line_shift();

	if (sample_leaves_out(&sets, line) || (writes ? *stored : *newest) == at)
		return;
	if (writes)
		*stored = at;
	else if (*newest != at)
		*stored = NO_LINE;
	*newest = at;
	sample_sets_data(core, line, kind, writes);
}

static void touch_place(
	struct core *core, ULong at, ULong last, enum access kind, Bool writes)
{
	ULong line = at >> core->line_shift, end = (at + last) >> core->line_shift;

	for (; line <= end; line++)
		touch_data(core, line, kind, writes);
}

static void between(const struct batch *b, ULong line, const ULong *at, UInt places)
{
	struct core *core = running;

	for (ULong end = line + b->more_lines; line <= end; line++)
		touch_code(core, line);
	for (UInt i = 0; i < places; i++) {
		const struct batch_place *p = &b->place[b->order[i]];

		touch_place(core, at[b->order[i]], p->last, p->first_kind, p->writes);
	}
}

static batch_function *model_of[BATCH_PLACES + 1][2];

#define RUN(name, places, lines, shift)                                                  \
	static void name(const struct batch *b, uint64_t line, uint64_t a0, uint64_t a1, \
		uint64_t a2, uint64_t a3)                                                \
	{                                                                                \
		const ULong at[] = {places > 0 ? a0 : 0, places > 1 ? a1 : 0,            \
			places > 2 ? a2 : 0, places > 3 ? a3 : 0};                       \
                                                                                         \
		if (in_burst())                                                          \
			model_of[places][lines - 1](b, line, a0, a1, a2, a3);            \
		else                                                                     \
			between(b, line, at, places);                                    \
	}

BATCH_RUNS(run, 0)

batch_function *sample_function_for(batch_function *model, UInt places, UInt lines)
{
	static batch_function *const function[2][BATCH_PLACES + 1] = BATCH_NAMES(run);

	model_of[places][lines - 1] = model;
	return function[lines - 1][places];
}

Bool sample_direct(Addr a, UWord size, enum access kind)
{
	if (in_burst())
		return False;
	if (current)
		touch_place(running, a, size - 1, kind, kind == STORE);
	return True;
}
