/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sample/sample.h"
#include "base/random.h"
#include "machines/team.h"
#include "sample/log.h"
#include "stop.h"

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

/* The running thread's sample; how often this process forked; and what it has counted on
 * each machine. */
static struct {
	struct sample_thread *current; /* NULL: nothing is counted */
	ULong forks, due; /* due: in instructions, when to look what is to be done */
	ULong (*machine)[CP_SIM_SAMPLE_WORDS]; /* NULL: nothing is */
	void (*ends)(void);
	void (*part)(UInt part);
} sampling;

/* ---- counts ---- */

/* Behind those are points of a sweep that there are not, which stay 0. */
static UInt sampled_counters(void)
{
	return CP_SIM_SET_SWEEP + tool_options.sweep.npoints;
}

static void take_bursts(ULong *count, UInt part, const struct core *core)
{
	count += part;
#define X(name) count[CP_SIM_BURST_##name * CP_SIM_PARTS] += core->count[CP_SIM_##name];
	CP_SIM_BURST_COUNTERS(X)
#undef X
}

/* Where a machine has no second level, each miss of the first one is a walk. */
static ULong unsure_walks(const struct core *core, UInt kind)
{
	ULong all = core->unsure[UNSURE_CODE_WALKS + kind];

	if (!core->stlb.sets || core->stlb_is_small)
		all += core->unsure[UNSURE_CODE_PAGES + kind];
	return all;
}

/* A line that a load or a store may not have had to bring may have put out another one
 * in vain, which was modified. */
static void take_unsure(ULong *count, const struct core *core)
{
	const uint64_t *unsure = core->unsure;
	ULong data = unsure[UNSURE_LOADS] + unsure[UNSURE_STORES];

	count += CP_SIM_UNSURE;
#define ADD(name, more) count[CP_SIM_BURST_##name * CP_SIM_PARTS] += (more)
	ADD(l1i_misses, unsure[UNSURE_CODE]);
	ADD(l1d_load_lines, unsure[UNSURE_LOADS]);
	ADD(l1d_store_lines, unsure[UNSURE_STORES]);
	ADD(l1d_load_misses, unsure[UNSURE_LOADS]);
	ADD(l1d_store_misses, unsure[UNSURE_STORES]);
	ADD(l1d_fills, data);
	ADD(l1d_writebacks, unsure[UNSURE_WRITEBACKS] + data);
	ADD(l2_accesses, unsure[UNSURE_CODE] + data);
	ADD(itlb_misses, unsure[UNSURE_CODE_PAGES]);
	ADD(itlb_walks, unsure_walks(core, IFETCH));
	ADD(dtlb_load_pages, unsure[UNSURE_LOAD_PAGES]);
	ADD(dtlb_store_pages, unsure[UNSURE_STORE_PAGES]);
	ADD(dtlb_load_misses, unsure[UNSURE_LOAD_PAGES]);
	ADD(dtlb_store_misses, unsure[UNSURE_STORE_PAGES]);
	ADD(dtlb_load_walks, unsure_walks(core, LOAD));
	ADD(dtlb_store_walks, unsure_walks(core, STORE));
#undef ADD
}

/* All that comes from beyond L2 has missed there. */
static void take_sets(ULong *count, const struct core *core)
{
	for (UInt g = 0; g < tool_options.sample.sets; g++) {
		uint64_t *from = core->sets->count[g] - CP_SIM_NBURST;
		ULong missed = from[CP_SIM_SET_l2_ifetch_misses] +
			       from[CP_SIM_SET_l2_load_lines] +
			       from[CP_SIM_SET_l2_store_lines];

		from[CP_SIM_SET_beyond_l2_lines] = missed;
		from[CP_SIM_SET_llc_accesses] = missed;
		for (UInt i = CP_SIM_NBURST; i < sampled_counters(); i++)
			count[i * CP_SIM_PARTS + g] += from[i];
		for (UInt i = CP_SIM_SET_HELP; i < CP_SIM_NSAMPLED; i++)
			count[i * CP_SIM_PARTS + g] += from[i];
	}
}

static void take_parts(
	ULong *count, const struct sample_thread *t, const struct core *core)
{
	if (t->phase == COUNTING)
		take_bursts(count, t->part, core);
	if (t->phase == COUNTING && t->part != CP_SIM_IN_FULL)
		take_unsure(count, core);
	take_sets(count, core);
	count += t->phase == COUNTING ? t->part : CP_SIM_UNSURE;
	count[CP_SIM_HELP_kept_lines * CP_SIM_PARTS] += core->sets->kept;
}

/* Takes what was counted since the last time. */
static void take_sample(struct sample_thread *t, UInt machine, struct core *core)
{
	if (machine == 0)
		take_parts(t->count, t, core);
	take_parts(sampling.machine[machine], t, core);
	for (UInt g = 0; g < tool_options.sample.sets; g++)
		VG_(memset)(core->sets->count[g], 0, sizeof(core->sets->count[g]));
	core->sets->kept = 0;
	VG_(memset)(core->count, 0, sizeof(core->count));
	VG_(memset)(core->unsure, 0, sizeof(core->unsure));
}

/* ---- phases ---- */

/* First references are of interest while counts are taken that began with empty sets. */
static void watch_firsts(const struct sample_thread *t)
{
	Bool counts = t && t->phase == COUNTING && t->part != CP_SIM_IN_FULL;

	for (UInt i = 0; i < team.size; i++)
		team.member[i]->first_before = counts ? team.member[i]->sets->began : 0;
}

static void use_log(const struct sample_thread *t)
{
	watch_firsts(t);
	sample_log_use(!t                    ? SAMPLE_NOTHING
		       : t->phase == BETWEEN ? SAMPLE_SETS
					     : SAMPLE_ALL);
}

/* When generated code is to call: for the thread's next phase, or to empty the log; in a
 * burst always. */
static void set_next(void)
{
	Bool between = !sampling.current || sampling.current->phase == BETWEEN;
	ULong full =
		sample_now.instructions + (between ? SAMPLE_LOG_MOST : SAMPLE_LOG_BURST);

	sampling.due = sampling.current && sampling.current->next < full
			       ? sampling.current->next
			       : full;
	sample_now.next = between ? sampling.due : 0;
}

/* Somewhere in the period that begins. */
static ULong next_burst(struct sample_thread *t)
{
	ULong room = tool_options.sample.period - tool_options.sample.warm -
		     tool_options.sample.burst;

	return t->period + cp_random(&t->random) % (room + 1);
}

static void change_phase(struct sample_thread *t)
{
	switch (t->phase) {
	case BETWEEN:
		for (UInt i = 0; i < team.size; i++) {
			team.member[i]->last_line = NO_LINE; /* it was not kept */
			team.member[i]->sets->began = (uint32_t)team.member[i]->clock;
			core_empty(team.member[i]);
		}
		t->phase = WARMING;
		t->next = sample_now.instructions + tool_options.sample.warm;
		break;
	case WARMING:
		t->phase = COUNTING;
		t->part = cp_random(&t->random) % CP_SIM_GROUPS;
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
	if (sampling.ends)
		sampling.ends();
	for (UInt i = 0; i < team.size; i++) {
		core_collect(team.member[i]);
		take_sample(t, i, team.member[i]);
	}
	do
		change_phase(t);
	while (t->next <= sample_now.instructions);
	use_log(t);
	if (sampling.part)
		sampling.part(sample_part(t));
}

/* When the log may be full, or the running thread has come to its next phase. */
static void step_phase(void)
{
	sample_drain();
	if (sampling.current && sampling.current->next <= sample_now.instructions)
		next_phase(sampling.current);
	set_next();
}

/* Called by generated code. */
static void on_block(UWord batches)
{
	if (sample_now.instructions >= sampling.due)
		step_phase();
	sample_begin(batches);
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
		sampling.current->random ^= cp_random(&seed);
}

UInt sample_all_groups(void)
{
	const struct sweep_plan *sweep = &tool_options.sweep;
	UInt fewest = SAMPLE_MOST_GROUPS;

	for (UInt i = 0; i < tool_options.nmachines; i++) {
		UInt groups = sample_groups(&tool_options.machines[i]);

		fewest = groups < fewest ? groups : fewest;
	}
	for (UInt i = 0; i < sweep->npoints; i++) {
		UInt groups = sweep->point[i].sets & -sweep->point[i].sets;

		fewest = groups < fewest ? groups : fewest;
	}
	return fewest < SAMPLE_FEWEST_GROUPS ? 0 : fewest;
}

void sample_start(void)
{
	sample_sets_choose(&sample_now.chosen, sample_all_groups(),
		tool_options.sample.sets, tool_options.sample.seed);
	sampling.machine = VG_(calloc)(
		"cachepeek.sampled", tool_options.nmachines, sizeof(*sampling.machine));
	VG_(atfork)(on_fork, NULL, on_fork_child);
}

void sample_tell(void (*ends)(void), void (*part)(UInt part))
{
	sampling.ends = ends;
	sampling.part = part;
}

void sample_core_begin(struct core *core)
{
	if (sample_sets_begin(core, &sample_now.chosen) != 0)
		stop(1, "no memory to simulate another core");
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

void sample_use(struct sample_thread *t)
{
	if (sampling.current)
		sampling.current->instructions = sample_now.instructions;
	sampling.current = t;
	sample_now.instructions = t ? t->instructions : 0;
	use_log(t);
	set_next();
}

void sample_collect(struct sample_thread *t, UInt machine, struct core *core)
{
	if (t == sampling.current)
		t->instructions = sample_now.instructions;
	take_sample(t, machine, core);
	core->count[CP_SIM_instructions] = t->instructions - t->collected;
}

void sample_collected(struct sample_thread *t)
{
	t->collected = t->instructions;
}

UInt sample_part(const struct sample_thread *t)
{
	return t->phase == COUNTING ? t->part : SAMPLE_NO_PART;
}

void sample_forget(struct sample_thread *t)
{
	t->collected = t->instructions;
	VG_(memset)(t->count, 0, sizeof(t->count));
	for (UInt i = 0; sampling.machine && i < tool_options.nmachines; i++)
		VG_(memset)(sampling.machine[i], 0, sizeof(*sampling.machine));
}

static void copy_parts(ULong *to, const ULong *from)
{
	for (UInt i = 0; to && from && i < CP_SIM_SAMPLE_WORDS; i++)
		to[i] = from[i];
}

void sample_copy(const struct sample_thread *t, ULong *to)
{
	copy_parts(to, t ? t->count : NULL);
}

void sample_copy_machine(UInt machine, ULong *to)
{
	copy_parts(to, sampling.machine ? sampling.machine[machine] : NULL);
}

static void say_part(
	const HChar *who, UInt number, const HChar *name, UInt g, const ULong *count)
{
	VG_(umsg)("%s %u sample_%s_%u %llu\n", who, number, name, g, count[g]);
}

static void say_help(const HChar *who, UInt number, const ULong *count)
{
	static const HChar *const names[] = {
#define X(name) #name,
		CP_SIM_HELP_COUNTERS(X)
#undef X
	};

	for (UInt i = 0; i < CP_SIM_NSAMPLED - CP_SIM_SET_HELP; i++)
		for (UInt g = 0; g < CP_SIM_PARTS; g++)
			say_part(who, number, names[i], g, count + i * CP_SIM_PARTS);
}

static void say_parts(const HChar *who, UInt number, const ULong *count)
{
	static const HChar *const names[] = {
#define X(name) #name,
		CP_SIM_BURST_COUNTERS(X) CP_SIM_SET_COUNTERS(X)
#undef X
	};

	for (UInt i = 0; i < sampled_counters(); i++)
		for (UInt g = 0; g < CP_SIM_PARTS; g++)
			if (i < CP_SIM_SET_SWEEP)
				VG_(umsg)
	("%s %u sample_%s_%u %llu\n", who, number, names[i], g,
		count[i * CP_SIM_PARTS + g]);
	else VG_(umsg)("%s %u sample_sweep%u_%u %llu\n", who, number,
		i - CP_SIM_SET_SWEEP, g, count[i * CP_SIM_PARTS + g]);
	say_help(who, number, count + CP_SIM_SET_HELP * CP_SIM_PARTS);
}

void sample_report(const struct sample_thread *t, UInt tid)
{
	say_parts("thread", tid, t->count);
}

void sample_machine_report(UInt machine)
{
	if (sampling.machine)
		say_parts("machine", machine, sampling.machine[machine]);
}

/* ---- generated code ---- */

void sample_watch(IRSB *out)
{
	sample_call(out, on_block);
}
