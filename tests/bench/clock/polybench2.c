/* SPDX-License-Identifier: MIT
 *
 * The next of the kernels of PolyBench that are not here already, by their names there.
 */
#include <math.h>
#include <string.h>

#include "clock.h"

static double *room_of_doubles(size_t n)
{
	return make_room(sizeof(double) * n);
}

static double *random_doubles(size_t n)
{
	double *made = room_of_doubles(n);

	for (size_t i = 0; i < n; i++)
		made[i] = (double)(next_number() % 1000) / 1000;
	return made;
}

static double length_of(const double *vector, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += vector[i] * vector[i];
	return sqrt(sum);
}

/* ---- gesummv: a vector by two matrices at once, some times ---- */

enum { SIDE = 1800, TIMES = 32 };

static double *one_matrix, *other_matrix, *vector, *product;

static void make_two_matrices(void)
{
	one_matrix = random_doubles((size_t)SIDE * SIDE);
	other_matrix = random_doubles((size_t)SIDE * SIDE);
	vector = room_of_doubles(SIDE);
	product = room_of_doubles(SIDE);
}

static void multiply_by_both(void)
{
	const double alpha = 1.5, beta = 1.2;

	for (size_t i = 0; i < SIDE; i++) {
		double one = 0, other = 0;

		for (size_t j = 0; j < SIDE; j++) {
			one += one_matrix[i * SIDE + j] * vector[j];
			other += other_matrix[i * SIDE + j] * vector[j];
		}
		product[i] = alpha * one + beta * other;
	}
}

/* Each time what the time before found, of length 1. */
static uint64_t gesummv(void)
{
	double length = 0;

	for (size_t j = 0; j < SIDE; j++)
		vector[j] = 1 / sqrt(SIDE);
	for (int time = 0; time < TIMES; time++) {
		multiply_by_both();
		length = length_of(product, SIDE);
		for (size_t j = 0; j < SIDE; j++)
			vector[j] = product[j] / length;
	}
	return (uint64_t)length;
}

/* ---- gramschmidt: the columns of a matrix become upright to each other, of which each
 * is walked down, or all of them row by row ---- */

enum { TALL = 540, WIDE = 450 };

static double *given, *left, *upright, *triangle;

static void make_gramschmidt(void)
{
	given = random_doubles((size_t)TALL * WIDE);
	left = room_of_doubles((size_t)TALL * WIDE);
	upright = room_of_doubles((size_t)TALL * WIDE);
	triangle = room_of_doubles((size_t)WIDE * WIDE);
}

static void make_length_one(size_t k)
{
	double sum = 0;

	for (size_t i = 0; i < TALL; i++)
		sum += left[i * WIDE + k] * left[i * WIDE + k];
	triangle[k * WIDE + k] = sqrt(sum);
	for (size_t i = 0; i < TALL; i++)
		upright[i * WIDE + k] = left[i * WIDE + k] / triangle[k * WIDE + k];
}

/* Later columns lose what they have of this one. */
static void take_out_by_columns(size_t k)
{
	for (size_t j = k + 1; j < WIDE; j++) {
		double sum = 0;

		for (size_t i = 0; i < TALL; i++)
			sum += upright[i * WIDE + k] * left[i * WIDE + j];
		triangle[k * WIDE + j] = sum;
		for (size_t i = 0; i < TALL; i++)
			left[i * WIDE + j] -= upright[i * WIDE + k] * sum;
	}
}

static void take_out_by_rows(size_t k)
{
	double *sums = triangle + k * WIDE;

	memset(sums + k + 1, 0, sizeof(double) * (WIDE - k - 1));
	for (size_t i = 0; i < TALL; i++) {
		double here = upright[i * WIDE + k];

		for (size_t j = k + 1; j < WIDE; j++)
			sums[j] += here * left[i * WIDE + j];
	}
	for (size_t i = 0; i < TALL; i++) {
		double here = upright[i * WIDE + k];

		for (size_t j = k + 1; j < WIDE; j++)
			left[i * WIDE + j] -= here * sums[j];
	}
}

static uint64_t gramschmidt(void (*take_out)(size_t k))
{
	memcpy(left, given, sizeof(double) * TALL * WIDE);
	for (size_t k = 0; k < WIDE; k++) {
		make_length_one(k);
		take_out(k);
	}
	return (uint64_t)(1e6 * triangle[(size_t)WIDE * WIDE - 1]);
}

static uint64_t gramschmidt_columns(void)
{
	return gramschmidt(take_out_by_columns);
}

static uint64_t gramschmidt_rows(void)
{
	return gramschmidt(take_out_by_rows);
}

/* ---- jacobi-1d: each point of a rod becomes the mean of three, by the whole rod or by
 * blocks that go through all steps ---- */

enum { ROD = 2400000, STEPS = 64, PIECE = 64, BLOCK = 24 * PIECE };

static double *rod[2];

static void make_rod(void)
{
	rod[0] = random_doubles(ROD);
	rod[1] = room_of_doubles(ROD);
	memcpy(rod[1], rod[0], sizeof(double) * ROD);
}

/* Points of a piece can be taken two at a time. */
static inline void step_piece(
	const double *restrict old, double *restrict new, ptrdiff_t points)
{
	for (ptrdiff_t i = 0; i < points; i++)
		new[i] = 0.33333 * (old[i - 1] + old[i] + old[i + 1]);
}

/* The ends stay as they are. */
static void step_rod(int time, ptrdiff_t from, ptrdiff_t end)
{
	const double *old = rod[time % 2];
	double *new = rod[(time + 1) % 2];

	if (from < 1)
		from = 1;
	if (end > ROD - 1)
		end = ROD - 1;
	for (; from + PIECE <= end; from += PIECE)
		step_piece(old + from, new + from, PIECE);
	step_piece(old + from, new + from, end - from);
}

static uint64_t rod_by_steps(void)
{
	for (int time = 0; time < STEPS; time++)
		step_rod(time, 1, ROD - 1);
	return (uint64_t)(1e6 * rod[0][ROD / 2]);
}

/* A block moves back by one point each step, so that the block before it has made all
 * that it needs. */
static uint64_t rod_by_blocks(void)
{
	for (ptrdiff_t from = 0; from < ROD + STEPS; from += BLOCK)
		for (int time = 0; time < STEPS; time++)
			step_rod(time, from - time, from - time + BLOCK);
	return (uint64_t)(1e6 * rod[0][ROD / 2]);
}

/* ---- ludcmp: equations, whose factors are sums of a row by a column each ---- */

enum { UNKNOWNS = 700 };

static double *equations, *factors, *right, *between, *solution;

static void make_equations(void)
{
	equations = random_doubles((size_t)UNKNOWNS * UNKNOWNS);
	factors = room_of_doubles((size_t)UNKNOWNS * UNKNOWNS);
	right = random_doubles(UNKNOWNS);
	between = room_of_doubles(UNKNOWNS);
	solution = room_of_doubles(UNKNOWNS);
	for (size_t i = 0; i < UNKNOWNS; i++)
		equations[i * UNKNOWNS + i] += UNKNOWNS;
}

/* The rest of an entry behind the factors before it. */
static double rest_of(size_t i, size_t j, size_t before)
{
	double rest = factors[i * UNKNOWNS + j];

	for (size_t k = 0; k < before; k++)
		rest -= factors[i * UNKNOWNS + k] * factors[k * UNKNOWNS + j];
	return rest;
}

static void find_factors(void)
{
	for (size_t i = 0; i < UNKNOWNS; i++) {
		for (size_t j = 0; j < i; j++)
			factors[i * UNKNOWNS + j] =
				rest_of(i, j, j) / factors[j * UNKNOWNS + j];
		for (size_t j = i; j < UNKNOWNS; j++)
			factors[i * UNKNOWNS + j] = rest_of(i, j, i);
	}
}

static uint64_t ludcmp(void)
{
	memcpy(factors, equations, sizeof(double) * UNKNOWNS * UNKNOWNS);
	find_factors();
	for (size_t i = 0; i < UNKNOWNS; i++) {
		between[i] = right[i];
		for (size_t j = 0; j < i; j++)
			between[i] -= factors[i * UNKNOWNS + j] * between[j];
	}
	for (size_t i = UNKNOWNS; i-- > 0;) {
		double rest = between[i];

		for (size_t j = i + 1; j < UNKNOWNS; j++)
			rest -= factors[i * UNKNOWNS + j] * solution[j];
		solution[i] = rest / factors[i * UNKNOWNS + i];
	}
	return (uint64_t)fabs(1e9 * solution[7]);
}

const struct kernel polybench2_kernels[] = {
	{"gesummv", make_two_matrices, gesummv},
	{"gramschmidt-columns", make_gramschmidt, gramschmidt_columns},
	{"gramschmidt-rows", make_gramschmidt, gramschmidt_rows},
	{"jacobi-1d-steps", make_rod, rod_by_steps},
	{"jacobi-1d-blocks", make_rod, rod_by_blocks},
	{"ludcmp", make_equations, ludcmp},
	{NULL, NULL, NULL},
};
