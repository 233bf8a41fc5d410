/* SPDX-License-Identifier: MIT */
#include "base/text/nearest.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>

#define MAX_WORD 63

static char lower_case(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static unsigned least_of(unsigned a, unsigned b, unsigned c)
{
	unsigned ab = a < b ? a : b;

	return ab < c ? ab : c;
}

static bool same_letters(const char *a, const char *b)
{
	return lower_case(*a) == lower_case(*b);
}

/* Two neighbours that are the wrong way round. */
static bool is_swapped(const char *a, const char *b)
{
	return same_letters(a - 1, b) && same_letters(a, b - 1);
}

/* Wagner and Fischer's table, of which three rows are kept: row i is in rows[i % 3]. */
unsigned cp_edit_distance(const char *a, const char *b)
{
	unsigned rows[3][MAX_WORD + 1];
	size_t length_a = strlen(a), length_b = strlen(b);

	if (length_a > MAX_WORD || length_b > MAX_WORD)
		return UINT_MAX;
	for (unsigned j = 0; j <= length_b; j++)
		rows[0][j] = j;
	for (unsigned i = 1; i <= length_a; i++) {
		unsigned *row = rows[i % 3], *above = rows[(i - 1) % 3];

		row[0] = i;
		for (unsigned j = 1; j <= length_b; j++) {
			const char *at_a = &a[i - 1], *at_b = &b[j - 1];

			row[j] = least_of(above[j] + 1, row[j - 1] + 1,
				above[j - 1] + !same_letters(at_a, at_b));
			if (i > 1 && j > 1 && is_swapped(at_a, at_b) &&
				row[j] > rows[(i - 2) % 3][j - 2] + 1)
				row[j] = rows[(i - 2) % 3][j - 2] + 1;
		}
	}
	return rows[length_a % 3][length_b];
}

/* A third of the letters may differ; an option's dashes are none. */
static unsigned most_edits(const char *word)
{
	return (unsigned)(strlen(word + strspn(word, "-")) + 2) / 3;
}

const char *cp_nearest(const char *word, const char *const *candidates)
{
	unsigned limit = most_edits(word), best = UINT_MAX;
	const char *nearest = NULL;

	for (; *candidates; candidates++) {
		unsigned distance = cp_edit_distance(word, *candidates);

		if (distance < best) {
			best = distance;
			nearest = *candidates;
		}
	}
	return best <= limit ? nearest : NULL;
}
