/* SPDX-License-Identifier: MIT
 * Asks what programs ask Valgrind and its tools: prints every answer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <valgrind/callgrind.h>
#include <valgrind/dhat.h>
#include <valgrind/drd.h>
#include <valgrind/helgrind.h>
#include <valgrind/memcheck.h>

static unsigned long ask(unsigned long request, unsigned long answer)
{
	return VALGRIND_DO_CLIENT_REQUEST_EXPR(answer, request, 0, 0, 0, 0, 0);
}

static void ask_core(char *block)
{
	unsigned stack;

	printf("running on valgrind: %d\n", (int)RUNNING_ON_VALGRIND);
	printf("errors: %d\n", (int)VALGRIND_COUNT_ERRORS);
	printf("printed: %d, %d\n", VALGRIND_PRINTF("a line\n"),
		VALGRIND_PRINTF_BACKTRACE("a line\n"));
	VALGRIND_DISCARD_TRANSLATIONS(block, 64);
	VALGRIND_MALLOCLIKE_BLOCK(block, 64, 0, 1);
	VALGRIND_FREELIKE_BLOCK(block, 0);
	stack = VALGRIND_STACK_REGISTER(block, block + 4096);
	VALGRIND_STACK_CHANGE(stack, block, block + 4096);
	VALGRIND_STACK_DEREGISTER(stack);
	VALGRIND_DISABLE_ERROR_REPORTING;
	printf("command: %lu\n", (unsigned long)VALGRIND_MONITOR_COMMAND("help"));
	printf("option: %lu\n", ask(VG_USERREQ__CLO_CHANGE, 7));
	printf("stack: %u\n", stack);
}

static void ask_tools(char *block)
{
	unsigned long leaked = 1, dubious = 2, reachable = 3, suppressed = 4;
	char bits[8] = {0};

	printf("defined: %lu, %lu\n",
		(unsigned long)VALGRIND_CHECK_MEM_IS_DEFINED(block, 8),
		(unsigned long)VALGRIND_MAKE_MEM_UNDEFINED(block, 8));
	printf("bits: %u\n", VALGRIND_GET_VBITS(block, bits, 8));
	VALGRIND_DO_LEAK_CHECK;
	VALGRIND_COUNT_LEAKS(leaked, dubious, reachable, suppressed);
	printf("leaks: %lu %lu %lu %lu\n", leaked, dubious, reachable, suppressed);
	CALLGRIND_START_INSTRUMENTATION;
	CALLGRIND_TOGGLE_COLLECT;
	CALLGRIND_ZERO_STATS;
	CALLGRIND_DUMP_STATS;
	VALGRIND_HG_CLEAN_MEMORY(block, 64);
	printf("drd: %u\n", (unsigned)DRD_GET_DRD_THREADID);
	DHAT_AD_HOC_EVENT(5);
}

/* Natively such instructions do nothing, wherever their argument points to. */
#ifdef __x86_64__
static void ask_by_hand(void)
{
	unsigned long answer = 42, a = 1, b = 2;

#define AROUND "rolq $3, %%rdi; rolq $13, %%rdi; rolq $61, %%rdi; rolq $51, %%rdi; "
	__asm__ volatile(AROUND "xchgq %%rbx, %%rbx"
			 : "+d"(answer)
			 : "a"(16ul)
			 : "cc", "memory");
	__asm__ volatile(AROUND "xchgq %%rcx, %%rcx" : "+a"(a) : : "cc", "memory");
	__asm__ volatile(AROUND "xchgq %%rdx, %%rdx" : "+a"(b) : : "cc", "memory");
	__asm__ volatile(AROUND "xchgq %%rdi, %%rdi" : : : "cc", "memory");
	printf("by hand: %lu %lu %lu\n", answer, a, b);
}
#else
static void ask_by_hand(void)
{
}
#endif

int main(void)
{
	char *block = calloc(2, 4096);
	static const unsigned long bases[] = {0x1001, 0x1101, 0x1201, 0x1301, 0x1401,
		0x1501, 0x1601, VG_USERREQ_TOOL_BASE('M', 'C'),
		VG_USERREQ_TOOL_BASE('C', 'T'), VG_USERREQ_TOOL_BASE('H', 'G'),
		VG_USERREQ_TOOL_BASE('D', 'R'), VG_USERREQ_TOOL_BASE('D', 'H'),
		VG_USERREQ_TOOL_BASE('C', 'P'), VG_USERREQ_TOOL_BASE('X', 'X'), 0, ~0ul};
	unsigned long changed = 0;

	ask_core(block);
	ask_tools(block);
	ask_by_hand();
	for (unsigned i = 0; i < sizeof(bases) / sizeof(bases[0]); i++)
		for (unsigned long k = 0; k < 40; k++)
			changed += ask(bases[i] + k, 1000 + k) != 1000 + k;
	printf("answers that are not those given: %lu\n", changed);
	free(block);
	return 3;
}
