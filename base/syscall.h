/* SPDX-License-Identifier: MIT
 *
 * System calls without libc's syscall(), which the library overrides, and
 * without errno: cp_syscall(number, ...) returns what the kernel does, -errno
 * included.  Up to six arguments, integers or pointers.
 */
#ifndef CACHEPEEK_BASE_SYSCALL_H
#define CACHEPEEK_BASE_SYSCALL_H

#include <errno.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#if defined(__clang_analyzer__)

/* It cannot see that the kernel writes to memory. */
long cp_syscall6(long number, const long arg[6]);

#elif defined(__x86_64__) && !defined(__ILP32__)

static inline long cp_syscall6(long number, const long arg[6])
{
	register long d __asm__("r10") = arg[3];
	register long e __asm__("r8") = arg[4];
	register long f __asm__("r9") = arg[5];
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(arg[0]), "S"(arg[1]), "d"(arg[2]), "r"(d),
			 "r"(e), "r"(f)
			 : "rcx", "r11", "memory");
	return result;
}

#elif defined(__aarch64__)

static inline long cp_syscall6(long number, const long arg[6])
{
	register long n __asm__("x8") = number;
	register long a __asm__("x0") = arg[0];
	register long b __asm__("x1") = arg[1];
	register long c __asm__("x2") = arg[2];
	register long d __asm__("x3") = arg[3];
	register long e __asm__("x4") = arg[4];
	register long f __asm__("x5") = arg[5];

	__asm__ volatile("svc 0"
			 : "+r"(a)
			 : "r"(n), "r"(b), "r"(c), "r"(d), "r"(e), "r"(f)
			 : "memory");
	return a;
}

#elif defined(__riscv) && __riscv_xlen == 64

static inline long cp_syscall6(long number, const long arg[6])
{
	register long n __asm__("a7") = number;
	register long a __asm__("a0") = arg[0];
	register long b __asm__("a1") = arg[1];
	register long c __asm__("a2") = arg[2];
	register long d __asm__("a3") = arg[3];
	register long e __asm__("a4") = arg[4];
	register long f __asm__("a5") = arg[5];

	__asm__ volatile("ecall"
			 : "+r"(a)
			 : "r"(n), "r"(b), "r"(c), "r"(d), "r"(e), "r"(f)
			 : "memory");
	return a;
}

#else

static inline long cp_syscall6(long number, const long arg[6])
{
	long result = syscall(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);

	return result < 0 ? -errno : result;
}

#endif

#define CP_SYSCALL_FIRST(number, a, b, c, d, e, f, ...)                                  \
	cp_syscall6(number, (const long[]){(long)(a), (long)(b), (long)(c), (long)(d),   \
				    (long)(e), (long)(f)})
#define cp_syscall(...) CP_SYSCALL_FIRST(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)

/* Whoever it belongs to. */
static inline bool cp_process_exists(pid_t pid)
{
	return cp_syscall(SYS_kill, pid, 0) != -ESRCH;
}

#endif
