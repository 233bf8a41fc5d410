/* SPDX-License-Identifier: MIT
 *
 * The first of the programs of CHStone that are not here already, by their names there.
 */
#include <string.h>

#include "clock.h"

/* ---- blowfish: a key makes tables, and these make bytes unreadable, each with what the
 * eight before it became ---- */

enum { BLOW_ROUNDS = 16, BLOW_KEYS = BLOW_ROUNDS + 2, BLOW_BYTES = 5 << 20, BOXES = 4 };
enum { KEY_BYTES = 8, BLOCK = 8 };

/* The first tables are any numbers: digits of pi have no other meaning. */
static uint32_t first_keys[BLOW_KEYS], first_boxes[BOXES * 256];
static uint32_t keys[BLOW_KEYS], boxes[BOXES][256];
static uint8_t *plain, *secret;

static void make_blowfish(void)
{
	for (int i = 0; i < BLOW_KEYS; i++)
		first_keys[i] = (uint32_t)next_number();
	for (int i = 0; i < BOXES * 256; i++)
		first_boxes[i] = (uint32_t)next_number();
	plain = make_room(BLOW_BYTES);
	secret = make_room(BLOW_BYTES);
	for (size_t i = 0; i < BLOW_BYTES; i++)
		plain[i] = (uint8_t)next_number();
}

static inline uint32_t through_boxes(uint32_t half)
{
	return ((boxes[0][half >> 24] + boxes[1][half >> 16 & 255]) ^
		       boxes[2][half >> 8 & 255]) +
	       boxes[3][half & 255];
}

static void encrypt_halves(uint32_t *halves)
{
	uint32_t left = halves[0], right = halves[1];

	for (int i = 0; i < BLOW_ROUNDS; i += 2) {
		left ^= keys[i];
		right ^= through_boxes(left);
		right ^= keys[i + 1];
		left ^= through_boxes(right);
	}
	halves[0] = right ^ keys[BLOW_ROUNDS + 1];
	halves[1] = left ^ keys[BLOW_ROUNDS];
}

static void set_key(const uint8_t *key)
{
	uint32_t halves[2] = {0, 0};

	memcpy(boxes, first_boxes, sizeof(boxes));
	for (int i = 0; i < BLOW_KEYS; i++) {
		uint32_t word = 0;

		for (int b = 0; b < 4; b++)
			word = word << 8 | key[(4 * i + b) % KEY_BYTES];
		keys[i] = first_keys[i] ^ word;
	}
	for (int i = 0; i < BLOW_KEYS; i += 2) {
		encrypt_halves(halves);
		memcpy(keys + i, halves, sizeof(halves));
	}
	for (int box = 0; box < BOXES; box++)
		for (int i = 0; i < 256; i += 2) {
			encrypt_halves(halves);
			memcpy(boxes[box] + i, halves, sizeof(halves));
		}
}

static void encrypt_feedback(uint8_t *feedback)
{
	uint32_t halves[2] = {0, 0};

	for (int i = 0; i < BLOCK; i++)
		halves[i / 4] = halves[i / 4] << 8 | feedback[i];
	encrypt_halves(halves);
	for (int i = 0; i < BLOCK; i++)
		feedback[i] = (uint8_t)(halves[i / 4] >> (24 - i % 4 * 8));
}

static uint64_t blowfish(void)
{
	static const uint8_t key[KEY_BYTES] = {1, 3, 5, 7, 9, 11, 13, 15};
	uint8_t feedback[BLOCK] = {0};
	uint64_t sum = 0;
	unsigned at = 0;

	set_key(key);
	for (size_t i = 0; i < BLOW_BYTES; i++) {
		if (at == 0)
			encrypt_feedback(feedback);
		secret[i] = feedback[at] ^= plain[i];
		at = (at + 1) % BLOCK;
	}
	for (size_t i = 0; i < BLOW_BYTES; i += 64)
		sum = sum * 31 + secret[i];
	return sum;
}

/* ---- dfadd: sums of numbers of double precision, by their bits (IEEE 754) ---- */

enum { SUMS = 4096, SUM_TIMES = 600, SIGNIFICANT = 52, EXPONENTS = 0x7ff, GUARDS = 3 };

static uint64_t addends[2][SUMS];
static uint8_t bit_length[256];
static const uint64_t hidden = (uint64_t)1 << SIGNIFICANT, sign_bit = (uint64_t)1 << 63;
static const uint64_t not_a_number = (uint64_t)0xfff << (SIGNIFICANT - 1);

struct number {
	uint64_t sign, digits;
	int exponent;
};

/* Most are near each other; few are zero, infinite, no number, or tiny. */
static uint64_t any_number(void)
{
	uint64_t bits = next_number(), exponent = 1000 + next_number() % 60;

	switch (next_number() % 64) {
	case 0:
		return bits & sign_bit;
	case 1:
		return (bits & sign_bit) | (uint64_t)EXPONENTS << SIGNIFICANT;
	case 2:
		return not_a_number;
	case 3:
		exponent = 0;
		break;
	default:
		break;
	}
	return (bits & (sign_bit | (hidden - 1))) | exponent << SIGNIFICANT;
}

static void make_dfadd(void)
{
	for (int i = 0; i < SUMS; i++) {
		addends[0][i] = any_number();
		addends[1][i] = any_number();
	}
	for (int i = 1; i < 256; i++)
		bit_length[i] = (uint8_t)(bit_length[i / 2] + 1);
}

static inline struct number unpacked(uint64_t bits)
{
	struct number n = {bits & sign_bit, bits & (hidden - 1),
		(int)(bits >> SIGNIFICANT) & EXPONENTS};

	if (n.exponent)
		n.digits |= hidden;
	else
		n.exponent = 1;
	n.digits <<= GUARDS;
	return n;
}

/* The last digit still says whether any digit was lost. */
static inline uint64_t shifted(uint64_t digits, int by)
{
	if (by == 0)
		return digits;
	if (by > 63)
		return digits != 0;
	return digits >> by | (digits << (64 - by) != 0);
}

static int leading_zeros(uint64_t digits)
{
	int zeros = 0;

	while (!(digits >> 56)) {
		zeros += 8;
		digits <<= 8;
	}
	return zeros + 8 - bit_length[digits >> 56];
}

/* To the nearest, and to even digits between two. */
static uint64_t packed(struct number n)
{
	uint64_t guards = n.digits & ((1 << GUARDS) - 1), half = 1 << (GUARDS - 1);

	n.digits >>= GUARDS;
	if (guards > half || (guards == half && n.digits & 1))
		n.digits++;
	if (n.digits >> (SIGNIFICANT + 1)) {
		n.digits >>= 1;
		n.exponent++;
	}
	if (!(n.digits & hidden))
		n.exponent = 0;
	if (n.exponent >= EXPONENTS)
		return n.sign | (uint64_t)EXPONENTS << SIGNIFICANT;
	return n.sign | (uint64_t)n.exponent << SIGNIFICANT | (n.digits & (hidden - 1));
}

static uint64_t add_sizes(struct number a, struct number b)
{
	if (a.exponent < b.exponent) {
		a.digits = shifted(a.digits, b.exponent - a.exponent);
		a.exponent = b.exponent;
	} else {
		b.digits = shifted(b.digits, a.exponent - b.exponent);
	}
	a.digits += b.digits;
	if (a.digits >> (SIGNIFICANT + 1 + GUARDS)) {
		a.digits = shifted(a.digits, 1);
		a.exponent++;
	}
	return packed(a);
}

static uint64_t subtract_sizes(struct number a, struct number b)
{
	int zeros;

	if (a.exponent < b.exponent ||
		(a.exponent == b.exponent && a.digits < b.digits)) {
		struct number kept = a;

		a = b;
		b = kept;
	}
	a.digits -= shifted(b.digits, a.exponent - b.exponent);
	if (a.digits == 0)
		return 0;
	zeros = leading_zeros(a.digits) - (63 - SIGNIFICANT - GUARDS);
	if (zeros > a.exponent - 1)
		zeros = a.exponent - 1;
	a.digits <<= zeros;
	a.exponent -= zeros;
	return packed(a);
}

static uint64_t add_special(uint64_t a, uint64_t b)
{
	const uint64_t infinite = (uint64_t)EXPONENTS << SIGNIFICANT;
	uint64_t a_size = a & ~sign_bit, b_size = b & ~sign_bit;

	if (a_size > infinite || b_size > infinite ||
		(a_size == infinite && b_size == infinite && a != b))
		return not_a_number;
	return a_size == infinite ? a : b;
}

static uint64_t add(uint64_t a, uint64_t b)
{
	struct number one = unpacked(a), other = unpacked(b);

	if (one.exponent == EXPONENTS || other.exponent == EXPONENTS)
		return add_special(a, b);
	return one.sign == other.sign ? add_sizes(one, other)
				      : subtract_sizes(one, other);
}

static uint64_t dfadd(void)
{
	uint64_t sum = 0;

	for (unsigned time = 0; time < SUM_TIMES; time++)
		for (unsigned i = 0; i < SUMS; i++)
			sum = sum * 31 +
			      add(addends[0][i], addends[1][(i + time * 7) % SUMS]);
	return sum;
}

const struct kernel chstone_kernels[] = {
	{"blowfish", make_blowfish, blowfish},
	{"dfadd", make_dfadd, dfadd},
	{NULL, NULL, NULL},
};
