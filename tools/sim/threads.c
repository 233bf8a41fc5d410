/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Threads: their cores, counters and mirrors.
 *
 * A thread stays on the core that it starts on: the first of those with the
 * fewest threads.  Caches and TLBs are the core's, so they are warm for the next
 * thread, and threads beyond the number of cores share them.
 *
 * Generated code works on the core that `running` points to.  PAUSE points it at
 * a scratch core of a machine of its own.  Valgrind runs one thread at a time, so nothing
 * here needs a lock.
 */
#include "tool.h"
#include "host.h"
#include "profile.h"

struct seat {
	struct core *core; /* NULL: nobody was here yet */
	UInt threads;
};

struct thread {
	struct core *core; /* NULL: no such thread */
	struct seat *seat;
	UInt paused;
	ULong count[CP_SIM_NCOUNTERS];
	ULong *mirror;
	struct profile_thread *profile;
};

static struct thread *threads; /* by ThreadId */
static ULong process_count[CP_SIM_NCOUNTERS];
static ULong *process_mirror;
static struct uncore uncore, scratch_uncore;
static struct core *scratch;
static struct seat *seats; /* tool_machine.cores of them */

static const struct machine scratch_machine = {
	.l1i = {4, 4},
	.l1d = {4, 4},
	.itlb = {1, 4},
	.dtlb = {1, 4},
};

static struct core *new_core(const struct machine *m, struct uncore *u)
{
	struct core *core = host_alloc(sizeof(*core));

	if (!core || core_init(core, m, u) != 0) {
		VG_(fmsg)("no memory to simulate another core\n");
		VG_(exit)(1);
	}
	return core;
}

/* The first of those that the fewest threads use. */
static struct seat *find_seat(void)
{
	struct seat *best = &seats[0];

	for (UInt i = 1; i < tool_machine.cores && best->threads; i++)
		if (seats[i].threads < best->threads)
			best = &seats[i];
	return best;
}

static void take_seat(struct thread *t)
{
	t->seat = find_seat();
	t->seat->threads++;
	if (!t->seat->core) {
		t->seat->core = new_core(&tool_machine, &uncore);
		core_attach(t->seat->core);
	}
	t->core = t->seat->core;
}

static void leave_seat(struct thread *t)
{
	t->seat->threads--;
	t->seat = NULL;
	t->core = NULL;
}

static void copy_out(ULong *to, const ULong *from)
{
	if (!to)
		return;
	for (UInt i = 0; i < CP_SIM_NCOUNTERS; i++)
		to[i] = from[i];
}

/* Moves what the core has counted to the thread and the process. */
static void collect(struct thread *t)
{
	core_collect(t->core);
	profile_collect(t->profile, t->core->count);
	for (UInt i = 0; i < CP_SIM_NCOUNTERS; i++) {
		t->count[i] += t->core->count[i];
		process_count[i] += t->core->count[i];
		t->core->count[i] = 0;
	}
	copy_out(t->mirror, t->count);
	copy_out(process_mirror, process_count);
}

static void begin(struct thread *t)
{
	VG_(memset)(t, 0, sizeof(*t));
	take_seat(t);
	t->profile = profile_thread_begin((ThreadId)(t - threads));
}

static void use_core(ThreadId tid)
{
	struct thread *t = &threads[tid];

	running = t->paused ? scratch : t->core;
	profile_thread_use(t->paused ? NULL : t->profile);
}

static void on_slice_start(ThreadId tid, ULong blocks)
{
	(void)blocks;
	if (!threads[tid].core)
		begin(&threads[tid]);
	use_core(tid);
}

/* The scratch core counts too, and its clock must not overflow. */
static void on_slice_end(ThreadId tid, ULong blocks)
{
	(void)blocks;
	if (!threads[tid].core)
		return;
	collect(&threads[tid]);
	core_collect(scratch);
}

static void report_counts(const HChar *who, UInt number, const ULong *count)
{
#define X(name, meaning)                                                                 \
	VG_(umsg)("%s %u %s %llu\n", who, number, #name, count[CP_SIM_##name]);
	CP_SIM_COUNTERS (X)
#undef X
}

static void end(ThreadId tid)
{
	struct thread *t = &threads[tid];

	if (!t->core)
		return;
	collect(t);
	if (tool_report)
		report_counts("thread", tid, t->count);
	leave_seat(t);
	profile_thread_end(tid);
	t->mirror = NULL;
}

static void forget_counts(struct thread *t)
{
	core_collect(t->core);
	VG_(memset)(t->core->count, 0, sizeof(t->core->count));
	VG_(memset)(t->count, 0, sizeof(t->count));
	t->mirror = NULL;
}

/* The child has the forking thread only, with warm caches and nothing counted. */
static void on_fork_child(ThreadId tid)
{
	for (UInt i = 0; i < VG_N_THREADS; i++) {
		if (!threads[i].core)
			continue;
		forget_counts(&threads[i]);
		if (i != tid)
			leave_seat(&threads[i]);
	}
	VG_(memset)(process_count, 0, sizeof(process_count));
	process_mirror = NULL;
	profile_fork_child();
	threads[tid].profile = profile_thread_begin(tid);
}

static Bool overlaps(const ULong *mirror, Addr a, SizeT len)
{
	Addr m = (Addr)mirror;

	return mirror && m < a + len && m + sizeof(process_count) > a;
}

/* A mirror whose memory goes away is unbound, else the tool would fault. */
static void on_unmap(Addr a, SizeT len)
{
	if (overlaps(process_mirror, a, len))
		process_mirror = NULL;
	for (UInt i = 0; i < VG_N_THREADS; i++)
		if (overlaps(threads[i].mirror, a, len))
			threads[i].mirror = NULL;
}

static void on_munmap(Addr a, SizeT len)
{
	on_unmap(a, len);
	profile_unmapped(a, len);
}

static void on_map(Addr a, SizeT len, Bool r, Bool w, Bool x, ULong handle)
{
	(void)r, (void)w, (void)x, (void)handle;
	on_unmap(a, len);
	profile_unmapped(a, len);
}

static void on_protect(Addr a, SizeT len, Bool r, Bool w, Bool x)
{
	(void)r, (void)x;
	if (!w)
		on_unmap(a, len);
}

static Bool writable(UWord to)
{
	return to % sizeof(ULong) == 0 &&
	       VG_(am_is_valid_for_client)(to, sizeof(process_count), VKI_PROT_WRITE);
}

Int threads_read(ThreadId tid, UWord out)
{
	if (!writable(out))
		return 0;
	copy_out((ULong *)out, threads[tid].count);
	return 1;
}

Int threads_read_process(UWord out)
{
	if (!writable(out))
		return 0;
	copy_out((ULong *)out, process_count);
	return 1;
}

Int threads_bind(ThreadId tid, UWord mirror)
{
	if (mirror && !writable(mirror))
		return 0;
	threads[tid].mirror = (ULong *)mirror;
	copy_out(threads[tid].mirror, threads[tid].count);
	return 1;
}

Int threads_bind_process(UWord mirror)
{
	if (mirror && !writable(mirror))
		return 0;
	process_mirror = (ULong *)mirror;
	copy_out(process_mirror, process_count);
	return 1;
}

/* Threads that do not run have nothing uncollected: their slices have ended. */
void threads_sync(void)
{
	for (UInt i = 0; i < VG_N_THREADS; i++)
		copy_out(threads[i].mirror, threads[i].count);
	copy_out(process_mirror, process_count);
}

void threads_pause(ThreadId tid)
{
	threads[tid].paused++;
	use_core(tid);
}

void threads_resume(ThreadId tid)
{
	if (threads[tid].paused)
		threads[tid].paused--;
	use_core(tid);
}

void threads_start(void)
{
	struct machine m = scratch_machine;

	m.line = tool_machine.line;
	m.page = tool_machine.page;
	threads = VG_(calloc)("cachepeek.threads", VG_N_THREADS, sizeof(*threads));
	seats = VG_(calloc)("cachepeek.seats", tool_machine.cores, sizeof(*seats));
	if (uncore_init(&uncore, &tool_machine) != 0) {
		VG_(fmsg)("no memory to simulate the last level\n");
		VG_(exit)(1);
	}
	uncore_init(&scratch_uncore, &m);
	scratch = new_core(&m, &scratch_uncore);
	VG_(track_start_client_code)(on_slice_start);
	VG_(track_stop_client_code)(on_slice_end);
	VG_(track_pre_thread_ll_exit)(end);
	VG_(track_die_mem_munmap)(on_munmap);
	VG_(track_new_mem_mmap)(on_map);
	VG_(track_change_mem_mprotect)(on_protect);
	VG_(atfork)(NULL, NULL, on_fork_child);
}

void threads_finish(void)
{
	for (UInt i = 0; i < VG_N_THREADS; i++)
		end(i);
	if (!tool_report)
		return;
	report_counts("process", VG_(getpid)(), process_count);
	VG_(umsg)("simulated state: %llu bytes\n", tool_state);
}
