/* SPDX-License-Identifier: MIT
 * Follows a random cycle through memory.  Usage: chase MEGABYTES STEPS */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t state = 88172645463325252ull;

static uint64_t random_below(uint64_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 11) % n;
}

int main(int argc, char **argv)
{
	uint32_t n = (uint32_t)(argc > 1 ? atoi(argv[1]) : 16) << 14;
	long steps = argc > 2 ? atol(argv[2]) : 10000000;
	uint32_t *next = malloc((size_t)n * 64), at = 0;

	for (uint32_t i = 0; i < n; i++)
		next[i * 16ul] = i;
	for (uint32_t i = n - 1; i > 0; i--) { /* Sattolo: one cycle */
		uint32_t j = (uint32_t)random_below(i), t = next[i * 16ul];

		next[i * 16ul] = next[j * 16ul];
		next[j * 16ul] = t;
	}
	while (steps-- > 0)
		at = next[at * 16ul];
	printf("%u\n", at);
	return 0;
}
