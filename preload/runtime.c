/* SPDX-License-Identifier: MIT */
#include "preload/runtime.h"

#include <unistd.h>

#include "base/counters/options.h"
#include "base/lock.h"
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

void cp_call_aside(void (*function)(void *), void *argument)
{
	/* One thread has it: that which begins the process, or the one that ends it. */
	static char stack[256 << 10] __attribute__((aligned(16)));

	cp_call_on_stack(stack + sizeof(stack), function, argument);
}
