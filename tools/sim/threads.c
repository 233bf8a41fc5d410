/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Threads: their cores, counters and mirrors.
 *
 * A thread stays on the core that it starts on: the first of those with the
 * fewest threads.  Caches and TLBs are the core's, so they are warm for the next
 * thread, and threads beyond the number of cores share them.
 *
 * Where there are several machines, a thread has a core of each.
 *
 * Generated code works on the core that `running` points to, or on the front (front.h)
 * of those that are not plain, or on a team of both.  PAUSE points it at a scratch core
 * of a machine of its own, and at a front of none.
 * Valgrind runs one thread at a time, so nothing here needs a lock.
 */
#include "flex/flex.h"
#include "machines/front.h"
#include "watch/function_names.h"
#include "watch/functions.h"
#include "watch/strands.h"
#include "bounds.h"
#include "system/confine.h"
#include "system/sent.h"
#include "machines/team.h"
#include "mirror.h"
#include "tool.h"
#include "model/model.h"
#include "model/huge.h"
#include "paths/paths.h"
#include "pin/pin.h"
#include "region_times.h"
#include "profile/profile.h"
#include "readable.h"
#include "sample/log.h"
#include "sample/sample.h"
#include "simulated.h"
#include "profile/sharing.h"
#include "transfers.h"
#include "window.h"
#include "regions/series.h"

struct thread {
	struct seat **seat; /* on each machine; NULL: there was no such thread yet */
	Bool lives;
	Bool awaits;        /* the next one that it creates begins paused */
	Bool begins_paused; /* until it lives */
	UInt paused;
	ULong count[CP_SIM_NALL]; /* of the first machine */
	ULong *mirror;
	struct profile_thread *profile; /* of the first machine */
	struct window *window;
	struct sample_thread *sample; /* NULL: nothing is sampled */
	ULong *sample_mirror;
	struct region_times *times; /* of the first machine; NULL: of no sample */
};

/* This process's threads; a fork's child has one of them. */
static struct {
	struct thread *by_id; /* by ThreadId */
	struct simulated *simulated;
	struct cp_series *series; /* the library's; NULL: none is wanted */
	struct uncore scratch_uncore;
	struct core *scratch;
	struct front *fronts[2]; /* the one that counts, and the scratch one */
} threads;

static const struct machine scratch_machine = {
	.l1i = {.sets = 4, .ways = 4},
	.l1d = {.sets = 4, .ways = 4},
	.itlb = {.sets = 1, .ways = 4},
	.dtlb = {.sets = 1, .ways = 4},
};

static void leave_seats(struct thread *t)
{
	for (UInt i = 0; i < tool_options.nmachines; i++)
		t->seat[i]->threads--;
	t->lives = False;
}

static void add_up(ULong *to, const uint64_t *from)
{
	for (UInt i = 0; i < CP_SIM_NALL; i++)
		to[i] += from[i];
}

/* The running thread has met them, on every machine that knows such. */
static void add_huge_pages(struct thread *t)
{
	static ULong told;
	ULong more = huge.seen - told;

	told = huge.seen;
	if (machine_knows_huge(&tool_options.machine)) {
		t->count[CP_SIM_huge_pages] += more;
		profile_huge_pages(t->profile, more);
	}
	for (UInt i = 0; i < tool_options.nmachines; i++)
		if (machine_knows_huge(&tool_options.machines[i]))
			threads.simulated[i].count[CP_SIM_huge_pages] += more;
}

static void add_x87(struct thread *t)
{
	static ULong told;

	t->count[CP_SIM_X87] += x87_translated - told;
	threads.simulated[0].count[CP_SIM_X87] += x87_translated - told;
	told = x87_translated;
}

static void collect_cores(const struct thread *t)
{
	for (UInt i = 0; i < tool_options.nmachines; i++)
		core_collect(t->seat[i]->core);
}

/* Moves what its cores have counted to the thread and the process. */
static void collect_thread(struct thread *t)
{
	ThreadId tid = (ThreadId)(t - threads.by_id);

	sample_drain();
	paths_before_collect(tid, t->seat[0]->core);
	add_huge_pages(t);
	add_x87(t);
	front_collect(threads.fronts[0]);
	profile_settle(); /* what is collected counts by reference */
	collect_cores(t);
	for (UInt i = 0; i < tool_options.nmachines; i++) {
		struct core *core = t->seat[i]->core;

		if (core->flex && core->uncore->flex->numa.lost)
			simulated_no_memory("where pages are");
		if (t->sample)
			sample_collect(t->sample, i, core);
		if (i == 0) {
			profile_collect(t->profile, core->count);
			add_up(t->count, core->count);
			paths_after_collect(tid, core);
		}
		add_up(threads.simulated[i].count, core->count);
		VG_(memset)(core->count, 0, sizeof(core->count));
		simulated_show(&threads.simulated[i]);
	}
	if (t->sample)
		sample_collected(t->sample);
	mirror_write(t->mirror, t->count);
	sample_copy(t->sample, t->sample_mirror);
	if (t->sample)
		profile_put_sample();
}

void threads_collect(ThreadId tid)
{
	collect_thread(&threads.by_id[tid]);
}

static void begin_thread(struct thread *t)
{
	struct seat **seat = t->seat;
	struct window *window = t->window;
	struct sample_thread *sample = t->sample;
	UInt paused = t->begins_paused;

	if (!seat)
		seat = VG_(calloc)(
			"cachepeek.seat", tool_options.nmachines, sizeof(*seat));
	VG_(memset)(t, 0, sizeof(*t));
	t->seat = seat;
	t->paused = paused;
	t->window = window_begin(window);
	if (sample_wanted())
		t->sample = sample_thread_begin(sample);
	for (UInt i = 0; i < tool_options.nmachines; i++)
		seat[i] = simulated_seat(&threads.simulated[i]);
	t->lives = True;
	t->times = region_times_begin();
	t->profile = profile_thread_begin((ThreadId)(t - threads.by_id));
	paths_thread_begin(
		(ThreadId)(t - threads.by_id), profile_thread_number(t->profile));
	functions_thread_begin((ThreadId)(t - threads.by_id));
	transfers_thread_begin((ThreadId)(t - threads.by_id));
}

static void use_profile(struct profile_thread *t, const struct core *core)
{
	profile_thread_use(t, core);
	sharing_use(t ? (Int)profile_thread_number(t) : -1);
	line_use_use(t ? (Int)profile_thread_number(t) : -1);
}

/* Its cores, behind the front or in the team. */
static void use_machines(const struct thread *t)
{
	struct core *cores[TOOL_MAX_MACHINES];
	UInt n = 0;

	team.size = 0;
	for (UInt i = 0; i < tool_options.nmachines; i++) {
		struct core *core = t->seat[i]->core;

		if (core->flex)
			cores[n++] = core;
		else
			team.member[team.size++] = running = core;
	}
	front_use(front, cores, n);
	region_times_use(t->times, t->seat[0]->core);
}

static void use_core(ThreadId tid)
{
	struct thread *t = &threads.by_id[tid];

	sample_drain();
	front = threads.fronts[t->paused != 0];
	team.member[0] = running = threads.scratch;
	team.size = 1;
	window_use(t->paused ? NULL : t->window, t->seat[0]->core,
		t->count[CP_SIM_instructions]);
	functions_use(t->paused ? VG_INVALID_THREADID : tid);
	sweep_core = t->paused ? NULL : t->seat[0]->core;
	paths_use(t->paused ? VG_INVALID_THREADID : tid, t->seat[0]->core);
	use_profile(t->paused ? NULL : t->profile, t->seat[0]->core);
	transfers_use(tid, t->paused ? NULL : t->seat);
	if (!t->paused)
		use_machines(t);
	if (t->sample)
		sample_use(t->paused ? NULL : t->sample);
	if (t->sample && !t->paused)
		profile_use_part(sample_part(t->sample));
}

static void on_slice_start(ThreadId tid, ULong blocks)
{
	(void)blocks;
	pin_turn_begins();
	if (!threads.by_id[tid].lives)
		begin_thread(&threads.by_id[tid]);
	if (sample_wanted())
		sample_show(tid);
	use_core(tid);
}

static ULong now_ns(void)
{
	return (ULong)VG_(read_millisecond_timer)() * 1000000;
}

/* The library may be changing what a row is made of. */
static Bool somebody_is_paused(void)
{
	for (UInt i = 0; i < VG_N_THREADS; i++)
		if (threads.by_id[i].lives && threads.by_id[i].paused)
			return True;
	return False;
}

/* With a row ends an interval, and with that the windows of working sets. */
static void add_row(void)
{
	ULong due = threads.series ? threads.series->next_ns : 0;

	if (!threads.series || now_ns() < due || somebody_is_paused())
		return;
	sample_copy_machine(0, (ULong *)threads.series->sample);
	cp_series_tick(threads.series, now_ns());
	for (UInt i = 0; i < VG_N_THREADS && threads.series->next_ns != due; i++)
		window_end(threads.by_id[i].window);
}

/* The scratch core counts too, and its clock must not overflow. */
static void on_slice_end(ThreadId tid, ULong blocks)
{
	(void)blocks;
	if (!threads.by_id[tid].lives)
		return;
	paths_use(VG_INVALID_THREADID, NULL);
	collect_thread(&threads.by_id[tid]);
	front_collect(threads.fronts[1]);
	core_collect(threads.scratch);
	add_row();
}

static void end_thread(ThreadId tid)
{
	struct thread *t = &threads.by_id[tid];

	sharing_thread_end();
	if (!t->lives)
		return;
	collect_thread(t);
	if (tool_options.report)
		mirror_say("thread", tid, t->count);
	if (tool_options.report && t->sample)
		sample_report(t->sample, tid);
	t->times = region_times_end(t->times, t->seat[0]->core);
	leave_seats(t);
	transfers_thread_end(tid);
	profile_thread_end(tid);
	t->mirror = t->sample_mirror = NULL;
}

static void forget_counts(struct thread *t)
{
	front_collect(threads.fronts[0]);
	for (UInt i = 0; i < tool_options.nmachines; i++) {
		core_collect(t->seat[i]->core);
		VG_(memset)(t->seat[i]->core->count, 0, sizeof(t->count));
	}
	VG_(memset)(t->count, 0, sizeof(t->count));
	t->times = region_times_end(t->times, t->seat[0]->core);
	if (t->sample)
		sample_forget(t->sample);
	t->mirror = t->sample_mirror = NULL;
}

/* The child has the forking thread only, with warm caches and nothing counted. */
static void on_fork_child(ThreadId tid)
{
	for (UInt i = 0; i < VG_N_THREADS; i++) {
		if (!threads.by_id[i].lives)
			continue;
		forget_counts(&threads.by_id[i]);
		if (i != tid)
			leave_seats(&threads.by_id[i]);
	}
	threads.by_id[tid].times = region_times_begin();
	for (UInt i = 0; i < tool_options.nmachines; i++) {
		VG_(memset)
		(threads.simulated[i].count, 0, sizeof(threads.simulated[i].count));
		threads.simulated[i].mirror = threads.simulated[i].sample_mirror = NULL;
	}
	threads.series = NULL;
	title_after_fork();
	sent_fork_child();
	profile_fork_child();
	sharing_fork_child();
	transfers_fork_child(tid);
	line_use_fork_child();
	threads.by_id[tid].profile = profile_thread_begin(tid);
	paths_fork_child(tid, profile_thread_number(threads.by_id[tid].profile));
}

/* A mirror whose memory goes away is unbound, else the tool would fault. */
static void on_unmap(Addr a, SizeT len)
{
	for (UInt i = 0; i < tool_options.nmachines; i++) {
		struct simulated *s = &threads.simulated[i];

		if (mirror_overlaps(s->mirror, CP_SIM_NALL, a, len))
			s->mirror = NULL;
		if (mirror_overlaps(s->sample_mirror, CP_SIM_SAMPLE_WORDS, a, len))
			s->sample_mirror = NULL;
	}
	for (UInt i = 0; i < VG_N_THREADS; i++)
		if (mirror_overlaps(threads.by_id[i].mirror, CP_SIM_NALL, a, len))
			threads.by_id[i].mirror = NULL;
	for (UInt i = 0; i < VG_N_THREADS; i++)
		if (mirror_overlaps(
			    threads.by_id[i].sample_mirror, CP_SIM_SAMPLE_WORDS, a, len))
			threads.by_id[i].sample_mirror = NULL;
}

/* Pages that come there are placed anew. */
static void forget_homes(Addr a, SizeT len)
{
	for (UInt i = 0; i < tool_options.nmachines; i++) {
		const struct machine *m = threads.simulated[i].machine;

		if (m->sockets.sockets > 1)
			numa_forget(&threads.simulated[i].uncore.flex->numa, a / m->page,
				(len + m->page - 1) / m->page);
	}
}

static void on_munmap(Addr a, SizeT len)
{
	on_unmap(a, len);
	bounds_unmapped(a, len);
	forget_homes(a, len);
	functions_unmapped(a, len);
	strands_unmapped(a, len);
	huge_forget(a, len);
	paths_unmapped(a, len, profile_unmapped(a, len));
}

static void on_map(Addr a, SizeT len, Bool r, Bool w, Bool x, ULong handle)
{
	(void)r, (void)w, (void)x, (void)handle;
	on_unmap(a, len);
	bounds_mapped(a, len);
	forget_homes(a, len);
	functions_unmapped(a, len);
	strands_unmapped(a, len);
	huge_forget(a, len);
	paths_unmapped(a, len, profile_unmapped(a, len));
	profile_heap_mapped(a, len);
}

static void on_protect(Addr a, SizeT len, Bool r, Bool w, Bool x)
{
	(void)x;
	huge_forget(a, len);
	if (!r)
		readable_forget();
	if (!w)
		on_unmap(a, len);
}

Int threads_read(ThreadId tid, UWord out)
{
	if (!mirror_fits(out, CP_SIM_NALL))
		return 0;
	mirror_write((ULong *)out, threads.by_id[tid].count);
	window_end(threads.by_id[tid].window);
	return 1;
}

Int threads_read_process(UWord out)
{
	if (!mirror_fits(out, CP_SIM_NALL))
		return 0;
	mirror_write((ULong *)out, threads.simulated[0].count);
	return 1;
}

/* The counts that somebody asks for begin now, and with them what is modelled in full of
 * its regions: the dynamic linker has had its share before. */
static void begin_times(struct thread *t)
{
	if (t->mirror || !t->times)
		return;
	collect_thread(t);
	region_times_end(t->times, t->seat[0]->core);
	t->times = region_times_begin();
}

Int threads_bind(ThreadId tid, UWord mirror)
{
	struct thread *t = &threads.by_id[tid];

	if (mirror && !mirror_fits(mirror, CP_SIM_NALL))
		return 0;
	begin_times(t);
	t->mirror = (ULong *)mirror;
	mirror_write(t->mirror, t->count);
	return 1;
}

Int threads_bind_sample(ThreadId tid, UWord mirror)
{
	struct thread *t = &threads.by_id[tid];

	if (!t->sample || (mirror && !mirror_fits(mirror, CP_SIM_SAMPLE_WORDS)))
		return 0;
	t->sample_mirror = (ULong *)mirror;
	sample_copy(t->sample, t->sample_mirror);
	return 1;
}

Int threads_bind_process(UInt machine, UWord mirror)
{
	if (mirror && !mirror_fits(mirror, CP_SIM_NALL))
		return 0;
	threads.simulated[machine].mirror = (ULong *)mirror;
	mirror_write(threads.simulated[machine].mirror, threads.simulated[machine].count);
	return 1;
}

Int threads_bind_machine_sample(UInt machine, UWord mirror)
{
	if (!sample_wanted() || (mirror && !mirror_fits(mirror, CP_SIM_SAMPLE_WORDS)))
		return 0;
	threads.simulated[machine].sample_mirror = (ULong *)mirror;
	simulated_show(&threads.simulated[machine]);
	return 1;
}

/* With the last row, if there was a series. */
Int threads_series(UWord wanted)
{
	if (wanted && !VG_(am_is_valid_for_client)(
			      wanted, sizeof(struct cp_series), VKI_PROT_WRITE))
		return 0;
	if (threads.series) {
		sample_copy_machine(0, (ULong *)threads.series->sample);
		cp_series_add(threads.series, now_ns());
	}
	threads.series = (struct cp_series *)wanted;
	if (threads.series) {
		threads.series->item->start_ns = now_ns();
		threads.series->next_ns = now_ns() + threads.series->item->interval_ns;
	}
	return 1;
}

/* Threads that do not run have nothing uncollected: their slices have ended. */
void threads_sync(void)
{
	for (UInt i = 0; i < VG_N_THREADS; i++) {
		mirror_write(threads.by_id[i].mirror, threads.by_id[i].count);
		sample_copy(threads.by_id[i].sample, threads.by_id[i].sample_mirror);
	}
	for (UInt i = 0; i < tool_options.nmachines; i++)
		simulated_show(&threads.simulated[i]);
}

void threads_enter_region(ThreadId tid, UWord number)
{
	region_times_enter(threads.by_id[tid].times, number);
}

void threads_pause(ThreadId tid)
{
	threads.by_id[tid].paused++;
	use_core(tid);
}

void threads_resume(ThreadId tid)
{
	if (threads.by_id[tid].paused)
		threads.by_id[tid].paused--;
	use_core(tid);
}

Bool threads_is_paused(ThreadId tid)
{
	return threads.by_id[tid].paused != 0;
}

Bool threads_await(ThreadId tid, Bool wanted)
{
	threads.by_id[tid].awaits = wanted && pin.wanted;
	return threads.by_id[tid].awaits;
}

ULong threads_instructions(ThreadId running_thread)
{
	if (threads.by_id[running_thread].lives)
		collect_thread(&threads.by_id[running_thread]);
	return threads.simulated[0].count[CP_SIM_instructions];
}

static struct front *new_front(void)
{
	struct front *f = host_alloc(sizeof(*f));

	if (!f)
		simulated_no_memory("anything");
	front_init(f, tool_options.machines, tool_options.nmachines);
	return f;
}

static void start_scratch(void)
{
	struct machine m = scratch_machine;

	threads.fronts[0] = new_front();
	threads.fronts[1] = new_front();
	m.line = tool_options.machine.line;
	m.page = tool_options.machine.page;
	uncore_init(&threads.scratch_uncore, &m);
	threads.scratch = simulated_core(&m, &threads.scratch_uncore);
	threads.scratch->area_shift = 0;
}

static void on_create(ThreadId by, ThreadId tid)
{
	confine_thread(by, tid);
	if (by == VG_INVALID_THREADID)
		return;
	threads.by_id[tid].begins_paused = threads.by_id[by].awaits;
	threads.by_id[by].awaits = False;
	sharing_thread_begin(tid);
	transfers_thread_comes();
	pin_turn_thread(by);
}

void threads_start(void)
{
	threads.by_id =
		VG_(calloc)("cachepeek.threads", most_threads(), sizeof(*threads.by_id));
	threads.simulated = VG_(calloc)(
		"cachepeek.machines", tool_options.nmachines, sizeof(*threads.simulated));
	for (UInt i = 0; i < tool_options.nmachines; i++)
		simulated_start(&threads.simulated[i], i);
	start_scratch();
	paths_start(threads.fronts[0]);
	VG_(track_start_client_code)(on_slice_start);
	VG_(track_stop_client_code)(on_slice_end);
	VG_(track_pre_thread_ll_create)(on_create);
	VG_(track_pre_thread_ll_exit)(end_thread);
	VG_(track_die_mem_munmap)(on_munmap);
	VG_(track_new_mem_mmap)(on_map);
	VG_(track_change_mem_mprotect)(on_protect);
	VG_(atfork)(NULL, NULL, on_fork_child);
}

/* "machine": what the process has counted on another one than the first. */
void threads_finish(void)
{
	for (UInt i = 0; i < VG_N_THREADS; i++)
		end_thread(i);
	sharing_finish();
	line_use_finish();
	if (!tool_options.report)
		return;
	mirror_say("process", VG_(getpid)(), threads.simulated[0].count);
	for (UInt i = 1; i < tool_options.nmachines; i++)
		mirror_say("machine", i, threads.simulated[i].count);
	for (UInt i = 0; i < tool_options.nmachines; i++)
		sample_machine_report(i);
	VG_(umsg)("simulated state: %llu bytes\n", tool_state);
}
