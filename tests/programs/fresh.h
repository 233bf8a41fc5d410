/* SPDX-License-Identifier: MIT
 * Memory that nothing has touched yet, and how to touch it.
 */
#ifndef CACHEPEEK_TESTS_FRESH_H
#define CACHEPEEK_TESTS_FRESH_H

#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { LINE = 64, PAGE = 4096 };

/* Whole fresh pages; small ones, so that each first touch is one page fault. */
static inline volatile char *fresh(size_t bytes)
{
	char *at = mmap(
		NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		abort();
	madvise(at, bytes, MADV_NOHUGEPAGE);
	return at;
}

/* One load per step.  Not inlined, so that its code is the same everywhere. */
static __attribute__((noinline, unused)) void load_each(
	volatile char *at, size_t count, size_t step)
{
	while (count--) {
		(void)*at;
		at += step;
	}
}

static __attribute__((noinline, unused)) void store_each(
	volatile char *at, size_t count, size_t step)
{
	while (count--) {
		*at = 1;
		at += step;
	}
}

#endif
