/* SPDX-License-Identifier: MIT
 *
 * BT and LU of the NAS Parallel Benchmarks: a gas in a box, by steps of time whose
 * equations are solved line by line, or by two sweeps through the box.
 */
#include <math.h>
#include <string.h>

#include "clock.h"

/* ---- the gas ---- */

enum {
	PARTS = 5, /* density, momentum along three axes, energy */
	AXES = 3,
	SIDE = 26,
	POINTS = SIDE * SIDE * SIDE,
	BT_TIMES = 6,
	LU_TIMES = 10
};

/* A step of time by a step of space, and how fast all parts, and speed and heat, spread.
 */
static const double COURANT = 0.2, SMOOTH = 0.02, VISCOUS = 0.01;
static const double GAMMA = 1.4;

struct state {
	double of[PARTS];
};

struct block {
	double of[PARTS][PARTS];
};

static const size_t step_of[AXES] = {1, SIDE, SIDE *SIDE};
static struct state *gas, *first_gas, *change;

static void make_gas(void)
{
	gas = make_room(sizeof(*gas) * POINTS);
	first_gas = make_room(sizeof(*gas) * POINTS);
	change = make_room(sizeof(*change) * POINTS);
	for (size_t i = 0; i < POINTS; i++) {
		for (int p = 0; p < PARTS; p++)
			first_gas[i].of[p] = (double)(next_number() % 1000) / 5000;
		first_gas[i].of[0] += 1;
		first_gas[i].of[PARTS - 1] += 2.5;
	}
}

struct flow {
	double speed[AXES], half_square, pressure;
};

static struct flow flow_of(const struct state *s)
{
	struct flow f = {.half_square = 0};

	for (int a = 0; a < AXES; a++) {
		f.speed[a] = s->of[1 + a] / s->of[0];
		f.half_square += f.speed[a] * f.speed[a] / 2;
	}
	f.pressure = (GAMMA - 1) * (s->of[PARTS - 1] - s->of[0] * f.half_square);
	return f;
}

/* The flow along an axis. */
static struct state flux_of(const struct state *s, const struct flow *f, int axis)
{
	struct state flux;

	for (int p = 0; p < PARTS; p++)
		flux.of[p] = s->of[p] * f->speed[axis];
	flux.of[1 + axis] += f->pressure;
	flux.of[PARTS - 1] += f->pressure * f->speed[axis];
	return flux;
}

/* The diffusion of speed and heat. */
static struct state spread_of(const struct state *s, const struct flow *f)
{
	struct state spread = {{0, f->speed[0], f->speed[1], f->speed[2],
		s->of[PARTS - 1] / s->of[0] - f->half_square}};

	return spread;
}

static void each_line(int axis, void (*work)(size_t first, int axis))
{
	size_t inner = step_of[axis == 0 ? 1 : 0], outer = step_of[axis == 2 ? 1 : 2];

	for (size_t i = 1; i < SIDE - 1; i++)
		for (size_t j = 1; j < SIDE - 1; j++)
			work(i * outer + j * inner, axis);
}

static void add_line(size_t first, int axis)
{
	struct state flux[SIDE], spread[SIDE];
	size_t step = step_of[axis];

	for (size_t k = 0; k < SIDE; k++) {
		const struct state *s = &gas[first + k * step];
		struct flow f = flow_of(s);

		flux[k] = flux_of(s, &f, axis);
		spread[k] = spread_of(s, &f);
	}
	for (size_t k = 1; k < SIDE - 1; k++) {
		size_t at = first + k * step;

		for (int p = 0; p < PARTS; p++)
			change[at].of[p] +=
				SMOOTH * (gas[at + step].of[p] - 2 * gas[at].of[p] +
						 gas[at - step].of[p]) +
				VISCOUS * (spread[k + 1].of[p] - 2 * spread[k].of[p] +
						  spread[k - 1].of[p]) -
				COURANT / 2 * (flux[k + 1].of[p] - flux[k - 1].of[p]);
	}
}

/* By what the gas would change in a step, were it to go on as it does now. */
static void find_change(void)
{
	memset(change, 0, sizeof(*change) * POINTS);
	for (int axis = 0; axis < AXES; axis++)
		each_line(axis, add_line);
}

static void add_change(void)
{
	for (size_t i = 0; i < POINTS; i++)
		for (int p = 0; p < PARTS; p++)
			gas[i].of[p] += change[i].of[p];
}

/* How the flux along an axis depends on each part, times a factor. */
static void put_flux(const struct state *s, const struct flow *f, int axis, double times,
	struct block *to)
{
	const double *v = f->speed, along = v[axis], less = GAMMA - 1;
	double enthalpy = (s->of[PARTS - 1] + f->pressure) / s->of[0];

	memset(to, 0, sizeof(*to));
	to->of[0][1 + axis] = times;
	for (int i = 0; i < AXES; i++) {
		to->of[1 + i][0] = -times * v[i] * along;
		to->of[1 + i][1 + i] = times * along;
		to->of[PARTS - 1][1 + i] = -times * less * along * v[i];
	}
	for (int i = 0; i < AXES; i++) {
		to->of[1 + i][1 + axis] += times * v[i];
		to->of[1 + axis][1 + i] -= times * less * v[i];
	}
	to->of[1 + axis][0] += times * less * f->half_square;
	to->of[1 + axis][PARTS - 1] = times * less;
	to->of[PARTS - 1][0] = times * along * (less * f->half_square - enthalpy);
	to->of[PARTS - 1][1 + axis] += times * enthalpy;
	to->of[PARTS - 1][PARTS - 1] = times * GAMMA * along;
}

/* The same of what spreads. */
static void add_spread(
	const struct state *s, const struct flow *f, double times, struct block *to)
{
	double each = times * VISCOUS / s->of[0];

	for (int p = 0; p < PARTS; p++)
		to->of[p][p] += times * SMOOTH + (p > 0 ? each : 0);
	for (int i = 0; i < AXES; i++) {
		to->of[1 + i][0] -= each * f->speed[i];
		to->of[PARTS - 1][1 + i] -= each * f->speed[i];
	}
	to->of[PARTS - 1][0] += each * (2 * f->half_square - s->of[PARTS - 1] / s->of[0]);
}

/* How a neighbour along an axis, before a point (-1) or behind it (1), changes it. */
static void neighbour(const struct state *s, int axis, int side, struct block *to)
{
	struct flow f = flow_of(s);

	put_flux(s, &f, axis, side * COURANT / 2, to);
	add_spread(s, &f, -1, to);
}

/* How a point changes itself. */
static void itself(const struct state *s, int axes, struct block *to)
{
	struct flow f = flow_of(s);

	memset(to, 0, sizeof(*to));
	for (int p = 0; p < PARTS; p++)
		to->of[p][p] = 1;
	add_spread(s, &f, 2 * axes, to);
}

static void subtract_product(
	const struct block *a, const struct state *x, struct state *from)
{
	for (int p = 0; p < PARTS; p++) {
		double sum = 0;

		for (int q = 0; q < PARTS; q++)
			sum += a->of[p][q] * x->of[q];
		from->of[p] -= sum;
	}
}

/* ---- BT: equations of each line along each axis in turn, in blocks ---- */

static void subtract_blocks(
	const struct block *a, const struct block *b, struct block *from)
{
	for (int p = 0; p < PARTS; p++)
		for (int q = 0; q < PARTS; q++) {
			double sum = 0;

			for (int k = 0; k < PARTS; k++)
				sum += a->of[p][k] * b->of[k][q];
			from->of[p][q] -= sum;
		}
}

static void subtract_row(struct block *diagonal, struct block *behind,
	struct state *right, int row, int from)
{
	double times = diagonal->of[from][row];

	for (int q = row + 1; q < PARTS; q++)
		diagonal->of[from][q] -= times * diagonal->of[row][q];
	for (int q = 0; q < PARTS; q++)
		behind->of[from][q] -= times * behind->of[row][q];
	right->of[from] -= times * right->of[row];
}

/* The block of a point itself becomes 1. */
static void divide_blocks(
	struct block *diagonal, struct block *behind, struct state *right)
{
	for (int row = 0; row < PARTS; row++) {
		double by = 1 / diagonal->of[row][row];

		for (int q = row + 1; q < PARTS; q++)
			diagonal->of[row][q] *= by;
		for (int q = 0; q < PARTS; q++)
			behind->of[row][q] *= by;
		right->of[row] *= by;
		for (int other = 0; other < PARTS; other++)
			if (other != row)
				subtract_row(diagonal, behind, right, row, other);
	}
}

/* Cells outside of the box do not change. */
static void solve_line(size_t first, int axis)
{
	struct block before, diagonal, behind[SIDE];
	size_t step = step_of[axis];

	for (size_t k = 1; k < SIDE - 1; k++) {
		size_t at = first + k * step;

		itself(&gas[at], 1, &diagonal);
		neighbour(&gas[at + step], axis, 1, &behind[k]);
		if (k > 1) {
			neighbour(&gas[at - step], axis, -1, &before);
			subtract_blocks(&before, &behind[k - 1], &diagonal);
			subtract_product(&before, &change[at - step], &change[at]);
		}
		divide_blocks(&diagonal, &behind[k], &change[at]);
	}
	for (size_t k = SIDE - 2; k-- > 1;)
		subtract_product(&behind[k], &change[first + (k + 1) * step],
			&change[first + k * step]);
}

static uint64_t block_tridiagonal(void)
{
	memcpy(gas, first_gas, sizeof(*gas) * POINTS);
	for (int time = 0; time < BT_TIMES; time++) {
		find_change();
		for (int axis = 0; axis < AXES; axis++)
			each_line(axis, solve_line);
		add_change();
	}
	return (uint64_t)(1e6 * gas[POINTS / 2 + SIDE * SIDE / 2 + SIDE / 2].of[0]);
}

/* ---- LU: by a sweep from the first point to the last one, of what is before each, and
 * one back, of what is behind ---- */

/* Equations of a point alone. */
static void divide(struct block *diagonal, struct state *right)
{
	for (int row = 0; row < PARTS; row++) {
		double by = 1 / diagonal->of[row][row];

		for (int other = row + 1; other < PARTS; other++) {
			double times = diagonal->of[other][row] * by;

			for (int q = row + 1; q < PARTS; q++)
				diagonal->of[other][q] -= times * diagonal->of[row][q];
			right->of[other] -= times * right->of[row];
		}
	}
	for (int row = PARTS; row-- > 0;) {
		for (int q = row + 1; q < PARTS; q++)
			right->of[row] -= diagonal->of[row][q] * right->of[q];
		right->of[row] /= diagonal->of[row][row];
	}
}

/* The neighbours of a side, of which those outside of the box do not change. */
static void subtract_neighbours(size_t at, int side, struct state *from)
{
	struct block one;

	for (int axis = 0; axis < AXES; axis++) {
		size_t to = side < 0 ? at - step_of[axis] : at + step_of[axis];

		neighbour(&gas[to], axis, side, &one);
		subtract_product(&one, &change[to], from);
	}
}

static void sweep_forwards(size_t at)
{
	struct block diagonal;

	subtract_neighbours(at, -1, &change[at]);
	itself(&gas[at], AXES, &diagonal);
	divide(&diagonal, &change[at]);
}

static void sweep_backwards(size_t at)
{
	struct state by_others = {{0}};
	struct block diagonal;

	subtract_neighbours(at, 1, &by_others);
	itself(&gas[at], AXES, &diagonal);
	divide(&diagonal, &by_others);
	for (int p = 0; p < PARTS; p++)
		change[at].of[p] += by_others.of[p];
}

static void sweep_both_ways(void)
{
	for (size_t z = 1; z < SIDE - 1; z++)
		for (size_t y = 1; y < SIDE - 1; y++)
			for (size_t x = 1; x < SIDE - 1; x++)
				sweep_forwards((z * SIDE + y) * SIDE + x);
	for (size_t z = SIDE - 1; z-- > 1;)
		for (size_t y = SIDE - 1; y-- > 1;)
			for (size_t x = SIDE - 1; x-- > 1;)
				sweep_backwards((z * SIDE + y) * SIDE + x);
}

static uint64_t lower_upper(void)
{
	memcpy(gas, first_gas, sizeof(*gas) * POINTS);
	for (int time = 0; time < LU_TIMES; time++) {
		find_change();
		sweep_both_ways();
		add_change();
	}
	return (uint64_t)(1e6 * gas[POINTS / 2 + SIDE * SIDE / 2 + SIDE / 2].of[0]);
}

const struct kernel nas2_kernels[] = {
	{"bt", make_gas, block_tridiagonal},
	{"lu-sweeps", make_gas, lower_upper},
	{NULL, NULL, NULL},
};
