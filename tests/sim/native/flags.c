/* SPDX-License-Identifier: MIT
 *
 * MXCSR: which flags computing raises, what keeps them, FTZ and DAZ, and exceptions that
 * are unmasked.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
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

/* --- SIGFPE --- */

static sigjmp_buf escape;
static volatile int code;

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)number, (void)context;
	code = info->si_code;
	siglongjmp(escape, 1);
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

int main(void)
{
	flags();
	keeping();
	flushing();
	truncating();
	saving();
	unmasked();
	threads();
	return 0;
}
