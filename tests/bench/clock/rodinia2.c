/* SPDX-License-Identifier: MIT
 *
 * The next four of the programs of Rodinia that are not here already, by their names
 * there.
 */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "clock.h"

static float next_float(void)
{
	return (float)(next_number() % 1000) / 1000;
}

/* ---- heartwall: patches of a moving image are found again in the next one, where they
 * correlate best ---- */

enum { ACROSS = 592, DOWN = 608, FRAMES = 8, POINTS = 51, INNER_POINTS = 20 };
enum { NEAR = 10, PATCH = 2 * NEAR + 1, LOOK = 12, WINDOW = PATCH + 2 * LOOK };
enum { PATCH_SIZE = PATCH * PATCH };

static float *frames;
static float window[WINDOW][WINDOW];
static double window_sums[WINDOW + 1][WINDOW + 1], window_squares[WINDOW + 1][WINDOW + 1];

static struct spot {
	int x, y;
	float patch[PATCH][PATCH];
} * spots;

/* Where the wall is: it moves a little from frame to frame. */
static int moved_right(int frame)
{
	return frame * 5 % 9;
}

static int moved_down(int frame)
{
	return frame * 4 % 7;
}

/* Speckles, which move, and what is different in each frame. */
static void make_frames(void)
{
	float *speckles = make_room(sizeof(float) * DOWN * ACROSS);

	frames = make_room(sizeof(float) * FRAMES * DOWN * ACROSS);
	spots = make_room(sizeof(*spots) * POINTS);
	for (size_t i = 0; i < (size_t)DOWN * ACROSS; i++)
		speckles[i] = next_float() + (i ? speckles[i - 1] / 2 : 0) +
			      (i >= ACROSS ? speckles[i - ACROSS] / 4 : 0);
	for (int f = 0; f < FRAMES; f++)
		for (int y = 0; y < DOWN; y++)
			for (int x = 0; x < ACROSS; x++) {
				int from_x = (x - moved_right(f) + ACROSS) % ACROSS;
				int from_y = (y - moved_down(f) + DOWN) % DOWN;

				frames[(f * DOWN + y) * ACROSS + x] =
					speckles[from_y * ACROSS + from_x] +
					next_float() / 8;
			}
}

/* The points are on two rings, the inner and the outer wall. */
static void place_spot(int number)
{
	struct spot *spot = &spots[number];
	bool inner = number < INNER_POINTS;
	double turn = inner ? (double)number / INNER_POINTS
			    : (double)(number - INNER_POINTS) / (POINTS - INNER_POINTS);
	double far = inner ? 110 : 190;

	spot->x = ACROSS / 2 + (int)(far * cos(6.283185 * turn));
	spot->y = DOWN / 2 + (int)(far * 1.1 * sin(6.283185 * turn));
	for (int y = 0; y < PATCH; y++)
		memcpy(spot->patch[y],
			&frames[(spot->y - NEAR + y) * ACROSS + spot->x - NEAR],
			sizeof(spot->patch[y]));
}

/* The window around a point, and sums of all that is above and left of each place. */
static void cut_window(const float *frame, const struct spot *spot)
{
	for (int y = 0; y < WINDOW; y++) {
		double sum = 0, square = 0;

		memcpy(window[y],
			&frame[(spot->y - NEAR - LOOK + y) * ACROSS + spot->x - NEAR -
				LOOK],
			sizeof(window[y]));
		for (int x = 0; x < WINDOW; x++) {
			sum += window[y][x];
			square += (double)window[y][x] * window[y][x];
			window_sums[y + 1][x + 1] = window_sums[y][x + 1] + sum;
			window_squares[y + 1][x + 1] = window_squares[y][x + 1] + square;
		}
	}
}

static double sum_of_patch(double (*sums)[WINDOW + 1], int x, int y)
{
	return sums[y + PATCH][x + PATCH] - sums[y][x + PATCH] - sums[y + PATCH][x] +
	       sums[y][x];
}

static float products(const struct spot *spot, int x, int y)
{
	float sum = 0;

	for (int i = 0; i < PATCH; i++)
		for (int j = 0; j < PATCH; j++)
			sum += spot->patch[i][j] * window[y + i][x + j];
	return sum;
}

static double mean_of_patch(const struct spot *spot)
{
	double sum = 0;

	for (int i = 0; i < PATCH; i++)
		for (int j = 0; j < PATCH; j++)
			sum += spot->patch[i][j];
	return sum / PATCH_SIZE;
}

/* Where it correlates best; what varies in the patch itself is the same for each place.
 */
static void find_spot(struct spot *spot)
{
	double mean = mean_of_patch(spot), best = -1e9;
	int best_x = 0, best_y = 0;

	for (int y = 0; y <= 2 * LOOK; y++)
		for (int x = 0; x <= 2 * LOOK; x++) {
			double sum = sum_of_patch(window_sums, x, y);
			double varies = sum_of_patch(window_squares, x, y) -
					sum * sum / PATCH_SIZE;
			double alike = (products(spot, x, y) - mean * sum) / sqrt(varies);

			if (alike > best) {
				best = alike;
				best_x = x;
				best_y = y;
			}
		}
	spot->x += best_x - LOOK;
	spot->y += best_y - LOOK;
	for (int i = 0; i < PATCH; i++)
		for (int j = 0; j < PATCH; j++)
			spot->patch[i][j] = 0.88f * spot->patch[i][j] +
					    0.12f * window[best_y + i][best_x + j];
}

static uint64_t heartwall(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < POINTS; i++)
		place_spot(i);
	for (int f = 1; f < FRAMES; f++)
		for (int i = 0; i < POINTS; i++) {
			cut_window(frames + (size_t)f * DOWN * ACROSS, &spots[i]);
			find_spot(&spots[i]);
		}
	for (int i = 0; i < POINTS; i++)
		sum += (uint64_t)(spots[i].x * ACROSS + spots[i].y);
	return sum;
}

/* ---- hotspot: how warm a chip becomes, where each point asks which neighbours it has,
 * or a frame around the chip has what is beyond its edges ---- */

enum { CHIP = 510, LINE = CHIP + 2, STEPS = 300 };

static float *chip, *warmer, *power;

static void make_chip(void)
{
	chip = make_room(sizeof(float) * LINE * LINE);
	warmer = make_room(sizeof(float) * LINE * LINE);
	power = make_room(sizeof(float) * LINE * LINE);
	for (size_t i = 0; i < (size_t)LINE * LINE; i++)
		power[i] = next_float() / 10;
}

static void cold_chip(void)
{
	for (size_t i = 0; i < (size_t)LINE * LINE; i++)
		chip[i] = 60 + (float)(i * 7919 % 1999) / 1999;
}

static inline float warmer_by(
	float here, float heating, float north, float south, float west, float east)
{
	return here +
	       0.3f * (heating + (north + south - 2 * here) * 0.25f +
			      (west + east - 2 * here) * 0.25f + (80 - here) * 0.01f);
}

static void swap_chips(void)
{
	float *kept = chip;

	chip = warmer;
	warmer = kept;
}

/* Beyond the edges it is as warm as at them. */
static void warm_asking(void)
{
	for (int y = 1; y <= CHIP; y++)
		for (int x = 1; x <= CHIP; x++) {
			const float *here = &chip[y * LINE + x];

			warmer[y * LINE + x] = warmer_by(*here, power[y * LINE + x],
				y > 1 ? here[-LINE] : *here,
				y < CHIP ? here[LINE] : *here, x > 1 ? here[-1] : *here,
				x < CHIP ? here[1] : *here);
		}
}

static uint64_t hotspot_asking(void)
{
	cold_chip();
	for (int step = 0; step < STEPS; step++) {
		warm_asking();
		swap_chips();
	}
	return (uint64_t)(1e3f * chip[7 * LINE + 7]);
}

static void copy_edges(void)
{
	memcpy(chip, chip + LINE, sizeof(float) * LINE);
	memcpy(chip + (CHIP + 1) * LINE, chip + CHIP * LINE, sizeof(float) * LINE);
	for (size_t y = 1; y <= CHIP; y++) {
		chip[y * LINE] = chip[y * LINE + 1];
		chip[y * LINE + CHIP + 1] = chip[y * LINE + CHIP];
	}
}

static void warm_line(
	const float *restrict here, const float *restrict heating, float *restrict to)
{
	for (int x = 0; x < CHIP; x++)
		to[x] = warmer_by(here[x], heating[x], here[x - LINE], here[x + LINE],
			here[x - 1], here[x + 1]);
}

static uint64_t hotspot_framed(void)
{
	cold_chip();
	for (int step = 0; step < STEPS; step++) {
		copy_edges();
		for (size_t at = LINE + 1; at < (size_t)(CHIP + 1) * LINE; at += LINE)
			warm_line(chip + at, power + at, warmer + at);
		swap_chips();
	}
	return (uint64_t)(1e3f * chip[7 * LINE + 7]);
}

/* ---- hybridsort: numbers are merged to longer and longer runs, all at once, or those
 * that are near by each other, after they went into buckets ---- */

enum { NUMBERS = 1 << 20, BINS = 8192, BUCKETS = 1024 };

static float *numbers, *sorted, *merged;
static uint32_t bin_counts[BINS], bucket_of_bin[BINS], bucket_ends[BUCKETS + 1];

/* There are more in the middle than elsewhere. */
static void make_numbers(void)
{
	numbers = make_room(sizeof(float) * NUMBERS);
	sorted = make_room(sizeof(float) * NUMBERS);
	merged = make_room(sizeof(float) * NUMBERS);
	for (size_t i = 0; i < NUMBERS; i++)
		numbers[i] =
			(float)((next_number() >> 41) + (next_number() >> 41)) * 0x1p-24f;
}

static void merge_two(const float *one, const float *other, const float *end, float *to)
{
	const float *middle = other;

	while (one < middle && other < end)
		if (*other < *one)
			*to++ = *other++;
		else
			*to++ = *one++;
	memcpy(to, one, (size_t)((const char *)middle - (const char *)one));
	memcpy(to + (middle - one), other,
		(size_t)((const char *)end - (const char *)other));
}

/* Runs become twice as long, from the one array to the other; where they are at last
 * they are copied to the first one. */
static void merge_runs(float *all, float *room, size_t n)
{
	float *from = all, *to = room;

	for (size_t run = 1; run < n; run *= 2) {
		float *kept = from;

		for (size_t i = 0; i < n; i += 2 * run) {
			size_t middle = i + run < n ? i + run : n;
			size_t end = i + 2 * run < n ? i + 2 * run : n;

			merge_two(from + i, from + middle, from + end, to + i);
		}
		from = to;
		to = kept;
	}
	if (from != all)
		memcpy(all, from, sizeof(float) * n);
}

static uint64_t sort_at_once(void)
{
	memcpy(sorted, numbers, sizeof(float) * NUMBERS);
	merge_runs(sorted, merged, NUMBERS);
	return (uint64_t)(1e6f * sorted[NUMBERS / 3]);
}

static uint32_t bin_of(float number)
{
	return (uint32_t)(number * BINS);
}

/* As many go into each bucket, as far as the counts of the bins tell. */
static void choose_buckets(void)
{
	uint32_t before = 0;

	memset(bin_counts, 0, sizeof(bin_counts));
	memset(bucket_ends, 0, sizeof(bucket_ends));
	for (size_t i = 0; i < NUMBERS; i++)
		bin_counts[bin_of(numbers[i])]++;
	for (size_t bin = 0; bin < BINS; bin++) {
		bucket_of_bin[bin] =
			(uint32_t)((uint64_t)before * BUCKETS / (NUMBERS + 1));
		bucket_ends[bucket_of_bin[bin] + 1] += bin_counts[bin];
		before += bin_counts[bin];
	}
	for (size_t bucket = 0; bucket < BUCKETS; bucket++)
		bucket_ends[bucket + 1] += bucket_ends[bucket];
}

static uint64_t sort_by_buckets(void)
{
	uint32_t first = 0;

	choose_buckets();
	for (size_t i = 0; i < NUMBERS; i++)
		sorted[bucket_ends[bucket_of_bin[bin_of(numbers[i])]]++] = numbers[i];
	for (size_t bucket = 0; bucket < BUCKETS; bucket++) {
		merge_runs(sorted + first, merged, bucket_ends[bucket] - first);
		first = bucket_ends[bucket];
	}
	return (uint64_t)(1e6f * sorted[NUMBERS / 3]);
}

/* ---- lavaMD: particles in boxes, which push those in the boxes around them ---- */

enum { BOX_SIDE = 5, BOXES = BOX_SIDE * BOX_SIDE * BOX_SIDE, IN_BOX = 60 };

struct particle {
	double half_square, x, y, z;
};

static struct box {
	int number, around, near[27];
	struct particle at[IN_BOX], push[IN_BOX];
	double charge[IN_BOX];
} * boxes;

static void make_neighbours(struct box *box, int x, int y, int z)
{
	for (int k = 0; k < 27; k++) {
		int there_x = x + k % 3 - 1, there_y = y + k / 3 % 3 - 1,
		    there_z = z + k / 9 - 1;

		if (there_x < 0 || there_x >= BOX_SIDE || there_y < 0 ||
			there_y >= BOX_SIDE || there_z < 0 || there_z >= BOX_SIDE)
			continue;
		box->near[box->around++] =
			(there_z * BOX_SIDE + there_y) * BOX_SIDE + there_x;
	}
}

static void make_boxes(void)
{
	boxes = make_room(sizeof(*boxes) * BOXES);
	for (int number = 0; number < BOXES; number++) {
		struct box *box = &boxes[number];
		int x = number % BOX_SIDE, y = number / BOX_SIDE % BOX_SIDE,
		    z = number / BOX_SIDE / BOX_SIDE;

		make_neighbours(box, x, y, z);
		for (int i = 0; i < IN_BOX; i++) {
			struct particle p = {0, (double)x + (double)next_float(),
				(double)y + (double)next_float(),
				(double)z + (double)next_float()};

			p.half_square = (p.x * p.x + p.y * p.y + p.z * p.z) / 2;
			box->at[i] = p;
			box->charge[i] = (double)next_float();
		}
	}
}

static void push_particle(struct particle *push, const struct particle *at,
	const struct particle *by, double charge)
{
	double half_square = at->half_square + by->half_square -
			     (at->x * by->x + at->y * by->y + at->z * by->z);
	double strength = charge * exp(-half_square);

	push->half_square += strength;
	push->x += 2 * strength * (at->x - by->x);
	push->y += 2 * strength * (at->y - by->y);
	push->z += 2 * strength * (at->z - by->z);
}

static void push_box(struct box *box)
{
	memset(box->push, 0, sizeof(box->push));
	for (int k = 0; k < box->around; k++) {
		const struct box *near = &boxes[box->near[k]];

		for (int i = 0; i < IN_BOX; i++)
			for (int j = 0; j < IN_BOX; j++)
				push_particle(&box->push[i], &box->at[i], &near->at[j],
					near->charge[j]);
	}
}

static uint64_t lava_md(void)
{
	for (int i = 0; i < BOXES; i++)
		push_box(&boxes[i]);
	return (uint64_t)(1e6 * boxes[7].push[7].half_square);
}

const struct kernel rodinia2_kernels[] = {
	{"heartwall", make_frames, heartwall},
	{"hotspot-asking", make_chip, hotspot_asking},
	{"hotspot-framed", make_chip, hotspot_framed},
	{"hybridsort-at-once", make_numbers, sort_at_once},
	{"hybridsort-buckets", make_numbers, sort_by_buckets},
	{"lavamd", make_boxes, lava_md},
	{NULL, NULL, NULL},
};
