/* SPDX-License-Identifier: MIT
 * Our printf against libc's, and the small parsers.
 */
#include <errno.h>
#include <float.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "base/text/nearest.h"
#include "base/text.h"
#include "tests/tap/tap.h"

#pragma GCC diagnostic ignored "-Wformat-nonliteral"

#define SAME(...)                                                                        \
	do {                                                                             \
		char ours[300], theirs[300];                                             \
		size_t length = cp_format(ours, sizeof(ours), __VA_ARGS__);              \
		int wanted = snprintf(theirs, sizeof(theirs), __VA_ARGS__);              \
		is_string(ours, theirs, "%s", #__VA_ARGS__);                             \
		is_int((int)length, wanted, "its length");                               \
	} while (0)

static void test_like_libc(void)
{
	SAME("plain %% text");
	SAME("%s|%10s|%-10s|%.2s|%.*s", "abc", "abc", "abc", "abc", 1, "abc");
	SAME("%d %d %5d %-5d| %05d", 0, -7, 42, 42, -42);
	SAME("%u %lu %llu %zu %x", 4000000000u, 1ul << 40, ~0ull, (size_t)9, 0xbeefu);
	SAME("%ld %lld", -(1l << 40), -9000000000000000000ll);
	SAME("%c%c", 'a', 'b');
	SAME("%.2f %.0f %.3f %8.1f|%-8.1f|", 3.14159, 2.7, 1e-9, 12.24, 12.26);
	SAME("%.2f %.6f", 0.995, 123456789.987654);
	SAME("%.3f", -0.5);
	SAME("%g %g %g %g", 1.5, 100000.0, 0.25, 0.0);
}

/* Halves, as doubles have them, and digits at every size. */
static void test_digits(void)
{
	SAME("%.2f %.2f %.2f", 1.585, 0.125, 0.375);
	SAME("%.0f %.0f %.0f %.0f", 0.5, 1.5, 2.5, 9.5);
	SAME("%.1f %.2f %.3f %.2f", 9.95, 0.005, 0.0005, 99.995);
	SAME("%.0f %.2f", 999999999999999.5, 4503599627370497.5);
	SAME("%.18f", 0.1);
}

static void test_many_numbers(void)
{
	char ours[64], theirs[64];
	uint64_t state = 1;
	int wrong = 0;

	for (int i = 0; i < (int)tap_repeats(100000); i++) {
		double value;

		state = state * 6364136223846793005u + 1442695040888963407u;
		value = (double)(state >> 11) / (double)(1ull << (i % 60));
		cp_format(ours, sizeof(ours), "%.*f", i % 10, value);
		snprintf(theirs, sizeof(theirs), "%.*f", i % 10, value);
		wrong += strcmp(ours, theirs) != 0 && value < 1e18;
	}
	is_int(wrong, 0, "%u numbers as libc has them", tap_repeats(100000));
}

/* Any double has 17 digits that are the same double again. */
static void test_any_double(void)
{
	char text[64];
	uint64_t state = 1;
	int wrong = 0;

	for (int i = 0; i < (int)tap_repeats(100000); i++) {
		uint64_t bits;
		double value, again;

		state = state * 6364136223846793005u + 1442695040888963407u;
		bits = state >> 1;
		memcpy(&value, &bits, sizeof(value));
		if (value != value || value - value != 0)
			continue; /* infinite, or no number */
		cp_format(text, sizeof(text), "%.17g", value);
		again = strtod(text, NULL);
		wrong += memcmp(&again, &value, sizeof(value)) != 0;
	}
	is_int(wrong, 0, "%u doubles, the same again", tap_repeats(100000));
}

/* A number that we print as %.17g is the same when it is read again. */
static void test_round_trip(void)
{
	static const double values[] = {1.0 / 3, 1e15 / 7, 123456.789, 5e-324, DBL_MAX,
		1e22, 0.1, 4503599627370497.5, 1e-5, 9.999999999999999e15,
		2.2250738585072014e-308};
	char text[64];

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		double again;

		cp_format(text, sizeof(text), "%.17g", values[i]);
		again = strtod(text, NULL);
		ok(again == values[i], "%s is %.17g again", text, values[i]);
	}
}

static void test_edges(void)
{
	char small[5];
	double zero = 0;
	const char *volatile none = NULL; /* or the compiler objects */

	is_u64(cp_format(small, sizeof(small), "%s", "longer"), 6, "the whole length");
	is_string(small, "long", "cut to what fits");
	is_u64(cp_format(small, 0, "abc"), 3, "nowhere to write to");
	cp_format(small, sizeof(small), "%f", zero / zero);
	is_string(small, "nan", "no number");
	cp_format(small, sizeof(small), "%f", 1 / zero);
	is_string(small, "inf", "infinity");
	cp_format(small, sizeof(small), "%s", none);
	is_string(small, "(nul", "no string");
	if (setlocale(LC_NUMERIC, "de_DE.UTF-8"))
		diag("a locale with a decimal comma is set");
	cp_format(small, sizeof(small), "%.1f", 1.5);
	is_string(small, "1.5", "whatever the locale is");
}

static void test_numbers(void)
{
	uint64_t value;

	is_int(cp_parse_u64("18446744073709551615", &value), 0, "the largest");
	is_u64(value, UINT64_MAX, "its value");
	is_int(cp_parse_u64("18446744073709551616", &value), -EINVAL, "one more");
	is_int(cp_parse_u64("0x1fF", &value), 0, "hexadecimal");
	is_u64(value, 0x1ff, "its value");
	is_int(cp_parse_u64("", &value), -EINVAL, "nothing");
	is_int(cp_parse_u64("0x", &value), -EINVAL, "no digits");
	is_int(cp_parse_u64("12a", &value), -EINVAL, "something behind it");
	is_int(cp_parse_u64("-1", &value), -EINVAL, "a sign");
}

static void test_lists(void)
{
	const char *list = " a,, bc ,d";
	size_t length;
	const char *piece = cp_next_piece(&list, ',', &length);

	ok(piece && length == 1 && *piece == 'a', "the first piece");
	piece = cp_next_piece(&list, ',', &length);
	ok(piece && length == 2 && strncmp(piece, "bc", 2) == 0, "empty ones are none");
	piece = cp_next_piece(&list, ',', &length);
	ok(piece && length == 1 && *piece == 'd', "the last");
	ok(!cp_next_piece(&list, ',', &length), "no more");
}

static void test_nearest(void)
{
	const char *const words[] = {"cache", "icache", "tlb", NULL};
	const char *const options[] = {"--output", "--help", NULL};
	const char *const groups[] = {"mem", "time", NULL};

	is_string(cp_nearest("cach", words), "cache", "a letter is missing");
	ok(!cp_nearest("tax", words), "two of three letters are too many");
	is_string(cp_nearest("tbl", words), "tlb",
		"two letters the wrong way round are one mistake");
	is_string(cp_nearest("tiem", groups), "time",
		"and so it is nearer than what lacks some");
	is_string(cp_nearest("ICACHE", words), "icache", "case does not count");
	ok(!cp_nearest("branches", words), "nothing is near");
	ok(!cp_nearest("--sweep", options), "an option's dashes make nothing nearer");
	is_string(cp_nearest("--hlep", options), "--help", "an option is near");
}

int main(void)
{
	plan_lazy();
	test_like_libc();
	test_digits();
	test_many_numbers();
	test_round_trip();
	test_any_double();
	test_edges();
	test_numbers();
	test_lists();
	test_nearest();
	return 0;
}
