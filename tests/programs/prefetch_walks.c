/* SPDX-License-Identifier: MIT
 * Walks over 16 MiB that prefetchers follow, or cannot follow, each in a region of its
 * own.  Each has one instruction that loads.
 */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "cachepeek.h"

#define BYTES (16l << 20)
#define LINES (BYTES / 64)
#define REGION 1024 /* of the records below */

/* Not inlined, so that each walk has its own. */
#define WALK __attribute__((noinline, noclone)) static

WALK uint64_t go_up(const char *at, long step, long n)
{
	uint64_t sum = 0;

	for (long i = 0; i < n; i++)
		sum += *(const volatile uint64_t *)(at + i * step);
	return sum;
}

/* A place that depends on the number of the record is too much for steps, not for
 * patterns. */
WALK uint64_t read_records(const char *at, const uint32_t *order, long n)
{
	static const int places[] = {0, 5, 6, 13};
	uint64_t sum = 0;

	for (long i = 0; i < n; i++) {
		const char *record = at + order[i] * (long)REGION;

		sum += *(const volatile uint64_t *)record;
		for (int k = 1; k < 4; k++)
			sum += *(const volatile uint64_t *)(record + 64 * places[k]);
	}
	return sum;
}

/* Each line once, and no line near the one before, in a ring. */
static void link_lines(char *at)
{
	uint32_t *order = malloc(LINES * sizeof(*order));
	uint64_t random = 88172645463325252u;

	for (uint32_t i = 0; i < LINES; i++)
		order[i] = i;
	for (uint32_t i = LINES - 1; i > 0; i--) {
		uint32_t k, was = order[i];

		random = random * 6364136223846793005u + 1442695040888963407u;
		k = (uint32_t)((random >> 33) % i);
		order[i] = order[k];
		order[k] = was;
	}
	for (uint32_t i = 0; i < LINES; i++)
		*(char **)(at + 64l * order[i]) = at + 64l * order[(i + 1) % LINES];
	free(order);
}

WALK const char *chase(const char *at, long n)
{
	while (n--)
		at = *(const char *const volatile *)at;
	return at;
}

int main(void)
{
	char *all = mmap(
		0, 2 * BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t order[BYTES / REGION];

	if (all == MAP_FAILED)
		return 1;
	all = (char *)(((uintptr_t)all + BYTES - 1) & ~(uintptr_t)(BYTES - 1));
	for (uint32_t i = 0; i < BYTES / REGION; i++)
		order[i] = i * 7919 % (BYTES / REGION);
	CACHEPEEK_BEGIN("sum");
	go_up(all, 8, BYTES / 8);
	CACHEPEEK_END("sum");
	CACHEPEEK_BEGIN("down");
	go_up(all + BYTES - 8, -8, BYTES / 8);
	CACHEPEEK_END("down");
	CACHEPEEK_BEGIN("stride 256");
	go_up(all, 256, BYTES / 256);
	CACHEPEEK_END("stride 256");
	CACHEPEEK_BEGIN("stride 4160");
	go_up(all, 4160, BYTES / 4160);
	CACHEPEEK_END("stride 4160");
	CACHEPEEK_BEGIN("records");
	read_records(all, order, BYTES / REGION);
	CACHEPEEK_END("records");
	link_lines(all);
	CACHEPEEK_BEGIN("chase");
	chase(all, LINES);
	CACHEPEEK_END("chase");
	return 0;
}
