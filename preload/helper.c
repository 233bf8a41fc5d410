/* SPDX-License-Identifier: MIT */
#include "preload/helper.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>

#include "base/map.h"
#include "preload/runtime.h"
#include "base/syscall.h"

CP_LIST_ENDS(cp_helpers, struct cp_helper);

#define STACK ((size_t)64 << 10)
/* Around the thread pointer, libc's functions and our own find zeros. */
#define LOCALS ((size_t)32 << 10)

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

int cp_helper_start(struct cp_helper *helper, int (*run)(void *))
{
	int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
		    CLONE_SYSVSEM | CLONE_SETTLS | CLONE_PARENT_SETTID |
		    CLONE_CHILD_CLEARTID;
	char *memory = cp_map(STACK + LOCALS, -1, 0);
	uint64_t all = ~0ull, before = 0;
	int result = 0;

	if (!memory)
		return -ENOMEM;
	__atomic_store_n(&helper->stopping, 0, __ATOMIC_RELEASE);
	cp_syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof(all));
	if (clone(run, memory + STACK, flags, NULL, &helper->tid,
		    thread_pointer(memory + STACK), &helper->tid) < 0)
		result = -EAGAIN;
	cp_syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(before));
	return result;
}

void cp_helper_wait(const struct cp_helper *helper, uint64_t ns)
{
	struct timespec left = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

	cp_syscall(SYS_futex, &helper->stopping, FUTEX_WAIT_PRIVATE, 0, &left, NULL, 0);
}

/* ---- all of them ---- */

#define FINISH_NS 1000000000

#define FOR_EACH(helper)                                                                 \
	for (struct cp_helper *const *helper = __start_cp_helpers;                       \
		helper < __stop_cp_helpers; helper++)

bool cp_helpers_have(pid_t tid)
{
	FOR_EACH(helper)
	if (cp_helper_tid(*helper) == tid)
		return true;
	return false;
}

unsigned cp_helpers_running(void)
{
	unsigned running = 0;

	FOR_EACH(helper)
	running += cp_helper_tid(*helper) != 0;
	return running;
}

uint64_t cp_helpers_cpu(uint64_t (*clock)(pid_t tid))
{
	uint64_t ns = 0;
	pid_t tid;

	FOR_EACH(helper)
	if ((tid = cp_helper_tid(*helper)) != 0)
		ns += clock(tid);
	return ns;
}

static void dismiss_helper(struct cp_helper *helper)
{
	__atomic_store_n(&helper->stopping, 1, __ATOMIC_RELEASE);
	if (cp_helper_tid(helper))
		helper->wake();
}

static void dismiss_all(void)
{
	FOR_EACH(helper)
	dismiss_helper(*helper);
}

void cp_helpers_finish(void)
{
	uint64_t until;

	dismiss_all();
	if (!cp_helpers_running()) /* a confined process has none, and may ask no clock */
		return;
	until = cp_clock_ns() + FINISH_NS;
	while (cp_helpers_running() && cp_clock_ns() < until)
		sched_yield();
}

void cp_helpers_stop(void)
{
	FOR_EACH(helper)
	while (cp_helper_tid(*helper)) {
		dismiss_helper(*helper);
		sched_yield();
	}
}

void cp_helpers_after_fork(void)
{
	FOR_EACH(helper)
	(*helper)->tid = 0;
}
