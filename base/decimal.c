/* SPDX-License-Identifier: MIT */
#include "base/decimal.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The largest double is below 2^1024, the smallest a multiple of 2^-1074; a word of room
 * for the shift of the mantissa. */
enum {
	FRACTION_WORDS = 34,
	INTEGER_WORDS = 33,
	WORDS = FRACTION_WORDS + INTEGER_WORDS,
	FRACTION_BITS = FRACTION_WORDS * 32
};

/* value, in units of 2^-FRACTION_BITS, the lowest word first. */
static void spread_mantissa(uint32_t words[WORDS], double value)
{
	uint64_t bits, mantissa;
	int exponent, at, shift;

	memcpy(&bits, &value, sizeof(bits));
	mantissa = bits & ((UINT64_C(1) << 52) - 1);
	exponent = (int)(bits >> 52 & 0x7ff);
	if (exponent)
		mantissa |= UINT64_C(1) << 52;
	else
		exponent = 1; /* subnormal */
	memset(words, 0, WORDS * sizeof(words[0]));
	at = (exponent - 1075 + FRACTION_BITS) / 32;
	shift = (exponent - 1075 + FRACTION_BITS) % 32;
	words[at] = (uint32_t)(mantissa << shift);
	words[at + 1] = (uint32_t)(mantissa >> (32 - shift));
	if (shift)
		words[at + 2] = (uint32_t)(mantissa >> (64 - shift));
}

static bool is_nonzero(const uint32_t *words, int count)
{
	while (count > 0)
		if (words[--count])
			return true;
	return false;
}

static unsigned divide_by_ten(uint32_t *words, int count)
{
	uint64_t rest = 0;

	while (count > 0) {
		rest = rest << 32 | words[--count];
		words[count] = (uint32_t)(rest / 10);
		rest %= 10;
	}
	return (unsigned)rest;
}

/* Returns the digit that passes the point. */
static unsigned multiply_by_ten(uint32_t *words, int count)
{
	uint64_t carry = 0;

	for (int i = 0; i < count; i++) {
		carry += (uint64_t)words[i] * 10;
		words[i] = (uint32_t)carry;
		carry >>= 32;
	}
	return (unsigned)carry;
}

static void integer_digits(struct cp_decimal *decimal, uint32_t *words)
{
	char backwards[310];
	int count = 0;

	while (is_nonzero(words, INTEGER_WORDS))
		backwards[count++] = (char)('0' + divide_by_ten(words, INTEGER_WORDS));
	decimal->count = 0;
	decimal->point = count;
	while (count)
		decimal->digits[decimal->count++] = backwards[--count];
}

/* Digits after the point: up to places of them, or until there are significant. */
static void fraction_digits(
	struct cp_decimal *decimal, uint32_t *words, int significant, int places)
{
	while (places-- > 0 && decimal->count < significant &&
		is_nonzero(words, FRACTION_WORDS)) {
		unsigned digit = multiply_by_ten(words, FRACTION_WORDS);

		if (digit || decimal->count)
			decimal->digits[decimal->count++] = (char)('0' + digit);
		else
			decimal->point--;
	}
}

static void add_one(struct cp_decimal *decimal)
{
	int at = decimal->count;

	while (at && decimal->digits[at - 1] == '9')
		decimal->digits[--at] = '0';
	if (at) {
		decimal->digits[at - 1]++;
		return;
	}
	decimal->digits[0] =
		'1'; /* 99 becomes 100, and no digits one in the last place */
	if (!decimal->count)
		decimal->count = 1;
	decimal->point++;
}

/* Keeps the first digits; more: something follows those that there are. */
static void cut_digits(struct cp_decimal *decimal, int keep, bool more)
{
	int next;
	bool odd;

	if (keep >= decimal->count)
		return;
	next = keep < 0 ? 0 : decimal->digits[keep] - '0';
	for (int i = keep + 1; keep >= 0 && i < decimal->count; i++)
		more |= decimal->digits[i] != '0';
	odd = keep > 0 && (decimal->digits[keep - 1] - '0') % 2;
	decimal->count = keep > 0 ? keep : 0;
	if (next > 5 || (next == 5 && (more || odd)))
		add_one(decimal);
}

void cp_decimal_significant(struct cp_decimal *decimal, double value, int significant)
{
	uint32_t words[WORDS];

	spread_mantissa(words, value);
	integer_digits(decimal, words + FRACTION_WORDS);
	fraction_digits(decimal, words, significant + 1, INT_MAX);
	cut_digits(decimal, significant, is_nonzero(words, FRACTION_WORDS));
}

void cp_decimal_places(struct cp_decimal *decimal, double value, int decimals)
{
	uint32_t words[WORDS];

	spread_mantissa(words, value);
	integer_digits(decimal, words + FRACTION_WORDS);
	fraction_digits(decimal, words, INT_MAX, decimals + 1);
	cut_digits(decimal, decimal->point + decimals, is_nonzero(words, FRACTION_WORDS));
}
