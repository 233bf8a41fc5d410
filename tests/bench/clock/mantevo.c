/* SPDX-License-Identifier: MIT
 *
 * The first of the small programs of Mantevo and of the Exascale Computing Project that
 * are not here already, by their names there.
 */
#include <math.h>
#include <string.h>

#include "clock.h"

/* ---- cloverleaf: a gas on a plane, of cells whose corners move for a step and are then
 * where they were; along columns or rows of the grid ---- */

enum { CELLS = 400, FRAME = 2, WIDTH = CELLS + 2 * FRAME, PLANE = WIDTH * WIDTH };

static const double time_step = 0.0005, cell_side = 0.01, cell_volume = 0.0001;
static double *first_density, *first_energy, *density, *energy, *pressure, *sound;
static double *viscosity, *speed_x, *speed_y, *old_x, *old_y, *volume_x, *volume_y;
static double *mass_x, *mass_y, *energy_flow;
static size_t outer, inner; /* how far it is to the next line, and along it */

static void make_cloverleaf(void)
{
	double **room[] = {&first_density, &first_energy, &density, &energy, &pressure,
		&sound, &viscosity, &speed_x, &speed_y, &old_x, &old_y, &volume_x,
		&volume_y, &mass_x, &mass_y, &energy_flow};

	for (size_t i = 0; i < sizeof(room) / sizeof(room[0]); i++)
		*room[i] = make_room(sizeof(double) * PLANE);
	for (size_t i = 0; i < PLANE; i++) {
		int dense = i % WIDTH < WIDTH / 2 && i / WIDTH < WIDTH / 3;

		first_density[i] = dense ? 1.0 : 0.2;
		first_energy[i] = dense ? 2.5 : 1.0;
	}
}

/* Visits all places inside of the frame; a corner has the index of the cell behind it. */
static inline __attribute__((always_inline)) void sweep(void (*const each)(size_t))
{
	const size_t first = (size_t)FRAME * WIDTH + FRAME;

	for (size_t line = 0; line < CELLS; line++)
		for (size_t i = 0; i < CELLS; i++)
			each(first + line * outer + i * inner);
}

static inline void ideal_gas(size_t i)
{
	pressure[i] = 0.4 * density[i] * energy[i];
	sound[i] = sqrt(1.4 * pressure[i] / density[i]);
}

static inline void find_viscosity(size_t i)
{
	double x =
		speed_x[i + 1] + speed_x[i + 1 + WIDTH] - speed_x[i] - speed_x[i + WIDTH];
	double y =
		speed_y[i + WIDTH] + speed_y[i + 1 + WIDTH] - speed_y[i] - speed_y[i + 1];
	double across = pressure[i + 1] - pressure[i - 1];
	double along = pressure[i + WIDTH] - pressure[i - WIDTH];
	double steep = across * across + along * along, by;

	viscosity[i] = 0;
	if (x + y >= 0 || steep < 1e-16)
		return;
	by = (across * across * x + along * along * y) / steep;
	if (by < 0)
		viscosity[i] = 0.5 * density[i] * by * by;
}

static inline void accelerate(size_t i)
{
	size_t left = i - 1, below = i - WIDTH, both = i - WIDTH - 1;
	double mass = (density[i] + density[left] + density[below] + density[both]) *
		      cell_volume * 0.25;
	double by = 0.5 * time_step * cell_side / mass;

	old_x[i] = speed_x[i];
	old_y[i] = speed_y[i];
	speed_x[i] -= by * (pressure[i] - pressure[left] + pressure[below] -
				   pressure[both] + viscosity[i] - viscosity[left] +
				   viscosity[below] - viscosity[both]);
	speed_y[i] -= by * (pressure[i] - pressure[below] + pressure[left] -
				   pressure[both] + viscosity[i] - viscosity[below] +
				   viscosity[left] - viscosity[both]);
}

/* How much of a plane goes through the sides of a cell. */
static inline void find_volumes(size_t i)
{
	const double by = 0.25 * time_step * cell_side;

	volume_x[i] =
		by * (speed_x[i] + speed_x[i + WIDTH] + old_x[i] + old_x[i + WIDTH]);
	volume_y[i] = by * (speed_y[i] + speed_y[i + 1] + old_y[i] + old_y[i + 1]);
}

static inline void compress(size_t i)
{
	double more = volume_x[i + 1] - volume_x[i] + volume_y[i + WIDTH] - volume_y[i];

	energy[i] -= (pressure[i] + viscosity[i]) / density[i] * more / cell_volume;
	density[i] *= cell_volume / (cell_volume + more);
}

/* The value that leaves a cell, by its slope, which the cells at both sides limit (van
 * Leer). */
static inline double limited(double before, double from, double to, double part)
{
	double one = from - before, other = to - from;
	double size_one = fabs(one), size_other = fabs(other);
	double least = size_one < size_other ? size_one : size_other;
	double mean = ((1 - part) * size_other + (1 + part) * size_one) / 6;

	if (one * other <= 0)
		return from;
	least = mean < least ? mean : least;
	return from + (1 - part) * (other > 0 ? least : -least);
}

static inline void carry(size_t i, size_t by, const double *volume, double *mass)
{
	size_t from = volume[i] > 0 ? i - by : i, to = volume[i] > 0 ? i : i - by;
	size_t before = 2 * from - to;
	double part = fabs(volume[i]) / cell_volume;

	mass[i] = volume[i] * limited(density[before], density[from], density[to], part);
	energy_flow[i] =
		mass[i] * limited(energy[before], energy[from], energy[to], part);
}

static inline void carry_x(size_t i)
{
	carry(i, 1, volume_x, mass_x);
}

static inline void carry_y(size_t i)
{
	carry(i, WIDTH, volume_y, mass_y);
}

static inline void take(size_t i, size_t by, const double *volume, const double *mass)
{
	double old = density[i] * cell_volume, new = old + mass[i] - mass[i + by];

	energy[i] = (energy[i] * old + energy_flow[i] - energy_flow[i + by]) / new;
	density[i] = new / (cell_volume + volume[i] - volume[i + by]);
}

static inline void take_x(size_t i)
{
	take(i, 1, volume_x, mass_x);
}

static inline void take_y(size_t i)
{
	take(i, WIDTH, volume_y, mass_y);
}

/* Momentum goes with the mass that comes to a corner from the cells before it. */
static inline void move_speeds(size_t i)
{
	double x = 0.25 * (mass_x[i] + mass_x[i - WIDTH]);
	double y = 0.25 * (mass_y[i] + mass_y[i - 1]);
	double mass = 0.25 * cell_volume *
		      (density[i] + density[i - 1] + density[i - WIDTH] +
			      density[i - WIDTH - 1]);
	size_t from_x = x > 0 ? i - 1 : i + 1, from_y = y > 0 ? i - WIDTH : i + WIDTH;

	old_x[i] = speed_x[i] + (fabs(x) * (speed_x[from_x] - speed_x[i]) +
					fabs(y) * (speed_x[from_y] - speed_x[i])) /
					mass;
	old_y[i] = speed_y[i] + (fabs(x) * (speed_y[from_x] - speed_y[i]) +
					fabs(y) * (speed_y[from_y] - speed_y[i])) /
					mass;
}

static void swap_arrays(double **a, double **b)
{
	double *kept = *a;

	*a = *b;
	*b = kept;
}

static void cloverleaf_step(void)
{
	sweep(ideal_gas);
	sweep(find_viscosity);
	sweep(accelerate);
	sweep(find_volumes);
	sweep(compress);
	sweep(carry_x);
	sweep(take_x);
	sweep(carry_y);
	sweep(take_y);
	sweep(move_speeds);
	swap_arrays(&speed_x, &old_x);
	swap_arrays(&speed_y, &old_y);
}

static uint64_t cloverleaf(size_t to_next_line, size_t along)
{
	double sum = 0;

	outer = to_next_line;
	inner = along;
	memcpy(density, first_density, sizeof(*density) * PLANE);
	memcpy(energy, first_energy, sizeof(*energy) * PLANE);
	memset(speed_x, 0, sizeof(*speed_x) * PLANE);
	memset(speed_y, 0, sizeof(*speed_y) * PLANE);
	cloverleaf_step();
	cloverleaf_step();
	for (size_t i = 0; i < PLANE; i++)
		sum += density[i] * energy[i] + fabs(speed_x[i]);
	return (uint64_t)(1e3 * sum);
}

static uint64_t cloverleaf_columns(void)
{
	return cloverleaf(1, WIDTH);
}

static uint64_t cloverleaf_rows(void)
{
	return cloverleaf(WIDTH, 1);
}

/* ---- lulesh: a blast in a body of cells with eight corners each, which move with what
 * the cells push them, for a step; cells and corners by chance or from one end to the
 * other ---- */

enum { SIDE = 50, BODY = SIDE * SIDE * SIDE, CORNERS = 8, FACES = 6, MODES = 4 };
enum { NODE_SIDE = SIDE + 1, NODES = NODE_SIDE * NODE_SIDE * NODE_SIDE };

struct cell {
	double at[3][CORNERS], normal[3][CORNERS], volume;
};

static const double blast_step = 1e-4, blast_energy = 10;
static uint32_t (*corner)[CORNERS], *first_cell, *node_number;
static double *first_place[3], *node_place[3], *node_speed[3], *node_force[3];
static double *node_mass, *cell_energy, *cell_pressure, *cell_friction;
static double *cell_part, *first_volume, *cell_sound;
static uint8_t *held; /* a bit for each way in which a node cannot go */

/* Numbers of cells and nodes, by where they are. */
static void make_numbers(uint32_t *number, uint32_t n, int by_chance)
{
	if (by_chance)
		shuffle(number, n);
	else
		for (uint32_t i = 0; i < n; i++)
			number[i] = i;
}

static void put_nodes(void)
{
	for (uint32_t i = 0; i < NODES; i++) {
		uint32_t node = node_number[i], place = i;

		for (int k = 0; k < 3; k++, place /= NODE_SIDE) {
			first_place[k][node] = (double)(place % NODE_SIDE) / SIDE;
			if (place % NODE_SIDE == 0)
				held[node] |= (uint8_t)(1 << k);
		}
	}
}

static void put_corners(void)
{
	static const uint32_t to[CORNERS] = {0, 1, NODE_SIDE + 1, NODE_SIDE,
		NODE_SIDE * NODE_SIDE, NODE_SIDE * NODE_SIDE + 1,
		NODE_SIDE * NODE_SIDE + NODE_SIDE + 1, NODE_SIDE * NODE_SIDE + NODE_SIDE};

	for (uint32_t i = 0; i < BODY; i++) {
		uint32_t x = i % SIDE, y = i / SIDE % SIDE, z = i / SIDE / SIDE;
		uint32_t node = (z * NODE_SIDE + y) * NODE_SIDE + x;

		for (int c = 0; c < CORNERS; c++)
			corner[first_cell[i]][c] = node_number[node + to[c]];
	}
}

static void make_lulesh(int by_chance)
{
	double **of_cells[] = {&cell_energy, &cell_pressure, &cell_friction, &cell_part,
		&first_volume, &cell_sound};

	corner = make_room(sizeof(*corner) * BODY);
	first_cell = make_room(sizeof(*first_cell) * BODY);
	node_number = make_room(sizeof(*node_number) * NODES);
	node_mass = make_room(sizeof(*node_mass) * NODES);
	held = make_room(NODES);
	for (int k = 0; k < 3; k++) {
		first_place[k] = make_room(sizeof(double) * NODES);
		node_place[k] = make_room(sizeof(double) * NODES);
		node_speed[k] = make_room(sizeof(double) * NODES);
		node_force[k] = make_room(sizeof(double) * NODES);
	}
	for (size_t i = 0; i < sizeof(of_cells) / sizeof(of_cells[0]); i++)
		*of_cells[i] = make_room(sizeof(double) * BODY);
	make_numbers(first_cell, BODY, by_chance);
	make_numbers(node_number, NODES, by_chance);
	put_nodes();
	put_corners();
	for (size_t i = 0; i < BODY; i++) {
		first_volume[i] = 1.0 / BODY;
		for (int c = 0; c < CORNERS; c++)
			node_mass[corner[i][c]] += first_volume[i] / CORNERS;
	}
}

static void make_lulesh_wild(void)
{
	make_lulesh(1);
}

static void make_lulesh_near(void)
{
	make_lulesh(0);
}

/* A quarter of the normal of a face, as long as the face is large. */
static inline void add_face(struct cell *cell, const uint8_t *face)
{
	double one[3], other[3], normal[3];

	for (int k = 0; k < 3; k++) {
		const double *x = cell->at[k];

		one[k] = x[face[1]] + x[face[2]] - x[face[0]] - x[face[3]];
		other[k] = x[face[3]] + x[face[2]] - x[face[1]] - x[face[0]];
	}
	normal[0] = (one[1] * other[2] - one[2] * other[1]) / 16;
	normal[1] = (one[2] * other[0] - one[0] * other[2]) / 16;
	normal[2] = (one[0] * other[1] - one[1] * other[0]) / 16;
	for (int k = 0; k < 3; k++)
		for (int i = 0; i < 4; i++)
			cell->normal[k][face[i]] += normal[k];
}

static void look_at_cell(size_t i, struct cell *cell)
{
	static const uint8_t face[FACES][4] = {{0, 1, 5, 4}, {1, 2, 6, 5}, {2, 3, 7, 6},
		{3, 0, 4, 7}, {4, 5, 6, 7}, {0, 3, 2, 1}};

	for (int k = 0; k < 3; k++)
		for (int c = 0; c < CORNERS; c++) {
			cell->at[k][c] = node_place[k][corner[i][c]];
			cell->normal[k][c] = 0;
		}
	for (int f = 0; f < FACES; f++)
		add_face(cell, face[f]);
	cell->volume = 0;
	for (int k = 0; k < 3; k++)
		for (int c = 0; c < CORNERS; c++)
			cell->volume += cell->at[k][c] * cell->normal[k][c] / 3;
}

/* Against what changes the shape but not the volume: sandglasses of four modes. */
static void add_sandglass(size_t i, const struct cell *cell, double (*force)[CORNERS])
{
	static const double mode[MODES][CORNERS] = {{1, 1, -1, -1, -1, -1, 1, 1},
		{1, -1, -1, 1, -1, 1, 1, -1}, {1, -1, 1, -1, 1, -1, 1, -1},
		{-1, 1, -1, 1, 1, -1, 1, -1}};
	double by = -0.03 * cell_sound[i] * first_volume[i] / cbrt(cell->volume);
	double inverse = 1 / cell->volume;

	for (int m = 0; m < MODES; m++) {
		double shape[CORNERS], part[3] = {0};

		for (int k = 0; k < 3; k++)
			for (int c = 0; c < CORNERS; c++)
				part[k] += cell->at[k][c] * mode[m][c] * inverse;
		for (int c = 0; c < CORNERS; c++)
			shape[c] = mode[m][c] - part[0] * cell->normal[0][c] -
				   part[1] * cell->normal[1][c] -
				   part[2] * cell->normal[2][c];
		for (int k = 0; k < 3; k++) {
			double sum = 0;

			for (int c = 0; c < CORNERS; c++)
				sum += shape[c] * node_speed[k][corner[i][c]];
			for (int c = 0; c < CORNERS; c++)
				force[k][c] += by * sum * shape[c];
		}
	}
}

static void push_corners(void)
{
	for (int k = 0; k < 3; k++)
		memset(node_force[k], 0, sizeof(double) * NODES);
	for (size_t i = 0; i < BODY; i++) {
		double push = cell_pressure[i] + cell_friction[i], force[3][CORNERS];
		struct cell cell;

		look_at_cell(i, &cell);
		for (int k = 0; k < 3; k++)
			for (int c = 0; c < CORNERS; c++)
				force[k][c] = push * cell.normal[k][c];
		add_sandglass(i, &cell, force);
		for (int k = 0; k < 3; k++)
			for (int c = 0; c < CORNERS; c++)
				node_force[k][corner[i][c]] += force[k][c];
	}
}

static void move_nodes(void)
{
	for (size_t i = 0; i < NODES; i++)
		for (int k = 0; k < 3; k++) {
			double faster = node_force[k][i] / node_mass[i] * blast_step;

			if (held[i] >> k & 1)
				faster = 0;
			node_speed[k][i] += faster;
			node_place[k][i] += node_speed[k][i] * blast_step;
		}
}

static void change_cells(void)
{
	for (size_t i = 0; i < BODY; i++) {
		double part, more, side, faster;
		struct cell cell;

		look_at_cell(i, &cell);
		part = cell.volume / first_volume[i];
		more = part - cell_part[i];
		side = cbrt(cell.volume);
		faster = more / (part * blast_step) * side;
		cell_friction[i] = 0;
		if (more < 0)
			cell_friction[i] =
				(2 * faster * faster - 0.5 * faster * cell_sound[i]) /
				part;
		cell_energy[i] -= more * (cell_pressure[i] + cell_friction[i]);
		cell_energy[i] = cell_energy[i] < 1e-9 ? 1e-9 : cell_energy[i];
		cell_pressure[i] = 0.4 * cell_energy[i] / part;
		cell_sound[i] = sqrt(1.4 * cell_pressure[i] * part);
		cell_part[i] = part;
	}
}

static uint64_t lulesh(void)
{
	double sum = 0;

	for (int k = 0; k < 3; k++) {
		memcpy(node_place[k], first_place[k], sizeof(double) * NODES);
		memset(node_speed[k], 0, sizeof(double) * NODES);
	}
	memset(cell_friction, 0, sizeof(double) * BODY);
	for (size_t i = 0; i < BODY; i++) {
		cell_energy[i] = i == first_cell[0] ? blast_energy : 0.01;
		cell_pressure[i] = 0.4 * cell_energy[i];
		cell_sound[i] = sqrt(1.4 * cell_pressure[i]);
		cell_part[i] = 1;
	}
	push_corners();
	move_nodes();
	change_cells();
	for (size_t i = 0; i < BODY; i++)
		sum += cell_energy[i];
	return (uint64_t)(1e6 * sum);
}

const struct kernel mantevo_kernels[] = {
	{"cloverleaf-columns", make_cloverleaf, cloverleaf_columns},
	{"cloverleaf-rows", make_cloverleaf, cloverleaf_rows},
	{"lulesh-wild", make_lulesh_wild, lulesh},
	{"lulesh-near", make_lulesh_near, lulesh},
	{NULL, NULL, NULL},
};
