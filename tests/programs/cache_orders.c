/* SPDX-License-Identifier: MIT
 * cache_orders WHAT LINES: what instructions tell the caches, and a load behind it, of so
 * many lines next to each other that were stored to.
 */
#if defined(__x86_64__)
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 16384 };

static char memory[64 * LINES] __attribute__((aligned(4096)));

#define EACH(name, code)                                                                 \
	static void name(long lines)                                                     \
	{                                                                                \
		char *at = memory;                                                       \
                                                                                         \
		__asm__ volatile("1:\n\t" code "\n\tadd $64, %0\n\tdec %1\n\tjnz 1b"     \
				 : "+r"(at), "+r"(lines)                                 \
				 :                                                       \
				 : "eax", "rdi", "memory", "cc");                        \
	}

EACH(nothing, "movb $1, (%0); nopw (%0); movb (%0), %%al")
EACH(flush, "movb $1, (%0); clflush (%0); movb (%0), %%al")
EACH(flush_middle, "movb $1, (%0); clflush 17(%0); movb (%0), %%al")
EACH(flush_weakly, "movb $1, (%0); .byte 0x66; clflush (%0); movb (%0), %%al")
EACH(flush_loaded, "movb (%0), %%al; clflush (%0); movb (%0), %%al")
EACH(write_back, "movb $1, (%0); clwb (%0); movb (%0), %%al")
EACH(write_back_twice, "movb $1, (%0); clwb (%0); movb $1, (%0); clwb (%0)")
EACH(demote, "movb $1, (%0); mov %0, %%rax; .byte 0x0f, 0x1c, 0x00; movb (%0), %%al")

EACH(stream,
	"mov $1, %%eax; movnti %%rax, (%0); movnti %%rax, 8(%0); movnti %%rax, 16(%0);"
	"movnti %%rax, 24(%0); movntps %%xmm0, 32(%0); movntdq %%xmm0, 48(%0)")
EACH(stream_pd,
	"movntpd %%xmm0, (%0); movntpd %%xmm0, 16(%0); movntpd %%xmm0, 32(%0); movntpd %%xmm0, 48(%0)")
EACH(stream_mmx,
	"movntq %%mm0, (%0); movntq %%mm0, 8(%0); movntps %%xmm0, 16(%0); movntps %%xmm0, 32(%0); movntq %%mm0, 48(%0);"
	"movnti %%rax, 56(%0)")
EACH(stream_avx, "vmovntdq %%ymm0, (%0); vmovntps %%ymm0, 32(%0)")
EACH(stream_avx512, "vmovntdq %%zmm0, (%0)")
EACH(stream_part, "movntdq %%xmm0, (%0)")
EACH(stream_masked, "xchg %0, %%rdi; maskmovdqu %%xmm0, %%xmm1; xchg %0, %%rdi")
EACH(stream_read,
	"movntps %%xmm0, (%0); movntps %%xmm0, 16(%0); movntps %%xmm0, 32(%0); movntps %%xmm0, 48(%0);"
	"movb (%0), %%al")
EACH(stream_stored,
	"movb $1, (%0); movntps %%xmm0, (%0); movntps %%xmm0, 16(%0); movntps %%xmm0, 32(%0);"
	"movntps %%xmm0, 48(%0); movb (%0), %%al")

EACH(prefetch, "prefetcht0 (%0); movb (%0), %%al")
EACH(prefetch_nta, "prefetchnta 5(%0); movb (%0), %%al")
EACH(prefetch_l2, "prefetcht1 (%0); movb (%0), %%al")
EACH(prefetch_l3, "prefetcht2 (%0); movb (%0), %%al")
EACH(prefetch_write, "prefetchw (%0); movb $1, (%0)")
EACH(prefetch_twice, "prefetcht0 (%0); prefetcht0 (%0)")
EACH(prefetch_loaded, "movb (%0), %%al; prefetcht0 (%0)")
EACH(prefetch_nowhere, "mov $8, %%eax; prefetcht0 (%%rax); prefetcht0 -64(%%rax)")

/* Lines all over the memory, by their numbers; the one 16 behind is prefetched, or not.
 */
static void chase(long lines, int prefetched)
{
	static unsigned order[LINES + 16];

	for (unsigned i = 0; i < LINES + 16; i++)
		order[i] = i * 7919u % LINES;
	for (long i = 0; i < lines; i++) {
		if (prefetched)
			__builtin_prefetch(memory + 64 * order[i + 16]);
		(void)*(volatile char *)(memory + 64 * order[i]);
	}
}

static void chase_plainly(long lines)
{
	chase(lines, 0);
}

static void chase_ahead(long lines)
{
	chase(lines, 1);
}

static const struct {
	const char *name;
	void (*run)(long lines);
} ways[] = {
	{"nothing", nothing},
	{"flush", flush},
	{"flush-middle", flush_middle},
	{"flush-weakly", flush_weakly},
	{"flush-loaded", flush_loaded},
	{"write-back", write_back},
	{"write-back-twice", write_back_twice},
	{"demote", demote},
	{"stream", stream},
	{"stream-pd", stream_pd},
	{"stream-mmx", stream_mmx},
	{"stream-avx", stream_avx},
	{"stream-avx512", stream_avx512},
	{"stream-part", stream_part},
	{"stream-masked", stream_masked},
	{"stream-read", stream_read},
	{"stream-stored", stream_stored},
	{"prefetch", prefetch},
	{"prefetch-nta", prefetch_nta},
	{"prefetch-l2", prefetch_l2},
	{"prefetch-l3", prefetch_l3},
	{"prefetch-write", prefetch_write},
	{"prefetch-twice", prefetch_twice},
	{"prefetch-loaded", prefetch_loaded},
	{"prefetch-nowhere", prefetch_nowhere},
	{"chase", chase_plainly},
	{"chase-ahead", chase_ahead},
};

int main(int argc, char **argv)
{
	for (unsigned i = 0; argc == 3 && i < sizeof(ways) / sizeof(ways[0]); i++)
		if (strcmp(argv[1], ways[i].name) == 0)
			ways[i].run(atol(argv[2]));
	return 0;
}
#else
int main(void)
{
	return 0;
}
#endif
