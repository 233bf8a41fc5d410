/* SPDX-License-Identifier: MIT
 *
 * Matrices and grids.
 */
#include "clock.h"

enum { M = 160, BIG = 1024, GRID = 600, BLOCK = 16 };

static double *a, *b, *c;

static void make_matrices(void)
{
	a = make_room(sizeof(double) * BIG * BIG);
	b = make_room(sizeof(double) * BIG * BIG);
	c = make_room(sizeof(double) * BIG * BIG);
	for (size_t i = 0; i < BIG * BIG; i++) {
		a[i] = (double)(next_number() % 1000) / 1000 + 1;
		b[i] = (double)(next_number() % 1000) / 1000 + 1;
	}
}

static uint64_t gemm_columns(void)
{
	for (int i = 0; i < M; i++)
		for (int j = 0; j < M; j++) {
			double sum = 0;

			for (int k = 0; k < M; k++)
				sum += a[i * BIG + k] * b[k * BIG + j];
			c[i * BIG + j] = sum;
		}
	return (uint64_t)c[7];
}

static uint64_t gemm_rows(void)
{
	for (int i = 0; i < M; i++) {
		for (int j = 0; j < M; j++)
			c[i * BIG + j] = 0;
		for (int k = 0; k < M; k++)
			for (int j = 0; j < M; j++)
				c[i * BIG + j] += a[i * BIG + k] * b[k * BIG + j];
	}
	return (uint64_t)c[7];
}

/* y = A x, and y = transposed A x as A lies. */
static uint64_t mvt_rows(void)
{
	for (int i = 0; i < BIG; i++) {
		double sum = 0;

		for (int j = 0; j < BIG; j++)
			sum += a[i * BIG + j] * b[j];
		c[i] = sum;
	}
	return (uint64_t)c[7];
}

static uint64_t mvt_columns(void)
{
	for (int i = 0; i < BIG; i++) {
		double sum = 0;

		for (int j = 0; j < BIG; j++)
			sum += a[j * BIG + i] * b[j];
		c[i] = sum;
	}
	return (uint64_t)c[7];
}

static uint64_t transpose_naive(void)
{
	for (int i = 0; i < BIG; i++)
		for (int j = 0; j < BIG; j++)
			c[j * BIG + i] = a[i * BIG + j];
	return (uint64_t)c[7];
}

static uint64_t transpose_blocked(void)
{
	for (int i = 0; i < BIG; i += BLOCK)
		for (int j = 0; j < BIG; j += BLOCK)
			for (int k = i; k < i + BLOCK; k++)
				for (int l = j; l < j + BLOCK; l++)
					c[l * BIG + k] = a[k * BIG + l];
	return (uint64_t)c[7];
}

#define CELL(m, i, j) (m)[(i)*BIG + (j)]

static uint64_t jacobi_rows(void)
{
	for (int i = 1; i < GRID - 1; i++)
		for (int j = 1; j < GRID - 1; j++)
			CELL(c, i, j) =
				0.2 *
				(CELL(a, i, j) + CELL(a, i, j - 1) + CELL(a, i, j + 1) +
					CELL(a, i - 1, j) + CELL(a, i + 1, j));
	return (uint64_t)CELL(c, 3, 3);
}

static uint64_t jacobi_columns(void)
{
	for (int j = 1; j < GRID - 1; j++)
		for (int i = 1; i < GRID - 1; i++)
			CELL(c, i, j) =
				0.2 *
				(CELL(a, i, j) + CELL(a, i, j - 1) + CELL(a, i, j + 1) +
					CELL(a, i - 1, j) + CELL(a, i + 1, j));
	return (uint64_t)CELL(c, 3, 3);
}

/* Each point needs the one before. */
static uint64_t seidel(void)
{
	for (int i = 1; i < GRID - 1; i++)
		for (int j = 1; j < GRID - 1; j++)
			CELL(b, i, j) =
				(CELL(b, i, j - 1) + CELL(b, i, j) + CELL(b, i, j + 1) +
					CELL(b, i - 1, j) + CELL(b, i + 1, j)) /
				5.0;
	return (uint64_t)CELL(b, 3, 3);
}

/* Without pivots, of a copy. */
static uint64_t lu(void)
{
	for (int i = 0; i < M; i++)
		for (int j = 0; j < M; j++)
			CELL(c, i, j) = CELL(a, i, j) + (i == j ? 2 * M : 0);
	for (int k = 0; k < M; k++)
		for (int i = k + 1; i < M; i++) {
			double factor = CELL(c, i, k) /= CELL(c, k, k);

			for (int j = k + 1; j < M; j++)
				CELL(c, i, j) -= factor * CELL(c, k, j);
		}
	return (uint64_t)CELL(c, M - 1, M - 1);
}

static int *paths;

static void make_paths(void)
{
	paths = make_room(sizeof(int) * M * M);
}

static uint64_t floyd_warshall(void)
{
	for (int i = 0; i < M * M; i++)
		paths[i] = (i * 7919 + 13) % 1009;
	for (int k = 0; k < M; k++)
		for (int i = 0; i < M; i++)
			for (int j = 0; j < M; j++) {
				int over = paths[i * M + k] + paths[k * M + j];

				if (over < paths[i * M + j])
					paths[i * M + j] = over;
			}
	return (uint64_t)paths[M + 7];
}

const struct kernel dense_kernels[] = {
	{"gemm-columns", make_matrices, gemm_columns},
	{"gemm-rows", make_matrices, gemm_rows},
	{"mvt-columns", make_matrices, mvt_columns},
	{"mvt-rows", make_matrices, mvt_rows},
	{"transpose-naive", make_matrices, transpose_naive},
	{"transpose-blocked", make_matrices, transpose_blocked},
	{"jacobi-columns", make_matrices, jacobi_columns},
	{"jacobi-rows", make_matrices, jacobi_rows},
	{"seidel", make_matrices, seidel},
	{"lu", make_matrices, lu},
	{"floyd-warshall", make_paths, floyd_warshall},
	{NULL, NULL, NULL},
};
