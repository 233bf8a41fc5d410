/* SPDX-License-Identifier: MIT */
#include "tools/profile/model/fit.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text/utf8.h"

/* Narrower terminals have no room for a table. */
#define NARROWEST 60

size_t cp_fit_terminal(int fd)
{
	struct winsize size;

	if (!isatty(fd))
		return 0;
	if (ioctl(fd, TIOCGWINSZ, &size) < 0 || size.ws_col < NARROWEST)
		return 80;
	return size.ws_col;
}

/* Its value; false: it is no whole number, or a short one. */
static bool is_long(const char *cell, double *value)
{
	if (strlen(cell) < sizeof("1,234") || strspn(cell, "0123456789,") != strlen(cell))
		return false;
	for (*value = 0; *cell; cell++)
		if (*cell != ',')
			*value = *value * 10 + (*cell - '0');
	return true;
}

const char *cp_fit_number(struct cp_arena *arena, const char *cell)
{
	static const char units[] = "kMGTPE";
	const char *unit = units;
	double value;

	if (!is_long(cell, &value))
		return cell;
	/* A value that would be rounded up to 1000 gets the next unit. */
	for (value /= 1000; value >= 999.95 && unit[1]; unit++)
		value /= 1000;
	return cp_text_format(arena, "%.*f%c",
		value < 9.9995   ? 3
		: value < 99.995 ? 2
				 : 1,
		value, *unit);
}

/* ---- text ---- */

static bool may_end(const char *at)
{
	return *at == ' ' || (at[0] == ':' && at[1] != ':') || *at == ',' || *at == '/';
}

/* How many bytes fit, up to where a name can be broken if that leaves half a line. */
static size_t line_length(const char *text, size_t width)
{
	size_t left = strlen(text), length = 0, columns = 0, good = 0;

	for (; length < left && columns < width; columns++) {
		size_t bytes = cp_utf8_length(text + length, left - length);

		if (may_end(text + length) && columns >= width / 2)
			good = length + 1;
		length += bytes ? bytes : 1;
	}
	return length < left && good ? good : length;
}

void cp_fit_text(struct cp_out *out, const char *text, size_t indent, size_t width)
{
	text += strspn(text, " ");
	while (*text) {
		size_t length = line_length(text, width - indent);

		for (size_t i = 0; i < indent; i++)
			cp_out_text(out, " ");
		cp_out_bytes(out, text, length);
		cp_out_text(out, "\n");
		text += length;
		text += strspn(text, " ");
	}
}
