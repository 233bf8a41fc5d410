/* SPDX-License-Identifier: MIT
 *
 * Ten functions that miss L1D about equally often, in an order and in runs that are
 * random, on some threads: the stream that samples are taken of.
 *
 *	places THREADS CALLS
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#define LINES 8192 /* of each thread's memory: far more than L1D has */
#define PLACE __attribute__((noinline, noclone, aligned(512)))

static unsigned calls;

struct work {
	volatile char *memory;
	uint32_t at, random;
};

static uint32_t draw(struct work *w)
{
	w->random = w->random * 1664525 + 1013904223;
	return w->random >> 8;
}

/* n lines that are not there, one way or another. */
#define FORWARD(name, step)                                                              \
	static PLACE void name(struct work *w, unsigned n)                               \
	{                                                                                \
		for (; n > 0; n--, w->at = (w->at + (step)) % LINES)                     \
			w->memory[w->at * 64]++;                                         \
	}
FORWARD(one, 1)
FORWARD(two, 3)
FORWARD(three, 5)
FORWARD(four, 67)
FORWARD(five, 129)

#define ANYWHERE(name, mask)                                                             \
	static PLACE void name(struct work *w, unsigned n)                               \
	{                                                                                \
		for (; n > 0; n--)                                                       \
			w->memory[(draw(w) & (mask)) * 64]++;                            \
	}
ANYWHERE(six, LINES - 1)
ANYWHERE(seven, LINES / 2 - 1)
ANYWHERE(eight, LINES - 2)

static PLACE void nine(struct work *w, unsigned n)
{
	for (; n > 0; n--, w->at = (w->at + LINES - 7) % LINES)
		(void)w->memory[w->at * 64];
}

static PLACE void ten(struct work *w, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		(void)w->memory[(w->at ^ (i * 33 % LINES)) * 64];
	w->at = (w->at + 11) % LINES;
}

static void *run(void *seed)
{
	static void (*const all[])(struct work *, unsigned) = {
		one, two, three, four, five, six, seven, eight, nine, ten};
	struct work w = {calloc(LINES, 64), 0, (uint32_t)(uintptr_t)seed};

	if (!w.memory)
		exit(1);
	for (unsigned i = 0; i < calls; i++) {
		unsigned which = draw(&w) % 10, again = 1 + draw(&w) % 7;

		while (again-- > 0)
			all[which](&w, 20 + draw(&w) % 200);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[16];
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 3;

	calls = argc > 2 ? (unsigned)atoi(argv[2]) : 1000;
	if (n > 16)
		return 2;
	for (unsigned i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, run, (void *)(uintptr_t)(i + 1)))
			return 1;
	for (unsigned i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
