/* SPDX-License-Identifier: MIT
 *
 * Overrides: longjmp, _longjmp, siglongjmp, __longjmp_chk.
 *
 * Where functions are regions, those that a jump leaves end.  libc hides the stack
 * pointer in a jmp_buf: mixed with a secret, and on x86-64 rotated.  Whether that is so
 * is tried with a jmp_buf of our own before it is relied on.
 */
/* It would give longjmp the name of another function. */
#undef _FORTIFY_SOURCE

#include <setjmp.h>
#include <stdbool.h>

#include "base/export.h"
#include "preload/program/jump.h"
#include "preload/libc/real.h"
#include "preload/runtime.h"
#include "preload/self.h"

#define NEAR 4096

#define STACK (64ul << 20) /* a jump that is longer goes to another stack */

static struct {
	void (*watcher)(uintptr_t sp);
	uintptr_t secret; /* libc's, on aarch64 */
	bool known;       /* where the stack pointer is */
} jumps;

#if defined(__x86_64__) && !defined(__ILP32__)

enum { STACK_POINTER = 6, ROTATED = 17 };

static bool learn_secret(const uintptr_t *env, uintptr_t sp)
{
	(void)env;
	(void)sp;
	return true;
}

static uintptr_t stack_pointer_of(const void *env)
{
	uintptr_t word = ((const uintptr_t *)env)[STACK_POINTER], secret;

	__asm__("mov %%fs:0x30, %0" : "=r"(secret));
	return (word >> ROTATED | word << (64 - ROTATED)) ^ secret;
}

#elif defined(__aarch64__)

enum { RETURN_ADDRESS = 11, STACK_POINTER = 13 };

/* The dynamic linker has it, and shows it to libc only; but we know what it hides.  The
 * return address is mixed with the same one, and near. */
static bool learn_secret(const uintptr_t *env, uintptr_t sp)
{
	uintptr_t function = (uintptr_t)cp_jump_start;

	jumps.secret = env[STACK_POINTER] ^ sp;
	return (env[RETURN_ADDRESS] ^ jumps.secret) - function < NEAR;
}

static uintptr_t stack_pointer_of(const void *env)
{
	return ((const uintptr_t *)env)[STACK_POINTER] ^ jumps.secret;
}

#else

static bool learn_secret(const uintptr_t *env, uintptr_t sp)
{
	(void)env;
	(void)sp;
	return false;
}

static uintptr_t stack_pointer_of(const void *env)
{
	(void)env;
	return 0;
}

#endif

/* At a call the stack pointer is the same in the whole function. */
void cp_jump_start(void)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0), sp = cp_stack_pointer();
	jmp_buf env;

	if (CP_REAL(_setjmp)(env)) /* no jump comes back here */
		return;
	if (!learn_secret((const uintptr_t *)(const void *)env, sp))
		return;
	sp = stack_pointer_of(env);
	jumps.known = sp - (here - NEAR) < (uintptr_t)2 * NEAR;
}

void cp_jump_watch(void (*watcher)(uintptr_t sp))
{
	if (jumps.known)
		jumps.watcher = watcher;
}

/* Our own code does not jump: a handler does, over us or within itself. */
static void leave_our_work(uintptr_t sp)
{
	if (cp_self.left || sp - cp_self.entered > STACK)
		return;
	cp_self.left = true;
	if (cp_runtime.record.header)
		__atomic_fetch_or(&cp_runtime.record.header->flags, CP_RECORD_JUMPED,
			__ATOMIC_RELAXED);
	if (cp_self.pending)
		cp_deferred_signal();
}

static void watch_jump(const void *env)
{
	uintptr_t sp;

	if (!jumps.known)
		return;
	sp = stack_pointer_of(env);
	if (cp_self.depth > 0)
		leave_our_work(sp);
	if (jumps.watcher)
		jumps.watcher(sp);
}

EXPORT void longjmp(jmp_buf env, int value)
{
	watch_jump(env);
	CP_REAL(longjmp)(env, value);
	__builtin_unreachable();
}

EXPORT void _longjmp(jmp_buf env, int value)
{
	watch_jump(env);
	CP_REAL(_longjmp)(env, value);
	__builtin_unreachable();
}

EXPORT void siglongjmp(sigjmp_buf env, int value)
{
	watch_jump(env);
	CP_REAL(siglongjmp)(env, value);
	__builtin_unreachable();
}

EXPORT void __longjmp_chk(jmp_buf env, int value)
{
	watch_jump(env);
	CP_REAL(__longjmp_chk)(env, value);
	__builtin_unreachable();
}
