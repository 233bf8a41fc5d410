/* SPDX-License-Identifier: MIT */
#include "preload/interval.h"

#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "base/map.h"
#include "base/syscall.h"
#include "preload/engine/simclient.h"
#include "preload/runtime.h"
#include "preload/threads.h"
#include "regions/series_write.h"
#include "tools/sim/request.h"

#define STACK ((size_t)64 << 10)
/* What libc's functions and our own find around the thread pointer: zeros. */
#define LOCALS ((size_t)32 << 10)

static struct cp_series series;
static int thread;   /* its tid, which the kernel clears; 0: none */
static int stopping; /* atomic */

/* ---- the thread ---- */

static void take_row(void)
{
	cp_series_tick(&series, cp_now_ns());
}

/* Until the next row is due, the process ends, or we are to stop. */
static void wait_for_row(void)
{
	uint64_t now = cp_now_ns();
	struct timespec left = {0, 0};

	if (now < series.next_ns) {
		left.tv_sec = (time_t)((series.next_ns - now) / 1000000000);
		left.tv_nsec = (long)((series.next_ns - now) % 1000000000);
	}
	cp_syscall(SYS_futex, &stopping, FUTEX_WAIT_PRIVATE, 0, &left, NULL, 0);
}

static int run(void *unused)
{
	(void)unused;
	while (cp_counting() && !__atomic_load_n(&stopping, __ATOMIC_ACQUIRE)) {
		wait_for_row();
		if (cp_counting() && cp_now_ns() >= series.next_ns)
			cp_threads_sample(take_row);
	}
	cp_syscall(SYS_exit, 0);
	return 0;
}

/*
 * A thread pointer in the middle of memory that is ours alone: no libc sees the
 * thread, and it sees none of the thread that began it.  What is there are zeros,
 * but for the words that compiled code looks at.
 */
static void *thread_pointer(char *memory)
{
	char *pointer = memory + LOCALS / 2;

#ifdef __x86_64__
	uintptr_t guard;

	__asm__("movq %%fs:0x28, %0" : "=r"(guard));
	((uintptr_t *)(void *)pointer)[0] = (uintptr_t)pointer;
	((uintptr_t *)(void *)pointer)[2] = (uintptr_t)pointer;
	((uintptr_t *)(void *)pointer)[5] = guard;
#endif
	return pointer;
}

static void start_thread(void)
{
	int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
		    CLONE_SYSVSEM | CLONE_SETTLS | CLONE_PARENT_SETTID |
		    CLONE_CHILD_CLEARTID;
	char *memory = cp_map(STACK + LOCALS, -1, 0);
	uint64_t all = ~0ull, before = 0;

	if (!memory) {
		cp_warn("CACHEPEEK_INTERVAL: no memory for it: there is no time series");
		return;
	}
	__atomic_store_n(&stopping, 0, __ATOMIC_RELEASE);
	cp_syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof(all));
	if (clone(run, memory + STACK, flags, NULL, &thread,
		    thread_pointer(memory + STACK), &thread) < 0)
		cp_warn("CACHEPEEK_INTERVAL: the system allows no other thread: there "
			"is no time series");
	cp_syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(before));
}

/* ---- for the rest of the library ---- */

void cp_interval_prepare(void)
{
	uint32_t at[CP_MAX_COUNTERS];
	const struct cp_event_set *set = &cp_runtime.set;

	if (!cp_runtime.options.interval)
		return;
	if (set->nrotated) {
		cp_warn("CACHEPEEK_INTERVAL is ignored: groups of events take turns "
			"(CACHEPEEK_SCHEDULE=rotate), and an interval has too few of "
			"them");
		return;
	}
	if (cp_series_start(&series, &cp_runtime.record,
		    (uint64_t)cp_runtime.options.interval * 1000000, cp_now_ns()) < 0) {
		cp_warn("CACHEPEEK_INTERVAL: no room on the disk: there is no time "
			"series");
		return;
	}
	if (!cp_runtime.sim)
		return;
	for (unsigned i = 0; i < set->ncounters; i++)
		at[i] = set->counters[i].mirror;
	cp_series_process(&series, cp_runtime.record.header->process, at, set->ncounters);
}

void cp_interval_start(void)
{
	if (!cp_runtime.record.series)
		return;
	if (cp_runtime.sim)
		cp_sim_request(CP_SIM_SERIES, &series);
	else
		start_thread();
}

void cp_interval_stop(void)
{
	__atomic_store_n(&stopping, 1, __ATOMIC_RELEASE);
	while (__atomic_load_n(&thread, __ATOMIC_ACQUIRE)) {
		cp_syscall(SYS_futex, &stopping, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
		sched_yield();
	}
}

/* All threads have to end before the kernel lets the process. */
static void wake_thread(void)
{
	__atomic_store_n(&stopping, 1, __ATOMIC_RELEASE);
	if (!cp_confined())
		cp_syscall(SYS_futex, &stopping, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void add_last_row(void)
{
	cp_lock((struct cp_lock *)(void *)&series.held);
	cp_series_add(&series, cp_now_ns());
	cp_unlock((struct cp_lock *)(void *)&series.held);
}

void cp_interval_finish(void)
{
	if (!cp_runtime.record.series)
		return;
	if (cp_runtime.sim) {
		cp_sim_request(CP_SIM_SERIES, NULL);
	} else {
		wake_thread();
		add_last_row();
	}
}

void cp_interval_after_fork(void)
{
	thread = 0;
}

pid_t cp_interval_thread(void)
{
	return __atomic_load_n(&thread, __ATOMIC_RELAXED);
}
