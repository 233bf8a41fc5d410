/* SPDX-License-Identifier: MIT
 * Work whose number of instructions is known.
 */
#ifndef CACHEPEEK_TESTS_VM_LOOP_H
#define CACHEPEEK_TESTS_VM_LOOP_H

#include <stdint.h>

/* 2 * count instructions, and a few to call it; inlined nowhere. */
static __attribute__((noinline, unused)) void loop(uint64_t count)
{
	__asm__ volatile(".p2align 4\n1:\tsubs %0, %0, #1\n\tb.ne 1b"
			 : "+r"(count)
			 :
			 : "cc");
}

#endif
