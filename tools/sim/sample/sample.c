/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sample/sample.h"
#include "sample/log.h"

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

/* The running thread's sample; and how often this process forked. */
static struct {
	struct sample_thread *current; /* NULL: nothing is counted */
	struct core *core;
	ULong forks;
	ULong count[CP_SIM_SAMPLE_WORDS]; /* of all threads */
} sampling;

/* ---- counts ---- */

static void add_counts(struct sample_thread *t, UInt sampled, UInt part, ULong more)
{
	t->count[sampled * CP_SIM_PARTS + part] += more;
	sampling.count[sampled * CP_SIM_PARTS + part] += more;
}

static void take_bursts(struct sample_thread *t, const struct core *core)
{
#define X(name) add_counts(t, CP_SIM_BURST_##name, t->part, core->count[CP_SIM_##name]);
	CP_SIM_BURST_COUNTERS(X)
#undef X
}

/* All that comes from beyond L2 has missed there. */
static void take_sets(struct sample_thread *t, struct core *core)
{
	for (UInt g = 0; g < tool_options.sample.sets; g++) {
		uint64_t *from = core->sets->count[g] - CP_SIM_NBURST;
		ULong missed = from[CP_SIM_SET_l2_ifetch_misses] +
			       from[CP_SIM_SET_l2_load_lines] +
			       from[CP_SIM_SET_l2_store_lines];

		from[CP_SIM_SET_beyond_l2_lines] = missed;
		from[CP_SIM_SET_llc_accesses] = missed;
		for (UInt i = CP_SIM_NBURST; i < CP_SIM_NSAMPLED; i++)
			add_counts(t, i, g, from[i]);
	}
	VG_(memset)(core->sets->count, 0, sizeof(core->sets->count));
}

/* Takes what was counted since the last time. */
static void take_sample(struct sample_thread *t, struct core *core)
{
	if (t->phase == COUNTING)
		take_bursts(t, core);
	take_sets(t, core);
	VG_(memset)(core->count, 0, sizeof(core->count));
}

/* ---- phases ---- */

static void use_log(const struct sample_thread *t)
{
	sample_log_use(!t                    ? SAMPLE_NOTHING
		       : t->phase == BETWEEN ? SAMPLE_SETS
					     : SAMPLE_ALL);
}

/* When generated code is to call: for the thread's next phase, or to empty the log. */
static void set_next(void)
{
	Bool between = !sampling.current || sampling.current->phase == BETWEEN;
	ULong full =
		sample_now.instructions + (between ? SAMPLE_LOG_MOST : SAMPLE_LOG_BURST);

	sample_now.next = sampling.current && sampling.current->next < full
				  ? sampling.current->next
				  : full;
}

/* Somewhere in the period that begins. */
static ULong next_burst(struct sample_thread *t)
{
	ULong room = tool_options.sample.period - tool_options.sample.warm -
		     tool_options.sample.burst;

	return t->period + sample_random(&t->random) % (room + 1);
}

static void change_phase(struct sample_thread *t)
{
	switch (t->phase) {
	case BETWEEN:
		sampling.core->last_line = NO_LINE; /* it was not kept */
		t->phase = WARMING;
		t->next = sample_now.instructions + tool_options.sample.warm;
		break;
	case WARMING:
		t->phase = COUNTING;
		t->part = sample_random(&t->random) % CP_SIM_GROUPS;
		t->next = sample_now.instructions + tool_options.sample.burst;
		break;
	case COUNTING:
		t->phase = BETWEEN;
		t->period = t->part == CP_SIM_IN_FULL
				    ? t->next
				    : t->period + tool_options.sample.period;
		t->next = next_burst(t);
		break;
	}
}

static void next_phase(struct sample_thread *t)
{
	core_collect(sampling.core);
	take_sample(t, sampling.core);
	do
		change_phase(t);
	while (t->next <= sample_now.instructions);
	use_log(t);
}

/* Called by generated code when the log may be full, or the running thread has come to
 * its next phase. */
static void step_phase(void)
{
	sample_drain();
	if (sampling.current && sampling.current->next <= sample_now.instructions)
		next_phase(sampling.current);
	set_next();
}

/* ---- threads ---- */

static void on_fork(ThreadId tid)
{
	(void)tid;
	sampling.forks++;
}

/* Each child draws bursts of its own: samples of the same code at the same times would
 * tell no more than one of them. */
static void on_fork_child(ThreadId tid)
{
	(void)tid;
	uint64_t seed = tool_options.sample.seed + sampling.forks;

	if (sampling.current)
		sampling.current->random ^= sample_random(&seed);
}

void sample_start(const struct machine *m)
{
	UInt groups = sample_groups(m);

	sample_sets_choose(&sample_now.chosen, groups, tool_options.sample.sets,
		tool_options.sample.seed);
	VG_(atfork)(on_fork, NULL, on_fork_child);
}

void sample_core_begin(struct core *core)
{
	if (sample_sets_begin(core, &sample_now.chosen) == 0)
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
	t->random = tool_options.sample.seed ^ threads << 32;
	t->phase = COUNTING;
	t->part = CP_SIM_IN_FULL;
	t->next = threads++ ? tool_options.sample.warm + tool_options.sample.burst
			    : tool_options.sample.period;
	return t;
}

void sample_use(struct sample_thread *t, struct core *core)
{
	if (sampling.current)
		sampling.current->instructions = sample_now.instructions;
	sampling.current = t;
	sampling.core = core;
	sample_now.instructions = t ? t->instructions : 0;
	use_log(t);
	set_next();
}

void sample_collect(struct sample_thread *t, struct core *core)
{
	if (t == sampling.current)
		t->instructions = sample_now.instructions;
	take_sample(t, core);
	core->count[CP_SIM_instructions] = t->instructions - t->collected;
	t->collected = t->instructions;
}

void sample_forget(struct sample_thread *t)
{
	t->collected = t->instructions;
	VG_(memset)(t->count, 0, sizeof(t->count));
	VG_(memset)(sampling.count, 0, sizeof(sampling.count));
}

void sample_copy(const struct sample_thread *t, ULong *to)
{
	const ULong *from = t ? t->count : sampling.count;

	for (UInt i = 0; to && i < CP_SIM_SAMPLE_WORDS; i++)
		to[i] = from[i];
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
	IRExpr *now = sample_now_at(out);
	IRDirty *d = unsafeIRDirty_0_N(
		0, "sample", VG_(fnptr_to_fnentry)((void *)step_phase), mkIRExprVec_0());

	d->guard = emit_kept(out, Ity_I1,
		IRExpr_Binop(Iop_CmpLE64U, sample_load(out, now, &sample_now.next),
			sample_load(out, now, &sample_now.instructions)));
	addStmtToIRSB(out, IRStmt_Dirty(d));
}

void sample_count(IRSB *out, UInt instructions)
{
	IRExpr *now, *sum;

	if (!instructions)
		return;
	now = sample_now_at(out);
	sum = emit_kept(out, Ity_I64,
		IRExpr_Binop(Iop_Add64, sample_load(out, now, &sample_now.instructions),
			emit_constant(instructions)));
	sample_store(out, now, &sample_now.instructions, sum);
}
