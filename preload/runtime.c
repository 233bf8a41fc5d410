/* SPDX-License-Identifier: MIT */
#include "preload/runtime.h"

#include <signal.h>
#include <unistd.h>

#include "base/counters/options.h"
#include "base/lock.h"
#include "base/syscall.h"
#include "preload/libc/stack.h"
#include "preload/self.h"

struct cp_runtime cp_runtime;
struct cp_options cp_options;
CP_LOCK_LISTED(cp_runtime.record.lock);

__thread struct cp_self cp_self __attribute__((tls_model("initial-exec")));

bool cp_is_this_process(void)
{
	return cp_confined() || getpid() == cp_runtime.pid;
}

/* A signal handler on its alternate stack that goes to another one leaves that stack
 * to the next signal, as the kernel sees it: a tick would write over its frames. */
static void hold_ticks(int how)
{
	uint64_t set = 1ull << (CP_TICK_SIGNAL - 1);

	cp_syscall(SYS_rt_sigprocmask, how, &set, NULL, sizeof(set));
}

void cp_call_aside(void (*function)(void *), void *argument)
{
	/* One thread has it: that which begins the process, or the one that ends it. */
	static char stack[256 << 10] __attribute__((aligned(16)));
	bool ticks = cp_runtime.shadows && !cp_confined();

	if (ticks)
		hold_ticks(SIG_BLOCK);
	cp_call_on_stack(stack + sizeof(stack), function, argument);
	if (ticks)
		hold_ticks(SIG_UNBLOCK);
}
