/* SPDX-License-Identifier: MIT
 * Executes an instruction of each feature that CPUID says is there: prints a line for
 * each, and for those that are illegal all the same.
 */
#if defined(__x86_64__)
#include <cpuid.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

enum reg { EAX, EBX, ECX, EDX };

static char memory[4096] __attribute__((aligned(64)));
static sigjmp_buf before;

#define FEATURE(name, code)                                                              \
	static void use_##name(void)                                                     \
	{                                                                                \
		__asm__ volatile(code                                                    \
				 :                                                       \
				 : "D"(memory), "S"(memory), "c"(0), "a"(7), "d"(0)      \
				 : "memory", "cc", "rbx", "r8", "xmm0", "xmm1");         \
	}

FEATURE(tsc, "push %%rax; push %%rdx; rdtsc; pop %%rdx; pop %%rax")
FEATURE(cx8, "push %%rax; push %%rdx; cmpxchg8b (%%rdi); pop %%rdx; pop %%rax")
FEATURE(cmov, "cmovz %%eax, %%r8d")
FEATURE(fxsr, "fxsave64 (%%rdi)")
FEATURE(sse2, "paddq %%xmm0, %%xmm1")
FEATURE(sse3, "haddps %%xmm0, %%xmm1")
FEATURE(pclmulqdq, "pclmulqdq $0, %%xmm0, %%xmm1")
FEATURE(ssse3, "pshufb %%xmm0, %%xmm1")
FEATURE(fma, "vfmadd132pd %%xmm0, %%xmm1, %%xmm1")
FEATURE(cx16, "push %%rax; push %%rdx; cmpxchg16b (%%rdi); pop %%rdx; pop %%rax")
FEATURE(sse4_1, "ptest %%xmm0, %%xmm1")
FEATURE(sse4_2, "pcmpgtq %%xmm0, %%xmm1")
FEATURE(movbe, "movbe (%%rdi), %%r8")
FEATURE(popcnt, "popcnt %%eax, %%r8d")
FEATURE(aes, "aesenc %%xmm0, %%xmm1")
FEATURE(xsave, "xsave64 (%%rdi)")
FEATURE(osxsave, "push %%rax; push %%rdx; xgetbv; pop %%rdx; pop %%rax")
FEATURE(avx, "vaddpd %%xmm0, %%xmm1, %%xmm1")
FEATURE(f16c, "vcvtph2ps %%xmm0, %%xmm1")
FEATURE(rdrand, "rdrand %%r8")
FEATURE(fsgsbase, "rdfsbase %%r8")
FEATURE(bmi1, "andn %%rax, %%rax, %%r8")
FEATURE(avx2, "vpaddq %%ymm0, %%ymm1, %%ymm1")
FEATURE(bmi2, "pdep %%rax, %%rax, %%r8")
FEATURE(rdseed, "rdseed %%r8")
FEATURE(lahf, "push %%rax; lahf; pop %%rax")
FEATURE(lzcnt, "lzcnt %%eax, %%r8d")
FEATURE(prefetchw, "prefetchw (%%rdi)")
FEATURE(xsaveopt, "xsaveopt64 (%%rdi)")
FEATURE(xsavec, "xsavec64 (%%rdi)")

/* Linux keeps the number of the processor where it finds it. */
static void use_rdtscp(void)
{
	unsigned processor, node, found, low, high, after;

	do {
		syscall(SYS_getcpu, &processor, &node, NULL);
		__asm__ volatile("rdtscp" : "=a"(low), "=d"(high), "=c"(found));
		syscall(SYS_getcpu, &after, &node, NULL);
	} while (processor != after);
	if (found != (node << 12 | processor) || !(low | high))
		printf("rdtscp has %x, not %x\n", found, node << 12 | processor);
}

static const struct {
	const char *name;
	unsigned leaf, subleaf;
	enum reg reg;
	int bit;
	void (*use)(void);
} features[] = {
#define ROW(name, ...)                                                                   \
	{                                                                                \
#name, __VA_ARGS__, use_##name                                           \
	}
	ROW(tsc, 1, 0, EDX, 4),
	ROW(cx8, 1, 0, EDX, 8),
	ROW(cmov, 1, 0, EDX, 15),
	ROW(fxsr, 1, 0, EDX, 24),
	ROW(sse2, 1, 0, EDX, 26),
	ROW(sse3, 1, 0, ECX, 0),
	ROW(pclmulqdq, 1, 0, ECX, 1),
	ROW(ssse3, 1, 0, ECX, 9),
	ROW(fma, 1, 0, ECX, 12),
	ROW(cx16, 1, 0, ECX, 13),
	ROW(sse4_1, 1, 0, ECX, 19),
	ROW(sse4_2, 1, 0, ECX, 20),
	ROW(movbe, 1, 0, ECX, 22),
	ROW(popcnt, 1, 0, ECX, 23),
	ROW(aes, 1, 0, ECX, 25),
	ROW(xsave, 1, 0, ECX, 27),
	ROW(osxsave, 1, 0, ECX, 27),
	ROW(avx, 1, 0, ECX, 28),
	ROW(f16c, 1, 0, ECX, 29),
	ROW(rdrand, 1, 0, ECX, 30),
	ROW(fsgsbase, 7, 0, EBX, 0),
	ROW(bmi1, 7, 0, EBX, 3),
	ROW(avx2, 7, 0, EBX, 5),
	ROW(bmi2, 7, 0, EBX, 8),
	ROW(rdseed, 7, 0, EBX, 18),
	ROW(xsaveopt, 13, 1, EAX, 0),
	ROW(xsavec, 13, 1, EAX, 1),
	ROW(rdtscp, 0x80000001, 0, EDX, 27),
	ROW(lahf, 0x80000001, 0, ECX, 0),
	ROW(lzcnt, 0x80000001, 0, ECX, 5),
	ROW(prefetchw, 0x80000001, 0, ECX, 8),
};

static int claimed(size_t i)
{
	unsigned reg[4] = {0};

	if (!__get_cpuid_count(features[i].leaf, features[i].subleaf, &reg[EAX],
		    &reg[EBX], &reg[ECX], &reg[EDX]))
		return 0;
	/* This one only if the kernel allows it, too. */
	if (!strcmp(features[i].name, "fsgsbase") && !(getauxval(AT_HWCAP2) & 2))
		return 0;
	return reg[features[i].reg] >> features[i].bit & 1;
}

static void on_illegal(int number)
{
	siglongjmp(before, number);
}

int main(void)
{
	signal(SIGILL, on_illegal);
	for (size_t i = 0; i < sizeof(features) / sizeof(features[0]); i++) {
		if (!claimed(i))
			continue;
		if (sigsetjmp(before, 1) == 0) {
			features[i].use();
			printf("%s works\n", features[i].name);
		} else {
			printf("%s is illegal\n", features[i].name);
		}
	}
	return 0;
}
#else
int main(void)
{
	return 0;
}
#endif
