/* SPDX-License-Identifier: MIT
 *
 * The first of the programs of MiBench that are not here already (and do not just call
 * the mathematical library), by their names there.
 */
#include <math.h>
#include <string.h>

#include "clock.h"

static int16_t *sound;

/* Pulses and noise that two echoes colour, as in speech. */
static void make_sound(size_t samples)
{
	double before = 0, last = 0;

	sound = make_room(sizeof(*sound) * samples);
	for (size_t i = 0; i < samples; i++) {
		double pulse = i % (60 + i / 4096 % 40) == 0 ? 4000 : 0;
		double noise = (double)(next_number() % 512) - 256;
		double now = 1.6 * last - 0.8 * before + pulse + noise;

		before = last;
		last = now;
		sound[i] = (int16_t)(now > 32000 ? 32000 : now < -32000 ? -32000 : now);
	}
}

/* ---- adpcm: four bits of each sample are kept, which say how far it is from the one
 * before in steps that grow and shrink; and back ---- */

enum { ADPCM_SAMPLES = 1200000, SIZES = 89, MOST = 32767 };

static int32_t step_sizes[SIZES];
static uint8_t *codes;
static int16_t *heard;

struct adpcm {
	int32_t value, size;
};

static void make_adpcm(void)
{
	make_sound(ADPCM_SAMPLES);
	codes = make_room(ADPCM_SAMPLES / 2);
	heard = make_room(sizeof(*heard) * ADPCM_SAMPLES);
	for (int i = 0; i < SIZES; i++) {
		double size = 7 * pow(1.1, i);

		step_sizes[i] = size > MOST ? MOST : (int32_t)size;
	}
}

static inline void follow(struct adpcm *state, unsigned code, int32_t change)
{
	static const int8_t grow[8] = {-1, -1, -1, -1, 2, 4, 6, 8};

	state->value += code & 8 ? -change : change;
	if (state->value > MOST)
		state->value = MOST;
	else if (state->value < -MOST - 1)
		state->value = -MOST - 1;
	state->size += grow[code & 7];
	if (state->size < 0)
		state->size = 0;
	else if (state->size >= SIZES)
		state->size = SIZES - 1;
}

static inline unsigned encode_sample(struct adpcm *state, int32_t sample)
{
	int32_t size = step_sizes[state->size], change = size >> 3;
	int32_t apart = sample - state->value;
	unsigned code = apart < 0 ? 8 : 0;

	if (apart < 0)
		apart = -apart;
	for (unsigned bit = 4; bit; bit >>= 1, size >>= 1)
		if (apart >= size) {
			code |= bit;
			apart -= size;
			change += size;
		}
	follow(state, code, change);
	return code;
}

static inline int32_t decode_sample(struct adpcm *state, unsigned code)
{
	int32_t size = step_sizes[state->size], change = size >> 3;

	if (code & 4)
		change += size;
	if (code & 2)
		change += size >> 1;
	if (code & 1)
		change += size >> 2;
	follow(state, code, change);
	return state->value;
}

static uint64_t adpcm(void)
{
	struct adpcm to = {0, 0}, from = {0, 0};
	uint64_t sum = 0;

	for (size_t i = 0; i < ADPCM_SAMPLES; i += 2) {
		unsigned high = encode_sample(&to, sound[i]);

		codes[i / 2] = (uint8_t)(high << 4 | encode_sample(&to, sound[i + 1]));
	}
	for (size_t i = 0; i < ADPCM_SAMPLES; i++) {
		unsigned code = i & 1 ? codes[i / 2] & 15u : codes[i / 2] >> 4;

		heard[i] = (int16_t)decode_sample(&from, code);
	}
	for (size_t i = 0; i < ADPCM_SAMPLES; i += 16)
		sum = sum * 31 + (uint16_t)heard[i];
	return sum;
}

/* ---- bitcount: how many bits of numbers are set, by looking at each, or by a table of
 * what a byte has ---- */

enum { NUMBERS = 6000000, NUMBER_STEP = 13 };

static uint8_t bits_of_byte[256];

static void make_bitcount(void)
{
	for (unsigned i = 0; i < 256; i++)
		bits_of_byte[i] = (uint8_t)(bits_of_byte[i / 2] + i % 2);
}

static unsigned bits_by_shifts(uint32_t number)
{
	unsigned bits = 0;

	for (; number; number >>= 1)
		bits += number & 1;
	return bits;
}

static unsigned bits_by_bytes(uint32_t number)
{
	return bits_of_byte[number & 255] + bits_of_byte[number >> 8 & 255] +
	       bits_of_byte[number >> 16 & 255] + bits_of_byte[number >> 24];
}

static uint64_t bitcount(unsigned (*const count)(uint32_t))
{
	uint32_t number = 1;
	uint64_t sum = 0;

	for (int i = 0; i < NUMBERS; i++, number += NUMBER_STEP)
		sum += count(number);
	return sum;
}

static uint64_t bitcount_shifts(void)
{
	return bitcount(bits_by_shifts);
}

static uint64_t bitcount_bytes(void)
{
	return bitcount(bits_by_bytes);
}

/* ---- gsm: frames of speech become the coefficients of a filter, and what is left of
 * four parts of a frame behind it: how far back the voice was the same, and each third
 * number; all in 16 bits ---- */

enum { FRAMES = 2000, FRAME = 160, ORDER = 8, PART = 40, LAG_MOST = 120 };
enum { GRIDS = 4, GRID = 13, WEIGHTS = 11 };

static int16_t past[LAG_MOST + FRAME]; /* what the other end knows by then */
static int32_t filter_state[ORDER];

static void make_gsm(void)
{
	make_sound((size_t)FRAMES * FRAME);
}

static inline int32_t saturated(int32_t x)
{
	return x > MOST ? MOST : x < -MOST - 1 ? -MOST - 1 : x;
}

/* The product of two fractions of 1 << 15. */
static inline int32_t times(int32_t a, int32_t b)
{
	return (a * b + (1 << 14)) >> 15;
}

/* So much is shifted away that sums of squares have room. */
static void correlate(const int16_t *samples, int32_t *sums)
{
	int16_t scaled[FRAME];
	int most = 0, shift = 0;

	for (int i = 0; i < FRAME; i++) {
		int size = samples[i] < 0 ? -samples[i] : samples[i];

		most = size > most ? size : most;
	}
	while (most >> shift > 3000)
		shift++;
	for (int i = 0; i < FRAME; i++)
		scaled[i] = (int16_t)(samples[i] >> shift);
	for (int lag = 0; lag <= ORDER; lag++) {
		sums[lag] = 0;
		for (int i = lag; i < FRAME; i++)
			sums[lag] += scaled[i] * scaled[i - lag];
	}
}

/* A fraction below 1, bit by bit. */
static int32_t divide(int32_t part, int32_t whole)
{
	int32_t fraction = 0;

	for (int i = 0; i < 15; i++) {
		fraction <<= 1;
		part <<= 1;
		if (part >= whole) {
			part -= whole;
			fraction++;
		}
	}
	return fraction;
}

/* Schur's recursion. */
static void reflect(const int32_t *sums, int32_t *filter)
{
	int32_t p[ORDER + 2] = {0}, k[ORDER + 2] = {0};
	int shift = 0;

	memset(filter, 0, sizeof(*filter) * ORDER);
	while (sums[0] >> shift > MOST)
		shift++;
	for (int i = 0; i <= ORDER; i++)
		p[i] = k[i] = sums[i] >> shift;
	for (int n = 0; n < ORDER; n++) {
		int32_t size = p[1] < 0 ? -p[1] : p[1];

		if (size >= p[0])
			return;
		filter[n] = divide(size, p[0]);
		if (p[1] > 0)
			filter[n] = -filter[n];
		p[0] = saturated(p[0] + times(p[1], filter[n]));
		for (int m = 1; m < ORDER - n; m++) {
			int32_t next = p[m + 1];

			p[m] = saturated(next + times(k[m], filter[n]));
			k[m] = saturated(k[m] + times(next, filter[n]));
		}
	}
}

static void filter_frame(const int32_t *filter, const int16_t *from, int16_t *to)
{
	for (int i = 0; i < FRAME; i++) {
		int32_t ahead = from[i], behind = from[i];

		for (int n = 0; n < ORDER; n++) {
			int32_t kept = filter_state[n];

			filter_state[n] = behind;
			behind = saturated(kept + times(filter[n], ahead));
			ahead = saturated(ahead + times(filter[n], kept));
		}
		to[i] = (int16_t)ahead;
	}
}

/* How far back a part was most alike, and by what factor (of 64) it was so. */
static int find_lag(const int16_t *part, const int16_t *before, int32_t *gain)
{
	int64_t power = 1;
	int32_t best = 0;
	int lag = PART;

	for (int l = PART; l <= LAG_MOST; l++) {
		int32_t sum = 0;

		for (int i = 0; i < PART; i++)
			sum += (part[i] >> 3) * (before[i - l] >> 3);
		if (sum > best) {
			best = sum;
			lag = l;
		}
	}
	for (int i = 0; i < PART; i++)
		power += (before[i - lag] >> 3) * (before[i - lag] >> 3);
	for (*gain = 6; *gain < 64 && *gain * power < (int64_t)best * 64;)
		*gain += 16;
	return lag;
}

static void weigh(const int32_t *rest, int32_t *weighed)
{
	static const int32_t weight[WEIGHTS] = {
		-134, -374, 0, 2054, 5741, 8192, 5741, 2054, 0, -374, -134};

	for (int i = 0; i < PART; i++) {
		int32_t sum = 1 << 12;

		for (int w = 0; w < WEIGHTS; w++)
			sum += weight[w] * rest[i + w];
		weighed[i] = saturated(sum >> 13);
	}
}

/* The third of the numbers that has most of the energy. */
static int find_grid(const int32_t *weighed)
{
	int64_t best = -1;
	int grid = 0;

	for (int g = 0; g < GRIDS; g++) {
		int64_t sum = 0;

		for (int i = 0; i < GRID; i++)
			sum += weighed[g + 3 * i] * weighed[g + 3 * i];
		if (sum > best) {
			best = sum;
			grid = g;
		}
	}
	return grid;
}

/* Three bits each of the numbers of a grid, and what they are worth. */
static uint32_t quantize(const int32_t *numbers, int32_t *worth)
{
	uint32_t sum = 0;
	int32_t most = 1;
	int shift = 0;

	for (int i = 0; i < GRID; i++) {
		int32_t n = numbers[3 * i];

		most = n > most ? n : -n > most ? -n : most;
	}
	while (most >> shift > 31)
		shift++;
	most |= (1 << shift) - 1;
	for (int i = 0; i < GRID; i++) {
		int32_t code = (numbers[3 * i] + most) * 4 / (most + 1);

		worth[3 * i] = (2 * code - 7) * most / 8;
		sum = sum * 8 + (uint32_t)code;
	}
	return sum;
}

static uint32_t encode_part(const int16_t *part, int16_t *after)
{
	int32_t rest[PART + WEIGHTS - 1] = {0}, weighed[PART], worth[PART] = {0}, gain;
	int lag = find_lag(part, after, &gain), grid;
	uint32_t sum = (uint32_t)lag;

	for (int i = 0; i < PART; i++)
		rest[i + WEIGHTS / 2] = saturated(part[i] - gain * after[i - lag] / 64);
	weigh(rest, weighed);
	grid = find_grid(weighed);
	sum += quantize(weighed + grid, worth + grid);
	for (int i = 0; i < PART; i++)
		after[i] = (int16_t)saturated(worth[i] + gain * after[i - lag] / 64);
	return sum;
}

static uint64_t gsm(void)
{
	int32_t sums[ORDER + 1], filter[ORDER];
	int16_t left[FRAME];
	uint64_t sum = 0;

	memset(past, 0, sizeof(past));
	memset(filter_state, 0, sizeof(filter_state));
	for (size_t f = 0; f < FRAMES; f++) {
		correlate(sound + f * FRAME, sums);
		reflect(sums, filter);
		filter_frame(filter, sound + f * FRAME, left);
		memmove(past, past + FRAME, sizeof(*past) * LAG_MOST);
		for (int p = 0; p < FRAME; p += PART)
			sum = sum * 31 + encode_part(left + p, past + LAG_MOST + p);
	}
	return sum;
}

const struct kernel mibench_kernels[] = {
	{"adpcm", make_adpcm, adpcm},
	{"bitcount-shifts", make_bitcount, bitcount_shifts},
	{"bitcount-bytes", make_bitcount, bitcount_bytes},
	{"gsm", make_gsm, gsm},
	{NULL, NULL, NULL},
};
