/* SPDX-License-Identifier: MIT
 *
 * Blurs a picture, first along its rows and then along its columns; the second
 * is slow.  doc/tutorial.md finds out why, and what -DBY_ROWS does about it.
 *
 *     cc -O2 -g -finstrument-functions -o blur blur.c
 *     LD_PRELOAD=libcachepeek.so ./blur
 */
#include <stdio.h>

#define N 1024
#define REACH 8 /* pixels to each side, of which the mean is taken */

static int picture[N][N], blurred[N][N], smooth[N][N];

static void draw(void)
{
	unsigned state = 1;

	for (int y = 0; y < N; y++)
		for (int x = 0; x < N; x++)
			picture[y][x] =
				(int)((state = state * 1664525 + 1013904223) >> 24);
}

static void along_rows(int from[N][N], int to[N][N])
{
	for (int y = 0; y < N; y++) {
		int sum = 0;

		for (int x = 0; x < N; x++) {
			sum += from[y][x] -
			       (x > 2 * REACH ? from[y][x - 2 * REACH - 1] : 0);
			to[y][x] = sum / (2 * REACH + 1);
		}
	}
}

#ifndef BY_ROWS
/* A column after the other: each step down is N ints further on. */
static void along_columns(int from[N][N], int to[N][N])
{
	for (int x = 0; x < N; x++) {
		int sum = 0;

		for (int y = 0; y < N; y++) {
			sum += from[y][x] -
			       (y > 2 * REACH ? from[y - 2 * REACH - 1][x] : 0);
			to[y][x] = sum / (2 * REACH + 1);
		}
	}
}
#else
/* All columns at once, a row after the other: a sum for each column. */
static void along_columns(int from[N][N], int to[N][N])
{
	int sum[N] = {0};

	for (int y = 0; y < N; y++)
		for (int x = 0; x < N; x++) {
			sum[x] += from[y][x] -
				  (y > 2 * REACH ? from[y - 2 * REACH - 1][x] : 0);
			to[y][x] = sum[x] / (2 * REACH + 1);
		}
}
#endif

static unsigned checksum(int of[N][N])
{
	unsigned sum = 0;

	for (int y = 0; y < N; y++)
		for (int x = 0; x < N; x++)
			sum = sum * 31 + (unsigned)of[y][x];
	return sum;
}

int main(void)
{
	draw();
	along_rows(picture, blurred);
	along_columns(blurred, smooth);
	printf("%u\n", checksum(smooth));
	return 0;
}
