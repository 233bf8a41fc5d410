/* SPDX-License-Identifier: MIT
 *	chase LINES STEPS
 * Follows a chain of pointers through LINES lines in a fixed random order.
 */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	size_t lines = argc > 1 ? strtoul(argv[1], NULL, 0) : 4096;
	size_t steps = argc > 2 ? strtoul(argv[2], NULL, 0) : 1000000;
	size_t *order = malloc(lines * sizeof(*order));
	char *base = aligned_alloc(64, lines * 64), *at;
	unsigned long long random = 88172645463325252ull;

	for (size_t i = 0; i < lines; i++)
		order[i] = i;
	for (size_t i = lines - 1; i > 0; i--) {
		size_t j, swap = order[i];

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		j = random % (i + 1);
		order[i] = order[j];
		order[j] = swap;
	}
	for (size_t i = 0; i < lines; i++)
		*(char **)(base + order[i] * 64) = base + order[(i + 1) % lines] * 64;
	at = base;
	while (steps--)
		at = *(char **)at;
	printf("%ld\n", (long)((at - base) / 64));
	free(order);
	free(base);
	return 0;
}
