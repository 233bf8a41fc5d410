/* SPDX-License-Identifier: MIT
 *
 * The first of the Livermore loops that are not here already, by their names: ADI
 * integration (8) and banded linear equations (4), on arrays that no near cache holds.
 */
#include <string.h>

#include "clock.h"

static double random_double(double from, double to)
{
	return from + (to - from) * (double)(next_number() % (1 << 20)) * 0x1p-20;
}

static double *random_room(size_t n, double from, double to)
{
	double *room = make_room(sizeof(*room) * n);

	for (size_t i = 0; i < n; i++)
		room[i] = random_double(from, to);
	return room;
}

/* ---- adi: three quantities of a plane, each by its neighbours and by how all three
 * change along y: y innermost, as in the loop, or x, along which they are stored ---- */

enum { SIDE = 300, ADI_TIMES = 80, QUANTITIES = 3 };

static const double share[QUANTITIES][QUANTITIES] = {
	{-0.010, 0.020, -0.013}, {0.012, -0.021, 0.015}, {-0.014, 0.011, -0.018}};
static const double sigma = 0.05;
static double *first_plane[QUANTITIES], *plane[2][QUANTITIES];

static void make_adi(void)
{
	for (int q = 0; q < QUANTITIES; q++) {
		first_plane[q] = random_room((size_t)SIDE * SIDE, 0, 1);
		plane[0][q] = make_room(sizeof(double) * SIDE * SIDE);
		plane[1][q] = make_room(sizeof(double) * SIDE * SIDE);
	}
}

static void begin_adi(void)
{
	for (int i = 0; i < 2; i++)
		for (int q = 0; q < QUANTITIES; q++)
			memcpy(plane[i][q], first_plane[q], sizeof(double) * SIDE * SIDE);
}

static inline void step_point(double **from, double **to, size_t at)
{
	double change0 = from[0][at + SIDE] - from[0][at - SIDE];
	double change1 = from[1][at + SIDE] - from[1][at - SIDE];
	double change2 = from[2][at + SIDE] - from[2][at - SIDE];

	for (int q = 0; q < QUANTITIES; q++) {
		const double *u = from[q];

		to[q][at] = u[at] + share[q][0] * change0 + share[q][1] * change1 +
			    share[q][2] * change2 +
			    sigma * (u[at + 1] - 2 * u[at] + u[at - 1]);
	}
}

static void adi_step_columns(double **from, double **to)
{
	for (size_t x = 1; x < SIDE - 1; x++)
		for (size_t y = 1; y < SIDE - 1; y++)
			step_point(from, to, y * SIDE + x);
}

static void adi_step_rows(double **from, double **to)
{
	for (size_t y = 1; y < SIDE - 1; y++)
		for (size_t x = 1; x < SIDE - 1; x++)
			step_point(from, to, y * SIDE + x);
}

static uint64_t adi(void (*step)(double **from, double **to))
{
	double sum = 0;

	begin_adi();
	for (int time = 0; time < ADI_TIMES; time++)
		step(plane[time % 2], plane[(time + 1) % 2]);
	for (size_t i = 0; i < (size_t)SIDE * SIDE; i += 97)
		sum += plane[ADI_TIMES % 2][0][i] + plane[ADI_TIMES % 2][2][i];
	return (uint64_t)(1e6 * sum);
}

static uint64_t adi_columns(void)
{
	return adi(adi_step_columns);
}

static uint64_t adi_rows(void)
{
	return adi(adi_step_rows);
}

/* ---- banded: unknowns of which those ahead are known, by a band that has every fifth
 * number of an array, as in the loop, or is an array of its own ---- */

enum { BAND = 400000, BANDED_STRIDE = 5, UNKNOWNS = 160, APART = 1000, LAST = 4 };

static double *first_unknown, *unknown, *coefficient, *band;

static void make_banded(void)
{
	first_unknown = random_room(BAND + (size_t)UNKNOWNS * APART, -1, 1);
	unknown = make_room(sizeof(double) * (BAND + (size_t)UNKNOWNS * APART));
	coefficient = random_room((size_t)BANDED_STRIDE * BAND + LAST, -1e-3, 1e-3);
	band = make_room(sizeof(double) * BAND);
	for (size_t i = 0; i < BAND; i++)
		band[i] = coefficient[LAST + BANDED_STRIDE * i];
}

/* The last unknown comes first. */
static inline uint64_t banded(const double *by, size_t stride)
{
	double sum = 0;

	memcpy(unknown, first_unknown,
		sizeof(double) * (BAND + (size_t)UNKNOWNS * APART));
	for (size_t k = UNKNOWNS; k-- > 0;) {
		const double *ahead = unknown + k * APART + 1;
		double rest = unknown[k * APART];

		for (size_t i = 0; i < BAND; i++)
			rest -= ahead[i] * by[i * stride];
		unknown[k * APART] = rest * by[0];
		sum += rest;
	}
	return (uint64_t)(1e6 * (sum < 0 ? -sum : sum));
}

static uint64_t banded_strided(void)
{
	return banded(coefficient + LAST, BANDED_STRIDE);
}

static uint64_t banded_packed(void)
{
	return banded(band, 1);
}

const struct kernel livermore_kernels[] = {
	{"adi-columns", make_adi, adi_columns},
	{"adi-rows", make_adi, adi_rows},
	{"banded-strided", make_banded, banded_strided},
	{"banded-packed", make_banded, banded_packed},
	{NULL, NULL, NULL},
};
