/* SPDX-License-Identifier: MIT
 *
 * A double as decimal digits, exactly: in integers, so that every processor, and
 * Valgrind, whose long double has 64 bits, print a number the same way.
 */
#ifndef CACHEPEEK_BASE_DECIMAL_H
#define CACHEPEEK_BASE_DECIMAL_H

enum { CP_DECIMAL_DIGITS = 309 + 40 };

/* 0.d0 d1 d2 ... * 10^point, without leading zeros; 0 has no digits. */
struct cp_decimal {
	char digits[CP_DECIMAL_DIGITS]; /* '0' to '9' */
	int count, point;
};

/* The digits of value (finite, not negative), rounded to the nearest, a half to the even
 * digit: at most significant digits (1 to 17), or at most decimals places after the
 * point (0 to 18). */
void cp_decimal_significant(struct cp_decimal *decimal, double value, int significant);
void cp_decimal_places(struct cp_decimal *decimal, double value, int decimals);

#endif
