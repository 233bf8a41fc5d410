/* SPDX-License-Identifier: MIT */
#include "output/endings.h"

#include <stdbool.h>
#include <string.h>

#include "base/format.h"
#include "base/text.h"

static const char *ending_at(struct cp_endings of, size_t row)
{
	return *(
		const char *const *)(const void *)((const char *)of.rows + row * of.size);
}

/* The longest that it ends in: .trace.json is no .json. */
static int find_row(const char *output, struct cp_endings of)
{
	size_t longest = 0;
	int found = -1;

	for (size_t i = 0; i < of.n; i++) {
		size_t length = strlen(ending_at(of, i));

		if (length > longest && cp_ends_with(output, ending_at(of, i))) {
			longest = length;
			found = (int)i;
		}
	}
	return found;
}

/* Callgrind itself names its files callgrind.out.PID. */
static bool is_callgrinds(const char *output)
{
	return cp_starts_with(cp_base_name(output), "callgrind.out");
}

static bool has_no_ending(const char *output)
{
	return !output || strcmp(output, "-") == 0 || strcmp(output, "stderr") == 0 ||
	       cp_starts_with(output, "/dev/");
}

int cp_ending_row(const char *output, struct cp_endings of)
{
	int found = output ? find_row(output, of) : -1;

	if (found >= 0)
		return found;
	if (has_no_ending(output))
		return 0;
	return is_callgrinds(output) ? find_row("callgrind.out.callgrind", of) : -1;
}

const char *cp_ending_of(const char *output, struct cp_endings of)
{
	int found = find_row(output, of);

	return found >= 0 ? ending_at(of, (size_t)found) : NULL;
}

size_t cp_endings_write(char *text, size_t size, struct cp_endings of)
{
	size_t length = 0;

	for (size_t i = 0; i < of.n && length < size; i++)
		length +=
			cp_format(text + length, size - length, "%s%s", ending_at(of, i),
				i + 2 < of.n    ? ", "
				: i + 2 == of.n ? " or "
						: "");
	return length;
}
