/* SPDX-License-Identifier: MIT
 *
 * The next kernels of the HPC Challenge (hpl) and of Parboil, by their names there.
 */
#include <math.h>
#include <string.h>

#include "clock.h"

/* ---- cutcp: what charges do at the points of a lattice that are near enough: each point
 * of a box is tested, or it is known where in a row they begin and end ---- */

enum { LATTICE = 96, ATOMS = 4000, REACH = 10 };

struct atom {
	float x, y, z, charge;
};

static struct atom *atoms;
static float *potential;

static float random_float(float from, float to)
{
	return from +
	       (to - from) * ((float)(next_number() % (1 << 20)) + 0.5f) * 0x1p-20f;
}

static void make_atoms(void)
{
	const float from = REACH + 1, to = LATTICE - REACH - 2;

	potential = make_room(sizeof(float) * LATTICE * LATTICE * LATTICE);
	atoms = make_room(sizeof(*atoms) * ATOMS);
	for (int i = 0; i < ATOMS; i++)
		atoms[i] = (struct atom){random_float(from, to), random_float(from, to),
			random_float(from, to), random_float(-1, 1)};
}

/* It ends smoothly where the reach does. */
static float potential_at(float charge, float square)
{
	float rest = 1 - square * (1.0f / (REACH * REACH));

	return charge / sqrtf(square) * rest * rest;
}

static void test_row(const struct atom *a, float square, float *row)
{
	for (int x = (int)a->x - REACH; x <= (int)a->x + REACH + 1; x++) {
		float away = (float)x - a->x, all = square + away * away;

		if (all < REACH * REACH)
			row[x] += potential_at(a->charge, all);
	}
}

static void known_row(const struct atom *a, float square, float *row)
{
	float half = REACH * REACH - square;

	if (half <= 0)
		return;
	half = sqrtf(half);
	for (int x = (int)(a->x - half) + 1, last = (int)(a->x + half); x <= last; x++) {
		float away = (float)x - a->x;

		row[x] += potential_at(a->charge, square + away * away);
	}
}

static void add_atom(
	const struct atom *a, void (*add_row)(const struct atom *, float, float *))
{
	for (int z = (int)a->z - REACH; z <= (int)a->z + REACH + 1; z++)
		for (int y = (int)a->y - REACH; y <= (int)a->y + REACH + 1; y++) {
			float up = (float)z - a->z, aside = (float)y - a->y;

			add_row(a, up * up + aside * aside,
				potential + ((size_t)z * LATTICE + (size_t)y) * LATTICE);
		}
}

static uint64_t cutcp(void (*add_row)(const struct atom *, float, float *))
{
	double sum = 0;

	memset(potential, 0, sizeof(float) * LATTICE * LATTICE * LATTICE);
	for (int i = 0; i < ATOMS; i++)
		add_atom(&atoms[i], add_row);
	for (size_t i = 0; i < (size_t)LATTICE * LATTICE * LATTICE; i += 7)
		sum += potential[i];
	return (uint64_t)fabs(1000 * sum);
}

static uint64_t cutcp_tested(void)
{
	return cutcp(test_row);
}

static uint64_t cutcp_known(void)
{
	return cutcp(known_row);
}

/* ---- hpl: equations, whose unknowns are taken out one by one, or a block of them at a
 * time ---- */

enum { UNKNOWNS = 800, BLOCK = 32, TILE = 128 };

static double *equations, *factors, *right, *solution;

static void make_equations(void)
{
	equations = make_room(sizeof(double) * UNKNOWNS * UNKNOWNS);
	factors = make_room(sizeof(double) * UNKNOWNS * UNKNOWNS);
	right = make_room(sizeof(double) * UNKNOWNS);
	solution = make_room(sizeof(double) * UNKNOWNS);
	for (size_t i = 0; i < (size_t)UNKNOWNS * UNKNOWNS; i++)
		equations[i] = (double)(next_number() % 2000) / 1000 - 1;
}

static double *row_of(size_t i)
{
	return factors + i * UNKNOWNS;
}

static void swap_rows(size_t i, size_t j)
{
	double kept = solution[i];

	solution[i] = solution[j];
	solution[j] = kept;
	for (size_t k = 0; k < UNKNOWNS; k++) {
		kept = row_of(i)[k];
		row_of(i)[k] = row_of(j)[k];
		row_of(j)[k] = kept;
	}
}

static void subtract_row(double *to, const double *row, double times, size_t n)
{
	for (size_t j = 0; j < n; j++)
		to[j] -= times * row[j];
}

/* The row with the most of an unknown comes first; others lose what they have of it,
 * before a last column. */
static void take_out(size_t k, size_t end)
{
	size_t most = k;

	for (size_t i = k + 1; i < UNKNOWNS; i++)
		if (fabs(row_of(i)[k]) > fabs(row_of(most)[k]))
			most = i;
	if (most != k)
		swap_rows(most, k);
	for (size_t i = k + 1; i < UNKNOWNS; i++) {
		row_of(i)[k] /= row_of(k)[k];
		subtract_row(
			row_of(i) + k + 1, row_of(k) + k + 1, row_of(i)[k], end - k - 1);
	}
}

static void factor_by_one(void)
{
	for (size_t k = 0; k < UNKNOWNS; k++)
		take_out(k, UNKNOWNS);
}

static void subtract_four_rows(
	double *to, const double *row, const double *times, size_t n)
{
	const double *second = row + UNKNOWNS, *third = second + UNKNOWNS;
	const double *fourth = third + UNKNOWNS;
	double a = times[0], b = times[1], c = times[2], d = times[3];

	for (size_t j = 0; j < n; j++)
		to[j] = to[j] - a * row[j] - b * second[j] - c * third[j] - d * fourth[j];
}

/* A tile of each row right of a block, and below it, by the rows of the block. */
static void take_out_of_tile(size_t block, size_t from, size_t n)
{
	const size_t end = block + BLOCK;

	for (size_t i = block + 1; i < end; i++)
		for (size_t k = block; k < i; k++)
			subtract_row(row_of(i) + from, row_of(k) + from, row_of(i)[k], n);
	for (size_t i = end; i < UNKNOWNS; i++)
		for (size_t k = block; k < end; k += 4)
			subtract_four_rows(
				row_of(i) + from, row_of(k) + from, row_of(i) + k, n);
}

static void factor_by_blocks(void)
{
	for (size_t block = 0; block < UNKNOWNS; block += BLOCK) {
		for (size_t k = block; k < block + BLOCK; k++)
			take_out(k, block + BLOCK);
		for (size_t from = block + BLOCK; from < UNKNOWNS; from += TILE)
			take_out_of_tile(block, from,
				UNKNOWNS - from < TILE ? UNKNOWNS - from : TILE);
	}
}

static uint64_t hpl(void (*factor)(void))
{
	memcpy(factors, equations, sizeof(double) * UNKNOWNS * UNKNOWNS);
	for (size_t i = 0; i < UNKNOWNS; i++)
		solution[i] = right[i] = (double)(i % 7);
	factor();
	for (size_t i = 0; i < UNKNOWNS; i++)
		for (size_t j = 0; j < i; j++)
			solution[i] -= row_of(i)[j] * solution[j];
	for (size_t i = UNKNOWNS; i-- > 0;) {
		for (size_t j = i + 1; j < UNKNOWNS; j++)
			solution[i] -= row_of(i)[j] * solution[j];
		solution[i] /= row_of(i)[i];
	}
	return (uint64_t)fabs(1e6 * solution[7]);
}

static uint64_t hpl_by_one(void)
{
	return hpl(factor_by_one);
}

static uint64_t hpl_by_blocks(void)
{
	return hpl(factor_by_blocks);
}

/* ---- lbm: a fluid in a box as crowds that go in nineteen directions and meet (lattice
 * Boltzmann): a direction at a time, or all of a cell ---- */

enum {
	WAYS = 19,
	WIDE = 50,
	HIGH = 48,
	DEEP = 46,
	CELLS = WIDE * HIGH * DEEP,
	EDGE = WIDE * HIGH + WIDE + 1, /* how far a crowd goes, at most */
	LBM_TIMES = 6
};

static const double OFTEN = 1.2; /* of what is too much, how much goes in a step */
static const int way[WAYS][3] = {{0, 0, 0}, {1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0},
	{0, 0, 1}, {0, 0, -1}, {1, 1, 0}, {-1, -1, 0}, {1, -1, 0}, {-1, 1, 0}, {1, 0, 1},
	{-1, 0, -1}, {1, 0, -1}, {-1, 0, 1}, {0, 1, 1}, {0, -1, -1}, {0, 1, -1},
	{0, -1, 1}};

static double *crowd[2][WAYS]; /* each with an edge around that nobody looks at */
static double *density, *momentum[3];
static unsigned char *wall;

static double share_of(int w)
{
	return w == 0 ? 1.0 / 3 : w < 7 ? 1.0 / 18 : 1.0 / 36;
}

static ptrdiff_t step_of(int w)
{
	return (way[w][2] * HIGH + way[w][1]) * WIDE + way[w][0];
}

static int opposite(int w)
{
	return w == 0 ? 0 : ((w - 1) ^ 1) + 1;
}

static int is_wall(size_t at)
{
	size_t x = at % WIDE, y = at / WIDE % HIGH, z = at / WIDE / HIGH;

	return x == 0 || x == WIDE - 1 || y == 0 || y == HIGH - 1 || z == 0 ||
	       z == DEEP - 1;
}

static void make_fluid(void)
{
	const size_t each = CELLS + 2 * EDGE;

	for (int i = 0; i < 2; i++) {
		crowd[i][0] = (double *)make_room(sizeof(double) * each * WAYS) + EDGE;
		for (int w = 1; w < WAYS; w++)
			crowd[i][w] = crowd[i][w - 1] + each;
	}
	density = make_room(sizeof(double) * CELLS);
	for (int axis = 0; axis < 3; axis++)
		momentum[axis] = make_room(sizeof(double) * CELLS);
	wall = make_room(CELLS);
	for (size_t i = 0; i < CELLS; i++)
		wall[i] = (unsigned char)is_wall(i);
}

static double first_density(size_t at)
{
	return 1 + (double)(at * 2654435761u % 1024) / 10240;
}

/* Here and there denser than elsewhere, and at rest. */
static void rest_fluid(void)
{
	for (int w = 0; w < WAYS; w++)
		for (size_t i = 0; i < CELLS; i++)
			crowd[0][w][i] = share_of(w) * first_density(i);
}

/* How many would go a way if nothing changed any more. */
static inline double settled(
	int w, double share, double dense, double x, double y, double z)
{
	double along = way[w][0] * x + way[w][1] * y + way[w][2] * z;

	return share * dense *
	       (1 + 3 * along + 4.5 * along * along - 1.5 * (x * x + y * y + z * z));
}

static void add_up(double **from)
{
	memset(density, 0, sizeof(double) * CELLS);
	for (int axis = 0; axis < 3; axis++)
		memset(momentum[axis], 0, sizeof(double) * CELLS);
	for (int w = 0; w < WAYS; w++) {
		for (size_t i = 0; i < CELLS; i++)
			density[i] += from[w][i];
		for (int axis = 0; axis < 3; axis++)
			for (size_t i = 0; way[w][axis] && i < CELLS; i++)
				momentum[axis][i] += way[w][axis] * from[w][i];
	}
}

static void meet_on_a_way(double **from, int w)
{
	double share = share_of(w);

	for (size_t i = 0; i < CELLS; i++) {
		double by = 1 / density[i];

		if (!wall[i])
			from[w][i] += OFTEN *
				      (settled(w, share, density[i], momentum[0][i] * by,
					       momentum[1][i] * by, momentum[2][i] * by) -
					      from[w][i]);
	}
}

/* From a wall they go back to where they came from. */
static void go_a_way(double **from, double **to, int w)
{
	ptrdiff_t step = step_of(w);

	for (size_t i = 0; i < CELLS; i++)
		to[w][(ptrdiff_t)i + step] = from[wall[i] ? opposite(w) : w][i];
}

static void step_by_ways(double **from, double **to)
{
	add_up(from);
	for (int w = 0; w < WAYS; w++)
		meet_on_a_way(from, w);
	for (int w = 0; w < WAYS; w++)
		go_a_way(from, to, w);
}

static void step_cell(double **from, double **to, size_t i)
{
	double here[WAYS], dense = 0, x = 0, y = 0, z = 0;

	for (int w = 0; w < WAYS; w++) {
		here[w] = from[w][i];
		dense += here[w];
		x += way[w][0] * here[w];
		y += way[w][1] * here[w];
		z += way[w][2] * here[w];
	}
	x /= dense;
	y /= dense;
	z /= dense;
	for (int w = 0; w < WAYS; w++)
		to[w][(ptrdiff_t)i + step_of(w)] =
			here[w] +
			OFTEN * (settled(w, share_of(w), dense, x, y, z) - here[w]);
}

static void step_by_cells(double **from, double **to)
{
	for (size_t i = 0; i < CELLS; i++) {
		if (!wall[i]) {
			step_cell(from, to, i);
			continue;
		}
		for (int w = 0; w < WAYS; w++)
			to[w][(ptrdiff_t)i + step_of(w)] = from[opposite(w)][i];
	}
}

static uint64_t lbm(void (*step)(double **from, double **to))
{
	rest_fluid();
	for (int time = 0; time < LBM_TIMES; time++)
		step(crowd[time % 2], crowd[(time + 1) % 2]);
	return (uint64_t)(1e6 * crowd[LBM_TIMES % 2][0]
				     [CELLS / 2 + WIDE * HIGH / 2 + WIDE / 2]);
}

static uint64_t lbm_ways(void)
{
	return lbm(step_by_ways);
}

static uint64_t lbm_cells(void)
{
	return lbm(step_by_cells);
}

/* ---- mri-gridding: what was seen at points anywhere goes to those of a grid around: as
 * it came, or by where it is ---- */

enum { GRID = 128, SAMPLES = 900000, WIDTH = 4, TABLE = 512, BIN = 8, BINS = GRID / BIN };

struct sample {
	float at[3], re, im;
};

struct value {
	float re, im;
};

static struct sample *samples, *sorted;
static struct value *grid;
static float *weights;
static uint32_t *bin_end;

/* Weights by distance, up to half of the width. */
static void make_weights(void)
{
	weights = make_room(sizeof(float) * (TABLE + 1));
	for (int i = 0; i <= TABLE; i++) {
		float away = (float)i / TABLE;

		weights[i] = expf(-4 * away * away) * (1 - away);
	}
}

static void make_samples(void)
{
	samples = make_room(sizeof(*samples) * SAMPLES);
	sorted = make_room(sizeof(*sorted) * SAMPLES);
	grid = make_room(sizeof(*grid) * GRID * GRID * GRID);
	bin_end = make_room(sizeof(*bin_end) * (BINS * BINS * BINS + 1));
	make_weights();
	for (size_t i = 0; i < SAMPLES; i++) {
		for (int axis = 0; axis < 3; axis++)
			samples[i].at[axis] = random_float(WIDTH, GRID - WIDTH);
		samples[i].re = random_float(-1, 1);
		samples[i].im = random_float(-1, 1);
	}
}

/* The first point that a sample goes to, along an axis. */
static size_t weigh(float at, float *weight)
{
	int first = (int)at - WIDTH / 2 + 1;

	for (int i = 0; i < WIDTH; i++) {
		float away = fabsf(at - (float)(first + i)) * (2.0f / WIDTH);

		weight[i] = weights[(int)(away * TABLE)];
	}
	return (size_t)first;
}

static void add_sample(const struct sample *s)
{
	float across[WIDTH], down[WIDTH], deep[WIDTH];
	size_t x = weigh(s->at[0], across), y = weigh(s->at[1], down);
	size_t z = weigh(s->at[2], deep);

	for (size_t k = 0; k < WIDTH; k++)
		for (size_t j = 0; j < WIDTH; j++) {
			struct value *row = grid + ((z + k) * GRID + y + j) * GRID + x;
			float weight = deep[k] * down[j];

			for (size_t i = 0; i < WIDTH; i++) {
				row[i].re += weight * across[i] * s->re;
				row[i].im += weight * across[i] * s->im;
			}
		}
}

static uint64_t put_on_grid(const struct sample *from)
{
	double sum = 0;

	memset(grid, 0, sizeof(*grid) * GRID * GRID * GRID);
	for (size_t i = 0; i < SAMPLES; i++)
		add_sample(&from[i]);
	for (size_t i = 0; i < (size_t)GRID * GRID * GRID; i += 61)
		sum += fabsf(grid[i].re);
	return (uint64_t)sum;
}

static uint64_t gridding_wild(void)
{
	return put_on_grid(samples);
}

static size_t bin_of(const struct sample *s)
{
	return ((size_t)s->at[2] / BIN * BINS + (size_t)s->at[1] / BIN) * BINS +
	       (size_t)s->at[0] / BIN;
}

static void sort_samples(void)
{
	uint32_t sum = 0;

	memset(bin_end, 0, sizeof(*bin_end) * BINS * BINS * BINS);
	for (size_t i = 0; i < SAMPLES; i++)
		bin_end[bin_of(&samples[i])]++;
	for (size_t b = 0; b < (size_t)BINS * BINS * BINS; b++) {
		uint32_t here = bin_end[b];

		bin_end[b] = sum;
		sum += here;
	}
	for (size_t i = 0; i < SAMPLES; i++)
		sorted[bin_end[bin_of(&samples[i])]++] = samples[i];
}

static uint64_t gridding_sorted(void)
{
	sort_samples();
	return put_on_grid(sorted);
}

const struct kernel parboil_kernels[] = {
	{"cutcp-tested", make_atoms, cutcp_tested},
	{"cutcp-known", make_atoms, cutcp_known},
	{"hpl-one", make_equations, hpl_by_one},
	{"hpl-blocks", make_equations, hpl_by_blocks},
	{"lbm-ways", make_fluid, lbm_ways},
	{"lbm-cells", make_fluid, lbm_cells},
	{"mri-gridding-wild", make_samples, gridding_wild},
	{"mri-gridding-sorted", make_samples, gridding_sorted},
	{NULL, NULL, NULL},
};
