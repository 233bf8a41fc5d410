/* SPDX-License-Identifier: MIT
 *
 * Sorting, a Fourier transform, text, tables, and arithmetic.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

enum { NUMBERS = 100000, POINTS = 1 << 15, TEXT = 1 << 20, BODIES = 200 };

/* ---- sorting ---- */

static uint32_t *numbers, *work;

static void make_numbers(void)
{
	numbers = make_room(sizeof(*numbers) * NUMBERS);
	work = make_room(2 * sizeof(*work) * NUMBERS);
	for (size_t i = 0; i < NUMBERS; i++)
		numbers[i] = (uint32_t)next_number();
}

static int compare_numbers(const void *one, const void *other)
{
	uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;

	return (a > b) - (a < b);
}

static uint64_t sort_compared(void)
{
	memcpy(work, numbers, sizeof(*work) * NUMBERS);
	qsort(work, NUMBERS, sizeof(*work), compare_numbers);
	return work[7];
}

static uint64_t sort_radix(void)
{
	uint32_t *from = work, *to = work + NUMBERS;

	memcpy(work, numbers, sizeof(*work) * NUMBERS);
	for (int shift = 0; shift < 32; shift += 8) {
		size_t start[257] = {0};
		uint32_t *kept = from;

		for (size_t i = 0; i < NUMBERS; i++)
			start[(from[i] >> shift & 255) + 1]++;
		for (int i = 0; i < 256; i++)
			start[i + 1] += start[i];
		for (size_t i = 0; i < NUMBERS; i++)
			to[start[from[i] >> shift & 255]++] = from[i];
		from = to;
		to = kept;
	}
	return from[7];
}

/* ---- a histogram: of numbers as they come, or sorted ---- */

static uint32_t *bins;

static void make_histogram(void)
{
	make_numbers();
	bins = make_room(sizeof(*bins) << 22);
}

static void make_sorted_histogram(void)
{
	make_histogram();
	qsort(numbers, NUMBERS, sizeof(*numbers), compare_numbers);
}

static uint64_t histogram(void)
{
	for (int turn = 0; turn < 4; turn++)
		for (size_t i = 0; i < NUMBERS; i++)
			bins[numbers[i] >> 10]++;
	return bins[7];
}

/* ---- Fourier ---- */

static double *re, *im, *cosines, *sines;

static void make_points(void)
{
	re = make_room(sizeof(double) * POINTS);
	im = make_room(sizeof(double) * POINTS);
	cosines = make_room(sizeof(double) * POINTS);
	sines = make_room(sizeof(double) * POINTS);
	for (int i = 0; i < POINTS; i++) {
		re[i] = i % 17;
		cosines[i] = cos(6.283185307179586 * i / POINTS);
		sines[i] = sin(6.283185307179586 * i / POINTS);
	}
}

static void butterfly(size_t one, size_t other, size_t turn)
{
	double c = cosines[turn], s = sines[turn];
	double r = re[other] * c - im[other] * s, i = re[other] * s + im[other] * c;

	re[other] = 0.5 * (re[one] - r);
	im[other] = 0.5 * (im[one] - i);
	re[one] = 0.5 * (re[one] + r);
	im[one] = 0.5 * (im[one] + i);
}

static uint64_t fft(void)
{
	for (size_t half = 1; half < POINTS; half *= 2)
		for (size_t first = 0; first < POINTS; first += 2 * half)
			for (size_t k = 0; k < half; k++)
				butterfly(first + k, first + k + half,
					k * (POINTS / 2 / half));
	return (uint64_t)fabs(re[7]);
}

/* ---- text ---- */

static unsigned char *text;
static uint32_t table[256];

static void make_text(void)
{
	static const char letters[] = "etaoin shrdlu, 0123456789.\n(cmfwyp)";

	text = make_room(TEXT);
	for (size_t i = 0; i < TEXT; i++)
		text[i] = (unsigned char)letters[next_number() % (sizeof(letters) - 1)];
	for (uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (int bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320u : 0);
	}
}

static uint64_t tokens(void)
{
	uint64_t words = 0, numbers_seen = 0, others = 0;

	for (size_t i = 0; i < TEXT;) {
		if (text[i] >= 'a' && text[i] <= 'z') {
			while (i < TEXT && text[i] >= 'a' && text[i] <= 'z')
				i++;
			words++;
		} else if (text[i] >= '0' && text[i] <= '9') {
			while (i < TEXT && text[i] >= '0' && text[i] <= '9')
				i++;
			numbers_seen++;
		} else {
			others += text[i++] == ' ';
		}
	}
	return words + numbers_seen + others;
}

static uint64_t crc(void)
{
	uint32_t sum = ~0u;

	for (size_t i = 0; i < TEXT; i++)
		sum = table[(sum ^ text[i]) & 255] ^ sum >> 8;
	return ~sum;
}

/* The longest common subsequence of two pieces of it. */
static uint64_t subsequence(void)
{
	static uint16_t row[2048];

	memset(row, 0, sizeof(row));
	for (size_t i = 0; i < 1000; i++) {
		uint16_t left_above = 0;

		for (size_t j = 1; j < 2048; j++) {
			uint16_t above = row[j];

			if (text[i] == text[j + 5000])
				row[j] = (uint16_t)(left_above + 1);
			else if (row[j - 1] > row[j])
				row[j] = row[j - 1];
			left_above = above;
		}
	}
	return row[2047];
}

/* ---- bodies ---- */

static double body[BODIES][3], force[BODIES][3];

static void make_bodies(void)
{
	for (int i = 0; i < BODIES; i++)
		for (int k = 0; k < 3; k++)
			body[i][k] = (double)(next_number() % 10000) / 100;
}

static uint64_t bodies(void)
{
	for (int turn = 0; turn < 10; turn++)
		for (int i = 0; i < BODIES; i++)
			for (int j = 0; j < BODIES; j++) {
				double d[3], square = 0.01, scale;

				for (int k = 0; k < 3; k++) {
					d[k] = body[j][k] - body[i][k];
					square += d[k] * d[k];
				}
				scale = 1 / (square * sqrt(square));
				for (int k = 0; k < 3; k++)
					force[i][k] += scale * d[k];
			}
	return (uint64_t)fabs(force[7][0]);
}

const struct kernel other_kernels[] = {
	{"sort-compared", make_numbers, sort_compared},
	{"sort-radix", make_numbers, sort_radix},
	{"histogram-wild", make_histogram, histogram},
	{"histogram-sorted", make_sorted_histogram, histogram},
	{"fft", make_points, fft},
	{"tokens", make_text, tokens},
	{"crc", make_text, crc},
	{"subsequence", make_text, subsequence},
	{"bodies", make_bodies, bodies},
	{NULL, NULL, NULL},
};
