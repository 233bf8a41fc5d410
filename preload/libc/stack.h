/* SPDX-License-Identifier: MIT
 *
 * Calling a function on another stack: the one that a signal handler or a
 * thread of 16 KiB runs on has no room for a report.
 */
#ifndef CACHEPEEK_PRELOAD_LIBC_STACK_H
#define CACHEPEEK_PRELOAD_LIBC_STACK_H

/* function(argument) on the stack that ends at top, which is aligned to 16. */
static inline void cp_call_on_stack(void *top, void (*function)(void *), void *argument)
{
#if defined(__x86_64__) && !defined(__ILP32__)
	__asm__ volatile("movq %%rsp, %%rbx\n\t"
			 "movq %[top], %%rsp\n\t"
			 "call *%[function]\n\t"
			 "movq %%rbx, %%rsp"
			 : "+D"(argument), [top] "+r"(top), [function] "+r"(function)
			 :
			 : "rax", "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11",
			 "cc", "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5",
			 "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",
			 "xmm13", "xmm14", "xmm15");
#elif defined(__aarch64__)
	register void *first __asm__("x0") = argument;
	register void *stack __asm__("x20") = top;
	register void (*call)(void *) __asm__("x21") = function;

	__asm__ volatile("mov x19, sp\n\t"
			 "mov sp, %[stack]\n\t"
			 "blr %[call]\n\t"
			 "mov sp, x19"
			 : "+r"(first)
			 : [stack] "r"(stack), [call] "r"(call)
			 : "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10",
			 "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19",
			 "x30", "cc", "memory", "v0", "v1", "v2", "v3", "v4", "v5", "v6",
			 "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15",
			 "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24",
			 "v25", "v26", "v27", "v28", "v29", "v30", "v31");
#else
	(void)top;
	function(argument);
#endif
}

#endif
