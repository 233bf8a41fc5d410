/* SPDX-License-Identifier: MIT
 *
 * Systems of equations and products of matrices, the middle of each neighbourhood of an
 * image, and spheres that are looked at.
 */
#include <math.h>
#include <string.h>

#include "clock.h"

static void fill(double *to, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = (double)(next_number() % 1000) / 1000;
}

/* ---- equations of a Toeplitz matrix (durbin of PolyBench) ---- */

enum { EQUATIONS = 1600 };

static double *toeplitz, *solution, *next_solution;

static void make_toeplitz(void)
{
	toeplitz = make_room(sizeof(double) * EQUATIONS);
	solution = make_room(sizeof(double) * EQUATIONS);
	next_solution = make_room(sizeof(double) * EQUATIONS);
	for (int i = 0; i < EQUATIONS; i++)
		toeplitz[i] = 0.5 / (i + 2);
}

static uint64_t durbin(void)
{
	double alpha = -toeplitz[0], beta = 1;

	solution[0] = alpha;
	for (size_t k = 1; k < EQUATIONS; k++) {
		double sum = 0;

		beta *= 1 - alpha * alpha;
		for (size_t i = 0; i < k; i++)
			sum += toeplitz[k - i - 1] * solution[i];
		alpha = -(toeplitz[k] + sum) / beta;
		for (size_t i = 0; i < k; i++)
			next_solution[i] = solution[i] + alpha * solution[k - i - 1];
		memcpy(solution, next_solution, sizeof(double) * k);
		solution[k] = alpha;
	}
	return (uint64_t)fabs(1000 * solution[7]);
}

/* ---- a symmetric matrix, of which a half is there, by another (symm of PolyBench) ----
 */

enum { N = 180 };

static double *half, *by, *product;

static void make_halves(void)
{
	half = make_room(sizeof(double) * N * N);
	by = make_room(sizeof(double) * N * N);
	product = make_room(sizeof(double) * N * N);
	fill(half, (size_t)N * N);
	fill(by, (size_t)N * N);
}

static uint64_t symmetric(void)
{
	for (size_t i = 0; i < N; i++)
		for (size_t j = 0; j < N; j++) {
			double sum = 0;

			for (size_t k = 0; k < i; k++) {
				product[k * N + j] +=
					0.01 * by[i * N + j] * half[i * N + k];
				sum += by[k * N + j] * half[i * N + k];
			}
			product[i * N + j] = 0.5 * product[i * N + j] +
					     0.01 * by[i * N + j] * half[i * N + i] +
					     0.01 * sum;
		}
	return (uint64_t)product[7];
}

/* ---- heat in a plate, along each column and then along each row (adi of PolyBench) ----
 */

enum { PLATE = 360 };

static double *along, *across, *p, *q;

static void make_plate(void)
{
	along = make_room(sizeof(double) * PLATE * PLATE);
	across = make_room(sizeof(double) * PLATE * PLATE);
	p = make_room(sizeof(double) * PLATE * PLATE);
	q = make_room(sizeof(double) * PLATE * PLATE);
	fill(along, (size_t)PLATE * PLATE);
}

/* Points of a line are a step apart, in what is known as in what is found. */
static void sweep(size_t line, size_t step, const double *known, double *found)
{
	const double a = -0.4, b = 1.8;
	size_t beside = step == 1 ? PLATE : 1, first = line * beside;
	double *pj = p + line * PLATE, *qj = q + line * PLATE;

	pj[0] = 0;
	qj[0] = found[first] = 1;
	for (size_t j = 1; j < PLATE - 1; j++) {
		const double *at = &known[first + j * step];
		double around =
			0.4 * at[-(ptrdiff_t)beside] + 0.2 * at[0] + 0.4 * at[beside];

		pj[j] = -a / (a * pj[j - 1] + b);
		qj[j] = (around - a * qj[j - 1]) / (a * pj[j - 1] + b);
	}
	found[first + (PLATE - 1) * step] = 1;
	for (size_t j = PLATE - 2; j >= 1; j--)
		found[first + j * step] = pj[j] * found[first + (j + 1) * step] + qj[j];
}

static uint64_t alternate(void)
{
	for (size_t i = 1; i < PLATE - 1; i++)
		sweep(i, PLATE, along, across);
	for (size_t i = 1; i < PLATE - 1; i++)
		sweep(i, 1, across, along);
	return (uint64_t)(1000 * along[7 * PLATE + 7]);
}

/* ---- a matrix by a vector from the right and the left at once (bicg of PolyBench) ----
 */

enum { ROWS = 1100, COLUMNS = 900 };

static double *matrix, *from_right, *from_left, *to_right, *to_left;

static void make_matrix(void)
{
	matrix = make_room(sizeof(double) * ROWS * COLUMNS);
	from_right = make_room(sizeof(double) * COLUMNS);
	from_left = make_room(sizeof(double) * ROWS);
	to_right = make_room(sizeof(double) * COLUMNS);
	to_left = make_room(sizeof(double) * ROWS);
	fill(matrix, (size_t)ROWS * COLUMNS);
	fill(from_right, COLUMNS);
	fill(from_left, ROWS);
}

static uint64_t both_sides(void)
{
	memset(to_right, 0, sizeof(double) * COLUMNS);
	for (size_t i = 0; i < ROWS; i++) {
		to_left[i] = 0;
		for (size_t j = 0; j < COLUMNS; j++) {
			to_right[j] += from_left[i] * matrix[i * COLUMNS + j];
			to_left[i] += matrix[i * COLUMNS + j] * from_right[j];
		}
	}
	return (uint64_t)(to_right[7] + to_left[7]);
}

/* ---- the middle one around each point of an image, by counts that move along (Huang)
 * ---- */

enum { WIDTH = 240, HEIGHT = 120, REACH = 5, AROUND = 2 * REACH + 1 };

static unsigned char *image, *middles;
static uint16_t counts[256];

static void make_image(void)
{
	image = make_room((size_t)WIDTH * HEIGHT);
	middles = make_room((size_t)WIDTH * HEIGHT);
	for (size_t i = 0; i < (size_t)WIDTH * HEIGHT; i++)
		image[i] = (unsigned char)(i % WIDTH / 2 + next_number() % 100);
}

/* How many of column x, which come or go, are less than the middle. */
static unsigned count_column(size_t x, size_t y, uint16_t come, unsigned middle)
{
	unsigned less = 0;

	for (size_t k = y - REACH; k <= y + REACH; k++) {
		unsigned char value = image[k * WIDTH + x];

		counts[value] = (uint16_t)(counts[value] + come);
		less += value < middle;
	}
	return less;
}

static uint64_t median_row(size_t y)
{
	unsigned middle = 0, less = 0;
	uint64_t sum = 0;

	memset(counts, 0, sizeof(counts));
	for (size_t x = 0; x < AROUND - 1; x++)
		count_column(x, y, 1, 0);
	for (size_t x = REACH; x < WIDTH - REACH; x++) {
		less += count_column(x + REACH, y, 1, middle);
		while (less > AROUND * AROUND / 2)
			less -= counts[--middle];
		while (less + counts[middle] <= AROUND * AROUND / 2)
			less += counts[middle++];
		middles[y * WIDTH + x] = (unsigned char)middle;
		sum += middle;
		less -= count_column(x - REACH, y, (uint16_t)-1, middle);
	}
	return sum;
}

static uint64_t median(void)
{
	uint64_t sum = 0;

	for (size_t y = REACH; y < HEIGHT - REACH; y++)
		sum += median_row(y);
	return sum;
}

/* ---- which sphere is first where one looks, and how bright it is there ---- */

enum { SPHERES = 24, ACROSS = 160, DOWN = 100 };

static struct sphere {
	float at[3], radius;
} spheres[SPHERES];

static void make_spheres(void)
{
	for (int i = 0; i < SPHERES; i++) {
		for (int k = 0; k < 3; k++)
			spheres[i].at[k] = (float)(next_number() % 1000) / 100 - 5;
		spheres[i].at[2] += 12;
		spheres[i].radius = (float)(next_number() % 100) / 100 + 0.3f;
	}
}

static float dot(const float *one, const float *other)
{
	return one[0] * other[0] + one[1] * other[1] + one[2] * other[2];
}

/* From the origin along a direction of length 1: how far the sphere is, 0 where it is
 * missed. */
static float reach_sphere(const struct sphere *sphere, const float *direction)
{
	float along_it = dot(sphere->at, direction);
	float inside = along_it * along_it - dot(sphere->at, sphere->at) +
		       sphere->radius * sphere->radius;

	if (inside < 0 || along_it < 0)
		return 0;
	return along_it - sqrtf(inside);
}

static float brightness(const float *direction)
{
	const struct sphere *first = NULL;
	float nearest = 1e9f, light = 0;

	for (int i = 0; i < SPHERES; i++) {
		float far = reach_sphere(&spheres[i], direction);

		if (far > 0 && far < nearest) {
			nearest = far;
			first = &spheres[i];
		}
	}
	if (!first)
		return 0;
	for (int k = 0; k < 3; k++)
		light += (first->at[k] - nearest * direction[k]) / first->radius;
	return light > 0 ? light : 0;
}

static uint64_t look(void)
{
	float sum = 0;

	for (int y = 0; y < DOWN; y++)
		for (int x = 0; x < ACROSS; x++) {
			float direction[3] = {(float)(x - ACROSS / 2) / ACROSS,
				(float)(y - DOWN / 2) / DOWN, 1};
			float length = sqrtf(dot(direction, direction));

			for (int k = 0; k < 3; k++)
				direction[k] /= length;
			sum += brightness(direction);
		}
	return (uint64_t)sum;
}

const struct kernel linear_kernels[] = {
	{"durbin", make_toeplitz, durbin},
	{"symmetric", make_halves, symmetric},
	{"alternate", make_plate, alternate},
	{"both-sides", make_matrix, both_sides},
	{"median", make_image, median},
	{"spheres", make_spheres, look},
	{NULL, NULL, NULL},
};
