/* SPDX-License-Identifier: MIT
 *
 * The program under test for huge.t: walks over memory that is huge pages, or was,
 * and prints what the simulated PMU counts, one "name value" per line.  Beside each,
 * how many areas of 2 MB the kernel says are one page (smaps), which may be fewer
 * than were asked for.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "ask.h"
#include "request.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif
#define AREA (2ul << 20)
#define AREAS 32
#define SIZE (AREAS * AREA)

typedef uint64_t counts[CP_SIM_NALL];

static __attribute__((noinline)) unsigned long ask(unsigned long request, const void *a)
{
	return CP_SIM_ASK(request, a, 0, 0, 0);
}

/* Aligned, and not next to another mapping that the kernel would make one with it. */
static char *map(int protection)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	char *p = mmap(NULL, SIZE + 3 * AREA, PROT_NONE, flags, -1, 0);

	if (p == MAP_FAILED)
		exit(2);
	p = (char *)(((uintptr_t)p + 2 * AREA - 1) & ~(AREA - 1));
	if (mprotect(p, SIZE, protection))
		exit(2);
	return p;
}

/* Not through stdio, which would touch more memory than the walks. */
static unsigned huge_areas(const char *p)
{
	char line[512];
	unsigned long start, kb = 0;
	int within = 0;
	FILE *f = fopen("/proc/self/smaps", "r");

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-", &start) == 1 && strchr(line, '-') &&
			line[8] != ':')
			within = start == (unsigned long)p;
		if (within && sscanf(line, "AnonHugePages: %lu", &kb) == 1)
			break;
	}
	if (f)
		fclose(f);
	return (unsigned)(kb / 2048);
}

static counts before, after;

static void show(const char *test, const char *p)
{
	uint64_t n = after[CP_SIM_dtlb_load_pages] + after[CP_SIM_dtlb_store_pages] -
		     before[CP_SIM_dtlb_load_pages] - before[CP_SIM_dtlb_store_pages];
	uint64_t walks = after[CP_SIM_dtlb_load_walks] + after[CP_SIM_dtlb_store_walks] -
			 before[CP_SIM_dtlb_load_walks] - before[CP_SIM_dtlb_store_walks];

	printf("%s.misses %llu\n", test, (unsigned long long)n);
	printf("%s.walks %llu\n", test, (unsigned long long)walks);
	printf("%s.code %llu\n", test,
		(unsigned long long)(after[CP_SIM_itlb_misses] -
				     before[CP_SIM_itlb_misses]));
	printf("%s.pages %llu\n", test,
		(unsigned long long)(after[CP_SIM_huge_pages] -
				     before[CP_SIM_huge_pages]));
	printf("%s.huge %u\n", test, huge_areas(p));
	fflush(stdout);
}

static __attribute__((noinline)) void store_walk(
	const char *test, char *p, size_t size, int times)
{
	ask(CP_SIM_READ, before);
	while (times--)
		for (size_t i = 0; i < size; i += 4096)
			*(volatile char *)(p + i) = 1;
	ask(CP_SIM_READ, after);
	show(test, p);
}

static __attribute__((noinline)) void load_walk(const char *test, char *p)
{
	ask(CP_SIM_READ, before);
	for (size_t i = 0; i < SIZE; i += 4096)
		*(volatile char *)(p + i);
	ask(CP_SIM_READ, after);
	show(test, p);
}

/* An instruction whose reference is counted before it is made. */
static void load_early(const volatile char *p)
{
#if defined(__x86_64__)
	__asm__ volatile("fldenv %0; fninit" : : "m"(*(const char(*)[28])p));
#else
	*p;
#endif
}

static __attribute__((noinline)) void early_walk(const char *test, const char *p)
{
	ask(CP_SIM_READ, before);
	for (size_t i = 0; i < SIZE; i += 4096)
		load_early(p + i);
	ask(CP_SIM_READ, after);
	show(test, p);
}

static void code(char *p)
{
	ask(CP_SIM_READ, before);
	for (size_t i = 0; i < 4 * AREA; i += 4096)
		((void (*)(void))(void *)(p + i))();
	ask(CP_SIM_READ, after);
	show("code", p);
}

static void write_code(char *p)
{
#if defined(__x86_64__)
	static const unsigned char back[] = {0xc3};
#else
	static const unsigned char back[] = {0xc0, 0x03, 0x5f, 0xd6};
#endif
	for (size_t i = 0; i < 4 * AREA; i += 4096)
		memcpy(p + i, back, sizeof(back));
	__builtin___clear_cache(p, p + 4 * AREA);
}

static void child(char *p)
{
	int status;

	fflush(stdout);
	if (fork() == 0) {
		store_walk("child", p, SIZE, 1);
		_exit(0);
	}
	wait(&status);
}

int main(void)
{
	int rw = PROT_READ | PROT_WRITE;
	char *small = map(rw), *p = map(rw);

	madvise(small, SIZE, MADV_NOHUGEPAGE);
	if (madvise(p, SIZE, MADV_HUGEPAGE)) {
		printf("refused 1\n");
		return 0;
	}
	store_walk("small", small, SIZE, 1);
	store_walk("first", p, SIZE, 1);
	store_walk("again", p, SIZE, 1);
	store_walk("fits", p, 8 * AREA, 1);
	store_walk("fits_still", p, 8 * AREA, 3);
	store_walk("reach", p, 16 * AREA, 3);
	child(p);

	/* Gone, and other memory in its place: small, then huge again. */
	mmap(p, SIZE, rw, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	madvise(p, SIZE, MADV_NOHUGEPAGE);
	store_walk("replaced", p, SIZE, 1);
	madvise(p, SIZE, MADV_DONTNEED);
	madvise(p, SIZE, MADV_HUGEPAGE);
	load_walk("read", p);
	madvise(p, SIZE, MADV_DONTNEED);
	early_walk("early", p);
	store_walk("written", p, SIZE, 1);

	/* Made one page of many. */
	madvise(small, SIZE, MADV_HUGEPAGE);
	if (madvise(small, SIZE, MADV_COLLAPSE) == 0)
		store_walk("collapsed", small, SIZE, 1);
	/* One small page made read-only splits its area. */
	mprotect(small + 4096, 4096, PROT_READ);
	mprotect(small + 4096, 4096, rw);
	store_walk("split", small, 4 * AREA, 1);

	p = map(rw | PROT_EXEC);
	madvise(p, SIZE, MADV_HUGEPAGE);
	write_code(p);
	code(p);
	return 0;
}
