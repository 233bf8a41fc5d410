/* SPDX-License-Identifier: MIT
 *
 * How the library makes a request (request.h); natively, and under any Valgrind tool but
 * the simulated PMU, every request answers 0.
 *
 * The simulated PMU answers those only that are made here: to programs that ask whether
 * they run under Valgrind, they do not.  So behind the instructions that are a request to
 * any tool there is one that does nothing, with a sign in it.
 */
#ifndef CACHEPEEK_SIM_ASK_H
#define CACHEPEEK_SIM_ASK_H

#include <valgrind/valgrind.h>

#if defined(__x86_64__) && defined(__LP64__) && !defined(NVALGRIND)
/* nopl 0x6b656570(%rax,%rax) */
#define CP_SIM_SIGN 0x0f, 0x1f, 0x84, 0x00, 0x70, 0x65, 0x65, 0x6b
#define CP_SIM_TEXT_(...) #__VA_ARGS__
#define CP_SIM_TEXT(...) CP_SIM_TEXT_(__VA_ARGS__)

static inline unsigned long cp_sim_ask(unsigned long request, unsigned long a,
	unsigned long b, unsigned long c, unsigned long d)
{
	volatile unsigned long arguments[6] = {request, a, b, c, d, 0};
	unsigned long answer = 0;

	__asm__ volatile(__SPECIAL_INSTRUCTION_PREAMBLE "xchgq %%rbx, %%rbx\n\t"
							".byte " CP_SIM_TEXT(CP_SIM_SIGN)
			 : "=d"(answer)
			 : "a"(arguments), "0"(answer)
			 : "cc", "memory");
	return answer;
}
#else
static inline unsigned long cp_sim_ask(unsigned long request, unsigned long a,
	unsigned long b, unsigned long c, unsigned long d)
{
	(void)request, (void)a, (void)b, (void)c,
		(void)d; /* where there is no Valgrind */
	return VALGRIND_DO_CLIENT_REQUEST_EXPR(0, request, a, b, c, d, 0);
}
#endif

#define CP_SIM_ASK(request, a, b, c, d)                                                  \
	cp_sim_ask((request), (unsigned long)(a), (unsigned long)(b),                    \
		(unsigned long)(c), (unsigned long)(d))

#endif
