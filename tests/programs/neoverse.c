/* SPDX-License-Identifier: MIT
 *	neoverse WHAT BASES
 * The programs of Arm's guide to L2 cache effectiveness: stores of 4 bytes at
 * BASE + i * 64 for 30 i, and a function that computes pointers and follows
 * none.  Before the region `guide` L1D is full of clean lines, and with WHAT
 * "dirty" L2 is full of modified ones.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cachepeek.h"

static const uintptr_t bases[] = {0x3c0000000, 0x180000000, 0x200000000, 0x2c0000000,
	0x1c0000000, 0x100000000, 0x40000000, 0x80000000, 0x380000000};

/* Written out, so that the addresses are in the code, not in memory. */
#define STORE(base) *(volatile int *)((base) + (uintptr_t)i * 64) = 1
#define STORE_1 STORE(0x3c0000000)
#define STORE_3 STORE_1, STORE(0x180000000), STORE(0x200000000)
#define STORE_8                                                                          \
	STORE_3, STORE(0x2c0000000), STORE(0x1c0000000), STORE(0x100000000),             \
		STORE(0x40000000), STORE(0x80000000)
#define STORE_9 STORE_8, STORE(0x380000000)

#define STORES(n)                                                                        \
	static __attribute__((noinline)) void stores_##n(void)                           \
	{                                                                                \
		for (volatile int i = 0; i < 30; i++)                                    \
			STORE_##n;                                                       \
	}
STORES(1)
STORES(3)
STORES(8)
STORES(9)

#define POINT(base) pointer = (int *)((base) + (uintptr_t)i * 64)

/* As printed: nothing is dereferenced. */
static __attribute__((noinline)) void loads(void)
{
	int *volatile pointer;

	for (volatile int i = 0; i < 30; i++) {
		POINT(0x3c0000000);
		POINT(0x180000000);
		POINT(0x200000000);
		POINT(0x2c0000000);
		POINT(0x1c0000000);
		POINT(0x100000000);
		POINT(0x40000000);
	}
	(void)pointer;
}

static void map_bases(void)
{
	for (int k = 0; k < 9; k++) {
		void *at = (void *)bases[k];

		if (mmap(at, 4096, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
			    0) != at) {
			perror("neoverse: mmap");
			exit(2);
		}
	}
}

/* Reads (or modifies) 4 MB, more than L2 holds. */
static void walk(volatile char *area, size_t from, size_t to, int modify)
{
	for (size_t i = from; i < to; i += 64) {
		if (modify)
			area[i] = 1;
		else
			(void)area[i];
	}
}

static __attribute__((noinline)) void guide(void (*program)(void))
{
	CACHEPEEK_BEGIN("guide");
	program();
	CACHEPEEK_END("guide");
}

/* The lines of the stack stay out of the sets that the stores use: those of the
 * first 30 lines of each 16 KB in L1D, of each 128 KB in L2. */
static void away_from_the_stack(void (*program)(void))
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	volatile char *room = __builtin_alloca((here - 0x12000) & 0x1ffff);

	room[0] = 0;
	guide(program);
}

static void (*choose(const char *what, int n))(void)
{
	if (strcmp(what, "loads") == 0)
		return loads;
	return n == 1 ? stores_1 : n == 3 ? stores_3 : n == 8 ? stores_8 : stores_9;
}

int main(int argc, char **argv)
{
	static char area[4 << 20];
	const char *what = argc > 1 ? argv[1] : "clean";
	void (*program)(void) = choose(what, argc > 2 ? atoi(argv[2]) : 1);
	int dirty = strcmp(what, "dirty") == 0;

	map_bases();
	CACHEPEEK_BEGIN("warm");
	CACHEPEEK_END("warm");
	walk(area, 0, sizeof(area), 0);
	if (dirty) {
		walk(area, 0, sizeof(area), 1);
		/* still in L2, and no longer in L1D */
		walk(area, sizeof(area) - (256 << 10), sizeof(area) - (128 << 10), 0);
	}
	away_from_the_stack(program);
	return 0;
}
