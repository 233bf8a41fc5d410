/* SPDX-License-Identifier: MIT
 *
 * The first of the programs of SPLASH that are not here already, by their names there.
 */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "clock.h"

static double random_double(double from, double to)
{
	return from + (to - from) * ((double)(next_number() % (1 << 20)) + 0.5) * 0x1p-20;
}

/* ---- fmm: the field of many charges in a plane, at each of them: of those in boxes
 * nearby one by one, of all others by series of boxes of many sizes ---- */

enum { LEVELS = 6, LEAF_SIDE = 1 << LEVELS, CHARGES = 50000, TERMS = 10 };
enum { BOXES = (4 * LEAF_SIDE * LEAF_SIDE - 1) / 3 };

struct complex {
	double re, im;
};

struct charge {
	struct complex at, field;
	double amount;
};

/* The field of what is in a box, far from it; and in it, that of what is far from it. */
struct series {
	struct complex far[TERMS], near[TERMS];
};

static struct charge *charges;
static struct series *boxes;
static uint32_t *box_start;
static double choose[2 * TERMS][2 * TERMS];

static inline struct complex plus(struct complex a, struct complex b)
{
	return (struct complex){a.re + b.re, a.im + b.im};
}

static inline struct complex minus(struct complex a, struct complex b)
{
	return (struct complex){a.re - b.re, a.im - b.im};
}

static inline struct complex by(struct complex a, struct complex b)
{
	return (struct complex){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static inline struct complex times(double factor, struct complex a)
{
	return (struct complex){factor * a.re, factor * a.im};
}

static inline struct complex one_by(struct complex a)
{
	double part = 1 / (a.re * a.re + a.im * a.im);

	return (struct complex){a.re * part, -a.im * part};
}

static inline size_t box_at(int level, size_t x, size_t y)
{
	return (((size_t)1 << 2 * level) - 1) / 3 + (y << level) + x;
}

static inline struct complex centre(int level, size_t x, size_t y)
{
	double side = 1.0 / (1 << level);

	return (struct complex){((double)x + 0.5) * side, ((double)y + 0.5) * side};
}

static uint32_t leaf_of(struct complex at)
{
	return (uint32_t)(at.im * LEAF_SIDE) * LEAF_SIDE + (uint32_t)(at.re * LEAF_SIDE);
}

/* The bodies of a box are side by side. */
static void make_fmm(void)
{
	struct charge *some = make_room(sizeof(*some) * CHARGES);

	charges = make_room(sizeof(*charges) * CHARGES);
	boxes = make_room(sizeof(*boxes) * BOXES);
	box_start = make_room(sizeof(*box_start) * (LEAF_SIDE * LEAF_SIDE + 2));
	for (size_t i = 0; i < CHARGES; i++) {
		some[i].at.re = random_double(0, 1);
		some[i].at.im = random_double(0, 1);
		some[i].amount = random_double(-1, 1);
		box_start[leaf_of(some[i].at) + 2]++;
	}
	for (size_t b = 2; b < LEAF_SIDE * LEAF_SIDE + 2; b++)
		box_start[b] += box_start[b - 1];
	for (size_t i = 0; i < CHARGES; i++)
		charges[box_start[leaf_of(some[i].at) + 1]++] = some[i];
	for (int n = 0; n < 2 * TERMS; n++)
		for (int k = 0; k <= n; k++)
			choose[n][k] = k == 0 || k == n
					       ? 1
					       : choose[n - 1][k - 1] + choose[n - 1][k];
}

static void sum_leaf(size_t x, size_t y)
{
	struct complex *far = boxes[box_at(LEVELS, x, y)].far;
	size_t leaf = y * LEAF_SIDE + x;

	for (uint32_t i = box_start[leaf]; i < box_start[leaf + 1]; i++) {
		struct complex away = minus(charges[i].at, centre(LEVELS, x, y));
		struct complex power = {charges[i].amount, 0};

		for (int k = 0; k < TERMS; k++) {
			far[k] = plus(far[k], power);
			power = by(power, away);
		}
	}
}

static void fill_powers(struct complex *power, struct complex of, int n)
{
	power[0] = (struct complex){1, 0};
	for (int k = 1; k < n; k++)
		power[k] = by(power[k - 1], of);
}

static void sum_parts(int level, size_t x, size_t y)
{
	struct complex *to = boxes[box_at(level, x, y)].far, power[TERMS];

	for (size_t part = 0; part < 4; part++) {
		size_t px = 2 * x + part % 2, py = 2 * y + part / 2;
		const struct complex *from = boxes[box_at(level + 1, px, py)].far;

		fill_powers(power, minus(centre(level + 1, px, py), centre(level, x, y)),
			TERMS);
		for (int l = 0; l < TERMS; l++)
			for (int k = 0; k <= l; k++)
				to[l] = plus(to[l],
					times(choose[l][k], by(from[k], power[l - k])));
	}
}

/* Adds the effect of a box that is far away on another one. */
static void add_far_box(
	struct complex *to, const struct complex *from, struct complex away)
{
	struct complex power[2 * TERMS];

	fill_powers(power, one_by(away), 2 * TERMS);
	for (int l = 0; l < TERMS; l++) {
		struct complex sum = {0, 0};

		for (int k = 0; k < TERMS; k++) {
			double factor = k % 2 ? choose[k + l][l] : -choose[k + l][l];

			sum = plus(sum, times(factor, by(from[k], power[k + l + 1])));
		}
		to[l] = plus(to[l], sum);
	}
}

static bool is_beside(size_t a, size_t b)
{
	return a <= b + 1 && b <= a + 1;
}

/* Boxes that are not beside this one, in those beside the one around it. */
static void add_far_boxes(int level, size_t x, size_t y)
{
	struct complex *to = boxes[box_at(level, x, y)].near;
	size_t side = (size_t)1 << level;
	size_t left = x < 2 ? 0 : (x / 2 - 1) * 2, low = y < 2 ? 0 : (y / 2 - 1) * 2;

	for (size_t j = low; j < (y / 2 + 2) * 2 && j < side; j++)
		for (size_t i = left; i < (x / 2 + 2) * 2 && i < side; i++)
			if (!is_beside(i, x) || !is_beside(j, y))
				add_far_box(to, boxes[box_at(level, i, j)].far,
					minus(centre(level, i, j), centre(level, x, y)));
}

static void add_from_around(int level, size_t x, size_t y)
{
	const struct complex *from = boxes[box_at(level - 1, x / 2, y / 2)].near;
	struct complex *to = boxes[box_at(level, x, y)].near, power[TERMS];

	fill_powers(power, minus(centre(level, x, y), centre(level - 1, x / 2, y / 2)),
		TERMS);
	for (int m = 0; m < TERMS; m++)
		for (int l = m; l < TERMS; l++)
			to[m] = plus(
				to[m], times(choose[l][m], by(from[l], power[l - m])));
}

static void for_boxes(int level, void (*visit)(int level, size_t x, size_t y))
{
	for (size_t y = 0; y < (size_t)1 << level; y++)
		for (size_t x = 0; x < (size_t)1 << level; x++)
			visit(level, x, y);
}

static void add_nearby(struct charge *c, size_t leaf)
{
	for (uint32_t i = box_start[leaf]; i < box_start[leaf + 1]; i++)
		if (&charges[i] != c)
			c->field = plus(
				c->field, times(charges[i].amount,
						  one_by(minus(c->at, charges[i].at))));
}

static void end_leaf(int level, size_t x, size_t y)
{
	const struct complex *near = boxes[box_at(level, x, y)].near;
	size_t leaf = y * LEAF_SIDE + x;

	for (uint32_t c = box_start[leaf]; c < box_start[leaf + 1]; c++) {
		struct complex away = minus(charges[c].at, centre(level, x, y));
		struct complex field = near[TERMS - 1];

		for (int l = TERMS - 2; l >= 0; l--)
			field = plus(by(field, away), near[l]);
		charges[c].field = field;
		for (size_t j = y ? y - 1 : 0; j < y + 2 && j < LEAF_SIDE; j++)
			for (size_t i = x ? x - 1 : 0; i < x + 2 && i < LEAF_SIDE; i++)
				add_nearby(&charges[c], j * LEAF_SIDE + i);
	}
}

static uint64_t fmm(void)
{
	double sum = 0;

	memset(boxes, 0, sizeof(*boxes) * BOXES);
	for (size_t y = 0; y < LEAF_SIDE; y++)
		for (size_t x = 0; x < LEAF_SIDE; x++)
			sum_leaf(x, y);
	for (int level = LEVELS - 1; level >= 2; level--)
		for_boxes(level, sum_parts);
	for (int level = 2; level <= LEVELS; level++) {
		for_boxes(level, add_from_around);
		for_boxes(level, add_far_boxes);
	}
	for_boxes(LEVELS, end_leaf);
	for (size_t i = 0; i < CHARGES; i++)
		sum += fabs(charges[i].field.re) + fabs(charges[i].field.im);
	return (uint64_t)sum;
}

/* ---- ocean: currents in a basin, step by step: how they carry on what turns, and then
 * the currents of that, by relaxing every other point of a grid in turn, along columns or
 * along rows ---- */

enum { BASIN = 514, OCEAN_STEPS = 9, SWEEPS = 12 };

static const double over = 1.4, step_of_time = 0.05;
static double *current, *turning, *carried;

static void make_ocean(void)
{
	current = make_room(sizeof(double) * BASIN * BASIN);
	turning = make_room(sizeof(double) * BASIN * BASIN);
	carried = make_room(sizeof(double) * BASIN * BASIN);
}

/* At rest at the sides. */
static void begin_ocean(void)
{
	for (size_t y = 0; y < BASIN; y++)
		for (size_t x = 0; x < BASIN; x++) {
			double from_left = (double)x / (BASIN - 1);
			double from_low = (double)y / (BASIN - 1);

			current[y * BASIN + x] =
				from_left * (1 - from_left) * from_low * (1 - from_low);
			turning[y * BASIN + x] = (from_left - 0.5) * from_low;
		}
}

/* Vorticity goes along with the currents, and spreads. */
static void carry(void)
{
	for (size_t y = 1; y < BASIN - 1; y++)
		for (size_t x = 1; x < BASIN - 1; x++) {
			const double *c = current + y * BASIN + x;
			const double *t = turning + y * BASIN + x;
			double along = (c[BASIN] - c[-BASIN]) * (t[1] - t[-1]);
			double across = (c[1] - c[-1]) * (t[BASIN] - t[-BASIN]);

			carried[y * BASIN + x] =
				t[0] + step_of_time * (along - across) / 4 +
				step_of_time *
					(t[1] + t[-1] + t[BASIN] + t[-BASIN] - 4 * t[0]);
		}
	for (size_t y = 1; y < BASIN - 1; y++)
		memcpy(turning + y * BASIN + 1, carried + y * BASIN + 1,
			sizeof(double) * (BASIN - 2));
}

static inline void relax_point(size_t at)
{
	double *c = current + at;
	double around = c[-1] + c[1] + c[-BASIN] + c[BASIN];

	c[0] += over * ((around - turning[at]) / 4 - c[0]);
}

static void relax_columns(size_t colour)
{
	for (size_t x = 1; x < BASIN - 1; x++)
		for (size_t y = 1 + (x + colour) % 2; y < BASIN - 1; y += 2)
			relax_point(y * BASIN + x);
}

static void relax_rows(size_t colour)
{
	for (size_t y = 1; y < BASIN - 1; y++)
		for (size_t x = 1 + (y + colour) % 2; x < BASIN - 1; x += 2)
			relax_point(y * BASIN + x);
}

static uint64_t ocean(void (*relax)(size_t colour))
{
	double sum = 0;

	begin_ocean();
	for (int step = 0; step < OCEAN_STEPS; step++) {
		carry();
		for (size_t sweep = 0; sweep < SWEEPS; sweep++) {
			relax(0);
			relax(1);
		}
	}
	for (size_t i = 0; i < (size_t)BASIN * BASIN; i += 31)
		sum += fabs(current[i]);
	return (uint64_t)(1e6 * sum);
}

static uint64_t ocean_columns(void)
{
	return ocean(relax_columns);
}

static uint64_t ocean_rows(void)
{
	return ocean(relax_rows);
}

/* ---- radiosity: light between the walls of a room and four boxes in it: each surface is
 * divided where what goes to it from another one is much, and then light is gathered a
 * few times (Hanrahan) ---- */

enum { MOST_ELEMENTS = 1 << 15, MOST_LINKS = 1 << 18, SOLIDS = 4, GATHERINGS = 6 };
enum { SURFACES = 6 * (SOLIDS + 1) + 1 };

static const float most_factor = 0.025f, least_area = 0.05f, circle = 3.14159265f;

/* A parallelogram: its middle, and half of each side. */
struct element {
	float middle[3], side[2][3], normal[3];
	float area, gives, reflects, light, gathered;
	uint32_t parts, first_link; /* 0: none */
};

struct link {
	uint32_t from, next;
	float factor;
};

static struct element *elements;
static struct link *links;
static uint32_t element_count, link_count;
static const float solids[SOLIDS][2][3] = {{{1, 0.5f, 1}, {3, 4, 3}},
	{{6, 0.5f, 1}, {8, 2, 4}}, {{2, 0.5f, 6}, {4, 3, 9}}, {{7, 4, 6}, {9, 6, 8}}};
static const float room[2][3] = {{0, 0, 0}, {10, 8, 10}};

static uint32_t add_element(void)
{
	memset(&elements[element_count], 0, sizeof(*elements));
	return element_count++;
}

/* One of the six sides of a box, with its face to the outside (1) or the inside (-1). */
static void add_side(const float box[2][3], int which, float face)
{
	struct element *e = &elements[add_element()];
	int axis = which / 2, next = (axis + 1) % 3, last = (axis + 2) % 3;

	for (int k = 0; k < 3; k++)
		e->middle[k] = (box[0][k] + box[1][k]) / 2;
	e->middle[axis] = box[which % 2][axis];
	e->side[0][next] = (box[1][next] - box[0][next]) / 2;
	e->side[1][last] = (box[1][last] - box[0][last]) / 2;
	e->normal[axis] = which % 2 ? face : -face;
	e->area = 4 * e->side[0][next] * e->side[1][last];
	e->reflects = 0.3f + 0.1f * (float)(which % 5);
}

static void add_scene(void)
{
	static const float lamp[2][3] = {{4, 7.9f, 4}, {6, 7.9f, 6}};

	element_count = link_count = 0;
	add_element(); /* of no use: number 0 is none */
	link_count++;
	for (int which = 0; which < 6; which++)
		add_side(room, which, -1);
	for (int s = 0; s < SOLIDS; s++)
		for (int which = 0; which < 6; which++)
			add_side(solids[s], which, 1);
	add_side(lamp, 2, 1);
	elements[element_count - 1].gives = 20;
	for (uint32_t e = 1; e < element_count; e++)
		elements[e].light = elements[e].gives;
}

static inline float dot(const float *a, const float *b)
{
	return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* The part of what leaves one, to all sides, that meets the other, if nothing is between.
 */
static float factor_between(const struct element *one, const struct element *other)
{
	float way[3], far, cosines;

	for (int k = 0; k < 3; k++)
		way[k] = other->middle[k] - one->middle[k];
	if (dot(way, one->normal) <= 0 || dot(way, other->normal) >= 0)
		return 0;
	far = dot(way, way);
	cosines = -dot(way, one->normal) * dot(way, other->normal) / far;
	return cosines * other->area / (circle * far + other->area);
}

/* Whether a part of the way between two points is inside of a box. */
static bool crosses(const float *from, const float *way, const float box[2][3])
{
	float enter = 1e-3f, leave = 1 - 1e-3f;

	for (int k = 0; k < 3; k++) {
		float by_way = 1 / (way[k] == 0 ? 1e-9f : way[k]);
		float one = (box[0][k] - from[k]) * by_way;
		float other = (box[1][k] - from[k]) * by_way;

		enter = fmaxf(enter, fminf(one, other));
		leave = fminf(leave, fmaxf(one, other));
	}
	return enter < leave;
}

/* Between four points of one and as many of the other. */
static float part_seen(const struct element *one, const struct element *other)
{
	int seen = 0;

	for (int ray = 0; ray < 4; ray++) {
		float across = ray % 2 ? 0.5f : -0.5f, down = ray / 2 ? 0.5f : -0.5f;
		float from[3], way[3];
		int s = 0;

		for (int k = 0; k < 3; k++) {
			from[k] = one->middle[k] + across * one->side[0][k] +
				  down * one->side[1][k];
			way[k] = other->middle[k] + down * other->side[0][k] +
				 across * other->side[1][k] - from[k];
		}
		while (s < SOLIDS && !crosses(from, way, solids[s]))
			s++;
		seen += s == SOLIDS;
	}
	return (float)seen / 4;
}

static void divide(uint32_t whole)
{
	if (elements[whole].parts)
		return;
	elements[whole].parts = element_count;
	for (int part = 0; part < 4; part++) {
		const struct element *from = &elements[whole];
		struct element *e = &elements[add_element()];
		float across = part % 2 ? 0.5f : -0.5f, down = part / 2 ? 0.5f : -0.5f;

		*e = *from;
		e->parts = e->first_link = 0;
		e->area /= 4;
		for (int k = 0; k < 3; k++) {
			e->middle[k] +=
				across * from->side[0][k] + down * from->side[1][k];
			e->side[0][k] /= 2;
			e->side[1][k] /= 2;
		}
	}
}

static void add_link(uint32_t to, uint32_t from, float factor)
{
	struct link *l = &links[link_count];

	l->factor = factor * part_seen(&elements[to], &elements[from]);
	if (l->factor == 0)
		return;
	l->from = from;
	l->next = elements[to].first_link;
	elements[to].first_link = link_count++;
}

/* The larger one of the two is divided if much of what leaves the other one meets it. */
static void refine(uint32_t to, uint32_t from)
{
	bool by_to = elements[to].area > elements[from].area;
	uint32_t whole = by_to ? to : from, other = by_to ? from : to;
	float much = factor_between(&elements[other], &elements[whole]);

	if (much == 0)
		return;
	if (much < most_factor || elements[whole].area < least_area) {
		add_link(to, from, factor_between(&elements[to], &elements[from]));
		return;
	}
	divide(whole);
	for (uint32_t part = 0; part < 4; part++)
		refine(by_to ? elements[to].parts + part : to,
			by_to ? from : elements[from].parts + part);
}

static void gather(void)
{
	for (uint32_t e = 1; e < element_count; e++) {
		float sum = 0;

		for (uint32_t l = elements[e].first_link; l; l = links[l].next)
			sum += links[l].factor * elements[links[l].from].light;
		elements[e].gathered = elements[e].reflects * sum;
	}
}

/* The light that the whole gathered goes down to its parts, and their mean comes back. */
static float spread(uint32_t e, float from_above)
{
	float all = from_above + elements[e].gathered, sum = 0;

	if (!elements[e].parts)
		return elements[e].light = elements[e].gives + all;
	for (uint32_t part = 0; part < 4; part++)
		sum += spread(elements[e].parts + part, all);
	return elements[e].light = sum / 4;
}

static void make_radiosity(void)
{
	elements = make_room(sizeof(*elements) * MOST_ELEMENTS);
	links = make_room(sizeof(*links) * MOST_LINKS);
}

static uint64_t radiosity(void)
{
	float sum = 0;

	add_scene();
	for (uint32_t to = 1; to <= SURFACES; to++)
		for (uint32_t from = 1; from <= SURFACES; from++)
			refine(to, from);
	for (int time = 0; time < GATHERINGS; time++) {
		gather();
		for (uint32_t e = 1; e <= SURFACES; e++)
			sum += spread(e, 0) * elements[e].area;
	}
	return (uint64_t)(1e3f * sum);
}

const struct kernel splash_kernels[] = {
	{"fmm", make_fmm, fmm},
	{"ocean-columns", make_ocean, ocean_columns},
	{"ocean-rows", make_ocean, ocean_rows},
	{"radiosity", make_radiosity, radiosity},
	{NULL, NULL, NULL},
};
