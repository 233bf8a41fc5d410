/* SPDX-License-Identifier: MIT
 *
 * Numbers and strings that are put in order, sets, points in a plane, events, and text
 * that is decoded.
 */
#include <stdlib.h>
#include <string.h>

#include "clock.h"

/* ---- the middle one of many ---- */

enum { NUMBERS = 300000 };

static uint32_t *numbers, *work;

static void make_numbers(void)
{
	numbers = make_room(sizeof(*numbers) * NUMBERS);
	work = make_room(sizeof(*work) * NUMBERS);
	for (size_t i = 0; i < NUMBERS; i++)
		numbers[i] = (uint32_t)next_number();
}

static uint64_t select_middle(void)
{
	size_t first = 0, last = NUMBERS - 1;

	memcpy(work, numbers, sizeof(*work) * NUMBERS);
	while (first < last) {
		uint32_t pivot = work[(first + last) / 2];
		size_t i = first, j = last;

		for (;;) {
			uint32_t kept;

			while (work[i] < pivot)
				i++;
			while (work[j] > pivot)
				j--;
			if (i >= j)
				break;
			kept = work[i];
			work[i++] = work[j];
			work[j--] = kept;
		}
		if (j < NUMBERS / 2)
			first = j + 1;
		else
			last = j;
	}
	return work[NUMBERS / 2];
}

/* ---- strings in order ---- */

enum { STRINGS = 20000, LENGTH = 12 };

static char (*strings)[LENGTH];
static const char **in_order;

static void make_strings(void)
{
	strings = make_room(sizeof(*strings) * STRINGS);
	in_order = make_room(sizeof(*in_order) * STRINGS);
	for (size_t i = 0; i < STRINGS; i++)
		for (size_t k = 0; k < 4 + i % 7; k++)
			strings[i][k] = (char)('a' + next_number() % (k < 2 ? 3 : 26));
}

static int compare_strings(const void *one, const void *other)
{
	return strcmp(*(const char *const *)one, *(const char *const *)other);
}

static uint64_t sort_strings(void)
{
	for (size_t i = 0; i < STRINGS; i++)
		in_order[i] = strings[i];
	qsort(in_order, STRINGS, sizeof(*in_order), compare_strings);
	return (uint64_t)in_order[7][2];
}

/* ---- sets that may be wrong (Bloom), and tables with two places for each key ---- */

enum { SET_BITS = 1 << 25, KEYS = 150000, PLACES = 1 << 19 };

static uint64_t *set, *keys;
static struct place {
	uint64_t key, value;
} * places;

static uint64_t hash_of(uint64_t key, unsigned which)
{
	return (key ^ which * 0x51ed2701u) * 0x9e3779b97f4a7c15u >> 20;
}

static void make_set(void)
{
	set = make_room(SET_BITS / 8);
	keys = make_room(sizeof(*keys) * KEYS);
	for (size_t i = 0; i < KEYS; i++)
		keys[i] = next_number();
	for (size_t i = 0; i < KEYS; i += 2)
		for (unsigned k = 0; k < 4; k++) {
			uint64_t bit = hash_of(keys[i], k) % SET_BITS;

			set[bit / 64] |= (uint64_t)1 << bit % 64;
		}
}

static uint64_t bloom(void)
{
	uint64_t found = 0;

	for (size_t i = 0; i < KEYS; i++) {
		unsigned k = 0;

		for (; k < 4; k++) {
			uint64_t bit = hash_of(keys[i], k) % SET_BITS;

			if (!(set[bit / 64] >> bit % 64 & 1))
				break;
		}
		found += k == 4;
	}
	return found;
}

static void put_key(uint64_t key, uint64_t value)
{
	struct place put = {key, value};

	for (unsigned tries = 0; tries < 200; tries++) {
		struct place *at = &places[hash_of(put.key, tries % 2) % PLACES],
			     kept = *at;

		*at = put;
		if (!kept.key)
			return;
		put = kept;
	}
}

static void make_places(void)
{
	places = make_room(sizeof(*places) * PLACES);
	keys = make_room(sizeof(*keys) * KEYS);
	for (size_t i = 0; i < KEYS; i++) {
		keys[i] = next_number() | 1;
		put_key(keys[i], i);
	}
	for (size_t i = 0; i < KEYS; i += 3)
		keys[i] = next_number() | 1;
}

static uint64_t cuckoo(void)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < KEYS; i++) {
		const struct place *at = &places[hash_of(keys[i], 0) % PLACES];

		if (at->key != keys[i])
			at = &places[hash_of(keys[i], 1) % PLACES];
		sum += at->key == keys[i] ? at->value : 1;
	}
	return sum;
}

/* ---- the nearest point in a plane ---- */

enum { POINTS = 1 << 16, ASKED = 6000 };

static struct point {
	float at[2];
} * points, *asked;

static int compare_first(const void *one, const void *other)
{
	float a = ((const struct point *)one)->at[0],
	      b = ((const struct point *)other)->at[0];

	return (a > b) - (a < b);
}

static int compare_second(const void *one, const void *other)
{
	float a = ((const struct point *)one)->at[1],
	      b = ((const struct point *)other)->at[1];

	return (a > b) - (a < b);
}

/* The middle one of each half by the other axis. */
static void halve(size_t first, size_t end, int axis)
{
	if (end - first < 2)
		return;
	qsort(points + first, end - first, sizeof(*points),
		axis ? compare_second : compare_first);
	halve(first, (first + end) / 2, !axis);
	halve((first + end) / 2 + 1, end, !axis);
}

static void make_points(void)
{
	points = make_room(sizeof(*points) * POINTS);
	asked = make_room(sizeof(*asked) * ASKED);
	for (size_t i = 0; i < POINTS; i++)
		points[i] = (struct point){{(float)(next_number() % 100000),
			(float)(next_number() % 100000)}};
	for (size_t i = 0; i < ASKED; i++)
		asked[i] = (struct point){{(float)(next_number() % 100000),
			(float)(next_number() % 100000)}};
	halve(0, POINTS, 0);
}

static float nearest(
	const struct point *to, size_t first, size_t end, int axis, float best)
{
	size_t middle = (first + end) / 2;
	float x, y, far, beside;

	if (first >= end)
		return best;
	x = points[middle].at[0] - to->at[0];
	y = points[middle].at[1] - to->at[1];
	far = x * x + y * y;
	best = far < best ? far : best;
	beside = axis ? y : x;
	best = beside > 0 ? nearest(to, first, middle, !axis, best)
			  : nearest(to, middle + 1, end, !axis, best);
	if (beside * beside < best)
		best = beside > 0 ? nearest(to, middle + 1, end, !axis, best)
				  : nearest(to, first, middle, !axis, best);
	return best;
}

static uint64_t nearest_points(void)
{
	float sum = 0;

	for (size_t i = 0; i < ASKED; i++)
		sum += nearest(&asked[i], 0, POINTS, 0, 1e20f);
	return (uint64_t)sum;
}

/* ---- events, by time, each of which makes another one ---- */

enum { EVENTS = 1 << 13, HAPPEN = 100000 };

static uint64_t *event;
static size_t nevents;

static void put_event(uint64_t at)
{
	size_t i = nevents++;

	for (; i && event[(i - 1) / 2] > at; i = (i - 1) / 2)
		event[i] = event[(i - 1) / 2];
	event[i] = at;
}

static void make_events(void)
{
	event = make_room(sizeof(*event) * (EVENTS + 1));
}

static uint64_t take_event(void)
{
	uint64_t first = event[0], last = event[--nevents];
	size_t i = 0, child;

	for (; (child = 2 * i + 1) < nevents; i = child) {
		child += child + 1 < nevents && event[child + 1] < event[child];
		if (event[child] >= last)
			break;
		event[i] = event[child];
	}
	event[i] = last;
	return first;
}

static uint64_t simulate_events(void)
{
	uint64_t chance = 1, now = 0;

	nevents = 0;
	for (size_t i = 0; i < EVENTS; i++)
		put_event(i * 7919 % 10007);
	for (size_t i = 0; i < HAPPEN; i++) {
		now = take_event();
		chance = chance * 6364136223846793005u + 1442695040888963407u;
		put_event(now + (chance >> 50));
	}
	return now;
}

/* ---- from one node to another, by chance ---- */

enum { NODES = 1 << 17, WAYS = 4, WALKERS = 8, STEPS = 20000 };

static uint32_t (*ways)[WAYS];

static void make_nodes(void)
{
	ways = make_room(sizeof(*ways) * NODES);
	for (size_t i = 0; i < NODES; i++)
		for (size_t k = 0; k < WAYS; k++)
			ways[i][k] = (uint32_t)(next_number() % NODES);
}

static uint64_t walk_nodes(void)
{
	uint32_t at[WALKERS] = {0, 1, 2, 3, 4, 5, 6, 7};
	uint64_t chance = 1, sum = 0;

	for (size_t i = 0; i < STEPS; i++) {
		chance = chance * 6364136223846793005u + 1442695040888963407u;
		for (size_t k = 0; k < WALKERS; k++)
			at[k] = ways[at[k]][chance >> (40 + 2 * k) & 3];
	}
	for (size_t k = 0; k < WALKERS; k++)
		sum += at[k];
	return sum;
}

/* ---- bytes that stand for others ---- */

enum { BYTES = 1 << 19 };

static unsigned char *bytes, *decoded;

/* Letters of one to three bytes (UTF-8). */
static void make_letters(void)
{
	size_t i = 0;

	bytes = make_room(BYTES + 4);
	while (i < BYTES) {
		uint64_t chance = next_number() % 16;

		if (chance < 12) {
			bytes[i++] = (unsigned char)(' ' + next_number() % 90);
		} else if (chance < 15) {
			bytes[i++] = (unsigned char)(0xc3 + next_number() % 8);
			bytes[i++] = (unsigned char)(0x80 + next_number() % 64);
		} else {
			bytes[i++] = (unsigned char)(0xe2 + next_number() % 4);
			bytes[i++] = (unsigned char)(0x80 + next_number() % 64);
			bytes[i++] = (unsigned char)(0x80 + next_number() % 64);
		}
	}
}

static uint64_t decode_letters(void)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < BYTES;) {
		uint32_t letter = bytes[i++];

		if (letter >= 0xe0) {
			letter = (letter & 15) << 12 | (uint32_t)(bytes[i] & 63) << 6 |
				 (bytes[i + 1] & 63);
			i += 2;
		} else if (letter >= 0xc0) {
			letter = (letter & 31) << 6 | (bytes[i++] & 63);
		}
		sum += letter;
	}
	return sum;
}

/* Sixty-four signs for three bytes each four (base64). */
static void make_bytes(void)
{
	bytes = make_room(BYTES);
	decoded = make_room(BYTES / 3 * 4 + 4);
	for (size_t i = 0; i < BYTES; i++)
		bytes[i] = (unsigned char)next_number();
}

static uint64_t encode_bytes(void)
{
	static const char sign[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t to = 0;

	for (size_t i = 0; i + 2 < BYTES; i += 3) {
		uint32_t three = (uint32_t)bytes[i] << 16 | (uint32_t)bytes[i + 1] << 8 |
				 bytes[i + 2];

		for (int shift = 18; shift >= 0; shift -= 6)
			decoded[to++] = (unsigned char)sign[three >> shift & 63];
	}
	return decoded[7];
}

/* Letters, and what was some before, so many of it (LZ77). */
enum { PIECES = 60000 };

static struct piece {
	uint16_t back, length;
} * pieces;

static void make_pieces(void)
{
	size_t at = 16;

	pieces = make_room(sizeof(*pieces) * PIECES);
	decoded = make_room((size_t)PIECES * 40 + 16);
	for (size_t i = 0; i < PIECES; i++) {
		uint16_t length = (uint16_t)(next_number() % 20 + 1);

		pieces[i] = (struct piece){
			(uint16_t)(next_number() % (at < 60000 ? at : 60000) + 1),
			length};
		at += length;
	}
}

static uint64_t unpack_pieces(void)
{
	unsigned char *to = decoded + 16;

	for (size_t i = 0; i < 16; i++)
		decoded[i] = (unsigned char)i;
	for (size_t i = 0; i < PIECES; i++)
		for (uint16_t k = 0; k < pieces[i].length; k++, to++)
			*to = to[-(ptrdiff_t)pieces[i].back];
	return decoded[1000];
}

/* ---- a text of numbers, names and lists in each other ---- */

static void make_lists(void)
{
	size_t i = 0;
	int depth = 0;

	bytes = make_room(BYTES + 64);
	while (i < BYTES) {
		uint64_t what = next_number() % 8;

		if (what == 0 && depth < 20) {
			bytes[i++] = '[';
			depth++;
		} else if (what == 1 && depth) {
			bytes[i++] = ']';
			depth--;
		} else if (what < 5) {
			for (uint64_t n = next_number() % 6 + 1; n; n--)
				bytes[i++] = (unsigned char)('0' + next_number() % 10);
			bytes[i++] = ',';
		} else {
			bytes[i++] = '"';
			for (uint64_t n = next_number() % 12; n; n--)
				bytes[i++] = (unsigned char)('a' + next_number() % 26);
			bytes[i++] = '"';
		}
	}
}

static uint64_t read_lists(void)
{
	uint64_t sum = 0, depth = 0;

	for (size_t i = 0; i < BYTES;) {
		uint64_t number = 0;

		switch (bytes[i]) {
		case '[':
			depth++;
			i++;
			break;
		case ']':
			depth--;
			i++;
			break;
		case '"':
			for (i++; bytes[i] && bytes[i] != '"';)
				i++;
			i++;
			break;
		case ',':
			i++;
			break;
		default:
			while (bytes[i] >= '0' && bytes[i] <= '9')
				number = number * 10 + (uint64_t)(bytes[i++] - '0');
			sum += number * depth;
			i += !number;
		}
	}
	return sum;
}

const struct kernel record_kernels[] = {
	{"select-middle", make_numbers, select_middle},
	{"sort-strings", make_strings, sort_strings},
	{"bloom", make_set, bloom},
	{"cuckoo", make_places, cuckoo},
	{"nearest-points", make_points, nearest_points},
	{"events", make_events, simulate_events},
	{"walkers", make_nodes, walk_nodes},
	{"decode-letters", make_letters, decode_letters},
	{"encode-bytes", make_bytes, encode_bytes},
	{"unpack", make_pieces, unpack_pieces},
	{"read-lists", make_lists, read_lists},
	{NULL, NULL, NULL},
};
