/* SPDX-License-Identifier: MIT
 *
 * Three functions of known shares of the misses of an L1D of 32 KiB, for so many ms of
 * CPU time (below 0: so many turns); then it says how many turns there were.  Each
 * address hangs on what was loaded before, so instructions are few and windows of shadows
 * short. "forks": a child does the same.  "execs": then it begins again with half of the
 * time.  "maps": below its code are 1,000 other mappings that can be executed.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LINE = 64, ARRAY = 1 << 18, SMALL = 4096, STEPS = 2048, TURNS = 20 };

/* Takes as long as many instructions. */
static inline __attribute__((always_inline)) void wait_a_little(void)
{
	static unsigned turns;

	for (unsigned i = 0; i < 2; i++)
		__atomic_fetch_add(&turns, 1, __ATOMIC_SEQ_CST);
}

/* Most steps miss: 4,096 lines, of which L1D holds 512. */
static __attribute__((noinline)) uint64_t at_random(const unsigned char *zeros)
{
	static uint64_t state = 1;

	for (unsigned i = 0; i < STEPS; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		state += zeros[(state >> 33) % ARRAY];
		wait_a_little();
	}
	return state;
}

/* All miss. */
static __attribute__((noinline)) uint64_t in_order(const unsigned char *zeros)
{
	uint64_t at = 0;

	while (at < ARRAY / 4) {
		at += LINE + zeros[at];
		wait_a_little();
	}
	return at;
}

/* The first turn of many misses. */
static __attribute__((noinline)) uint64_t in_cache(const unsigned char *zeros)
{
	uint64_t sum = 0;

	for (unsigned turn = 0; turn < 20; turn++)
		for (uint64_t at = 0; at < SMALL; sum++) {
			at += LINE + zeros[at];
			wait_a_little();
		}
	return sum;
}

static long cpu_ms(void)
{
	return (long)((double)clock() * 1000 / CLOCKS_PER_SEC);
}

/* None is beside another, which would make one of both. */
static bool map_below(void)
{
	enum { MAPPINGS = 1000, PAGE = 4096 };

	for (uintptr_t i = 0; i < MAPPINGS; i++) {
		uintptr_t at = 0x10000000 + 2 * i * PAGE;

		if (mmap((void *)at, PAGE, PROT_READ | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
			    0) != (void *)at)
			return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	long ms = argc > 1 ? strtol(argv[1], NULL, 10) : 1000;
	unsigned char *zeros = calloc(ARRAY, 1), *small = calloc(SMALL, 1);
	const char *how = argc > 2 ? argv[2] : "";
	unsigned turns = 0;
	uint64_t sum = 0;
	char half[32];

	if (!zeros || !small || (strcmp(how, "forks") == 0 && fork() < 0) ||
		(strcmp(how, "maps") == 0 && !map_below()))
		return 2;
	for (; ms > 0 ? cpu_ms() < ms : turns < -ms; turns += TURNS)
		for (unsigned i = 0; i < TURNS; i++)
			sum += at_random(zeros) + in_order(zeros) + in_cache(small);
	while (wait(NULL) > 0)
		;
	printf("%u\n", turns);
	fflush(stdout);
	snprintf(half, sizeof(half), "%ld", ms / 2);
	if (strcmp(how, "execs") == 0)
		execl(argv[0], argv[0], half, (char *)NULL);
	return sum == 1;
}
