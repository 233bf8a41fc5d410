/* SPDX-License-Identifier: MIT */
#include "preload/process.h"

#include <errno.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/lock.h"
#include "base/log.h"
#include "preload/calibrate.h"
#include "base/engine/simclient.h"
#include "preload/life.h"
#include "preload/report.h"
#include "preload/runtime.h"
#include "preload/threads/thread_record.h"
#include "preload/threads/threads.h"
#include "preload/run.h"
#include "preload/describe.h"
#include "preload/self.h"
#include "base/counters/options.h"

static struct {
	const struct cp_self *by; /* the thread that finishes the process */
	int done;                 /* atomic */
	enum cp_how how;
	int code;
	int main_left; /* the main thread, by SYS_exit; atomic */
	int main_code;
} ending;

/* Readings and report, on a stack that is large enough for them. */
static void finish_process(void *unused)
{
	struct cp_record_header *header = cp_runtime.record.header;

	(void)unused;
	__atomic_store_n(&cp_lock_last_resort, 1, __ATOMIC_RELAXED);
	cp_life(finish);
	header->end_ns = cp_now_ns();
	header->code = ending.code;
	__atomic_store_n(&header->how, (uint32_t)ending.how, __ATOMIC_RELEASE);
	if (cp_is_root() && !cp_run.launched) {
		cp_fd_widen(RLIM_INFINITY);
		cp_report_at_exit();
		cp_fd_narrow();
	}
}

/* Whoever ends the process now, too, lets the report be written first. */
static void wait_for_the_end(void)
{
	while (ending.by != &cp_self && !__atomic_load_n(&ending.done, __ATOMIC_ACQUIRE))
		sched_yield();
}

void cp_process_end(enum cp_how how, int code)
{
	int on = CP_ON;

	if (!cp_is_this_process())
		return;
	cp_self.depth++; /* what we call from here on is nobody's business */
	cp_engine_pause();
	if (__atomic_compare_exchange_n(&cp_runtime.state, &on, CP_FINISHED, false,
		    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
		ending.by = &cp_self;
		ending.how = how;
		ending.code = code;
		cp_call_aside(finish_process, NULL);
		__atomic_store_n(&ending.done, 1, __ATOMIC_RELEASE);
		/* On the simulated PMU the pause stays: nothing after this is
		 * counted. */
	} else {
		if (on == CP_FINISHED)
			wait_for_the_end();
		cp_engine_resume();
	}
	cp_leave();
}

/* The only thread of a child is its main thread. */
void cp_process_after_fork(void)
{
	ending.main_left = ending.main_code = 0;
}

/* If all threads leave one by one, the process's status is the main thread's until Linux
 * 6, and since then that of the last one. */
static int last_code(int code)
{
	struct utsname kernel;

	if (!cp_confined() && uname(&kernel) == 0 &&
		(kernel.release[0] < '6' && kernel.release[1] == '.'))
		return ending.main_code;
	return code;
}

void cp_thread_leaves(int code)
{
	const struct cp_live_thread *thread =
		cp_self.thread ? cp_self.thread : cp_self.lost;

	if (cp_self.dead || !cp_counting() || !cp_is_this_process())
		return;
	if (thread && thread->tid == cp_runtime.pid) {
		ending.main_code = code;
		__atomic_store_n(&ending.main_left, 1, __ATOMIC_RELEASE);
	}
	cp_thread_end();
	if (cp_threads_all_ended())
		cp_process_end(CP_HOW_EXIT, last_code(code));
}

void cp_thread_left(void)
{
	if (__atomic_load_n(&ending.main_left, __ATOMIC_ACQUIRE))
		cp_thread_leaves(0);
	else
		cp_thread_end();
}

void cp_process_cut(enum cp_how how, int code)
{
	struct cp_record_header *header = cp_runtime.record.header;

	if (!header || !cp_is_this_process())
		return;
	header->code = code;
	__atomic_store_n(&header->how, (uint32_t)how, __ATOMIC_RELEASE);
}

void cp_process_exec(void)
{
	int state;

	if (!cp_counting() || cp_confined() || getpid() != cp_runtime.pid ||
		!cp_enter_slowly(&state))
		return;
	cp_life(before_exec);
	cp_runtime.record.header->end_ns = cp_now_ns();
	__atomic_store_n(&cp_runtime.record.header->how, CP_HOW_EXEC, __ATOMIC_RELEASE);
	cp_leave_slowly(state);
}

void cp_exec_failed(void)
{
	int state;

	if (!cp_counting() || cp_confined() || getpid() != cp_runtime.pid ||
		!cp_enter_slowly(&state))
		return;
	__atomic_store_n(
		&cp_runtime.record.header->how, CP_HOW_RUNNING, __ATOMIC_RELEASE);
	cp_life(exec_failed);
	cp_leave_slowly(state);
}

/*
 * A signal handler that has interrupted us forks: the child goes back to what we
 * were doing, with its locks held by itself or by nobody.  It finishes that,
 * without its parent's record, and is not counted (an exec makes that good).
 */
static void forked_inside(void)
{
	__atomic_store_n(&cp_lock_last_resort, 1, __ATOMIC_RELAXED);
	cp_runtime.pid = getpid();
	cp_runtime.state = CP_OFF;
	cp_life(forked_inside);
	cp_say("process %d is not counted: "
	       "a signal handler forked it inside libcachepeek.so",
		(int)cp_runtime.pid);
}

/* It is counted, if the parent was. */
static void forked_outside(void)
{
	cp_self.depth++;
	cp_runtime.pid = getpid();
	cp_runtime.forked = true;
	cp_start_child();
	cp_life(after_fork);
	if (cp_options.children == CP_CHILDREN_IGNORE || cp_start_record() < 0) {
		cp_runtime.state = CP_OFF;
	} else {
		cp_life(prepare);
		cp_threads_of_child();
		if (cp_self.thread)
			cp_thread_tell_region(cp_self.thread);
		cp_life(start);
	}
	cp_leave();
}

/* Locks are free in every child, also where nothing is counted (any more): some are
 * taken there as well.  What a handler has interrupted gives its own ones back. */
void cp_process_forked(void)
{
	bool inside = cp_self.depth > 0 || cp_is_calibrating();
	int saved = errno;

	cp_engine_pause();
	if (!inside) {
		cp_self.depth++;
		cp_locks_after_fork();
		cp_life(in_child);
		cp_leave();
	}
	if (cp_counting() && inside)
		forked_inside();
	else if (cp_counting())
		forked_outside();
	errno = saved;
	cp_engine_resume();
}
