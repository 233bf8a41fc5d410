/* SPDX-License-Identifier: MIT */
#include "preload/threads/threads.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/format.h"
#include "base/syscall.h"
#include "preload/libc/real.h"
#include "preload/planned.h"
#include "preload/run.h"
#include "preload/runtime.h"
#include "preload/sampling/allocators.h"
#include "preload/sampling/sampling.h"
#include "preload/threads/ended.h"
#include "preload/threads/signal_stack.h"
#include "preload/self.h"

#define REMEMBERED 256

/* The list of live threads.  Outermost lock: the record's and the pools' are
 * taken with it held. */
static struct {
	struct cp_lock lock;
	struct cp_live_thread *first;
	unsigned count; /* atomic; changed under the lock */
	int starting; /* whose creation was begun, and that are not counted yet; atomic */
	/* Threads that we have seen end stay in /proc for a moment.  Under the lock. */
	pid_t ended[REMEMBERED];
	unsigned nended;
	/* The key whose destructor sees a thread leave, and the step that is told. */
	pthread_key_t key;
	void (*has_left)(void);
} live;
CP_LOCK_LISTED(live.lock);

void cp_thread_starts(void)
{
	__atomic_fetch_add(&live.starting, 1, __ATOMIC_ACQUIRE);
}

void cp_thread_started(void)
{
	__atomic_fetch_sub(&live.starting, 1, __ATOMIC_RELEASE);
}

bool cp_threads_start_now(void)
{
	return __atomic_load_n(&live.starting, __ATOMIC_ACQUIRE) != 0;
}

/* ---- one thread ---- */

static void list_add(struct cp_live_thread *thread)
{
	cp_lock(&live.lock);
	thread->next = live.first;
	if (live.first)
		live.first->previous = thread;
	__atomic_store_n(
		&live.first, thread, __ATOMIC_RELEASE); /* a fork child walks it */
	__atomic_fetch_add(&live.count, 1, __ATOMIC_RELAXED);
	cp_unlock(&live.lock);
}

static void list_remove(struct cp_live_thread *thread)
{
	if (thread->next)
		thread->next->previous = thread->previous;
	if (thread->previous)
		thread->previous->next = thread->next;
	else
		live.first = thread->next;
	__atomic_fetch_sub(&live.count, 1, __ATOMIC_RELAXED);
}

/*
 * The reading that the root region starts from.  perf: the counts since the open, which
 * are our own work.  The simulated PMU counts a thread from its first instruction: zero,
 * but for the main thread, whose first instructions were the dynamic linker's.
 */
static void first_reading(
	struct cp_live_thread *thread, struct cp_reading *reading, bool own)
{
	memset(reading, 0, sizeof(*reading));
	if (cp_engine->counts_whole_threads && thread->tid != cp_runtime.pid)
		return;
	cp_engine->read(&thread->counters, own, reading);
	if (cp_engine->counts_whole_threads) {
		cp_engine_sync();
		memcpy(thread->item->base, thread->item->mirror,
			sizeof(thread->item->base));
		if (thread->counters.sample)
			memcpy(cp_thread_sample(thread->item), thread->counters.sample,
				CP_SAMPLE_WORDS * sizeof(uint64_t));
	}
}

static int open_counters(struct cp_live_thread *thread, pid_t tid, struct cp_why *why)
{
	if (!cp_confined())
		return cp_engine->thread_open(&thread->counters, tid, why);
	cp_format(why->text, sizeof(why->text),
		"the program forbids new counters (seccomp)");
	return -EPERM;
}

static void close_counters(struct cp_live_thread *thread)
{
	if (!cp_confined())
		cp_engine->thread_close(&thread->counters);
}

/* ---- CPU time ---- */

static uint64_t cpu_clock(clockid_t clock)
{
	struct timespec now;

	if (!cp_engine->has_time || cp_confined() ||
		cp_syscall(SYS_clock_gettime, clock, &now) < 0)
		return 0;
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t cp_process_cpu(void)
{
	return cpu_clock(CLOCK_PROCESS_CPUTIME_ID);
}

/* The kernel's encoding of other threads' clocks: per thread, of the scheduler. */
uint64_t cp_thread_cpu(pid_t tid)
{
	return cpu_clock(
		tid ? (clockid_t)(~(unsigned)tid << 3 | 4 | 2) : CLOCK_THREAD_CPUTIME_ID);
}

/* An adopted thread may be gone, and its clock: but not its counters, which
 * were enabled for as long as it ran. */
static void note_cpu(const struct cp_live_thread *thread, bool own)
{
	uint64_t now = cp_thread_cpu(own ? 0 : thread->tid),
		 seen = now > thread->cpu_start ? now - thread->cpu_start : 0;

	if (!now && !thread->lost)
		seen = cp_tree_time_enabled(&thread->tree);
	__atomic_fetch_add(
		&cp_runtime.record.header->seen_cpu_ns, seen, __ATOMIC_RELAXED);
}

/* ---- beginning and end ---- */

/* Threads that are too short for several turns have different ones. */
static unsigned first_turn(void)
{
	static unsigned turns;

	if (!cp_plan.set.nrotated)
		return 0;
	return __atomic_fetch_add(&turns, 1, __ATOMIC_RELAXED) % cp_plan.set.nrotated;
}

/* Was it on its way out while its counters were opened?  Then it is no thread to
 * list, and what it did is <unattributed>.  ENODEV: its group went with it. */
static bool is_gone(pid_t tid, int result)
{
	return tid && (result == -ESRCH || result == -ENODEV);
}

/* tid 0: the calling thread.  One whose counters cannot be opened is lost, but
 * known: or it would be taken for a stray again and again. */
static struct cp_live_thread *new_thread(pid_t tid)
{
	struct cp_live_thread *thread = cp_thread_take();

	if (!thread) {
		cp_thread_warn_no_memory(tid);
		return NULL;
	}
	thread->tid = tid ? tid : (pid_t)cp_syscall(SYS_gettid);
	thread->counters.turn = first_turn();
	/* Its pages are there before a region begins, whose faults they are not. */
	memset(&thread->left_out, 0, sizeof(thread->left_out));
	thread->counters.sockets = cp_plan.set.nparts > 0 &&
				   thread->tid == cp_runtime.pid &&
				   cp_runtime.pid == cp_run.root_pid;
	return thread;
}

/* Beside its counters, which are open. */
static int start_tree(struct cp_live_thread *thread, bool own)
{
	int result = cp_tree_start(&thread->tree, &cp_runtime.layout, &cp_runtime.record,
		cp_record_offset(&cp_runtime.record, thread->item), &cp_no_reading,
		cp_now_ns());

	if (result < 0)
		return result;
	cp_tree_rotate_from(&thread->tree, thread->counters.turn,
		thread->item->start_ns ^ (uint64_t)thread->tid << 32);
	thread->item->root = cp_tree_root_offset(&thread->tree);
	first_reading(thread, cp_tree_root_start(&thread->tree), own);
	thread->sampler = cp_sampling_thread_begin(thread->tid, own);
	return 0;
}

static struct cp_live_thread *without_memory(struct cp_live_thread *thread)
{
	close_counters(thread);
	cp_thread_warn_no_memory(thread->tid);
	cp_thread_give(thread);
	return NULL;
}

static struct cp_live_thread *start_counting(pid_t tid, uint32_t state)
{
	struct cp_live_thread *thread = new_thread(tid);
	struct cp_why why = {""};
	int result = 0;

	if (!thread)
		return NULL;
	if (tid)
		result = open_counters(thread, tid, &why);
	if (is_gone(tid, result)) {
		cp_thread_give(thread);
		return NULL;
	}
	thread->item = cp_thread_item_new(thread->tid, state);
	if (!thread->item)
		return without_memory(thread);
	/* The CPU time that an adopted thread, or the image before this one, has used;
	 * the time that a thread takes to begin is its own. */
	if (tid)
		thread->cpu_start = cp_thread_cpu(tid);
	else if (thread->tid == cp_runtime.pid)
		thread->cpu_start = cp_runtime.main_cpu_base;
	thread->counters.mirror = thread->item->mirror;
	if (cp_plan.sample.sets)
		thread->counters.sample =
			cp_thread_sample(thread->item) + CP_SAMPLE_WORDS;
	if (!tid)
		cp_self.thread =
			thread; /* for a fork inside; begin_self has the last word */
	if (!tid)
		result = open_counters(thread, tid, &why);
	if (result < 0) {
		cp_thread_mark_lost(thread->item, &why);
		thread->lost = true;
	} else if (start_tree(thread, tid == 0) < 0) {
		return without_memory(thread);
	}
	list_add(thread);
	return thread;
}

/* The last reading; own: by the thread itself. */
static void take_last_reading(struct cp_live_thread *thread, bool own, bool close_open)
{
	memset(&thread->reading, 0, sizeof(thread->reading));
	cp_engine->read(&thread->counters, own, &thread->reading);
	cp_tree_finish(&thread->tree, &thread->reading, cp_now_ns(), close_open);
}

static void stop_counting(struct cp_live_thread *thread, bool own)
{
	cp_thread_read_name(thread->item);
	thread->item->end_ns = cp_now_ns();
	if (!thread->lost) {
		take_last_reading(thread, own, true);
		cp_sampling_thread_end(thread->sampler, own);
		close_counters(thread);
	}
	note_cpu(thread, own);
}

static void remember_ended(pid_t tid)
{
	live.ended[live.nended++ % REMEMBERED] = tid;
}

/* ---- the calling thread ---- */

static void begin_self(void)
{
	struct cp_live_thread *thread = start_counting(0, CP_THREAD_RUNNING);
	bool lost = thread && thread->lost;

	cp_self.thread = lost ? NULL : thread;
	cp_self.lost = lost ? thread : NULL;
	CP_REAL(pthread_setspecific)(live.key, &cp_self);
}

void cp_thread_begin(void)
{
	int state;

	if (!cp_counting() || cp_self.thread || !cp_enter_slowly(&state))
		return;
	cp_signal_stack_begin();
	begin_self();
	cp_allocators_thread_begin();
	cp_leave_slowly(state);
}

/* While the process is being finished: has nobody taken its last reading yet?  Then it
 * takes that itself, since the kernel's accounts of it end with it. */
static bool is_live(const struct cp_live_thread *thread)
{
	const struct cp_live_thread *other = live.first;

	while (other && other != thread)
		other = other->next;
	return other != NULL;
}

void cp_thread_end(void)
{
	struct cp_live_thread *thread;
	int state;

	if ((!cp_self.thread && !cp_self.lost) || !cp_enter_slowly(&state))
		return;
	thread = cp_self.thread ? cp_self.thread : cp_self.lost;
	cp_lock(&live.lock);
	cp_self.thread = cp_self.lost = NULL;
	cp_self.dead = true;
	if (cp_counting() || is_live(thread)) {
		stop_counting(thread, true);
		thread->item->state =
			(thread->item->state & ~(uint32_t)CP_THREAD_RUNNING) |
			CP_THREAD_ENDED;
		list_remove(thread);
		remember_ended(thread->tid);
		cp_ended_keep(thread);
	}
	cp_unlock(&live.lock);
	cp_signal_stack_end();
	cp_leave_slowly(state);
}

bool cp_threads_all_ended(void)
{
	bool none;

	cp_self.depth++;
	cp_lock(&live.lock);
	none = live.count == 0;
	cp_unlock(&live.lock);
	cp_leave();
	return none && !__atomic_load_n(&live.starting, __ATOMIC_ACQUIRE);
}

/* glibc runs TSD destructors in up to four rounds, as long as some set their
 * key again; ours does, to be the last and count what the others do. */
#ifdef __SANITIZE_THREAD__ /* whose runtime is gone in the last round */
#define ROUNDS (PTHREAD_DESTRUCTOR_ITERATIONS - 1)
#else
#define ROUNDS PTHREAD_DESTRUCTOR_ITERATIONS
#endif

static void leave_thread(void *value)
{
	(void)value;
	if (++cp_self.rounds < ROUNDS)
		CP_REAL(pthread_setspecific)(live.key, &cp_self);
	else
		live.has_left();
}

void cp_threads_start(void (*left)(void))
{
	live.has_left = left;
	CP_REAL(pthread_key_create)(&live.key, leave_thread);
}

/* ---- all threads ---- */

/* How long to wait for threads that are inside their trees. */
#define PATIENCE_NS 100000000u
#define LAST_PATIENCE_NS 1000000000u

/* An owner that is inside its tree leaves within microseconds of its own time, but
 * may have lost its CPU to others there; one that was interrupted for good (stopped,
 * or in a signal handler that waits) never does. */
static bool keep_out_owner(struct cp_live_thread *thread, uint64_t until)
{
	while (__atomic_exchange_n(&thread->busy, 1, __ATOMIC_SEQ_CST)) {
		if (cp_now_ns() >= until)
			return false;
		sched_yield();
	}
	return true;
}

static void flush_thread(struct cp_live_thread *thread)
{
	if (thread->lost)
		return;
	if (thread == cp_self.thread) {
		take_last_reading(thread, true, false);
	} else if (keep_out_owner(thread, cp_now_ns() + PATIENCE_NS)) {
		take_last_reading(thread, false, false);
		__atomic_store_n(&thread->busy, 0, __ATOMIC_RELEASE);
	}
}

void cp_threads_finish(void)
{
	uint64_t until;

	cp_lock(&live.lock);
	cp_engine_sync();
	until = cp_now_ns() + LAST_PATIENCE_NS;
	for (struct cp_live_thread *thread = live.first; thread; thread = thread->next)
		if (thread == cp_self.thread)
			stop_counting(thread, true);
		else if (keep_out_owner(thread, until))
			stop_counting(thread, false);
		else /* its record is true up to its last boundary */
			note_cpu(thread, false);
	live.first = NULL;
	__atomic_store_n(&live.count, 0, __ATOMIC_RELAXED);
	cp_self.thread = cp_self.lost = NULL;
	cp_unlock(&live.lock);
}

static void flush_locked(void)
{
	cp_engine_sync();
	for (struct cp_live_thread *thread = live.first; thread; thread = thread->next)
		flush_thread(thread);
}

void cp_threads_flush(void)
{
	cp_lock(&live.lock);
	flush_locked();
	cp_unlock(&live.lock);
}

void cp_thread_before_exec(void)
{
	struct cp_live_thread *thread = cp_self.thread;

	cp_lock(&live.lock);
	if (thread && !thread->lost)
		cp_tree_book_open(&thread->tree, &thread->reading, cp_now_ns());
	cp_unlock(&live.lock);
}

void cp_thread_exec_failed(void)
{
	cp_lock(&live.lock);
	if (cp_self.thread && !cp_self.thread->lost)
		cp_tree_unbook(&cp_self.thread->tree);
	cp_unlock(&live.lock);
}

void cp_threads_sample(void (*take)(void))
{
	cp_lock(&live.lock);
	if (cp_counting()) {
		flush_locked();
		take();
	}
	cp_unlock(&live.lock);
}

void cp_thread_visit(
	pid_t tid, void (*visit)(struct cp_live_thread *, void *), void *context)
{
	cp_lock(&live.lock);
	for (struct cp_live_thread *thread = live.first; thread; thread = thread->next) {
		if (thread->tid != tid || thread->lost ||
			!keep_out_owner(thread, cp_now_ns() + PATIENCE_NS))
			continue;
		cp_engine_sync();
		visit(thread, context);
		__atomic_store_n(&thread->busy, 0, __ATOMIC_RELEASE);
	}
	cp_unlock(&live.lock);
}

/* The owner is about to read memory that may be the program's next: that is worth more
 * patience, since the owner may have lost its CPU there.  It need not stay out: busy is 2
 * until it leaves. */
static void let_owner_leave(struct cp_live_thread *thread)
{
	uint64_t until = cp_now_ns() + PATIENCE_NS;
	int inside = 1;

	if (!__atomic_compare_exchange_n(
		    &thread->busy, &inside, 2, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		return;
	while (__atomic_load_n(&thread->busy, __ATOMIC_ACQUIRE) == 2 &&
		cp_now_ns() < until)
		sched_yield();
}

void cp_threads_wait_for_readings(void)
{
	cp_lock(&live.lock);
	for (struct cp_live_thread *thread = live.first; thread; thread = thread->next)
		if (thread != cp_self.thread)
			let_owner_leave(thread);
	cp_lock(&cp_runtime.record.lock);
	cp_unlock(&cp_runtime.record.lock);
	cp_unlock(&live.lock);
}

/* ---- fork ---- */

void cp_threads_after_fork(void)
{
	cp_thread_forget_reason();
	live.starting = 0;
}

void cp_threads_of_child(void)
{
	struct cp_live_thread *thread, *mine = cp_self.thread, *next;
	struct cp_tree old = {0};

	if (mine)
		old = mine->tree;
	for (thread = live.first; thread; thread = next) {
		next = thread->next;
		cp_engine->after_fork(&thread->counters);
		cp_sampling_forget(thread->sampler);
		if (thread != mine)
			cp_thread_give(thread);
	}
	live.first = NULL;
	__atomic_store_n(&live.count, 0, __ATOMIC_RELAXED);
	begin_self();
	if (cp_self.thread)
		cp_tree_reopen(&cp_self.thread->tree, &old);
	cp_thread_give(mine);
}

static void fill_in(const struct cp_live_thread *thread)
{
	if (cp_engine->forked_inside)
		cp_engine->forked_inside(&thread->counters);
	cp_sampling_forked_inside(thread->sampler);
}

/* One that is just beginning is in no list yet. */
void cp_threads_forked_inside(void)
{
	if (cp_self.thread)
		fill_in(cp_self.thread);
	for (const struct cp_live_thread *thread = live.first; thread;
		thread = thread->next)
		fill_in(thread);
}

/* ---- for threads_adopt.c ---- */

static bool known_locked(pid_t tid)
{
	for (const struct cp_live_thread *thread = live.first; thread;
		thread = thread->next)
		if (thread->tid == tid)
			return true;
	for (unsigned i = 0; i < REMEMBERED; i++)
		if (live.ended[i] == tid)
			return true;
	return false;
}

bool cp_thread_is_known(pid_t tid)
{
	bool found;

	cp_lock(&live.lock);
	found = known_locked(tid);
	cp_unlock(&live.lock);
	return found;
}

unsigned cp_threads_live(void)
{
	return __atomic_load_n(&live.count, __ATOMIC_RELAXED);
}

void cp_thread_adopt(pid_t tid)
{
	start_counting(tid, CP_THREAD_RUNNING | CP_THREAD_ADOPTED);
}
