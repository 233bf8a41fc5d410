/* SPDX-License-Identifier: MIT
 *
 * The first of the programs of Rodinia that are not here already, by their names there.
 */
#include <math.h>
#include <string.h>

#include "clock.h"

static float next_float(void)
{
	return (float)(next_number() % 1000) / 1000;
}

/* ---- backprop: a network of two layers learns ---- */

enum { INPUTS = 65536, HIDDEN = 16, LESSONS = 24 };

static float *input, *to_hidden, *moved, from_hidden[HIDDEN], hidden[HIDDEN],
	wrong[HIDDEN];

static void make_network(void)
{
	input = make_room(sizeof(float) * INPUTS);
	to_hidden = make_room(sizeof(float) * INPUTS * HIDDEN);
	moved = make_room(sizeof(float) * INPUTS * HIDDEN);
	for (size_t i = 0; i < INPUTS; i++)
		input[i] = next_float();
}

static void first_weights(void)
{
	for (size_t i = 0; i < (size_t)INPUTS * HIDDEN; i++) {
		to_hidden[i] = (float)(i * 7919 % 1999) / 1999 - 0.5f;
		moved[i] = 0;
	}
	for (size_t j = 0; j < HIDDEN; j++)
		from_hidden[j] = (float)j / HIDDEN - 0.4f;
}

static float squash(float x)
{
	return 1 / (1 + expf(-x));
}

/* Sums become what the hidden layer says, and then what is wrong with it. */
static float teach(float wanted)
{
	float said = 0, off;

	for (size_t j = 0; j < HIDDEN; j++) {
		hidden[j] = squash(hidden[j] / 256);
		said += hidden[j] * from_hidden[j];
	}
	said = squash(said);
	off = said * (1 - said) * (wanted - said);
	for (size_t j = 0; j < HIDDEN; j++) {
		wrong[j] = hidden[j] * (1 - hidden[j]) * off * from_hidden[j];
		from_hidden[j] += 0.3f * off * hidden[j];
	}
	return said;
}

static void move_weight(size_t i, size_t j)
{
	float move = 0.3f * wrong[j] * input[i] + 0.3f * moved[i * HIDDEN + j];

	to_hidden[i * HIDDEN + j] += move;
	moved[i * HIDDEN + j] = move;
}

static uint64_t backprop_columns(void)
{
	float said = 0;

	first_weights();
	for (int lesson = 0; lesson < LESSONS; lesson++) {
		for (size_t j = 0; j < HIDDEN; j++) {
			float sum = 0;

			for (size_t i = 0; i < INPUTS; i++)
				sum += to_hidden[i * HIDDEN + j] * input[i];
			hidden[j] = sum;
		}
		said = teach(0.9f);
		for (size_t j = 0; j < HIDDEN; j++)
			for (size_t i = 0; i < INPUTS; i++)
				move_weight(i, j);
	}
	return (uint64_t)(1e5f * said);
}

static uint64_t backprop_rows(void)
{
	float said = 0;

	first_weights();
	for (int lesson = 0; lesson < LESSONS; lesson++) {
		memset(hidden, 0, sizeof(hidden));
		for (size_t i = 0; i < INPUTS; i++)
			for (size_t j = 0; j < HIDDEN; j++)
				hidden[j] += to_hidden[i * HIDDEN + j] * input[i];
		said = teach(0.9f);
		for (size_t i = 0; i < INPUTS; i++)
			for (size_t j = 0; j < HIDDEN; j++)
				move_weight(i, j);
	}
	return (uint64_t)(1e5f * said);
}

/* ---- cfd: a gas in cells that have four neighbours each and are numbered at random ----
 */

enum { SIDE = 46, CELLS = SIDE * SIDE * SIDE, FACES = 4, WALL = -1, FAR = -2 };

struct gas {
	float density, momentum[3], energy;
};

static struct gas far_away;
static float *now[5], *flow[5], *before[5], *step, *volume;
static struct face {
	int32_t beyond;
	float normal[3];
} * faces;

static struct gas moving(float density, float speed, float pressure)
{
	return (struct gas){density, {density * speed, 0, 0},
		pressure / 0.4f + 0.5f * density * speed * speed};
}

static int32_t cell_at(int x, int y, int z, const uint32_t *number)
{
	if (x < 0 || x >= SIDE)
		return FAR;
	if (y < 0 || y >= SIDE || z < 0 || z >= SIDE)
		return WALL;
	return (int32_t)number[(z * SIDE + y) * SIDE + x];
}

/* Each cell has two neighbours along x, one along y and one along z, by faces like those
 * of a tetrahedron: even cells have the one side of each, odd cells the other one. */
static void make_faces(int x, int y, int z, const uint32_t *number)
{
	static const float normals[FACES][3] = {
		{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
	int side = (x + y + z) % 2 ? -1 : 1;
	struct face *face = &faces[FACES * cell_at(x, y, z, number)];

	face[0].beyond = cell_at(x + side, y, z, number);
	face[1].beyond = cell_at(x - side, y, z, number);
	face[2].beyond = cell_at(x, y + side, z, number);
	face[3].beyond = cell_at(x, y, z + side, number);
	for (int f = 0; f < FACES; f++)
		for (int k = 0; k < 3; k++)
			face[f].normal[k] = (float)side * normals[f][k] / sqrtf(3);
}

static void make_cells(void)
{
	uint32_t *number = make_room(sizeof(*number) * CELLS);

	shuffle(number, CELLS);
	for (int i = 0; i < CELLS; i++) {
		make_faces(i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE, number);
		volume[i] = 1 + next_float() / 10;
	}
	far_away = moving(1.4f, 1.2f, 1);
}

static void make_gas(void)
{
	for (int v = 0; v < 5; v++) {
		now[v] = make_room(sizeof(float) * CELLS);
		flow[v] = make_room(sizeof(float) * CELLS);
		before[v] = make_room(sizeof(float) * CELLS);
	}
	faces = make_room(sizeof(*faces) * CELLS * FACES);
	step = make_room(sizeof(float) * CELLS);
	volume = make_room(sizeof(float) * CELLS);
	make_cells();
}

static float pressure_of(const struct gas *gas)
{
	const float *m = gas->momentum;
	float square = m[0] * m[0] + m[1] * m[1] + m[2] * m[2];

	return 0.4f * (gas->energy - 0.5f * square / gas->density);
}

/* How fast a wave is in a gas that moves. */
static float fastest(const struct gas *gas)
{
	const float *m = gas->momentum;
	float speed = sqrtf(m[0] * m[0] + m[1] * m[1] + m[2] * m[2]) / gas->density;

	return speed + sqrtf(1.4f * pressure_of(gas) / gas->density);
}

/* A gas goes through a face as if both sides were like this one. */
static struct gas through(const struct gas *gas, const float *normal)
{
	float pressure = pressure_of(gas);
	float along = (gas->momentum[0] * normal[0] + gas->momentum[1] * normal[1] +
			      gas->momentum[2] * normal[2]) /
		      gas->density;
	struct gas flux = {gas->density * along, {0}, (gas->energy + pressure) * along};

	for (int k = 0; k < 3; k++)
		flux.momentum[k] = gas->momentum[k] * along + pressure * normal[k];
	return flux;
}

/* The mean of both sides, less what makes it stable. */
static void add_flux(struct gas *sum, const struct gas *here, const struct gas *there,
	const float *normal)
{
	struct gas one = through(here, normal), other = through(there, normal);
	float damp = 0.5f * fmaxf(fastest(here), fastest(there));

	sum->density -= 0.5f * (one.density + other.density) +
			damp * (here->density - there->density);
	for (int k = 0; k < 3; k++)
		sum->momentum[k] -= 0.5f * (one.momentum[k] + other.momentum[k]) +
				    damp * (here->momentum[k] - there->momentum[k]);
	sum->energy -= 0.5f * (one.energy + other.energy) +
		       damp * (here->energy - there->energy);
}

static void add_wall(struct gas *sum, const struct gas *here, const float *normal)
{
	float pressure = pressure_of(here);

	for (int k = 0; k < 3; k++)
		sum->momentum[k] -= pressure * normal[k];
}

static struct gas read_cell(float *const *of, size_t i)
{
	return (struct gas){of[0][i], {of[1][i], of[2][i], of[3][i]}, of[4][i]};
}

static void write_cell(float *const *of, size_t i, struct gas gas)
{
	of[0][i] = gas.density;
	for (int k = 0; k < 3; k++)
		of[1 + k][i] = gas.momentum[k];
	of[4][i] = gas.energy;
}

static struct gas flux_of_cell(size_t i)
{
	struct gas sum = {0}, here = read_cell(now, i), there;

	for (const struct face *face = &faces[FACES * i]; face < &faces[FACES * (i + 1)];
		face++) {
		if (face->beyond == WALL) {
			add_wall(&sum, &here, face->normal);
			continue;
		}
		there = face->beyond == FAR ? far_away
					    : read_cell(now, (size_t)face->beyond);
		add_flux(&sum, &here, &there, face->normal);
	}
	return sum;
}

static struct gas moved_on(struct gas from, struct gas by, float share)
{
	from.density += share * by.density;
	for (int k = 0; k < 3; k++)
		from.momentum[k] += share * by.momentum[k];
	from.energy += share * by.energy;
	return from;
}

/* A step of Runge and Kutta, of three parts. */
static void step_cells(void)
{
	for (int v = 0; v < 5; v++)
		memcpy(before[v], now[v], sizeof(float) * CELLS);
	for (size_t i = 0; i < CELLS; i++) {
		struct gas here = read_cell(now, i);

		step[i] = 0.2f / (volume[i] * fastest(&here));
	}
	for (int part = 3; part > 0; part--) {
		for (size_t i = 0; i < CELLS; i++)
			write_cell(flow, i, flux_of_cell(i));
		for (size_t i = 0; i < CELLS; i++)
			write_cell(now, i,
				moved_on(read_cell(before, i), read_cell(flow, i),
					step[i] / (float)part));
	}
}

static uint64_t cfd(void)
{
	for (size_t i = 0; i < CELLS; i++)
		write_cell(now, i, moving(1, 0, 1));
	step_cells();
	step_cells();
	return (uint64_t)(1e6f * now[4][faces[7].beyond < 0 ? 0 : faces[7].beyond]);
}

/* ---- dwt2d: wavelets of an image in four colours (Le Gall 5/3), whose columns
 * are taken one by one or sixteen at a time ---- */

enum { PIXELS = 1024, COLOURS = 4, FRAMES = 3, SCALES = 3, STRIP = 16 };

static int32_t *picture, *wavelets;

static void make_picture(void)
{
	picture = make_room(sizeof(*picture) * COLOURS * PIXELS * PIXELS);
	wavelets = make_room(sizeof(*picture) * COLOURS * PIXELS * PIXELS);
	for (size_t i = 0; i < (size_t)COLOURS * PIXELS * PIXELS; i++)
		picture[i] = (int32_t)(i % PIXELS / 5 + next_number() % 32);
}

/* Odd points become what their neighbours do not say of them, and even ones a mean. */
static void lift(int32_t *p, size_t n)
{
	p[n] = p[n - 2];
	for (size_t i = 1; i < n; i += 2)
		p[i] -= (p[i - 1] + p[i + 1]) >> 1;
	p[-1] = p[1];
	for (size_t i = 0; i < n; i += 2)
		p[i] += (p[i - 1] + p[i + 1] + 2) >> 2;
}

/* Where a point goes: even ones to the first half of a line, odd ones to the second. */
static size_t place_of(size_t i, size_t n)
{
	return i / 2 + i % 2 * (n / 2);
}

static void lift_rows(int32_t *plane, size_t n)
{
	int32_t points[PIXELS + 2];

	for (size_t y = 0; y < n; y++) {
		memcpy(points + 1, plane + y * PIXELS, sizeof(*points) * n);
		lift(points + 1, n);
		for (size_t x = 0; x < n; x++)
			plane[y * PIXELS + place_of(x, n)] = points[x + 1];
	}
}

/* Some columns at a time. */
static void lift_columns(int32_t *plane, size_t n, size_t abreast)
{
	static int32_t points[STRIP][PIXELS + 2];

	for (size_t x = 0; x < n; x += abreast) {
		for (size_t y = 0; y < n; y++)
			for (size_t k = 0; k < abreast; k++)
				points[k][y + 1] = plane[y * PIXELS + x + k];
		for (size_t k = 0; k < abreast; k++)
			lift(points[k] + 1, n);
		for (size_t y = 0; y < n; y++)
			for (size_t k = 0; k < abreast; k++)
				plane[place_of(y, n) * PIXELS + x + k] = points[k][y + 1];
	}
}

static void transform_plane(int32_t *plane, size_t abreast)
{
	for (size_t n = PIXELS; n > PIXELS >> SCALES; n /= 2) {
		lift_rows(plane, n);
		lift_columns(plane, n, abreast);
	}
}

static uint64_t wavelet(size_t abreast)
{
	const size_t plane = (size_t)PIXELS * PIXELS;
	uint64_t sum = 0;

	for (int frame = 0; frame < FRAMES; frame++) {
		memcpy(wavelets, picture, sizeof(*picture) * COLOURS * plane);
		for (size_t colour = 0; colour < COLOURS; colour++)
			transform_plane(wavelets + colour * plane, abreast);
		sum += (uint64_t)wavelets[7];
	}
	return sum;
}

static uint64_t wavelet_columns(void)
{
	return wavelet(1);
}

static uint64_t wavelet_strips(void)
{
	return wavelet(STRIP);
}

/* ---- gaussian: equations, each unknown of which is taken out of those below ---- */

enum { UNKNOWNS = 720 };

static float *equations, *left, *right, *share, *solution;

static void make_equations(void)
{
	equations = make_room(sizeof(float) * UNKNOWNS * UNKNOWNS);
	left = make_room(sizeof(float) * UNKNOWNS * UNKNOWNS);
	right = make_room(sizeof(float) * UNKNOWNS);
	share = make_room(sizeof(float) * UNKNOWNS);
	solution = make_room(sizeof(float) * UNKNOWNS);
	for (size_t i = 0; i < UNKNOWNS; i++)
		for (size_t j = 0; j < UNKNOWNS; j++)
			equations[i * UNKNOWNS + j] =
				next_float() + (i == j ? (float)UNKNOWNS : 0);
}

static void take_out(size_t k)
{
	for (size_t i = k + 1; i < UNKNOWNS; i++)
		share[i] = left[i * UNKNOWNS + k] / left[k * UNKNOWNS + k];
	for (size_t i = k + 1; i < UNKNOWNS; i++) {
		for (size_t j = k; j < UNKNOWNS; j++)
			left[i * UNKNOWNS + j] -= share[i] * left[k * UNKNOWNS + j];
		right[i] -= share[i] * right[k];
	}
}

static uint64_t gaussian(void)
{
	memcpy(left, equations, sizeof(float) * UNKNOWNS * UNKNOWNS);
	for (size_t i = 0; i < UNKNOWNS; i++)
		right[i] = (float)(i % 10);
	for (size_t k = 0; k < UNKNOWNS - 1; k++)
		take_out(k);
	for (size_t i = UNKNOWNS; i-- > 0;) {
		float sum = right[i];

		for (size_t j = i + 1; j < UNKNOWNS; j++)
			sum -= left[i * UNKNOWNS + j] * solution[j];
		solution[i] = sum / left[i * UNKNOWNS + i];
	}
	return (uint64_t)fabsf(1e6f * solution[7]);
}

const struct kernel rodinia_kernels[] = {
	{"backprop-columns", make_network, backprop_columns},
	{"backprop-rows", make_network, backprop_rows},
	{"cfd", make_gas, cfd},
	{"dwt2d-columns", make_picture, wavelet_columns},
	{"dwt2d-strips", make_picture, wavelet_strips},
	{"gaussian", make_equations, gaussian},
	{NULL, NULL, NULL},
};
