/* SPDX-License-Identifier: MIT
 *
 * MXCSR: which flags computing raises, what keeps them, FTZ and DAZ, and exceptions that
 * are unmasked.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

static volatile double zero, big = 1e308, tiny = 1e-308, one = 1, three = 3,
			     denormal = 1e-310, result;
static volatile float narrow;
static volatile int whole;
static volatile long double wide = 1;

enum { USUAL = 0x1f80, FTZ = 0x8000, DAZ = 0x40, MASKED_DIVISION = 0x200 };

static void set(uint32_t mxcsr)
{
	__asm__ volatile("ldmxcsr %0" ::"m"(mxcsr));
}

static uint32_t get(void)
{
	uint32_t mxcsr;

	__asm__ volatile("stmxcsr %0" : "=m"(mxcsr));
	return mxcsr;
}

static void show(const char *what)
{
	uint32_t is = get();

	set(USUAL);
	printf("%s: %04x\n", what, is);
}

#define TRY(code)                                                                        \
	do {                                                                             \
		set(USUAL);                                                              \
		code;                                                                    \
		show(#code);                                                             \
	} while (0)

static void flags(void)
{
	show("in the beginning");
	TRY(result = one + one);
	TRY(result = one / zero);
	TRY(result = zero / zero);
	TRY(result = big * big);
	TRY(result = tiny * tiny);
	TRY(result = one / three);
	TRY(result = denormal + one);
	TRY(result = three < zero / zero);
	TRY(whole = (int)three);
	TRY(whole = (int)(three / 2));
	TRY(whole = (int)big);
	TRY(narrow = (float)big);
	TRY(result = (double)((float)one / 3));
}

/* Singles and doubles: a quiet NaN, a denormal, one. */
static const float singles[] = {__builtin_nanf(""), 1e-40f, 1, 1};
static const double doubles[] = {__builtin_nan(""), 1e-310, 1};

#define COMPARE(code, of, a, b)                                                          \
	TRY(__asm__ volatile(                                                            \
		"movlps %0, %%xmm0; " code " %1, %%xmm0" ::"m"(of[a]), "m"(of[b])        \
		: "cc", "xmm0"))
#define CONVERT(code, of, a)                                                             \
	TRY(__asm__ volatile(code " %1, %0" : "=r"(whole) : "m"(of[a])))

static void comparing(void)
{
	COMPARE("comiss", singles, 2, 0);
	COMPARE("ucomiss", singles, 2, 0);
	COMPARE("comiss", singles, 1, 0);
	COMPARE("ucomiss", singles, 1, 0);
	COMPARE("ucomiss", singles, 0, 1);
	COMPARE("ucomiss", singles, 1, 2);
	COMPARE("comisd", doubles, 2, 0);
	COMPARE("ucomisd", doubles, 2, 0);
	COMPARE("comisd", doubles, 1, 2);
	CONVERT("cvttss2si", singles, 1);
	CONVERT("cvtss2si", singles, 1);
	CONVERT("cvttss2si", singles, 0);
	set(USUAL | DAZ);
	__asm__ volatile("cvttss2si %1, %0" : "=r"(whole) : "m"(singles[1]));
	show("the denormal as zero");
}

static void keeping(void)
{
	set(USUAL);
	result = one / zero;
	for (int i = 0; i < 300000; i++)
		whole = (int)(three + i) + (int)wide;
	show("kept over conversions");
	result = one / zero;
	for (int i = 0; i < 3; i++)
		whole = getppid();
	show("kept over calls of the kernel");
}

static void flushing(void)
{
	set(USUAL | FTZ | DAZ);
	result = denormal * one;
	printf("DAZ %g, ", result);
	result = tiny / 2;
	printf("FTZ %g, ", result);
	fflush(stdout);
	whole = (int)(three / 2);
	result = denormal * one;
	printf("behind a call of the kernel and a conversion %g\n", result);
	show("flags with DAZ");
	result = denormal * one;
	printf("as usual %g\n", result);
}

static void truncating(void)
{
	static _Alignas(16) const float numbers[4] = {1.5f, -2.7f, 3.5f, 1e20f};
	int to_zero[4], to_nearest[4];

	__asm__ volatile("cvttps2dq %2, %%xmm0; movups %%xmm0, %0\n"
			 "cvtps2dq %2, %%xmm0; movups %%xmm0, %1"
			 : "=m"(to_zero), "=m"(to_nearest)
			 : "m"(numbers)
			 : "xmm0");
	printf("to zero %d: %d %d %d %d, to nearest %d %d %d %d\n", (int)(three / 2),
		to_zero[0], to_zero[1], to_zero[2], to_zero[3], to_nearest[0],
		to_nearest[1], to_nearest[2], to_nearest[3]);
}

/* FXSAVE and FXRSTOR have MXCSR, too. */
static void saving(void)
{
	static _Alignas(16) struct {
		uint32_t word[128];
	} area;

	set(USUAL);
	result = one / zero;
	__asm__ volatile("fxsave %0" : "=m"(area));
	printf("saved %04x, ", area.word[6]);
	area.word[6] = USUAL | FTZ | 1;
	__asm__ volatile("fxrstor %0" ::"m"(area));
	result = tiny / 2;
	printf("restored %04x: FTZ %g\n", get(), result);
	set(USUAL);
}

/* SSE4.2: an empty string is everywhere, and one that is longer than what is left
 * nowhere. */
static void finding(void)
{
	static const char text[] = "abcabcabcabcabca", nothing[16], part[16] = "bcabcd";
	uint64_t mask;
	int index;

	__asm__ volatile("movups %1, %%xmm1; movups %2, %%xmm2\n"
			 "pcmpistrm $0x0c, %%xmm1, %%xmm2; movq %%xmm0, %0"
			 : "=r"(mask)
			 : "m"(nothing), "m"(nothing)
			 : "xmm0", "xmm1", "xmm2", "cc");
	printf("nothing is found at %lx, ", mask);
	__asm__ volatile("movups %1, %%xmm1; movups %2, %%xmm2\n"
			 "pcmpestri $0x0c, %%xmm1, %%xmm2"
			 : "=c"(index)
			 : "m"(text), "m"(part), "a"(6), "d"(15)
			 : "xmm1", "xmm2", "cc");
	printf("a part at %d\n", index);
}

/* Behind the function is what cannot be read. */
static void at_an_edge(void)
{
	enum { PAGE = 4096 };
	/* ldmxcsr (%rdi); ret */
	static const unsigned char function[] = {0x0f, 0xae, 0x17, 0xc3};
	static const uint32_t flushes = USUAL | FTZ;
	char *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *at = pages + PAGE - sizeof(function);

	memcpy(at, function, sizeof(function));
	mprotect(pages + PAGE, PAGE, PROT_NONE);
	((void (*)(const uint32_t *))at)(&flushes);
	show("set by the last instruction of a page but one");
}

/* --- Signals --- */

static sigjmp_buf escape;
static volatile int code;

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)number, (void)context;
	code = info->si_code;
	siglongjmp(escape, 1);
}

extern char misaligned[];

static void on_fault(int number, siginfo_t *info, void *context)
{
	printf("signal %d at %lx, %s\n", number, (long)info->si_addr,
		((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] == (long)misaligned
			? "there"
			: "elsewhere");
	siglongjmp(escape, 1);
}

static void aligned(void)
{
	struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
	static char bytes[64] __attribute__((aligned(16)));

	sigaction(SIGSEGV, &action, NULL);
	if (sigsetjmp(escape, 1))
		return;
	__asm__ volatile("paddd (%0), %%xmm0; movdqu 1(%0), %%xmm0" ::"r"(bytes)
			 : "xmm0");
	printf("aligned: no signal\n");
	__asm__ volatile(
		"misaligned: paddd 1(%0), %%xmm0; movups %%xmm0, (%0)" ::"r"(bytes)
		: "xmm0", "memory");
	printf("not aligned: no signal\n");
}

static void unmasked(void)
{
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};

	sigaction(SIGFPE, &action, NULL);
	set(USUAL & ~MASKED_DIVISION);
	if (!sigsetjmp(escape, 1)) {
		result = one / three;
		result = one / zero;
		printf("no signal\n");
	}
	set(USUAL);
	printf("division by zero: code %d\n", code);
	set(USUAL);
}

static void *in_thread(void *nothing)
{
	printf("a thread begins with %04x\n", get());
	result = one / zero;
	return nothing;
}

static void threads(void)
{
	pthread_t thread;

	set(USUAL | FTZ);
	pthread_create(&thread, NULL, in_thread, NULL);
	pthread_join(thread, NULL);
	printf("and leaves %04x\n", get() & ~0x3fu);
	set(USUAL);
}

/* An argument: with what emulators of processors leave out. */
int main(int argc, char **argv)
{
	(void)argv;
	flags();
	comparing();
	keeping();
	flushing();
	truncating();
	saving();
	finding();
	at_an_edge();
	unmasked();
	if (argc > 1)
		aligned();
	threads();
	return 0;
}
