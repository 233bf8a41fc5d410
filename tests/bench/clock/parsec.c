/* SPDX-License-Identifier: MIT
 *
 * The first of the programs of PARSEC that are not here already (and do not just call
 * the mathematical library), by their names there.
 */
#include <math.h>
#include <string.h>

#include "clock.h"

static float random_float(float from, float to)
{
	return from +
	       (to - from) * ((float)(next_number() % (1 << 20)) + 0.5f) * 0x1p-20f;
}

/* ---- bodytrack: how well each of many poses of a body is what cameras see, by points
 * inside its limbs and along their edges; poses that are better are kept and changed,
 * less from layer to layer ---- */

enum { CAMERAS = 4, WIDE = 640, HIGH = 480, LIMBS = 10, JOINTS = LIMBS + 1 };
enum { POSES = 3000, LAYERS = 4, STEPS = 8, CAMERA_NUMBERS = 12, MARGIN = 8 };

struct limb {
	int from, to;
	float radius;
};

struct pose {
	float joint[JOINTS][3];
};

static const struct limb limbs[LIMBS] = {{0, 1, 15}, {1, 2, 10}, {1, 3, 5}, {3, 4, 4},
	{1, 5, 5}, {5, 6, 4}, {0, 7, 8}, {7, 8, 6}, {0, 9, 8}, {9, 10, 6}};
static const struct pose upright = {
	{{0, 0, 0}, {0, 50, 0}, {0, 75, 0}, {-20, 25, 0}, {-25, 0, 10}, {20, 25, 0},
		{25, 0, 10}, {-10, -40, 0}, {-10, -80, -5}, {10, -40, 0}, {10, -80, -5}}};
static float camera[CAMERAS][CAMERA_NUMBERS];
static unsigned char *inside[CAMERAS], *edges[CAMERAS];
static struct pose *first_poses, *poses, *next_poses;
static float *error_of;
static uint32_t chance;

/* Where a camera sees a point; none is behind it. */
static inline void look(const float *c, const float *point, float *seen)
{
	float deep = c[8] * point[0] + c[9] * point[1] + c[10] * point[2] + c[11];

	for (int i = 0; i < 2; i++)
		seen[i] = (c[4 * i] * point[0] + c[4 * i + 1] * point[1] +
				  c[4 * i + 2] * point[2] + c[4 * i + 3]) /
			  deep;
}

static inline size_t pixel(float x, float y)
{
	float across = x < MARGIN ? MARGIN : x > WIDE - MARGIN ? WIDE - MARGIN : x;
	float down = y < MARGIN ? MARGIN : y > HIGH - MARGIN ? HIGH - MARGIN : y;

	return (size_t)down * WIDE + (size_t)across;
}

/* From four sides, at eye level. */
static void make_cameras(void)
{
	static const float side[CAMERAS][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
	const float far = 300, zoom = 600;

	for (int i = 0; i < CAMERAS; i++) {
		float c = side[i][0], s = side[i][1];
		float made[CAMERA_NUMBERS] = {zoom * c + s * WIDE / 2, 0,
			c * WIDE / 2 - zoom * s, far * WIDE / 2, s * HIGH / 2, -zoom,
			c * HIGH / 2, far * HIGH / 2, s, 0, c, far};

		memcpy(camera[i], made, sizeof(made));
	}
}

/* A disk at each of many points of each limb. */
static void draw_limb(int i, const struct limb *l)
{
	for (int step = 0; step <= 100; step++) {
		float at[3], seen[2], part = (float)step / 100;

		for (int k = 0; k < 3; k++)
			at[k] = upright.joint[l->from][k] * (1 - part) +
				upright.joint[l->to][k] * part;
		look(camera[i], at, seen);
		for (int y = (int)(-2 * l->radius); y <= (int)(2 * l->radius); y++)
			for (int x = (int)(-2 * l->radius); x <= (int)(2 * l->radius);
				x++)
				if ((float)(x * x + y * y) <= 4 * l->radius * l->radius)
					inside[i][pixel(seen[0] + (float)x,
						seen[1] + (float)y)] = 255;
	}
}

static void find_edges(const unsigned char *from, unsigned char *to)
{
	for (size_t at = WIDE + 1; at < (size_t)WIDE * HIGH - WIDE - 1; at++) {
		int across = from[at + 1] - from[at - 1];
		int down = from[at + WIDE] - from[at - WIDE];
		int both = (across < 0 ? -across : across) + (down < 0 ? -down : down);

		to[at] = (unsigned char)(both > 255 ? 255 : both);
	}
}

static void make_bodytrack(void)
{
	make_cameras();
	for (int i = 0; i < CAMERAS; i++) {
		inside[i] = make_room((size_t)WIDE * HIGH);
		edges[i] = make_room((size_t)WIDE * HIGH);
		for (int l = 0; l < LIMBS; l++)
			draw_limb(i, &limbs[l]);
		find_edges(inside[i], edges[i]);
	}
	first_poses = make_room(sizeof(*poses) * POSES);
	poses = make_room(sizeof(*poses) * POSES);
	next_poses = make_room(sizeof(*poses) * POSES);
	error_of = make_room(sizeof(*error_of) * POSES);
	for (int p = 0; p < POSES; p++)
		for (int j = 0; j < JOINTS; j++)
			for (int k = 0; k < 3; k++)
				first_poses[p].joint[j][k] =
					upright.joint[j][k] + random_float(-20, 20);
}

/* Along both sides and the middle of a limb that goes from one point to another. */
static float limb_error(int i, const float *from, const float *to, float radius)
{
	float along[2] = {to[0] - from[0], to[1] - from[1]}, sum = 0;
	float length = sqrtf(along[0] * along[0] + along[1] * along[1]) + 1;
	float out[2] = {-along[1] * radius / length, along[0] * radius / length};

	for (int step = 0; step < STEPS; step++) {
		float part = ((float)step + 0.5f) / STEPS;
		float x = from[0] + part * along[0], y = from[1] + part * along[1];
		float miss = 3 * 255;

		miss -= inside[i][pixel(x, y)];
		miss -= edges[i][pixel(x + out[0], y + out[1])];
		miss -= edges[i][pixel(x - out[0], y - out[1])];
		sum += miss * miss;
	}
	return sum;
}

static float pose_error(const struct pose *pose)
{
	float seen[JOINTS][2], sum = 0;

	for (int i = 0; i < CAMERAS; i++) {
		for (int j = 0; j < JOINTS; j++)
			look(camera[i], pose->joint[j], seen[j]);
		for (int l = 0; l < LIMBS; l++)
			sum += limb_error(i, seen[limbs[l].from], seen[limbs[l].to],
				2 * limbs[l].radius);
	}
	return sum;
}

static float next_chance(void)
{
	chance = chance * 1664525 + 1013904223;
	return (float)(chance >> 8) * 0x1p-24f;
}

/* As many again: those with less error more often, each changed somewhat. */
static void choose_poses(float change)
{
	float least = error_of[0], all = 0, sum = 0, at = next_chance();
	int from = -1;

	for (int p = 1; p < POSES; p++)
		least = error_of[p] < least ? error_of[p] : least;
	for (int p = 0; p < POSES; p++) {
		float ratio = least / error_of[p];

		error_of[p] = ratio * ratio * ratio * ratio;
		all += error_of[p];
	}
	for (int p = 0; p < POSES; p++) {
		while (sum <= ((float)p + at) / POSES * all && from < POSES - 1)
			sum += error_of[++from];
		for (int j = 0; j < JOINTS; j++)
			for (int k = 0; k < 3; k++)
				next_poses[p].joint[j][k] =
					poses[from].joint[j][k] +
					change * (next_chance() - next_chance());
	}
}

static uint64_t bodytrack(void)
{
	float change = 10, sum = 0;

	chance = 1;
	memcpy(poses, first_poses, sizeof(*poses) * POSES);
	for (int layer = 0; layer < LAYERS; layer++) {
		struct pose *kept = poses;

		for (int p = 0; p < POSES; p++)
			error_of[p] = pose_error(&poses[p]);
		for (int p = 0; p < POSES; p++)
			sum += error_of[p];
		choose_poses(change);
		poses = next_poses;
		next_poses = kept;
		change *= 0.7f;
	}
	return (uint64_t)sum;
}

/* ---- canneal: parts of a chip change places as long as this makes their wires shorter,
 * or not much longer; each part leads to its place, or all places are in a table ---- */

enum { ROW = 500, PARTS = ROW * ROW, WIRES = 5 };
enum { SWAPS = 100000, ROUNDS = 5 };

struct spot {
	int32_t x, y;
};

struct part {
	struct spot *place;
	uint32_t wires;
	struct part **to;
	char name[16];
};

static struct part *parts;
static struct spot *spots;
static uint32_t *wire_start, *wire_end, *first_place;
static struct {
	int16_t x, y;
} * places;

/* Wires lead both ways; those of a part start at a place of their own. */
static void make_wires(void)
{
	size_t n = (size_t)PARTS * WIRES;
	uint32_t *from = make_room(sizeof(*from) * n), *to = make_room(sizeof(*to) * n);

	wire_start = make_room(sizeof(*wire_start) * (PARTS + 2));
	wire_end = make_room(sizeof(*wire_end) * 2 * n);
	for (size_t i = 0; i < n; i++) {
		from[i] = (uint32_t)(i / WIRES);
		to[i] = (uint32_t)(next_number() % PARTS);
		wire_start[from[i] + 2]++;
		wire_start[to[i] + 2]++;
	}
	for (uint32_t i = 2; i < PARTS + 2; i++)
		wire_start[i] += wire_start[i - 1];
	for (size_t i = 0; i < n; i++) {
		wire_end[wire_start[from[i] + 1]++] = to[i];
		wire_end[wire_start[to[i] + 1]++] = from[i];
	}
}

static void make_canneal(void)
{
	make_wires();
	first_place = make_room(sizeof(*first_place) * PARTS);
	shuffle(first_place, PARTS);
}

static void make_parts(void)
{
	struct part **ends;

	make_canneal();
	parts = make_room(sizeof(*parts) * PARTS);
	spots = make_room(sizeof(*spots) * PARTS);
	ends = make_room(sizeof(*ends) * wire_start[PARTS]);
	for (uint32_t i = 0; i < PARTS; i++) {
		spots[i] = (struct spot){(int32_t)(i % ROW), (int32_t)(i / ROW)};
		parts[i].wires = wire_start[i + 1] - wire_start[i];
		parts[i].to = ends + wire_start[i];
	}
	for (uint32_t i = 0; i < wire_start[PARTS]; i++)
		ends[i] = &parts[wire_end[i]];
}

static void make_places(void)
{
	make_canneal();
	places = make_room(sizeof(*places) * PARTS);
}

static inline int32_t apart(int32_t x, int32_t y, int32_t x2, int32_t y2)
{
	return (x < x2 ? x2 - x : x - x2) + (y < y2 ? y2 - y : y - y2);
}

static inline int32_t next_part(void)
{
	chance = chance * 1664525 + 1013904223;
	return (int32_t)((uint64_t)chance * PARTS >> 32);
}

/* How much longer the wires of a part are at another place. */
static int32_t part_cost(const struct part *part, const struct spot *new)
{
	const struct spot *old = part->place;
	int32_t sum = 0;

	for (uint32_t i = 0; i < part->wires; i++) {
		const struct spot *end = part->to[i]->place;

		sum += apart(new->x, new->y, end->x, end->y) -
		       apart(old->x, old->y, end->x, end->y);
	}
	return sum;
}

static int64_t swap_parts(int32_t most)
{
	struct part *one = &parts[next_part()], *other = &parts[next_part()];
	struct spot *kept = one->place;
	int32_t cost = part_cost(one, other->place) + part_cost(other, one->place);

	if (cost > most)
		return 0;
	one->place = other->place;
	other->place = kept;
	return cost;
}

static int32_t place_cost(uint32_t part, uint32_t at)
{
	int32_t x = places[part].x, y = places[part].y, sum = 0;
	int32_t new_x = places[at].x, new_y = places[at].y;

	for (uint32_t i = wire_start[part]; i < wire_start[part + 1]; i++) {
		int32_t end_x = places[wire_end[i]].x, end_y = places[wire_end[i]].y;

		sum += apart(new_x, new_y, end_x, end_y) - apart(x, y, end_x, end_y);
	}
	return sum;
}

static int64_t swap_places(int32_t most)
{
	uint32_t one = (uint32_t)next_part(), other = (uint32_t)next_part();
	int16_t x = places[one].x, y = places[one].y;
	int32_t cost = place_cost(one, other) + place_cost(other, one);

	if (cost > most)
		return 0;
	places[one] = places[other];
	places[other].x = x;
	places[other].y = y;
	return cost;
}

/* Ever less is allowed of what makes wires longer; by how much they are shorter at last.
 */
static uint64_t canneal(int64_t (*swap)(int32_t))
{
	int64_t sum = 0;
	int32_t most = 400;

	chance = 7;
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < SWAPS / ROUNDS; i++)
			sum += swap(most);
		most /= 3;
	}
	return (uint64_t)-sum;
}

static uint64_t canneal_parts(void)
{
	for (uint32_t i = 0; i < PARTS; i++)
		parts[i].place = &spots[first_place[i]];
	return canneal(swap_parts);
}

static uint64_t canneal_places(void)
{
	for (uint32_t i = 0; i < PARTS; i++) {
		places[i].x = (int16_t)(first_place[i] % ROW);
		places[i].y = (int16_t)(first_place[i] / ROW);
	}
	return canneal(swap_places);
}

const struct kernel parsec_kernels[] = {
	{"bodytrack", make_bodytrack, bodytrack},
	{"canneal-parts", make_parts, canneal_parts},
	{"canneal-places", make_places, canneal_places},
	{NULL, NULL, NULL},
};
