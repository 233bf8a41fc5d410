/* SPDX-License-Identifier: MIT */
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 16;
}

int cp_parse_u64_prefix(const char *text, const char **end, uint64_t *value)
{
	unsigned base = 10;
	const char *first;

	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
		base = 16;
		text += 2;
	}
	*value = 0;
	for (first = text; (unsigned)digit_value(*text) < base; text++)
		if (__builtin_mul_overflow(*value, base, value) ||
			__builtin_add_overflow(
				*value, (unsigned)digit_value(*text), value))
			return -EINVAL;
	*end = text;
	return text == first ? -EINVAL : 0;
}

int cp_parse_u64(const char *text, uint64_t *value)
{
	const char *end;

	if (cp_parse_u64_prefix(text, &end, value) || *end)
		return -EINVAL;
	return 0;
}

bool cp_parse_size_prefix(const char *text, const char **end, uint64_t *value)
{
	static const char units[] = "KMG";
	const char *unit;

	if (cp_parse_u64_prefix(text, end, value) < 0)
		return false;
	unit = **end ? strchr(units, **end) : NULL;
	if (!unit)
		return true;
	++*end;
	if (*value >> 32)
		return false;
	*value <<= 10 * (unit - units + 1);
	return true;
}

bool cp_starts_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool cp_ends_with(const char *text, const char *ending)
{
	size_t length = strlen(text), tail = strlen(ending);

	return length > tail && strcmp(text + length - tail, ending) == 0;
}

const char *cp_next_piece(const char **at, char separator, size_t *length)
{
	const char *begin = *at, *end;

	while (*begin == separator || *begin == ' ')
		begin++;
	for (end = begin; *end && *end != separator; end++)
		;
	*at = end;
	while (end > begin && end[-1] == ' ')
		end--;
	*length = (size_t)(end - begin);
	return *length ? begin : NULL;
}

size_t cp_control_length(const char *text, const char *end)
{
	unsigned char c[3] = {0};

	for (int i = 0; i < 3 && text + i < end; i++)
		c[i] = (unsigned char)text[i];
	if (text < end && (c[0] < ' ' || c[0] == 0x7f))
		return 1;
	if ((c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0) ||
		(c[0] == 0xd8 && c[1] == 0x9c))
		return 2; /* C1, U+061C */
	if (c[0] != 0xe2)
		return 0;
	if (c[1] == 0x80 && ((c[2] & 0xfe) == 0x8e || (c[2] >= 0xa8 && c[2] <= 0xae)))
		return 3; /* U+200E, U+200F, U+2028 to U+202E */
	return c[1] == 0x81 && c[2] >= 0xa6 && c[2] <= 0xa9 ? 3
							    : 0; /* U+2066 to U+2069 */
}

static int load_file(const char *path, char *to, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO may be named */
	size_t used = 0;
	ssize_t n = 0;
	int error;

	if (fd < 0)
		return -errno;
	while (used + 1 < size && (n = read(fd, to + used, size - 1 - used)) > 0)
		used += (size_t)n;
	error = n < 0 ? -errno : 0;
	cp_fd_close(fd);
	if (error)
		return error;
	if (used && to[used - 1] == '\n')
		used--;
	to[used] = '\0';
	return 0;
}

bool cp_read_file(const char *path, char *to, size_t size)
{
	return load_file(path, to, size) == 0;
}
