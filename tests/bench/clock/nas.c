/* SPDX-License-Identifier: MIT
 *
 * The five kernels of the NAS Parallel Benchmarks, by their names there.
 */
#include <math.h>
#include <string.h>

#include "clock.h"

/* ---- CG: conjugate gradients, of a matrix that is numbered at random or so that what
 * hangs together is near ---- */

enum { NODES = 300000, EDGES = 6 * NODES, ITERATIONS = 8 };

static uint32_t *row_start, *column, *number_of;
static double *value, *unknown, *residue, *direction, *by_direction;

static void make_rooms(void)
{
	row_start = make_room(sizeof(*row_start) * (NODES + 1));
	column = make_room(sizeof(*column) * (2 * EDGES + NODES));
	value = make_room(sizeof(*value) * (2 * EDGES + NODES));
	number_of = make_room(sizeof(*number_of) * NODES);
	unknown = make_room(sizeof(*unknown) * NODES);
	residue = make_room(sizeof(*residue) * NODES);
	direction = make_room(sizeof(*direction) * NODES);
	by_direction = make_room(sizeof(*by_direction) * NODES);
}

/* Edges to nodes near by, both ways, and a diagonal that is more than all of them. */
static void make_matrix(void)
{
	uint32_t *far = make_room(sizeof(*far) * EDGES);
	uint32_t *end = make_room(sizeof(*end) * (NODES + 1));

	for (size_t e = 0; e < EDGES; e++) {
		uint32_t near = (uint32_t)(e / 6);

		far[e] = number_of[(near + 1 + next_number() % 64) % NODES];
		end[number_of[near]]++;
		end[far[e]]++;
	}
	for (uint32_t i = 0, sum = 0; i < NODES; i++) {
		uint32_t degree = end[i];

		row_start[i] = sum;
		column[sum] = i;
		value[sum] = degree + 1;
		end[i] = sum + 1;
		sum += degree + 1;
		row_start[i + 1] = sum;
	}
	for (size_t e = 0; e < EDGES; e++) {
		uint32_t near = number_of[e / 6];

		column[end[near]] = far[e];
		value[end[near]++] = -1;
		column[end[far[e]]] = near;
		value[end[far[e]]++] = -1;
	}
}

/* The same matrix: as many random numbers came before it. */
static void make_cg_near(void)
{
	make_rooms();
	shuffle(number_of, NODES);
	for (uint32_t i = 0; i < NODES; i++)
		number_of[i] = i;
	make_matrix();
}

static void make_cg_wild(void)
{
	make_rooms();
	shuffle(number_of, NODES);
	make_matrix();
}

static double multiply_direction(void)
{
	double product = 0;

	for (size_t i = 0; i < NODES; i++) {
		double sum = 0;

		for (uint32_t e = row_start[i]; e < row_start[i + 1]; e++)
			sum += value[e] * direction[column[e]];
		by_direction[i] = sum;
		product += sum * direction[i];
	}
	return product;
}

static uint64_t conjugate_gradients(void)
{
	double rho = 0;

	for (size_t i = 0; i < NODES; i++) {
		double known = 1 + (double)(i % 7);

		unknown[i] = 0;
		residue[number_of[i]] = direction[number_of[i]] = known;
		rho += known * known;
	}
	for (int k = 0; k < ITERATIONS; k++) {
		double alpha = rho / multiply_direction(), before = rho;

		rho = 0;
		for (size_t i = 0; i < NODES; i++) {
			unknown[i] += alpha * direction[i];
			residue[i] -= alpha * by_direction[i];
			rho += residue[i] * residue[i];
		}
		for (size_t i = 0; i < NODES; i++)
			direction[i] = residue[i] + rho / before * direction[i];
	}
	return (uint64_t)(1e6 * rho);
}

/* ---- EP: pairs of numbers by chance that are normally distributed, and how many of them
 * are how far out ---- */

enum { PAIRS = 1 << 22, RINGS = 10 };

static uint64_t chance;

static double next_chance(void)
{
	chance = chance * 1220703125 & ((1ull << 46) - 1);
	return (double)chance * 0x1p-46;
}

static void make_nothing(void)
{
}

static uint64_t embarrassingly_parallel(void)
{
	uint64_t ring[RINGS] = {0};
	double sum_x = 0, sum_y = 0;

	chance = 271828183;
	for (int i = 0; i < PAIRS; i++) {
		double x = 2 * next_chance() - 1, y = 2 * next_chance() - 1;
		double square = x * x + y * y;

		if (square > 1 || square == 0)
			continue;
		square = sqrt(-2 * log(square) / square);
		x *= square;
		y *= square;
		sum_x += x;
		sum_y += y;
		ring[(int)fmax(fabs(x), fabs(y))]++;
	}
	return ring[0] + (uint64_t)fabs(sum_x) + (uint64_t)fabs(sum_y);
}

/* ---- FT: how a wave in a box spreads, by Fourier transforms of lines where they are, or
 * of copies in one piece ---- */

enum { FT_X = 128, FT_Y = 128, FT_Z = 32, FT_ALL = FT_X * FT_Y * FT_Z, FT_TIMES = 3 };

struct complex {
	double re, im;
};

static struct complex *wave, *spectrum, *spread, *roots;
static double *fading;

static double square_of(int i, int n)
{
	double k = i < n / 2 ? i : i - n;

	return k * k;
}

static void make_wave(void)
{
	wave = make_room(sizeof(*wave) * FT_ALL);
	spectrum = make_room(sizeof(*spectrum) * FT_ALL);
	spread = make_room(sizeof(*spread) * FT_ALL);
	roots = make_room(sizeof(*roots) * FT_X);
	fading = make_room(sizeof(*fading) * FT_ALL);
	for (int k = 0; k < FT_X; k++)
		roots[k] = (struct complex){
			cos(2 * M_PI * k / FT_X), sin(2 * M_PI * k / FT_X)};
	for (int i = 0; i < FT_ALL; i++) {
		double square = square_of(i % FT_X, FT_X) +
				square_of(i / FT_X % FT_Y, FT_Y) +
				square_of(i / FT_X / FT_Y, FT_Z);

		wave[i].re = (double)(next_number() % 1000) / 1000;
		wave[i].im = (double)(next_number() % 1000) / 1000;
		fading[i] = exp(-4e-6 * M_PI * M_PI * square);
	}
}

static struct complex times(struct complex a, struct complex b)
{
	return (struct complex){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* Points of a line are a step apart. */
static void bit_reverse(struct complex *line, size_t step, size_t n)
{
	for (size_t i = 1, j = 0; i < n; i++) {
		size_t bit = n >> 1;

		for (; j & bit; bit >>= 1)
			j ^= bit;
		j ^= bit;
		if (i < j) {
			struct complex kept = line[i * step];

			line[i * step] = line[j * step];
			line[j * step] = kept;
		}
	}
}

static void transform_line(struct complex *line, size_t step, size_t n, double sign)
{
	bit_reverse(line, step, n);
	for (size_t half = 1; half < n; half *= 2)
		for (size_t i = 0; i < n; i += 2 * half)
			for (size_t k = 0; k < half; k++) {
				struct complex *a = &line[(i + k) * step];
				struct complex *b = a + half * step;
				struct complex root = roots[k * (FT_X / 2 / half)];
				struct complex turned;

				root.im *= sign;
				turned = times(*b, root);
				b->re = a->re - turned.re;
				b->im = a->im - turned.im;
				a->re += turned.re;
				a->im += turned.im;
			}
}

static void transform_copied(struct complex *from, size_t step, size_t n, double sign)
{
	struct complex line[FT_X];

	for (size_t k = 0; k < n; k++)
		line[k] = from[k * step];
	transform_line(line, 1, n, sign);
	for (size_t k = 0; k < n; k++)
		from[k * step] = line[k];
}

typedef void transform(struct complex *line, size_t step, size_t n, double sign);

static void transform_box(struct complex *box, double sign, transform *one)
{
	for (size_t line = 0; line < FT_Y * FT_Z; line++)
		one(box + line * FT_X, 1, FT_X, sign);
	for (size_t z = 0; z < FT_Z; z++)
		for (size_t x = 0; x < FT_X; x++)
			one(box + z * FT_X * FT_Y + x, FT_X, FT_Y, sign);
	for (size_t line = 0; line < FT_X * FT_Y; line++)
		one(box + line, FT_X * FT_Y, FT_Z, sign);
}

static uint64_t spread_wave(transform *one)
{
	double sum = 0;

	memcpy(spectrum, wave, sizeof(*wave) * FT_ALL);
	transform_box(spectrum, -1, one);
	for (int time = 0; time < FT_TIMES; time++) {
		for (size_t i = 0; i < FT_ALL; i++) {
			spectrum[i].re *= fading[i];
			spectrum[i].im *= fading[i];
		}
		memcpy(spread, spectrum, sizeof(*spread) * FT_ALL);
		transform_box(spread, 1, one);
		for (size_t k = 1; k <= 1024; k++)
			sum += spread[k * 5 % FT_ALL].re / FT_ALL;
	}
	return (uint64_t)(1000 * sum);
}

static uint64_t fourier_strided(void)
{
	return spread_wave(transform_line);
}

static uint64_t fourier_copied(void)
{
	return spread_wave(transform_copied);
}

/* ---- IS: numbers are sorted by counts of each ---- */

enum { KEYS = 1 << 23, KEY_BITS = 19 };

static uint32_t *keys, *sorted_keys, *count;

/* Sums of four numbers: those in the middle are the most. */
static void make_keys(void)
{
	keys = make_room(sizeof(*keys) * KEYS);
	sorted_keys = make_room(sizeof(*keys) * KEYS);
	count = make_room(sizeof(*count) << KEY_BITS);
	for (size_t i = 0; i < KEYS; i++) {
		uint64_t four = next_number();
		uint64_t sum = (four & 0xffff) + (four >> 16 & 0xffff) +
			       (four >> 32 & 0xffff) + (four >> 48);

		keys[i] = (uint32_t)(sum << (KEY_BITS - 18) | next_number() % 2);
	}
}

/* Counts become the places where each number begins. */
static uint64_t integer_sort(void)
{
	uint32_t sum = 0;

	memset(count, 0, sizeof(*count) << KEY_BITS);
	for (size_t i = 0; i < KEYS; i++)
		count[keys[i]]++;
	for (size_t key = 0; key < (size_t)1 << KEY_BITS; key++) {
		uint32_t here = count[key];

		count[key] = sum;
		sum += here;
	}
	for (size_t i = 0; i < KEYS; i++)
		sorted_keys[count[keys[i]]++] = keys[i];
	return sorted_keys[KEYS / 3];
}

/* ---- MG: a potential in a box, by coarser and coarser grids ---- */

enum { LEVELS = 6, FINEST = 1 << (LEVELS + 1), MG_CYCLES = 2 };

struct grid {
	size_t side; /* with a layer around what is inside */
	double *potential, *rest, *charge;
};

static struct grid grids[LEVELS];

/* Ten of each sign, anywhere. */
static void put_charges(const struct grid *g)
{
	for (int i = 0; i < 20; i++) {
		size_t x = next_number() % (g->side - 2) + 1;
		size_t y = next_number() % (g->side - 2) + 1;
		size_t z = next_number() % (g->side - 2) + 1;

		g->charge[(z * g->side + y) * g->side + x] = i % 2 ? 1 : -1;
	}
}

static void make_grids(void)
{
	for (size_t level = 0; level < LEVELS; level++) {
		struct grid *g = &grids[level];
		size_t points;

		g->side = ((size_t)4 << level) + 2;
		points = g->side * g->side * g->side;
		g->potential = make_room(sizeof(double) * points);
		g->rest = make_room(sizeof(double) * points);
		g->charge = make_room(sizeof(double) * points);
	}
	put_charges(&grids[LEVELS - 1]);
}

/* The box is without an end: what is around it is what is inside on the other side. */
static void wrap(const struct grid *g, double *box)
{
	size_t s = g->side, plane = s * s, last = s - 2;

	for (size_t z = 1; z <= last; z++)
		for (size_t y = 1; y <= last; y++) {
			double *line = box + z * plane + y * s;

			line[0] = line[last];
			line[s - 1] = line[1];
		}
	for (size_t z = 1; z <= last; z++) {
		memcpy(box + z * plane, box + z * plane + last * s, sizeof(double) * s);
		memcpy(box + z * plane + (s - 1) * s, box + z * plane + s,
			sizeof(double) * s);
	}
	memcpy(box, box + last * plane, sizeof(double) * plane);
	memcpy(box + (s - 1) * plane, box + plane, sizeof(double) * plane);
}

/* Sums of the four neighbours that have one coordinate less or more than a point of a
 * line in y or in z, and of the four that have so in both. */
static double beside[FINEST + 2], across[FINEST + 2];

static void sum_around(size_t side, const double *line)
{
	ptrdiff_t row = (ptrdiff_t)side, plane = row * row;

	for (size_t x = 0; x < side; x++) {
		const double *at = line + x;

		beside[x] = at[-row] + at[row] + at[-plane] + at[plane];
		across[x] = at[-plane - row] + at[row - plane] + at[plane - row] +
			    at[plane + row];
	}
}

/* A point and its 26 neighbours, each as much as its distance says. */
static double share_of(const double *line, size_t x, const double *share)
{
	return share[0] * line[x] + share[1] * (line[x - 1] + line[x + 1] + beside[x]) +
	       share[2] * (across[x] + beside[x - 1] + beside[x + 1]) +
	       share[3] * (across[x - 1] + across[x + 1]);
}

static void add_shares(
	const struct grid *g, const double *from, double *to, const double *share)
{
	size_t s = g->side;

	for (size_t z = 1; z < s - 1; z++)
		for (size_t y = 1; y < s - 1; y++) {
			size_t line = (z * s + y) * s;

			sum_around(s, from + line);
			for (size_t x = 1; x < s - 1; x++)
				to[line + x] += share_of(from + line, x, share);
		}
	wrap(g, to);
}

/* The charge, less what the potential accounts for. */
static void find_rest(const struct grid *g)
{
	static const double share[] = {8.0 / 3, 0, -1.0 / 6, -1.0 / 12};

	memcpy(g->rest, g->charge, sizeof(double) * g->side * g->side * g->side);
	add_shares(g, g->potential, g->rest, share);
}

static void smooth(const struct grid *g)
{
	static const double share[] = {-3.0 / 8, 1.0 / 32, -1.0 / 64, 0};

	add_shares(g, g->rest, g->potential, share);
}

/* The rest of a grid is the charge of the coarser one. */
static void make_coarser(const struct grid *fine, const struct grid *coarse)
{
	static const double share[] = {1.0 / 2, 1.0 / 4, 1.0 / 8, 1.0 / 16};
	size_t s = fine->side, c = coarse->side;

	for (size_t z = 1; z < c - 1; z++)
		for (size_t y = 1; y < c - 1; y++) {
			const double *line = fine->rest + (2 * z * s + 2 * y) * s;

			sum_around(s, line);
			for (size_t x = 1; x < c - 1; x++)
				coarse->charge[(z * c + y) * c + x] =
					share_of(line, 2 * x, share);
		}
	wrap(coarse, coarse->charge);
}

/* Points between coarse ones get the mean of these. */
static void add_coarser(const struct grid *coarse, const struct grid *fine)
{
	static double line[FINEST / 2 + 2];
	size_t s = fine->side, c = coarse->side;

	for (size_t z = 1; z < s - 1; z++)
		for (size_t y = 1; y < s - 1; y++) {
			const double *low = coarse->potential + z / 2 * c * c;
			const double *high = coarse->potential + (z + 1) / 2 * c * c;
			size_t one = y / 2 * c, other = (y + 1) / 2 * c;

			for (size_t x = 0; x < c; x++)
				line[x] = low[one + x] + low[other + x] + high[one + x] +
					  high[other + x];
			for (size_t x = 1; x < s - 1; x++)
				fine->potential[(z * s + y) * s + x] +=
					0.125 * (line[x / 2] + line[(x + 1) / 2]);
		}
	wrap(fine, fine->potential);
}

static void empty(const struct grid *g)
{
	memset(g->potential, 0, sizeof(double) * g->side * g->side * g->side);
}

static void solve_coarser(void)
{
	for (size_t level = LEVELS - 1; level > 0; level--) {
		empty(&grids[level - 1]);
		make_coarser(&grids[level], &grids[level - 1]);
		find_rest(&grids[level - 1]);
	}
	smooth(&grids[0]);
	for (size_t level = 1; level < LEVELS; level++) {
		add_coarser(&grids[level - 1], &grids[level]);
		find_rest(&grids[level]);
		smooth(&grids[level]);
	}
}

static uint64_t multigrid(void)
{
	const struct grid *finest = &grids[LEVELS - 1];
	double sum = 0;

	empty(finest);
	for (int cycle = 0; cycle < MG_CYCLES; cycle++) {
		find_rest(finest);
		solve_coarser();
	}
	find_rest(finest);
	for (size_t i = 0; i < finest->side * finest->side * finest->side; i++)
		sum += finest->rest[i] * finest->rest[i];
	return (uint64_t)(1e6 * sum);
}

const struct kernel nas_kernels[] = {
	{"cg-wild", make_cg_wild, conjugate_gradients},
	{"cg-near", make_cg_near, conjugate_gradients},
	{"ep", make_nothing, embarrassingly_parallel},
	{"ft-strided", make_wave, fourier_strided},
	{"ft-copied", make_wave, fourier_copied},
	{"is", make_keys, integer_sort},
	{"mg", make_grids, multigrid},
	{NULL, NULL, NULL},
};
