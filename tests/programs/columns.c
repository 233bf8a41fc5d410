/* SPDX-License-Identifier: MIT
 *	columns N ROUNDS
 * Sums an N by N matrix of doubles column by column: each reference is N * 8
 * bytes behind the one before it.
 */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	size_t n = argc > 1 ? strtoul(argv[1], NULL, 0) : 300;
	int rounds = argc > 2 ? atoi(argv[2]) : 3;
	volatile double *matrix = calloc(n * n, sizeof(*matrix));
	double sum = 0;

	if (!matrix)
		return 1;
	while (rounds--)
		for (size_t column = 0; column < n; column++)
			for (size_t row = 0; row < n; row++)
				sum += matrix[row * n + column];
	printf("%g\n", sum);
	return 0;
}
