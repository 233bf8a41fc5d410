/* SPDX-License-Identifier: MIT
 *
 * DC and SP of the NAS Parallel Benchmarks.
 */
#include <math.h>
#include <string.h>

#include "clock.h"

/* ---- DC: sums of tuples by each choice of their attributes, each from the tuples or
 * from the least view that has these attributes and one more ---- */

enum { TUPLES = 500000, ATTRIBUTES = 5, VIEWS = 1 << ATTRIBUTES, SLOT_BITS = 20 };

/* Attributes of a key: how many values each has, in how many bits. */
static const uint32_t values_of[ATTRIBUTES] = {150, 60, 25, 10, 4};
static const uint32_t bits_of[ATTRIBUTES] = {8, 6, 5, 4, 2};

struct group {
	uint32_t key, tuples;
	uint64_t sum;
};

struct view {
	uint32_t mask, slot_bits;
	size_t groups;
	struct group *group;
};

static struct view all_tuples, view[VIEWS];
static uint32_t *slots; /* of a view that is made: the number of a group and 1 more */

static void make_view(struct view *v, unsigned attributes)
{
	size_t most = 1, shift = 0;

	v->mask = 0;
	for (int a = 0; a < ATTRIBUTES; a++) {
		if (attributes >> a & 1) {
			v->mask |= ((1u << bits_of[a]) - 1) << shift;
			most *= values_of[a];
		}
		shift += bits_of[a];
	}
	if (most > TUPLES)
		most = TUPLES;
	for (v->slot_bits = 1; (size_t)1 << v->slot_bits < 2 * most;)
		v->slot_bits++;
	v->group = make_room(sizeof(*v->group) * most);
}

static uint32_t random_key(void)
{
	uint32_t key = 0, shift = 0;

	for (int a = 0; a < ATTRIBUTES; a++) {
		key |= (uint32_t)(next_number() % values_of[a]) << shift;
		shift += bits_of[a];
	}
	return key;
}

static void make_tuples(void)
{
	slots = make_room(sizeof(*slots) << SLOT_BITS);
	all_tuples.groups = TUPLES;
	all_tuples.group = make_room(sizeof(struct group) * TUPLES);
	for (size_t i = 0; i < TUPLES; i++)
		all_tuples.group[i] =
			(struct group){random_key(), 1, next_number() % 100};
	for (unsigned v = 0; v < VIEWS; v++)
		make_view(&view[v], v);
}

static struct group *group_of(struct view *v, uint32_t key)
{
	uint32_t end = (1u << v->slot_bits) - 1;
	uint32_t slot = key * 2654435761u >> (32 - v->slot_bits);

	for (; slots[slot]; slot = (slot + 1) & end)
		if (v->group[slots[slot] - 1].key == key)
			return &v->group[slots[slot] - 1];
	v->group[v->groups] = (struct group){.key = key};
	slots[slot] = (uint32_t)++v->groups;
	return &v->group[v->groups - 1];
}

static void sum_up(const struct view *from, struct view *to)
{
	memset(slots, 0, sizeof(*slots) << to->slot_bits);
	to->groups = 0;
	for (size_t i = 0; i < from->groups; i++) {
		struct group *g = group_of(to, from->group[i].key & to->mask);

		g->tuples += from->group[i].tuples;
		g->sum += from->group[i].sum;
	}
}

static uint64_t sum_of_views(void)
{
	uint64_t sum = 0;

	for (int v = 0; v < VIEWS; v++)
		sum += view[v].groups + view[v].group[view[v].groups / 2].sum;
	return sum;
}

static uint64_t cube_from_tuples(void)
{
	for (int v = 0; v < VIEWS; v++)
		sum_up(&all_tuples, &view[v]);
	return sum_of_views();
}

static const struct view *least_above(int v)
{
	const struct view *least = NULL;

	for (int a = 0; a < ATTRIBUTES; a++) {
		const struct view *above = &view[v | 1 << a];

		if (!(v >> a & 1) && (!least || above->groups < least->groups))
			least = above;
	}
	return least;
}

/* A view with one more attribute has a higher number. */
static uint64_t cube_from_views(void)
{
	sum_up(&all_tuples, &view[VIEWS - 1]);
	for (int v = VIEWS - 1; v-- > 0;)
		sum_up(least_above(v), &view[v]);
	return sum_of_views();
}

/* ---- SP: equations with five diagonals of each line along each axis of a box, line by
 * line, or of all lines of a plane at once ---- */

enum {
	ACROSS = 66,
	DOWN = 64,
	DEEP = 62,
	LONGEST = ACROSS,
	CELLS = ACROSS * DOWN * DEEP,
	KINDS = 3,
	SP_TIMES = 8
};

/* Coefficients: how far the wind goes in a step, how fast all spreads, and how what is
 * rough becomes smooth. */
static const double WIND = 0.4, SPREAD = 0.05, SMOOTH = 0.01;

static double *wind[3], *kind[KINDS], *first_kind[KINDS];

/* The part of an equation above its diagonal, when there is 1 on it and nothing below. */
struct above {
	double near, far;
};

static struct above above[LONGEST * ACROSS];

static int is_inside(size_t at)
{
	size_t x = at % ACROSS, y = at / ACROSS % DOWN, z = at / ACROSS / DOWN;

	return x > 1 && x < ACROSS - 2 && y > 1 && y < DOWN - 2 && z > 1 && z < DEEP - 2;
}

static void make_winds(void)
{
	for (int a = 0; a < 3; a++) {
		wind[a] = make_room(sizeof(double) * CELLS);
		for (size_t i = 0; i < CELLS; i++)
			wind[a][i] = (double)(next_number() % 1000) / 1000 - 0.5;
	}
	for (int k = 0; k < KINDS; k++) {
		kind[k] = make_room(sizeof(double) * CELLS);
		first_kind[k] = make_room(sizeof(double) * CELLS);
		for (size_t i = 0; i < CELLS; i++)
			if (is_inside(i))
				first_kind[k][i] = (double)(next_number() % 1000) / 1000;
	}
}

/* Two cells at each end of a line are 0, which needs no equation. */
static inline void eliminate(
	const double *by, size_t at, size_t step, struct above *here, size_t width)
{
	const struct above *one = here - width, *two = one - width;
	double near_below = -4 * SMOOTH - SPREAD - WIND * by[at - step];
	double near_above = -4 * SMOOTH - SPREAD + WIND * by[at + step];
	double diagonal = 1 + 6 * SMOOTH + 2 * SPREAD;
	double inverse;

	near_below -= SMOOTH * two->near;
	inverse = 1 / (diagonal - SMOOTH * two->far - near_below * one->near);
	here->near = (near_above - near_below * one->far) * inverse;
	here->far = SMOOTH * inverse;
	for (int k = 0; k < KINDS; k++)
		kind[k][at] = (kind[k][at] - SMOOTH * kind[k][at - 2 * step] -
				      near_below * kind[k][at - step]) *
			      inverse;
}

static inline void substitute(size_t at, size_t step, const struct above *here)
{
	for (int k = 0; k < KINDS; k++)
		kind[k][at] -= here->near * kind[k][at + step] +
			       here->far * kind[k][at + 2 * step];
}

static void solve_line(const double *by, size_t first, size_t step, size_t length)
{
	for (size_t k = 2; k < length - 2; k++)
		eliminate(by, first + k * step, step, &above[k], 1);
	for (size_t k = length - 2; k-- > 2;)
		substitute(first + k * step, step, &above[k]);
}

/* Lines that begin side by side. */
static void solve_abreast(const double *by, size_t first, size_t step, size_t length)
{
	for (size_t k = 2; k < length - 2; k++)
		for (size_t x = 2; x < ACROSS - 2; x++)
			eliminate(by, first + k * step + x, step, &above[k * ACROSS + x],
				ACROSS);
	for (size_t k = length - 2; k-- > 2;)
		for (size_t x = 2; x < ACROSS - 2; x++)
			substitute(first + k * step + x, step, &above[k * ACROSS + x]);
}

static void solve_each(const double *by, size_t first, size_t step, size_t length)
{
	for (size_t x = 2; x < ACROSS - 2; x++)
		solve_line(by, first + x, step, length);
}

typedef void solve(const double *by, size_t first, size_t step, size_t length);

static uint64_t scalar_pentadiagonal(solve *one_plane)
{
	const size_t plane = (size_t)ACROSS * DOWN;

	memset(above, 0, sizeof(above));
	for (int k = 0; k < KINDS; k++)
		memcpy(kind[k], first_kind[k], sizeof(double) * CELLS);
	for (int time = 0; time < SP_TIMES; time++) {
		memset(above, 0, sizeof(*above) * 2);
		for (size_t z = 2; z < DEEP - 2; z++)
			for (size_t y = 2; y < DOWN - 2; y++)
				solve_line(wind[0], z * plane + y * ACROSS, 1, ACROSS);
		memset(above, 0, sizeof(*above) * 2 * ACROSS);
		for (size_t z = 2; z < DEEP - 2; z++)
			one_plane(wind[1], z * plane, ACROSS, DOWN);
		for (size_t y = 2; y < DOWN - 2; y++)
			one_plane(wind[2], y * ACROSS, plane, DEEP);
	}
	return (uint64_t)(1e6 * kind[0][CELLS / 2 + plane / 2 + ACROSS / 2]);
}

static uint64_t pentadiagonal_lines(void)
{
	return scalar_pentadiagonal(solve_each);
}

static uint64_t pentadiagonal_abreast(void)
{
	return scalar_pentadiagonal(solve_abreast);
}

const struct kernel nas3_kernels[] = {
	{"dc-tuples", make_tuples, cube_from_tuples},
	{"dc-views", make_tuples, cube_from_views},
	{"sp-lines", make_winds, pentadiagonal_lines},
	{"sp-abreast", make_winds, pentadiagonal_abreast},
	{NULL, NULL, NULL},
};
