/* SPDX-License-Identifier: MIT
 *	matmul SIZE
 * Multiplies two matrices of doubles in the textbook order, the second one
 * walked down its columns.
 */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	size_t n = argc > 1 ? (size_t)atoi(argv[1]) : 200;
	double *a = malloc(n * n * sizeof(*a)), *b = malloc(n * n * sizeof(*b));
	double *c = calloc(n * n, sizeof(*c)), total = 0;

	for (size_t i = 0; i < n * n; i++) {
		a[i] = (double)(i % 7);
		b[i] = (double)(i % 5);
	}
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++) {
			double sum = 0;

			for (size_t k = 0; k < n; k++)
				sum += a[i * n + k] * b[k * n + j];
			c[i * n + j] = sum;
			total += sum;
		}
	printf("%.0f\n", total);
	free(a);
	free(b);
	free(c);
	return 0;
}
