/* SPDX-License-Identifier: MIT
 *
 * Hooks of functions that take any arguments: where those are, in registers and on the
 * stack, is the caller's knowledge, and so they stay there.
 */
#ifndef CACHEPEEK_PRELOAD_MARKERS_PASS_ON_H
#define CACHEPEEK_PRELOAD_MARKERS_PASS_ON_H

/*
 * Defines the function `entry` (a string): calls const void *function(a, b, c, caller)
 * with the first three arguments, of integer types, and the return address, and goes on
 * in what that gives back, as if that had been called.  Where it is not defined
 * (CP_PASSES_ON is 0), there is no such hook.
 */
#if defined(__x86_64__)
#define CP_PASSES_ON 1
#define CP_PASS_ON(entry, function)                                                      \
	__asm__(".text\n\t.globl " entry "\n\t.type " entry ", @function\n" entry ":\n"  \
		"\tendbr64\n"                                                            \
		"\tmov (%rsp), %r11\n"                                                   \
		"\tpush %rdi\n\tpush %rsi\n\tpush %rdx\n\tpush %rcx\n"                   \
		"\tpush %r8\n\tpush %r9\n\tpush %rax\n"                                  \
		"\tsub $128, %rsp\n"                                                     \
		"\tmovaps %xmm0, (%rsp)\n\tmovaps %xmm1, 16(%rsp)\n"                     \
		"\tmovaps %xmm2, 32(%rsp)\n\tmovaps %xmm3, 48(%rsp)\n"                   \
		"\tmovaps %xmm4, 64(%rsp)\n\tmovaps %xmm5, 80(%rsp)\n"                   \
		"\tmovaps %xmm6, 96(%rsp)\n\tmovaps %xmm7, 112(%rsp)\n"                  \
		"\tmov %r11, %rcx\n"                                                     \
		"\tcall " function "\n"                                                  \
		"\tmov %rax, %r11\n"                                                     \
		"\tmovaps (%rsp), %xmm0\n\tmovaps 16(%rsp), %xmm1\n"                     \
		"\tmovaps 32(%rsp), %xmm2\n\tmovaps 48(%rsp), %xmm3\n"                   \
		"\tmovaps 64(%rsp), %xmm4\n\tmovaps 80(%rsp), %xmm5\n"                   \
		"\tmovaps 96(%rsp), %xmm6\n\tmovaps 112(%rsp), %xmm7\n"                  \
		"\tadd $128, %rsp\n"                                                     \
		"\tpop %rax\n\tpop %r9\n\tpop %r8\n\tpop %rcx\n"                         \
		"\tpop %rdx\n\tpop %rsi\n\tpop %rdi\n"                                   \
		"\tjmp *%r11\n"                                                          \
		"\t.size " entry ", . - " entry "\n");
#elif defined(__aarch64__)
#define CP_PASSES_ON 1
#define CP_PASS_ON(entry, function)                                                      \
	__asm__(".text\n\t.globl " entry "\n\t.type " entry ", %function\n" entry ":\n"  \
		"\tstp x29, x30, [sp, #-208]!\n"                                         \
		"\tmov x29, sp\n"                                                        \
		"\tstp x0, x1, [sp, #16]\n\tstp x2, x3, [sp, #32]\n"                     \
		"\tstp x4, x5, [sp, #48]\n\tstp x6, x7, [sp, #64]\n"                     \
		"\tstp q0, q1, [sp, #80]\n\tstp q2, q3, [sp, #112]\n"                    \
		"\tstp q4, q5, [sp, #144]\n\tstp q6, q7, [sp, #176]\n"                   \
		"\tmov x3, x30\n"                                                        \
		"\tbl " function "\n"                                                    \
		"\tmov x16, x0\n"                                                        \
		"\tldp x0, x1, [sp, #16]\n\tldp x2, x3, [sp, #32]\n"                     \
		"\tldp x4, x5, [sp, #48]\n\tldp x6, x7, [sp, #64]\n"                     \
		"\tldp q0, q1, [sp, #80]\n\tldp q2, q3, [sp, #112]\n"                    \
		"\tldp q4, q5, [sp, #144]\n\tldp q6, q7, [sp, #176]\n"                   \
		"\tldp x29, x30, [sp], #208\n"                                           \
		"\tbr x16\n"                                                             \
		"\t.size " entry ", . - " entry "\n");
#else
#define CP_PASSES_ON 0
#define CP_PASS_ON(entry, function)
#endif

#endif
