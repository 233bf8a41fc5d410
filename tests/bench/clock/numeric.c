/* SPDX-License-Identifier: MIT
 *
 * Factors, stencils and clusters.
 */
#include <math.h>
#include <string.h>

#include "clock.h"

/* ---- factors of a symmetric matrix ---- */

enum { N = 200 };

static double *matrix, *factors;

static void make_symmetric(void)
{
	matrix = make_room(sizeof(double) * N * N);
	factors = make_room(sizeof(double) * N * N);
	for (int i = 0; i < N; i++)
		for (int j = 0; j <= i; j++)
			matrix[i * N + j] = matrix[j * N + i] =
				(double)(next_number() % 1000) / 1000 + (i == j ? N : 0);
}

static uint64_t cholesky(void)
{
	for (int i = 0; i < N; i++)
		for (int j = 0; j <= i; j++) {
			double sum = matrix[i * N + j];

			for (int k = 0; k < j; k++)
				sum -= factors[i * N + k] * factors[j * N + k];
			factors[i * N + j] =
				i == j ? sqrt(sum) : sum / factors[j * N + j];
		}
	return (uint64_t)(1000 * factors[N * N - 1]);
}

/* ---- heat in a cube ---- */

enum { SIDE = 96 };
#define AT(x, y, z) (((size_t)(z)*SIDE + (size_t)(y)) * SIDE + (size_t)(x))

static double *heat, *next_heat;

static void make_heat(void)
{
	heat = make_room(sizeof(double) * SIDE * SIDE * SIDE);
	next_heat = make_room(sizeof(double) * SIDE * SIDE * SIDE);
	for (size_t i = 0; i < (size_t)SIDE * SIDE * SIDE; i++)
		heat[i] = (double)(next_number() % 100);
}

static void heat_point(int x, int y, int z)
{
	double around = heat[AT(x - 1, y, z)] + heat[AT(x + 1, y, z)] +
			heat[AT(x, y - 1, z)] + heat[AT(x, y + 1, z)] +
			heat[AT(x, y, z - 1)] + heat[AT(x, y, z + 1)];

	next_heat[AT(x, y, z)] =
		heat[AT(x, y, z)] + 0.1 * (around - 6 * heat[AT(x, y, z)]);
}

static uint64_t heat_in_order(void)
{
	for (int z = 1; z < SIDE - 1; z++)
		for (int y = 1; y < SIDE - 1; y++)
			for (int x = 1; x < SIDE - 1; x++)
				heat_point(x, y, z);
	return (uint64_t)next_heat[AT(7, 7, 7)];
}

static uint64_t heat_across(void)
{
	for (int x = 1; x < SIDE - 1; x++)
		for (int y = 1; y < SIDE - 1; y++)
			for (int z = 1; z < SIDE - 1; z++)
				heat_point(x, y, z);
	return (uint64_t)next_heat[AT(7, 7, 7)];
}

/* ---- the game of life, in bytes ---- */

enum { FIELD = 700 };

static unsigned char *cells, *next_cells;

static void make_life(void)
{
	cells = make_room((size_t)FIELD * FIELD);
	next_cells = make_room((size_t)FIELD * FIELD);
	for (size_t i = 0; i < (size_t)FIELD * FIELD; i++)
		cells[i] = next_number() % 3 == 0;
}

static uint64_t life(void)
{
	uint64_t alive = 0;

	for (size_t y = 1; y < FIELD - 1; y++)
		for (size_t x = 1; x < FIELD - 1; x++) {
			const unsigned char *at = &cells[y * FIELD + x];
			int around = at[-FIELD - 1] + at[-FIELD] + at[-FIELD + 1] +
				     at[-1] + at[1] + at[FIELD - 1] + at[FIELD] +
				     at[FIELD + 1];

			if (around == 3 || (around == 2 && *at)) {
				next_cells[y * FIELD + x] = 1;
				alive++;
			} else {
				next_cells[y * FIELD + x] = 0;
			}
		}
	return alive;
}

/* ---- points to the nearest of some centres ---- */

enum { POINTS = 20000, AXES = 8, CENTRES = 16 };

static float *points, centres[CENTRES][AXES];

static void make_points(void)
{
	points = make_room(sizeof(float) * POINTS * AXES);
	for (size_t i = 0; i < (size_t)POINTS * AXES; i++)
		points[i] = (float)(next_number() % 1000);
	for (int c = 0; c < CENTRES; c++)
		for (int k = 0; k < AXES; k++)
			centres[c][k] = (float)(next_number() % 1000);
}

static int nearest(const float *point)
{
	float least = 1e30f;
	int best = 0;

	for (int c = 0; c < CENTRES; c++) {
		float far = 0;

		for (int k = 0; k < AXES; k++)
			far += (point[k] - centres[c][k]) * (point[k] - centres[c][k]);
		if (far < least) {
			least = far;
			best = c;
		}
	}
	return best;
}

static uint64_t clusters(void)
{
	static uint32_t count[CENTRES];

	memset(count, 0, sizeof(count));
	for (size_t i = 0; i < POINTS; i++)
		count[nearest(points + i * AXES)]++;
	return count[3];
}

/* ---- the worth that goes into a bag ---- */

enum { THINGS = 100, ROOM = 20000 };

static uint32_t weight[THINGS], worth[THINGS], *bag;

static void make_bag(void)
{
	bag = make_room(sizeof(*bag) * (ROOM + 1));
	for (int i = 0; i < THINGS; i++) {
		weight[i] = (uint32_t)(next_number() % 5000 + 1);
		worth[i] = (uint32_t)(next_number() % 1000 + 1);
	}
}

static uint64_t knapsack(void)
{
	memset(bag, 0, sizeof(*bag) * (ROOM + 1));
	for (int i = 0; i < THINGS; i++)
		for (size_t room = ROOM; room >= weight[i]; room--)
			if (bag[room - weight[i]] + worth[i] > bag[room])
				bag[room] = bag[room - weight[i]] + worth[i];
	return bag[ROOM];
}

const struct kernel numeric_kernels[] = {
	{"cholesky", make_symmetric, cholesky},
	{"heat-in-order", make_heat, heat_in_order},
	{"heat-across", make_heat, heat_across},
	{"life", make_life, life},
	{"clusters", make_points, clusters},
	{"knapsack", make_bag, knapsack},
	{NULL, NULL, NULL},
};
