/* SPDX-License-Identifier: MIT */
#include "tools/kernels.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "regions/cachepeek.h"

#define LOOPS 1000000u
#define LINES 256u /* 16 KiB: in any L1D */
#define ROUNDS 10u
#define PAGES 1024u /* more than first-level TLBs hold */
#define PAGE 4096u
#define LINE 64u

/* Two instructions a turn, whatever the compiler thinks of it. */
static void count_down(void)
{
	uint64_t turns = LOOPS;

#if defined(__x86_64__)
	__asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(turns) : : "cc");
#elif defined(__aarch64__)
	__asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(turns) : : "cc");
#else
	while (turns)
		__asm__ volatile("" : "+r"(turns)), turns--;
#endif
}

/* if (odd && is_five), with an operand that is never reached: four instructions
 * of the seven are executed a turn. */
static void skip_operands(void)
{
	uint64_t turns = LOOPS;

#if defined(__x86_64__)
	__asm__ volatile("1: test $1, %b0\n\tjz 2f\n\tcmp $5, %0\n\tjz 2f\n\tnop\n"
			 "2: sub $2, %0\n\tjnz 1b"
			 : "+r"(turns)
			 :
			 : "cc");
#elif defined(__aarch64__)
	__asm__ volatile("1: tst %0, #1\n\tb.eq 2f\n\tcmp %0, #5\n\tb.eq 2f\n\tnop\n"
			 "2: subs %0, %0, #2\n\tb.ne 1b"
			 : "+r"(turns)
			 :
			 : "cc");
#endif
}

static volatile uint64_t word;

/* Into one register, twice a turn: a load counts whether or not its value is used. */
static void load_often(void)
{
	uint64_t turns = LOOPS / 2;

#if defined(__x86_64__)
	__asm__ volatile("1: mov %1, %%rdx\n\tmov %1, %%rdx\n\tdec %0\n\tjnz 1b"
			 : "+r"(turns)
			 : "m"(word)
			 : "rdx", "cc");
#elif defined(__aarch64__)
	__asm__ volatile("1: ldr x9, %1\n\tldr x9, %1\n\tsubs %0, %0, #1\n\tb.ne 1b"
			 : "+r"(turns)
			 : "m"(word)
			 : "x9", "cc");
#else
	for (; turns; turns--)
		(void)word, (void)word;
#endif
}

static void store_often(void)
{
	for (unsigned i = 0; i < LOOPS; i++)
		word = i;
}

/* Pages that nobody has touched, at addresses that nobody has used: mappings
 * are never given back, or the next one's lines would be in the caches already. */
static volatile char *map_fresh(size_t size)
{
	void *memory = mmap(NULL, size + PAGE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		abort();
	madvise(memory, size + PAGE, MADV_NOHUGEPAGE);
	return memory;
}

static volatile char *memory; /* mapped before the region, touched in it */

/* Each in a page of its own, where no prefetcher follows, and as many in each set. */
static volatile char *line(unsigned i)
{
	return memory + (size_t)i * PAGE + i * 37 % (PAGE / LINE) * LINE;
}

static void touch_lines(void)
{
	for (unsigned round = 0; round < ROUNDS; round++)
		for (unsigned i = 0; i < LINES; i++)
			(void)*line(i);
}

static void write_lines(void)
{
	for (unsigned round = 0; round < ROUNDS; round++)
		for (unsigned i = 0; i < LINES; i++)
			*line(i) = 1;
}

static void touch_pages(void)
{
	for (unsigned i = 0; i < PAGES; i++)
		(void)memory[i * PAGE];
}

const struct cp_kernel cp_kernels[] = {
	{"instructions", count_down, "instructions", 2 * LOOPS, 100, 0.01,
		"a loop of two instructions, 1,000,000 times"},
	{"skipped", skip_operands, "instructions", 4 * (LOOPS / 2), 100, 0.01,
		"a loop whose a && b never reaches b, 500,000 times"},
	{"loads", load_often, "l1d_loads", LOOPS, 100, 0.05,
		"1,000,000 loads of one word"},
	{"stores", store_often, "l1d_stores", LOOPS, 100, 0.05,
		"1,000,000 stores to one word"},
	{"load_lines", touch_lines, "l1d_load_misses", LINES, 10, 1.0,
		"256 fresh lines read, in as many pages, 10 times"},
	{"store_lines", write_lines, "l1d_store_misses", LINES, 10, 1.0,
		"256 fresh lines written, in as many pages, 10 times"},
	{"lines", touch_lines, "l1d_misses", LINES, 10, 1.0,
		"256 fresh lines read, in as many pages, 10 times"},
	{"tlb", touch_pages, "dtlb_misses", PAGES, 10, 1.0,
		"1,024 fresh pages, one load each"},
	{"walks", touch_pages, "dtlb_walks", PAGES, 10, 1.0,
		"1,024 fresh pages, one load each"},
	{"faults", touch_pages, "page_faults", PAGES, 0, 0.0,
		"1,024 fresh pages, one load each"},
	{NULL, NULL, NULL, 0, 0, 0, NULL},
};

void cp_kernels_run(void)
{
	for (const struct cp_kernel *kernel = cp_kernels; kernel->region; kernel++) {
		cachepeek_region region = cachepeek_region_register(kernel->region);

		memory = map_fresh(PAGES * PAGE);
		cachepeek_begin(region);
		kernel->run();
		cachepeek_end(region);
	}
}
