/* SPDX-License-Identifier: MIT
 * Matrix multiply that walks one operand by columns.  Usage: matmul N */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 400;
	double *a = calloc((size_t)n * n, 8), *b = calloc((size_t)n * n, 8), sum = 0;

	for (int i = 0; i < n * n; i++) {
		a[i] = i % 7;
		b[i] = i % 5;
	}
	for (int i = 0; i < n; i++) {
		for (int j = 0; j < n; j++) {
			double s = 0;

			for (int k = 0; k < n; k++)
				s += a[i * n + k] * b[k * n + j];
			sum += s;
		}
	}
	printf("%g\n", sum);
	return 0;
}
