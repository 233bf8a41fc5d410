/* SPDX-License-Identifier: MIT
 *
 * Matrices and images, tables that are filled from their corners, long numbers, and what
 * only computes.
 */
#include <string.h>

#include "clock.h"

/* ---- how columns vary together (covariance of PolyBench) ---- */

enum { SAMPLES = 300, COLUMNS = 240 };

static double *samples, *means, *together;

static void make_samples(void)
{
	samples = make_room(sizeof(double) * SAMPLES * COLUMNS);
	means = make_room(sizeof(double) * COLUMNS);
	together = make_room(sizeof(double) * COLUMNS * COLUMNS);
	for (size_t i = 0; i < (size_t)SAMPLES * COLUMNS; i++)
		samples[i] = (double)(next_number() % 1000) / 100;
}

static uint64_t covariance(void)
{
	for (size_t j = 0; j < COLUMNS; j++) {
		means[j] = 0;
		for (size_t i = 0; i < SAMPLES; i++)
			means[j] += samples[i * COLUMNS + j];
		means[j] /= SAMPLES;
	}
	for (size_t i = 0; i < COLUMNS; i++)
		for (size_t j = i; j < COLUMNS; j++) {
			double sum = 0;

			for (size_t k = 0; k < SAMPLES; k++)
				sum += (samples[k * COLUMNS + i] - means[i]) *
				       (samples[k * COLUMNS + j] - means[j]);
			together[i * COLUMNS + j] = together[j * COLUMNS + i] =
				sum / (SAMPLES - 1);
		}
	return (uint64_t)(1000 * together[7]);
}

/* ---- a cube by a matrix (doitgen of PolyBench) ---- */

enum { CUBE = 64 };

static double *cube, *by, *row;

static void make_cube(void)
{
	cube = make_room(sizeof(double) * CUBE * CUBE * CUBE);
	by = make_room(sizeof(double) * CUBE * CUBE);
	row = make_room(sizeof(double) * CUBE);
	for (size_t i = 0; i < (size_t)CUBE * CUBE; i++)
		by[i] = (double)(next_number() % 100) / 6400;
}

static uint64_t multiply_cube(void)
{
	for (size_t i = 0; i < (size_t)CUBE * CUBE * CUBE; i++)
		cube[i] = (double)(i % 17);
	for (size_t r = 0; r < (size_t)CUBE * CUBE; r++) {
		for (size_t p = 0; p < CUBE; p++) {
			row[p] = 0;
			for (size_t s = 0; s < CUBE; s++)
				row[p] += cube[r * CUBE + s] * by[s * CUBE + p];
		}
		memcpy(cube + r * CUBE, row, sizeof(double) * CUBE);
	}
	return (uint64_t)(1000 * cube[7]);
}

/* ---- pairs of letters that fold (Nussinov) ---- */

enum { LETTERS = 360 };

static unsigned char *letters;
static int32_t *folds;

static void make_letters(void)
{
	letters = make_room(LETTERS);
	folds = make_room(sizeof(*folds) * LETTERS * LETTERS);
	for (size_t i = 0; i < LETTERS; i++)
		letters[i] = next_number() % 4;
}

static int32_t larger(int32_t one, int32_t other)
{
	return one > other ? one : other;
}

static uint64_t nussinov(void)
{
	memset(folds, 0, sizeof(*folds) * LETTERS * LETTERS);
	for (int i = LETTERS - 1; i >= 0; i--)
		for (int j = i + 1; j < LETTERS; j++) {
			int32_t most = folds[i * LETTERS + j - 1];

			if (i + 1 < LETTERS)
				most = larger(most, folds[(i + 1) * LETTERS + j]);
			if (i + 1 < j)
				most = larger(
					most, folds[(i + 1) * LETTERS + j - 1] +
						      (letters[i] + letters[j] == 3));
			for (int k = i + 1; k < j; k++)
				most = larger(most, folds[i * LETTERS + k] +
							    folds[(k + 1) * LETTERS + j]);
			folds[i * LETTERS + j] = most;
		}
	return (uint64_t)folds[LETTERS - 1];
}

/* ---- an image: each column from its end to the other, and squares of nine ---- */

enum { WIDTH = 720, HEIGHT = 480 };

static float *image, *filtered;

static void make_image(void)
{
	image = make_room(sizeof(float) * WIDTH * HEIGHT);
	filtered = make_room(sizeof(float) * WIDTH * HEIGHT);
	for (size_t i = 0; i < (size_t)WIDTH * HEIGHT; i++)
		image[i] = (float)(next_number() % 256);
}

static uint64_t filter_columns(void)
{
	for (size_t x = 0; x < WIDTH; x++) {
		float last = 0;

		for (size_t y = 0; y < HEIGHT; y++)
			filtered[y * WIDTH + x] = last =
				0.25f * image[y * WIDTH + x] + 0.75f * last;
		last = 0;
		for (size_t y = HEIGHT; y-- > 0;) {
			last = 0.25f * image[y * WIDTH + x] + 0.75f * last;
			filtered[y * WIDTH + x] += last;
		}
	}
	return (uint64_t)filtered[7];
}

static uint64_t blur(void)
{
	for (size_t y = 1; y < HEIGHT - 1; y++)
		for (size_t x = 1; x < WIDTH - 1; x++) {
			const float *at = &image[y * WIDTH + x];
			float sum = 4 * at[0];

			sum += 2 * (at[-1] + at[1] + at[-WIDTH] + at[WIDTH]);
			sum += at[-WIDTH - 1] + at[-WIDTH + 1] + at[WIDTH - 1] +
			       at[WIDTH + 1];
			filtered[y * WIDTH + x] = sum / 16;
		}
	return (uint64_t)filtered[WIDTH + 7];
}

/* ---- the likeliest states behind what is seen (Viterbi) ---- */

enum { STATES = 48, STEPS = 400 };

static int32_t *moves, *shows, *likeliest;
static unsigned char *seen;

static void make_states(void)
{
	moves = make_room(sizeof(*moves) * STATES * STATES);
	shows = make_room(sizeof(*shows) * STATES * 16);
	likeliest = make_room(sizeof(*likeliest) * STATES * (STEPS + 1));
	seen = make_room(STEPS);
	for (size_t i = 0; i < STATES * STATES; i++)
		moves[i] = (int32_t)(next_number() % 1000);
	for (size_t i = 0; i < STATES * 16; i++)
		shows[i] = (int32_t)(next_number() % 1000);
	for (size_t i = 0; i < STEPS; i++)
		seen[i] = next_number() % 16;
}

static uint64_t viterbi(void)
{
	memset(likeliest, 0, sizeof(*likeliest) * STATES);
	for (size_t step = 0; step < STEPS; step++)
		for (size_t to = 0; to < STATES; to++) {
			int32_t least = INT32_MAX;

			for (size_t from = 0; from < STATES; from++) {
				int32_t cost = likeliest[step * STATES + from] +
					       moves[to * STATES + from];

				if (cost < least)
					least = cost;
			}
			likeliest[(step + 1) * STATES + to] =
				least + shows[to * 16 + seen[step]];
		}
	return (uint64_t)likeliest[STATES * STEPS + 7];
}

/* ---- long numbers ---- */

enum { WORDS = 400 };

static uint64_t *one_number, *other_number, *product;

static void make_long_numbers(void)
{
	one_number = make_room(sizeof(uint64_t) * WORDS);
	other_number = make_room(sizeof(uint64_t) * WORDS);
	product = make_room(sizeof(uint64_t) * 2 * WORDS);
	for (size_t i = 0; i < WORDS; i++) {
		one_number[i] = next_number();
		other_number[i] = next_number();
	}
}

static uint64_t multiply_long(void)
{
	memset(product, 0, sizeof(uint64_t) * 2 * WORDS);
	for (size_t i = 0; i < WORDS; i++) {
		uint64_t carry = 0;

		for (size_t j = 0; j < WORDS; j++) {
			unsigned __int128 sum =
				(unsigned __int128)one_number[i] * other_number[j];

			sum += product[i + j];
			sum += carry;
			product[i + j] = (uint64_t)sum;
			carry = (uint64_t)(sum >> 64);
		}
		product[i + WORDS] = carry;
	}
	return product[7];
}

/* ---- points that stay near (Mandelbrot) ---- */

static void make_nothing(void)
{
}

static uint64_t mandelbrot(void)
{
	uint64_t sum = 0;

	for (int y = 0; y < 120; y++)
		for (int x = 0; x < 160; x++) {
			double real = 0, imaginary = 0;
			double right = x / 64.0 - 2, up = y / 60.0 - 1;
			int n = 0;

			while (n < 100 && real * real + imaginary * imaginary < 4) {
				double next = real * real - imaginary * imaginary + right;

				imaginary = 2 * real * imaginary + up;
				real = next;
				n++;
			}
			sum += (uint64_t)n;
		}
	return sum;
}

/* ---- queens that do not see each other ---- */

enum { QUEENS = 9 };

static uint64_t place_queens(uint32_t columns, uint32_t left, uint32_t right)
{
	uint32_t free = ((1u << QUEENS) - 1) & ~(columns | left | right);
	uint64_t ways = 0;

	if (columns == (1u << QUEENS) - 1)
		return 1;
	for (; free; free &= free - 1) {
		uint32_t queen = free & -free;

		ways += place_queens(
			columns | queen, (left | queen) << 1, (right | queen) >> 1);
	}
	return ways;
}

static uint64_t queens(void)
{
	return place_queens(0, 0, 0);
}

const struct kernel arithmetic_kernels[] = {
	{"covariance", make_samples, covariance},
	{"cube", make_cube, multiply_cube},
	{"nussinov", make_letters, nussinov},
	{"filter-columns", make_image, filter_columns},
	{"blur", make_image, blur},
	{"viterbi", make_states, viterbi},
	{"long-numbers", make_long_numbers, multiply_long},
	{"mandelbrot", make_nothing, mandelbrot},
	{"queens", make_nothing, queens},
	{NULL, NULL, NULL},
};
