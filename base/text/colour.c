/* SPDX-License-Identifier: MIT */
#include "base/text/colour.h"

#include <string.h>
#include <unistd.h>

static bool is_word(const char *value, const char *word)
{
	return value && strcmp(value, word) == 0;
}

enum cp_colour cp_colour_of(const char *(*environment)(const char *name))
{
	const char *none = environment("NO_COLOR"),
		   *force = environment("CLICOLOR_FORCE");

	if (none && *none)
		return CP_COLOUR_NEVER;
	if (force && *force && !is_word(force, "0"))
		return CP_COLOUR_ALWAYS;
	return is_word(environment("CLICOLOR"), "0") ||
			       is_word(environment("TERM"), "dumb")
		       ? CP_COLOUR_NEVER
		       : CP_COLOUR_AUTO;
}

bool cp_colour_on(enum cp_colour colour, int fd)
{
	return colour == CP_COLOUR_ALWAYS || (colour == CP_COLOUR_AUTO && isatty(fd));
}
