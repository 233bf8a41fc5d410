/* SPDX-License-Identifier: MIT
 *
 * Overrides: longjmp, _longjmp, siglongjmp, __longjmp_chk.
 *
 * Where functions are regions, those that a jump leaves end.  libc hides the stack
 * pointer in a jmp_buf: rotated, and mixed with a secret of the thread's.  Whether that
 * is so is tried with a jmp_buf of our own before it is relied on.
 */
/* It would give longjmp the name of another function. */
#undef _FORTIFY_SOURCE

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>

#include "preload/program/jump.h"
#include "preload/libc/real.h"

#define EXPORT __attribute__((visibility("default")))
#define NEAR 4096

static void (*jump_watcher)(uintptr_t sp);

#if defined(__x86_64__) && !defined(__ILP32__)

enum { STACK_POINTER = 6, ROTATED = 17 };

static uintptr_t stack_pointer_of(const void *env)
{
	uintptr_t word = ((const uintptr_t *)env)[STACK_POINTER], secret;

	__asm__("mov %%fs:0x30, %0" : "=r"(secret));
	return (word >> ROTATED | word << (64 - ROTATED)) ^ secret;
}

#else

static uintptr_t stack_pointer_of(const void *env)
{
	(void)env;
	return 0;
}

#endif

void cp_jump_watch(void (*watcher)(uintptr_t sp))
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0), sp;
	jmp_buf env;

	if (CP_REAL(_setjmp)(env)) /* no jump comes back here */
		return;
	sp = stack_pointer_of(env);
	if (sp - (here - NEAR) < (uintptr_t)2 * NEAR)
		jump_watcher = watcher;
}

static void watch_jump(const void *env)
{
	if (jump_watcher)
		jump_watcher(stack_pointer_of(env));
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
