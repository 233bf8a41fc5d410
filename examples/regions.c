/* SPDX-License-Identifier: MIT
 *
 * Two ways through the same matrix, each a region of the report:
 *
 *     cc -O1 $(pkg-config --cflags cachepeek) -o regions regions.c
 *     LD_PRELOAD=libcachepeek.so ./regions
 */
#include <stdio.h>

#include <cachepeek.h>

#define N 512

double matrix[N][N];

static double along_rows(void)
{
	double sum = 0;

	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			sum += matrix[i][j];
	return sum;
}

/* Each step is in another line, and 512 lines are more than a set holds. */
static double along_columns(void)
{
	double sum = 0;

	for (int j = 0; j < N; j++)
		for (int i = 0; i < N; i++)
			sum += matrix[i][j];
	return sum;
}

int main(void)
{
	double rows, columns;

	CACHEPEEK_BEGIN("rows");
	rows = along_rows();
	CACHEPEEK_END("rows");
	CACHEPEEK_BEGIN("columns");
	columns = along_columns();
	CACHEPEEK_END("columns");
	printf("%g\n", rows + columns);
	return 0;
}
