/* SPDX-License-Identifier: MIT
 *
 * The first of the programs of SHOC, and of the next of Rodinia, that are not here
 * already, by their names there.
 */
#include <math.h>
#include <string.h>

#include "clock.h"

/* ---- leukocyte: where a picture has something round: how much and how evenly light
 * changes across circles around each point ---- */

enum { HIGH = 384, WIDE = 640, PIXELS = HIGH * WIDE, CIRCLES = 5, PLACES = 24 };
enum { LEAST_RADIUS = 4, RADIUS_STEP = 2, MARGIN = 16, FIRST = MARGIN * WIDE };

static double *picture, *across, *down, *score;
static double cosine[PLACES], sine[PLACES];
static ptrdiff_t place[CIRCLES][PLACES];

static void draw_disk(double *to, int x, int y, int radius)
{
	for (int j = -radius; j <= radius; j++)
		for (int i = -radius; i <= radius; i++)
			if (i * i + j * j <= radius * radius)
				to[(y + j) * WIDE + x + i] += 100;
}

static void make_leukocyte(void)
{
	double **room[] = {&picture, &across, &down, &score};

	for (size_t i = 0; i < sizeof(room) / sizeof(room[0]); i++)
		*room[i] = make_room(sizeof(double) * PIXELS);
	for (size_t i = 0; i < PIXELS; i++)
		picture[i] = (double)(next_number() % 40);
	for (int cell = 0; cell < 60; cell++) {
		int x = MARGIN + (int)(next_number() % (WIDE - 2 * MARGIN));
		int y = MARGIN + (int)(next_number() % (HIGH - 2 * MARGIN));

		draw_disk(picture, x, y, LEAST_RADIUS + (int)(next_number() % 8));
	}
	for (int p = 0; p < PLACES; p++) {
		double turn = 2 * 3.14159265358979 * p / PLACES;

		cosine[p] = cos(turn);
		sine[p] = sin(turn);
		for (int c = 0; c < CIRCLES; c++) {
			double radius = LEAST_RADIUS + RADIUS_STEP * c;

			place[c][p] = (ptrdiff_t)lround(radius * sin(turn)) * WIDE +
				      (ptrdiff_t)lround(radius * cos(turn));
		}
	}
}

static void find_gradients(void)
{
	for (size_t at = WIDE; at < PIXELS - WIDE; at++) {
		across[at] = picture[at + 1] - picture[at - 1];
		down[at] = picture[at + WIDE] - picture[at - WIDE];
	}
}

/* The square of the mean by the variance. */
static double circle_at(size_t at, int c)
{
	double sum = 0, square = 0, mean;

	for (int p = 0; p < PLACES; p++) {
		size_t there = at + (size_t)place[c][p];
		double change = across[there] * cosine[p] + down[there] * sine[p];

		sum += change;
		square += change * change;
	}
	mean = sum / PLACES;
	return mean * mean / (square / PLACES - mean * mean + 1);
}

static void score_points(void)
{
	for (size_t at = FIRST; at < PIXELS - FIRST; at++)
		for (int c = 0; c < CIRCLES; c++) {
			double here = circle_at(at, c);

			if (here > score[at])
				score[at] = here;
		}
}

static uint64_t leukocyte(void)
{
	double sum = 0;

	memset(score, 0, sizeof(*score) * PIXELS);
	find_gradients();
	score_points();
	for (size_t at = 0; at < PIXELS; at++)
		sum += score[at];
	return (uint64_t)sum;
}

/* ---- md5hash: of many short keys the one with the least digest (MD5), one by one, or
 * two at a time that do not wait for each other ---- */

enum { KEYS = 300000, DIGITS = 7, MD5_STEPS = 64, WORDS = 16 };

struct digest {
	uint32_t a, b, c, d;
};

static uint32_t sines[MD5_STEPS];

static void make_sines(void)
{
	for (int i = 0; i < MD5_STEPS; i++)
		sines[i] = (uint32_t)(fabs(sin(i + 1)) * 4294967296.0);
}

/* The digits of a number, an end, and how many bits that was. */
static inline void put_key(uint32_t key, uint32_t *word)
{
	uint64_t bytes = 0;

	for (int i = 0; i < DIGITS; i++, key /= 10)
		bytes = bytes << 8 | ('0' + key % 10);
	bytes |= (uint64_t)0x80 << 56;
	word[0] = (uint32_t)bytes;
	word[1] = (uint32_t)(bytes >> 32);
	word[14] = DIGITS * 8;
}

static inline uint32_t mixed(int part, uint32_t b, uint32_t c, uint32_t d)
{
	switch (part) {
	case 0:
		return d ^ (b & (c ^ d));
	case 1:
		return c ^ (d & (b ^ c));
	case 2:
		return b ^ c ^ d;
	default:
		return c ^ (b | ~d);
	}
}

static inline void step(int part, int i, struct digest *s, const uint32_t *word)
{
	static const uint8_t times[4] = {1, 5, 3, 7}, plus[4] = {0, 1, 5, 0};
	static const uint8_t turn[4][4] = {
		{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
	uint32_t sum = s->a + mixed(part, s->b, s->c, s->d) + sines[16 * part + i] +
		       word[(times[part] * i + plus[part]) % WORDS];
	int by = turn[part][i % 4];

	s->a = s->d;
	s->d = s->c;
	s->c = s->b;
	s->b += sum << by | sum >> (32 - by);
}

static inline void one_part(int part, struct digest *s, const uint32_t *word)
{
	for (int i = 0; i < WORDS; i += 4) {
		step(part, i, s, word);
		step(part, i + 1, s, word);
		step(part, i + 2, s, word);
		step(part, i + 3, s, word);
	}
}

static inline void part_of_two(
	int part, struct digest *s, struct digest *t, uint32_t (*words)[WORDS])
{
	for (int i = 0; i < WORDS; i += 4) {
		step(part, i, s, words[0]);
		step(part, i, t, words[1]);
		step(part, i + 1, s, words[0]);
		step(part, i + 1, t, words[1]);
		step(part, i + 2, s, words[0]);
		step(part, i + 2, t, words[1]);
		step(part, i + 3, s, words[0]);
		step(part, i + 3, t, words[1]);
	}
}

static const struct digest first_digest = {
	0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};

static inline uint64_t digest_with_key(const struct digest *s, uint32_t key)
{
	return (uint64_t)(s->a + first_digest.a) << 32 | key;
}

static uint64_t md5hash_one(void)
{
	uint64_t least = UINT64_MAX;
	uint32_t word[WORDS] = {0};

	for (uint32_t key = 0; key < KEYS; key++) {
		struct digest s = first_digest;
		uint64_t here;

		put_key(key, word);
		one_part(0, &s, word);
		one_part(1, &s, word);
		one_part(2, &s, word);
		one_part(3, &s, word);
		here = digest_with_key(&s, key);
		least = here < least ? here : least;
	}
	return least;
}

static uint64_t md5hash_two(void)
{
	uint64_t least = UINT64_MAX;
	uint32_t words[2][WORDS] = {{0}};

	for (uint32_t key = 0; key < KEYS; key += 2) {
		struct digest s = first_digest, t = first_digest;
		uint64_t one, other;

		put_key(key, words[0]);
		put_key(key + 1, words[1]);
		part_of_two(0, &s, &t, words);
		part_of_two(1, &s, &t, words);
		part_of_two(2, &s, &t, words);
		part_of_two(3, &s, &t, words);
		one = digest_with_key(&s, key);
		other = digest_with_key(&t, key + 1);
		one = other < one ? other : one;
		least = one < least ? one : least;
	}
	return least;
}

const struct kernel shoc_kernels[] = {
	{"leukocyte", make_leukocyte, leukocyte},
	{"md5hash-one", make_sines, md5hash_one},
	{"md5hash-two", make_sines, md5hash_two},
	{NULL, NULL, NULL},
};
