/* SPDX-License-Identifier: MIT
 * The end of a process by an instruction of its own: no function of libc's sees it.
 */
#ifndef CACHEPEEK_TESTS_RAW_EXIT_H
#define CACHEPEEK_TESTS_RAW_EXIT_H

#include <sys/syscall.h>

static inline void raw_exit(int status)
{
#ifdef __x86_64__
	__asm__ volatile("syscall" : : "a"(SYS_exit_group), "D"(status));
#else
	register long number __asm__("x8") = SYS_exit_group, code __asm__("x0") = status;
	__asm__ volatile("svc 0" : : "r"(number), "r"(code));
#endif
}

#endif
