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
#include <stddef.h>

#include "preload/program/jump.h"
#include "preload/libc/real.h"

#define EXPORT __attribute__((visibility("default")))
#define NEAR 4096

static struct {
	void (*watcher)(uintptr_t sp);
	uintptr_t secret; /* libc's, on aarch64 */
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
	uintptr_t function = (uintptr_t)cp_jump_watch;

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

/* The stack pointer of the function that this becomes a part of: at a call it is the
 * same. */
static inline uintptr_t __attribute__((always_inline)) stack_pointer(void)
{
	uintptr_t sp = 0;

#ifdef __aarch64__
	__asm__ volatile("mov %0, sp" : "=r"(sp));
#endif
	return sp;
}

void cp_jump_watch(void (*watcher)(uintptr_t sp))
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0), sp = stack_pointer();
	jmp_buf env;

	if (CP_REAL(_setjmp)(env)) /* no jump comes back here */
		return;
	if (!learn_secret((const uintptr_t *)(const void *)env, sp))
		return;
	sp = stack_pointer_of(env);
	if (sp - (here - NEAR) < (uintptr_t)2 * NEAR)
		jumps.watcher = watcher;
}

static void watch_jump(const void *env)
{
	if (jumps.watcher)
		jumps.watcher(stack_pointer_of(env));
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
