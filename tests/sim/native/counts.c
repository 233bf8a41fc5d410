/* SPDX-License-Identifier: MIT
 *
 * References of instructions that the host executes: for each, what it adds to the counts
 * of what prepares it, and the lines that were touched: "name loads stores lines".
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

#include "tools/sim/ask.h"
#include "tools/sim/request.h"

typedef uint64_t counts[CP_SIM_NALL];

static counts before, after;

static __attribute__((noinline)) void read_counts(uint64_t *into)
{
	CP_SIM_ASK(CP_SIM_READ, into, 0, 0, 0);
}

/* Bytes that nobody has touched, with room on both sides. */
static char *fresh(void)
{
	static uintptr_t next = 0x100000000000;

	next += 16 * 4096;
	return (char *)mmap((void *)next, 8 * 4096, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) +
	       4096;
}

static uint64_t counted(int counter)
{
	return after[counter] - before[counter];
}

struct made {
	uint64_t loads, stores, lines;
};

static struct made made(void)
{
	return (struct made){counted(CP_SIM_l1d_loads), counted(CP_SIM_l1d_stores),
		counted(CP_SIM_l1d_fills)};
}

/* Indices of 32 and of 64 bits, far apart. */
static const int32_t near[16] __attribute__((aligned(64))) = {0, 100, 200, 300, 400, 500,
	600, 700, 800, 900, 1000, 1100, 1200, 1300, 1400, 1500};
static const int64_t far[8]
	__attribute__((aligned(64))) = {0, 100, 200, 300, 400, 500, 600, 700};

#define PREPARE                                                                          \
	"vmovdqa32 (%[near]), %%zmm4\n vmovdqa64 (%[far]), %%zmm5\n"                     \
	"kmovq %[mask], %%k1\n vpxord %%zmm1, %%zmm1, %%zmm1\n"
#define RUN(code, at, on)                                                                \
	do {                                                                             \
		read_counts(before);                                                     \
		__asm__ volatile(PREPARE code ::[p] "r"(at), [mask] "r"((uint64_t)(on)), \
				 [near] "r"(near), [far] "r"(far)                        \
				 : "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4",     \
				 "xmm5", "cc");                                          \
		read_counts(after);                                                      \
	} while (0)
#define TRY(name, code, offset, on)                                                      \
	do {                                                                             \
		char *at = fresh() + (offset);                                           \
		struct made base, all;                                                   \
                                                                                         \
		RUN("", at, on);                                                         \
		RUN("", at, on);                                                         \
		base = made();                                                           \
		RUN(code, at, on);                                                       \
		all = made();                                                            \
		printf("%s %lu %lu %lu\n", name, all.loads - base.loads,                 \
			all.stores - base.stores, all.lines - base.lines);               \
	} while (0)

static void contiguous(void)
{
	TRY("load", "vmovdqu64 (%[p]), %%zmm1", 0, 0);
	TRY("store", "vmovdqu64 %%zmm1, (%[p])", 0, 0);
	TRY("load of two lines", "vmovdqu64 (%[p]), %%zmm1", 32, 0);
	TRY("store to two lines", "vmovdqu64 %%zmm1, (%[p])", 1, 0);
	TRY("load of 32 bytes", "vmovdqu64 (%[p]), %%ymm18", 32, 0);
	TRY("addition", "vaddps (%[p]), %%zmm1, %%zmm2", 0, 0);
	TRY("broadcast of 4 bytes", "vpaddd (%[p])%{1to16%}, %%zmm1, %%zmm1", 60, 0);
	TRY("broadcast of 8 bytes", "vpaddq (%[p])%{1to8%}, %%zmm1, %%zmm1", 60, 0);
	TRY("narrowing store", "vpmovdb %%zmm1, (%[p])", 49, 0);
	TRY("non-temporal store", "vmovntdq %%zmm1, (%[p])", 0, 0);
	TRY("mask", "kmovq (%[p]), %%k2", 57, 0);
	TRY("fused, 32 bytes", "vfmadd231ps (%[p]), %%ymm1, %%ymm2", 33, 0);
	TRY("fused, 8 bytes", "vfmadd231sd (%[p]), %%xmm1, %%xmm2", 56, 0);
}

static void masked(void)
{
	TRY("masked load, none", "vmovdqu32 (%[p]), %%zmm1%{%%k1%}", 0, 0);
	TRY("masked load, all", "vmovdqu32 (%[p]), %%zmm1%{%%k1%}", 32, 0xffff);
	TRY("masked load, first line", "vmovdqu32 (%[p]), %%zmm1%{%%k1%}", 32, 0xff);
	TRY("masked load, second line", "vmovdqu32 (%[p]), %%zmm1%{%%k1%}", 32, 0xff00);
	TRY("masked load, both lines", "vmovdqu32 (%[p]), %%zmm1%{%%k1%}", 32, 0x180);
	TRY("masked store of bytes", "vmovdqu8 %%zmm1, (%[p])%{%%k1%}", 1, 1ull << 63);
	TRY("masked store, none", "vmovdqu8 %%zmm1, (%[p])%{%%k1%}", 1, 0);
	TRY("masked store, bits without lanes", "vmovdqu64 %%zmm1, (%[p])%{%%k1%}", 0,
		0xff00);
	TRY("masked broadcast, none", "vpaddd (%[p])%{1to16%}, %%zmm1, %%zmm1%{%%k1%}", 0,
		0xf0000);
	TRY("masked broadcast", "vpaddd (%[p])%{1to16%}, %%zmm1, %%zmm1%{%%k1%}", 0,
		0x8000);
	TRY("masked scalar, off", "vaddss (%[p]), %%xmm1, %%xmm1%{%%k1%}", 0, 2);
	TRY("compressing store", "vpcompressd %%zmm1, (%[p])%{%%k1%}", 56, 0x8001);
	TRY("compressing store, 3 lanes", "vpcompressd %%zmm1, (%[p])%{%%k1%}", 56,
		0x8101);
	TRY("expanding load", "vpexpandq (%[p]), %%zmm1%{%%k1%}", 48, 0x81);
}

static void scattered(void)
{
	TRY("gather", "vpgatherdd (%[p],%%zmm4,4), %%zmm1%{%%k1%}", 0, 0xffff);
	TRY("gather of three lanes", "vpgatherdd (%[p],%%zmm4,4), %%zmm1%{%%k1%}", 0,
		0x8101);
	TRY("gather of none", "vpgatherdd (%[p],%%zmm4,4), %%zmm1%{%%k1%}", 0, 0);
	TRY("gather from one line", "vpgatherqq (%[p],%%zmm1,8), %%zmm2%{%%k1%}", 0,
		0xff);
	TRY("gather by 8 bytes", "vgatherqpd (%[p],%%zmm5,8), %%zmm1%{%%k1%}", 0, 0x7f);
	TRY("gather over lines", "vgatherqpd (%[p],%%zmm5,8), %%zmm1%{%%k1%}", 60, 1);
	TRY("scatter", "vpscatterdd %%zmm1, (%[p],%%zmm4,4)%{%%k1%}", 0, 0xff);
	TRY("scatter of none", "vpscatterqq %%zmm1, (%[p],%%zmm5,4)%{%%k1%}", 0, 0);
}

int main(void)
{
	contiguous();
	masked();
	scattered();
	return 0;
}
