/* SPDX-License-Identifier: MIT */
#include "regions/filter.h"

#include "base/line_spec.h"
#include "base/text.h"

struct text {
	const char *at, *end;
};

/* The last * is where to go on when what follows it does not match. */
static bool matches(struct text pattern, struct text name)
{
	struct text star = {NULL, NULL};
	const char *retry = NULL;

	while (name.at < name.end) {
		if (pattern.at < pattern.end && *pattern.at == '*') {
			star = pattern;
			star.at++;
			pattern = star;
			retry = name.at;
		} else if (pattern.at < pattern.end &&
			   (*pattern.at == '?' || *pattern.at == *name.at)) {
			pattern.at++;
			name.at++;
		} else if (star.at) {
			pattern = star;
			name.at = ++retry;
		} else {
			return false;
		}
	}
	while (pattern.at < pattern.end && *pattern.at == '*')
		pattern.at++;
	return pattern.at == pattern.end;
}

/* "func:PATTERN", "line:FILE:LINE": what is made a region, not which regions are left. */
static bool is_about_functions(const char *piece, size_t size)
{
	size_t except = size > 0 && *piece == '!';
	struct cp_line_spec spec;

	return (size - except > 5 && cp_starts_with(piece + except, "func:")) ||
	       cp_line_spec_read(piece + except, size - except, &spec) != 0;
}

bool cp_filter_allows(const char *patterns, const char *name, size_t length)
{
	struct text whole = {name, name + length};
	bool wanted = false, listed = false;
	const char *piece;
	size_t size;

	if (!patterns)
		return true;
	while ((piece = cp_next_piece(&patterns, ',', &size))) {
		if (is_about_functions(piece, size))
			continue;
		if (*piece == '!') {
			if (matches((struct text){piece + 1, piece + size}, whole))
				return false;
			continue;
		}
		listed = true;
		wanted |= matches((struct text){piece, piece + size}, whole);
	}
	return wanted || !listed;
}
