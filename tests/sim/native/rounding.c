/* SPDX-License-Identifier: MIT
 *
 * The effect of rounding modes on each kind of arithmetic, as SSE and as AVX.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* To nearest, down, up, to zero: bits 13 and 14 of MXCSR. */
static void set_mode(uint32_t mode)
{
	uint32_t mxcsr = 0x1f80 | mode << 13;

	__asm__ volatile("ldmxcsr %0" ::"m"(mxcsr));
}

static void show(const char *name, unsigned mode, const void *of)
{
	uint64_t part[4];

	memcpy(part, of, sizeof(part));
	printf("%u %s %lx %lx %lx %lx\n", mode, name, part[0], part[1], part[2], part[3]);
}

static const float singles[8]
	__attribute__((aligned(32))) = {1, -1, 10, -10, 1e7f, 3, -7, 0.1f};
static const float divisors[8]
	__attribute__((aligned(32))) = {3, 3, -7, 7, 0.3f, 11, 13, 0.7f};
static const double doubles[4] __attribute__((aligned(32))) = {1, 10, -1, 1e15};
static const double quotients[4] __attribute__((aligned(32))) = {3, -7, 11, 0.3};
/* Between two singles; the double next to it is the middle. */
static const int64_t numbers[4] = {0x4000004000000001, 3, 5, 7};

#define TRY(code, a, b)                                                                  \
	do {                                                                             \
		uint8_t result[32];                                                      \
		set_mode(mode);                                                          \
		__asm__ volatile("vmovups %1, %%ymm0; vmovups %2, %%ymm1\n" code         \
				 "\n vmovups %%ymm0, %0"                                 \
				 : "=m"(result)                                          \
				 : "m"(a), "m"(b)                                        \
				 : "xmm0", "xmm1");                                      \
		set_mode(0);                                                             \
		show(code, mode, result);                                                \
	} while (0)
#define SINGLES(code) TRY(code, singles, divisors)
#define DOUBLES(code) TRY(code, doubles, quotients)

int main(void)
{
	for (unsigned mode = 0; mode < 4; mode++) {
		SINGLES("divss %%xmm1, %%xmm0");
		SINGLES("divps %%xmm1, %%xmm0");
		SINGLES("addps %%xmm1, %%xmm0");
		SINGLES("mulss %%xmm1, %%xmm0");
		SINGLES("haddps %%xmm1, %%xmm0");
		SINGLES("dpps $0xff, %%xmm1, %%xmm0");
		SINGLES("vdivss %%xmm1, %%xmm0, %%xmm0");
		SINGLES("vsubps %%ymm1, %%ymm0, %%ymm0");
		SINGLES("vsqrtps %%ymm1, %%ymm0");
		SINGLES("vaddsubps %%ymm1, %%ymm0, %%ymm0");
		DOUBLES("divsd %%xmm1, %%xmm0");
		DOUBLES("mulpd %%xmm1, %%xmm0");
		DOUBLES("sqrtsd %%xmm1, %%xmm0");
		DOUBLES("vdivpd %%ymm1, %%ymm0, %%ymm0");
		DOUBLES("vaddsd %%xmm1, %%xmm0, %%xmm0");
		TRY("cvtsi2ssq %1, %%xmm0", numbers, divisors);
		TRY("vcvtsi2ssq %1, %%xmm1, %%xmm0", numbers, divisors);
		DOUBLES("vhsubpd %%ymm1, %%ymm0, %%ymm0");
	}
	return 0;
}
