/* SPDX-License-Identifier: MIT
 * Work whose number of instructions is known.
 */
#ifndef CACHEPEEK_TESTS_VM_LOOP_H
#define CACHEPEEK_TESTS_VM_LOOP_H

#include <stdint.h>

/* 2 * count instructions, and a few to call it; inlined nowhere. */
static __attribute__((noinline, unused)) void loop(uint64_t count)
{
#if defined(__aarch64__)
	__asm__ volatile(".p2align 4\n1:\tsubs %0, %0, #1\n\tb.ne 1b"
			 : "+r"(count)
			 :
			 : "cc");
#elif defined(__riscv)
	__asm__ volatile("1:\taddi %0, %0, -1\n\tbnez %0, 1b" : "+r"(count));
#endif
}

#endif
