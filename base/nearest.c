/* SPDX-License-Identifier: MIT */
#include "base/nearest.h"

#include <string.h>

#define MAX_LENGTH 63

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* One row of the Damerau-Levenshtein table (optimal string alignment). */
static void fill_row(unsigned *row, const unsigned *above, const unsigned *above2,
	const char *a, unsigned i, const char *b, size_t length)
{
	row[0] = i;
	for (size_t j = 1; j <= length; j++) {
		char x = lower(a[i - 1]), y = lower(b[j - 1]);

		row[j] = least(above[j - 1] + (x != y), least(above[j], row[j - 1]) + 1);
		if (i > 1 && j > 1 && x == lower(b[j - 2]) && lower(a[i - 2]) == y)
			row[j] = least(row[j], above2[j - 2] + 1);
	}
}

static unsigned distance(const char *a, const char *b)
{
	unsigned rows[3][MAX_LENGTH + 1];
	size_t n = strlen(a), m = strlen(b);

	if (n > MAX_LENGTH || m > MAX_LENGTH)
		return ~0u;
	for (unsigned j = 0; j <= m; j++)
		rows[0][j] = j;
	for (unsigned i = 1; i <= n; i++)
		fill_row(rows[i % 3], rows[(i + 2) % 3], rows[(i + 1) % 3], a, i, b, m);
	return rows[n % 3][m];
}

const char *cp_nearest(const char *word, const char *const *candidates)
{
	unsigned limit = (unsigned)strlen(word) / 3 + 1, best = ~0u;
	const char *nearest = NULL;

	for (; *candidates; candidates++) {
		unsigned d = distance(word, *candidates);

		if (d <= limit && d < best) {
			best = d;
			nearest = *candidates;
		}
	}
	return nearest;
}
