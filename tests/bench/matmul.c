/* SPDX-License-Identifier: MIT
 * Matrix multiply.  Usage: matmul N [rows]
 * It walks one operand by columns, with "rows" all of them by rows. */
#include <stdio.h>
#include <stdlib.h>

static void by_columns(int n, const double *a, const double *b, double *c)
{
	for (int i = 0; i < n; i++) {
		for (int j = 0; j < n; j++) {
			double s = 0;

			for (int k = 0; k < n; k++)
				s += a[i * n + k] * b[k * n + j];
			c[i * n + j] = s;
		}
	}
}

static void by_rows(int n, const double *a, const double *b, double *c)
{
	for (int i = 0; i < n; i++)
		for (int k = 0; k < n; k++)
			for (int j = 0; j < n; j++)
				c[i * n + j] += a[i * n + k] * b[k * n + j];
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 400;
	size_t cells = (size_t)n * (size_t)n;
	double *a = calloc(cells, 8), *b = calloc(cells, 8), *c = calloc(cells, 8);
	double sum = 0;

	for (size_t i = 0; i < cells; i++) {
		a[i] = (double)(i % 7);
		b[i] = (double)(i % 5);
	}
	if (argc > 2)
		by_rows(n, a, b, c);
	else
		by_columns(n, a, b, c);
	for (size_t i = 0; i < cells; i++)
		sum += c[i];
	printf("%g\n", sum);
	return 0;
}
