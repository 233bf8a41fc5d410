/* SPDX-License-Identifier: MIT
 *
 * The first of the programs of Embench that are not here already (and do not just call
 * the mathematical library), by their names there.
 */
#include <string.h>

#include "clock.h"

/* ---- aha-mont64: powers modulo odd numbers of 64 bits, by remainders bit by bit, or in
 * Montgomery's way ---- */

enum { MODULI = 10000, POWER = 32 };

struct wide {
	uint64_t high, low;
};

/* The products of the halves of both fit in 64 bits. */
static struct wide multiply(uint64_t a, uint64_t b)
{
	uint64_t a0 = a & UINT32_MAX, a1 = a >> 32, b0 = b & UINT32_MAX, b1 = b >> 32;
	uint64_t low = a0 * b0, one = a1 * b0 + (low >> 32);
	uint64_t other = a0 * b1 + (one & UINT32_MAX);

	return (struct wide){
		a1 * b1 + (one >> 32) + (other >> 32), other << 32 | (low & UINT32_MAX)};
}

/* The high half is less than the modulus. */
static uint64_t remainder_of(struct wide x, uint64_t modulus)
{
	for (int i = 0; i < 64; i++) {
		uint64_t over = x.high >> 63;

		x.high = x.high << 1 | x.low >> 63;
		x.low <<= 1;
		if (over || x.high >= modulus)
			x.high -= modulus;
	}
	return x.high;
}

/* For u * 2^64 - v * modulus = 1: begins with u * 2^64 = 2^64 and halves it 64 times,
 * where an odd u is made even first. */
static uint64_t negative_inverse(uint64_t modulus, uint64_t *one_by)
{
	uint64_t u = 1, v = 0;

	for (int i = 0; i < 64; i++)
		if (u & 1) {
			u = (u >> 1) + (modulus >> 1) + 1;
			v = (v >> 1) + ((uint64_t)1 << 63);
		} else {
			u >>= 1;
			v >>= 1;
		}
	*one_by = u;
	return v;
}

static uint64_t montgomery(uint64_t a, uint64_t b, uint64_t modulus, uint64_t inverse)
{
	struct wide product = multiply(a, b);
	struct wide more = multiply(product.low * inverse, modulus);
	uint64_t carry = product.low + more.low < product.low;
	uint64_t sum = product.high + more.high, result = sum + carry;

	if (sum < product.high || result < sum || result >= modulus)
		result -= modulus;
	return result;
}

static uint64_t power_by_bits(uint64_t a, uint64_t modulus)
{
	uint64_t power = a;

	for (int i = 1; i < POWER; i++)
		power = remainder_of(multiply(power, a), modulus);
	return power;
}

static uint64_t power_by_montgomery(uint64_t a, uint64_t modulus)
{
	uint64_t one_by, inverse = negative_inverse(modulus, &one_by), power;

	a = remainder_of((struct wide){a, 0}, modulus);
	power = a;
	for (int i = 1; i < POWER; i++)
		power = montgomery(power, a, modulus, inverse);
	return remainder_of(multiply(power, one_by), modulus);
}

static uint64_t aha_mont64(uint64_t (*const power)(uint64_t a, uint64_t modulus))
{
	uint64_t state = 88172645463325252u, sum = 0;

	for (int i = 0; i < MODULI; i++) {
		uint64_t modulus = state | 1;

		sum = sum * 31 + power(state * 3 % modulus, modulus);
		state = state * 6364136223846793005u + 1442695040888963407u;
	}
	return sum;
}

static uint64_t aha_mont64_bits(void)
{
	return aha_mont64(power_by_bits);
}

static uint64_t aha_mont64_montgomery(void)
{
	return aha_mont64(power_by_montgomery);
}

static void make_nothing(void)
{
}

/* ---- edn: what signals go through: sums of products, filters, and the cosines of
 * blocks of a picture, in 16 bits ---- */

enum { VECTOR = 152, TAPS = 32, OUTPUTS = 100, STAGES = 50, SIDE = 8 };
enum { SIGNAL = OUTPUTS + TAPS, SECTIONS = 25, EDN_TIMES = 12000 };

static int16_t factors[VECTOR], first_signal[VECTOR], signal[VECTOR], scaled[VECTOR];
static int16_t taps[TAPS], filtered[OUTPUTS];
static int16_t reflection[STAGES], lattice[STAGES + 1];
static int16_t section[SECTIONS][5], block[SIDE * SIDE], cosines[SIDE * SIDE];
static int32_t section_state[SECTIONS][2];

static void make_numbers(int16_t *numbers, size_t n, unsigned below)
{
	for (size_t i = 0; i < n; i++)
		numbers[i] = (int16_t)((int)(next_number() % below) - (int)below / 2);
}

static void make_edn(void)
{
	make_numbers(factors, VECTOR, 4096);
	make_numbers(first_signal, VECTOR, 4096);
	make_numbers(taps, TAPS, 4096);
	make_numbers(reflection, STAGES, 16384);
	make_numbers(section[0], (size_t)SECTIONS * 5, 8192);
	make_numbers(block, (size_t)SIDE * SIDE, 256);
}

static int64_t vector_products(int16_t by)
{
	int64_t sum = 0;
	int32_t square = 0;

	for (int i = 0; i < VECTOR; i++)
		scaled[i] = (int16_t)(scaled[i] / 2 + (by * signal[i] >> 15));
	for (int i = 0; i < VECTOR; i++) {
		sum += factors[i] * scaled[i];
		square += signal[i] * signal[i] >> 8;
	}
	return sum + square;
}

static void fir(void)
{
	for (int i = 0; i < OUTPUTS; i++) {
		int32_t sum = 0;

		for (int t = 0; t < TAPS; t++)
			sum += signal[i + t] * taps[t];
		filtered[i] = (int16_t)(sum >> 15);
	}
}

/* A stage changes what comes to it and what it had. */
static int32_t lattice_synthesis(int32_t value)
{
	value -= lattice[STAGES - 1] * reflection[STAGES - 1] >> 15;
	for (int i = STAGES - 2; i >= 0; i--) {
		value -= lattice[i] * reflection[i] >> 15;
		lattice[i + 1] =
			(int16_t)(lattice[i] + (reflection[i] * (value >> 4) >> 15));
	}
	lattice[0] = (int16_t)(value >> 4);
	return value;
}

static int32_t iir(int32_t value)
{
	for (int i = 0; i < SECTIONS; i++) {
		int32_t *state = section_state[i], one = state[0], two = state[1];
		int32_t now =
			value + (section[i][0] * one >> 15) + (section[i][1] * two >> 15);

		value = section[i][2] * 4 + now + (section[i][3] * one >> 15) +
			(section[i][4] * two >> 15);
		value = (int16_t)(value >> 1);
		state[1] = one;
		state[0] = (int16_t)now;
	}
	return value;
}

/* The cosines of eight numbers: sums of pairs, and differences times the odd ones. */
static void transform(const int16_t *from, int16_t *to, int step)
{
	static const int32_t odd[4][4] = {{4017, 3406, 2276, 799},
		{3406, -799, -4017, -2276}, {2276, -4017, 799, 3406},
		{799, -2276, 3406, -4017}};
	int32_t sum[4], apart[4], ends, middle;

	for (int i = 0; i < 4; i++) {
		sum[i] = from[i * step] + from[(7 - i) * step];
		apart[i] = from[i * step] - from[(7 - i) * step];
	}
	ends = sum[0] - sum[3];
	middle = sum[1] - sum[2];
	to[0] = (int16_t)((sum[0] + sum[1] + sum[2] + sum[3]) >> 1);
	to[4 * step] = (int16_t)((sum[0] - sum[1] - sum[2] + sum[3]) >> 1);
	to[2 * step] = (int16_t)((ends * 3784 + middle * 1567) >> 12);
	to[6 * step] = (int16_t)((ends * 1567 - middle * 3784) >> 12);
	for (int k = 0; k < 4; k++) {
		int32_t all = 0;

		for (int i = 0; i < 4; i++)
			all += apart[i] * odd[k][i];
		to[(2 * k + 1) * step] = (int16_t)(all >> 12);
	}
}

static void transform_block(void)
{
	for (int i = 0; i < SIDE; i++)
		transform(block + i * SIDE, cosines + i * SIDE, 1);
	for (int i = 0; i < SIDE; i++)
		transform(cosines + i, cosines + i, SIDE);
}

static uint64_t edn(void)
{
	uint64_t sum = 0;

	memcpy(signal, first_signal, sizeof(signal));
	memset(scaled, 0, sizeof(scaled));
	memset(lattice, 0, sizeof(lattice));
	memset(section_state, 0, sizeof(section_state));
	for (int i = 0; i < EDN_TIMES; i++) {
		sum += (uint64_t)vector_products((int16_t)i);
		fir();
		sum += (uint64_t)filtered[i % OUTPUTS];
		for (int k = 0; k < 4; k++) {
			sum += (uint64_t)lattice_synthesis(signal[k]);
			sum += (uint64_t)iir(filtered[k]);
		}
		transform_block();
		sum += (uint64_t)cosines[i % (SIDE * SIDE)];
		signal[i % SIGNAL] ^= 1;
	}
	return sum;
}

/* ---- minver: small matrices are inverted in their place, the largest number of a
 * column first, and multiplied with what they were ---- */

enum { MINVER = 3, MATRICES = 1024, MINVER_TIMES = 160 };

static double matrices[MATRICES][MINVER][MINVER];

static void make_matrices(void)
{
	for (size_t m = 0; m < MATRICES; m++)
		for (int i = 0; i < MINVER; i++)
			for (int j = 0; j < MINVER; j++)
				matrices[m][i][j] =
					(double)(next_number() % 2000) / 100 - 10;
}

static int largest(double a[MINVER][MINVER], int column)
{
	int row = column;

	for (int i = column + 1; i < MINVER; i++) {
		double here = a[i][column], most = a[row][column];

		if (here * here > most * most)
			row = i;
	}
	return row;
}

static void eliminate(double a[MINVER][MINVER], int k)
{
	double by = 1 / a[k][k];

	a[k][k] = 1;
	for (int j = 0; j < MINVER; j++)
		a[k][j] *= by;
	for (int i = 0; i < MINVER; i++) {
		double factor = a[i][k];

		if (i == k)
			continue;
		a[i][k] = 0;
		for (int j = 0; j < MINVER; j++)
			a[i][j] -= factor * a[k][j];
	}
}

static void swap_numbers(double *a, double *b)
{
	double kept = *a;

	*a = *b;
	*b = kept;
}

/* Whether there is an inverse. */
static int invert(double a[MINVER][MINVER])
{
	int from[MINVER];

	for (int k = 0; k < MINVER; k++) {
		int row = from[k] = largest(a, k);

		if (a[row][k] < 1e-6 && a[row][k] > -1e-6)
			return 0;
		for (int j = 0; row != k && j < MINVER; j++)
			swap_numbers(&a[row][j], &a[k][j]);
		eliminate(a, k);
	}
	for (int k = MINVER - 1; k >= 0; k--)
		for (int i = 0; from[k] != k && i < MINVER; i++)
			swap_numbers(&a[i][from[k]], &a[i][k]);
	return 1;
}

static double trace_of_product(double a[MINVER][MINVER], double b[MINVER][MINVER])
{
	double product[MINVER][MINVER] = {{0}}, sum = 0;

	for (int i = 0; i < MINVER; i++)
		for (int j = 0; j < MINVER; j++)
			for (int k = 0; k < MINVER; k++)
				product[i][j] += a[i][k] * b[k][j];
	for (int i = 0; i < MINVER; i++)
		sum += product[i][i] + product[i][(i + 1) % MINVER];
	return sum;
}

static uint64_t minver(void)
{
	double sum = 0, inverse[MINVER][MINVER];

	for (int time = 0; time < MINVER_TIMES; time++)
		for (size_t m = 0; m < MATRICES; m++) {
			memcpy(inverse, matrices[m], sizeof(inverse));
			if (invert(inverse))
				sum += trace_of_product(matrices[m], inverse);
		}
	return (uint64_t)(sum + 0.5);
}

const struct kernel embench_kernels[] = {
	{"aha-mont64-bits", make_nothing, aha_mont64_bits},
	{"aha-mont64-montgomery", make_nothing, aha_mont64_montgomery},
	{"edn", make_edn, edn},
	{"minver", make_matrices, minver},
	{NULL, NULL, NULL},
};
