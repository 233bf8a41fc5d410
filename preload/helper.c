/* SPDX-License-Identifier: MIT */
#include "preload/helper.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/syscall.h"

#define STACK ((size_t)64 << 10)
/* What libc's functions and our own find around the thread pointer: zeros. */
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
