/* SPDX-License-Identifier: MIT
 * What tells the caches something, 200 lines each, in a region of its own.
 */
#if defined(__x86_64__)
#include <emmintrin.h>
#include <stdlib.h>
#include <string.h>

#include "cachepeek.h"

#define N 200

static char prefetched[N * 64], flushed[N * 64], streamed[N * 64], filled[N * 64];
static char far[4 * N * 64];

static void load(const char *from)
{
	for (long i = 0; i < N; i++)
		__asm__ volatile("movb (%0), %%al" : : "r"(from + 64 * i) : "eax");
}

/* A line that is written is no longer in L1D, when it is flushed, passed or asked for. */
static void reach_far_lines(void)
{
	memset(far, 1, sizeof(far));
	for (long i = 0; i < N; i++)
		_mm_clflush(far + 64 * i);
	for (long i = N; i < 2 * N; i++)
		_mm_stream_si32((int *)(void *)(far + 64 * i), 1);
	for (long i = 0; i < N; i++)
		_mm_prefetch(far + 64 * i, _MM_HINT_T1);
}

int main(void)
{
	char *to = filled;
	long count = N;

	load(flushed);
	CACHEPEEK_BEGIN("prefetch");
	for (long i = 0; i < N; i++)
		_mm_prefetch(prefetched + 64 * i, _MM_HINT_T0);
	CACHEPEEK_END("prefetch");
	CACHEPEEK_BEGIN("prefetched");
	load(prefetched);
	CACHEPEEK_END("prefetched");
	load(flushed);
	CACHEPEEK_BEGIN("clflush");
	for (long i = 0; i < N; i++)
		_mm_clflush(flushed + 64 * i);
	CACHEPEEK_END("clflush");
	CACHEPEEK_BEGIN("flushed");
	load(flushed);
	CACHEPEEK_END("flushed");
	CACHEPEEK_BEGIN("streamed");
	for (long i = 0; i < N; i++)
		_mm_stream_si32((int *)(void *)(streamed + 64 * i), 1);
	CACHEPEEK_END("streamed");
	CACHEPEEK_BEGIN("filled");
	__asm__ volatile("rep stosb" : "+D"(to), "+c"(count) : "a"(1) : "memory");
	CACHEPEEK_END("filled");
	reach_far_lines();
	return 0;
}
#else
int main(void)
{
	return 0;
}
#endif
