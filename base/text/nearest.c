/* SPDX-License-Identifier: MIT */
#include "base/text/nearest.h"

#include <limits.h>
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

/* Wagner and Fischer's table, one row at a time. */
unsigned cp_edit_distance(const char *a, const char *b)
{
	unsigned row[MAX_WORD + 1], diagonal, above;
	size_t length_a = strlen(a), length_b = strlen(b);

	if (length_a > MAX_WORD || length_b > MAX_WORD)
		return UINT_MAX;
	for (unsigned j = 0; j <= length_b; j++)
		row[j] = j;
	for (unsigned i = 1; i <= length_a; i++) {
		diagonal = row[0];
		row[0] = i;
		for (unsigned j = 1; j <= length_b; j++) {
			above = row[j];
			row[j] = least_of(above + 1, row[j - 1] + 1,
				diagonal +
					(lower_case(a[i - 1]) != lower_case(b[j - 1])));
			diagonal = above;
		}
	}
	return row[length_b];
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
