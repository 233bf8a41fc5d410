/* SPDX-License-Identifier: MIT */
#include "regions/filter.h"

#include "base/text/line_spec.h"
#include "base/text/name_pattern.h"
#include "base/text.h"

/* "func:PATTERN", "case:FRAMEWORK", "line:FILE:LINE": what is made a region, not which
 * regions are left. */
static bool makes_regions(const char *piece, size_t size)
{
	size_t except = size > 0 && *piece == '!';
	struct cp_line_spec spec;

	piece += except;
	size -= except;
	return cp_is_function_piece(piece, piece + size) ||
	       (size > 5 && cp_starts_with(piece, "case:")) ||
	       cp_line_spec_read(piece, size, &spec) != 0;
}

bool cp_filter_allows(const char *patterns, const char *name, size_t length)
{
	struct cp_span whole = {name, name + length};
	bool wanted = false, listed = false;
	const char *piece;
	size_t size;

	if (!patterns)
		return true;
	while ((piece = cp_next_piece(&patterns, ',', &size))) {
		if (makes_regions(piece, size))
			continue;
		if (*piece == '!') {
			if (cp_pattern_matches(
				    (struct cp_span){piece + 1, piece + size}, whole))
				return false;
			continue;
		}
		listed = true;
		wanted |=
			cp_pattern_matches((struct cp_span){piece, piece + size}, whole);
	}
	return wanted || !listed;
}
