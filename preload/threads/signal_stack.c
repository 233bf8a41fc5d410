/* SPDX-License-Identifier: MIT */
#include "preload/threads/signal_stack.h"

#include "base/lock.h"
#include "base/map.h"
#include "preload/libc/real.h"
#include "preload/runtime.h"
#include "preload/self.h"

/* A program that asks for SA_ONSTACK without giving a stack runs on ours, so it
 * is of the size that people give.  Only what is touched is ever there. */
#define STACK_SIZE ((size_t)64 << 10)

/* Stacks of threads that have ended; under the lock. */
static struct {
	struct cp_lock lock; /* innermost */
	void *unused;        /* stacks, linked by their first word */
} stacks;
CP_LOCK_LISTED(stacks.lock);

static void *take_stack(void)
{
	void *stack;

	cp_lock(&stacks.lock);
	stack = stacks.unused;
	if (stack)
		stacks.unused = *(void **)stack;
	cp_unlock(&stacks.lock);
	if (stack)
		return stack;
	return cp_map(STACK_SIZE, -1, 0);
}

static void give_stack(void *stack)
{
	cp_lock(&stacks.lock);
	*(void **)stack = stacks.unused;
	stacks.unused = stack;
	cp_unlock(&stacks.lock);
}

void cp_signal_stack_show(stack_t *stack)
{
	*stack = (stack_t){.ss_sp = cp_self.stack, .ss_size = STACK_SIZE};
}

void cp_signal_stack_begin(void)
{
	stack_t old, ours = {.ss_size = STACK_SIZE};

	if (cp_self.stack || cp_runtime.pid == 1 || cp_confined())
		return;
	if (CP_REAL(sigaltstack)(NULL, &old) < 0 || !(old.ss_flags & SS_DISABLE))
		return;
	ours.ss_sp = take_stack();
	if (!ours.ss_sp)
		return;
	if (CP_REAL(sigaltstack)(&ours, NULL) == 0)
		cp_self.stack = ours.ss_sp;
	else
		give_stack(ours.ss_sp);
}

bool cp_signal_stack_is_ours(const stack_t *stack)
{
	return cp_self.stack && stack->ss_sp == cp_self.stack &&
	       !(stack->ss_flags & SS_DISABLE);
}

void cp_signal_stack_end(void)
{
	stack_t old, none = {.ss_flags = SS_DISABLE};

	if (!cp_self.stack || cp_confined() || CP_REAL(sigaltstack)(NULL, &old) < 0)
		return;
	if (cp_signal_stack_is_ours(&old) && CP_REAL(sigaltstack)(&none, NULL) < 0)
		return; /* in use: the thread is ending in a handler */
	give_stack(cp_self.stack);
	cp_self.stack = NULL;
}
