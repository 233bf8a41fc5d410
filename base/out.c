/* SPDX-License-Identifier: MIT */
#include "base/out.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/format.h"
#include "base/map.h"

void cp_out_open(struct cp_out *out, int fd)
{
	out->fd = fd;
	out->error = 0;
	out->used = 0;
}

int cp_out_flush(struct cp_out *out)
{
	size_t done = 0;

	if (!out->error && out->used > cp_fd_room(out->fd))
		out->error = EFBIG;
	while (!out->error && done < out->used) {
		ssize_t n = write(out->fd, out->buffer + done, out->used - done);

		if (n >= 0)
			done += (size_t)n;
		else if (errno != EINTR)
			out->error = errno;
	}
	out->used = 0;
	return -out->error;
}

void cp_out_bytes(struct cp_out *out, const void *bytes, size_t length)
{
	const char *from = bytes;

	while (length) {
		size_t room = sizeof(out->buffer) - out->used;
		size_t part = length < room ? length : room;

		memcpy(out->buffer + out->used, from, part);
		out->used += part;
		from += part;
		length -= part;
		if (out->used == sizeof(out->buffer))
			cp_out_flush(out);
	}
}

void cp_out_text(struct cp_out *out, const char *text)
{
	cp_out_bytes(out, text, strlen(text));
}

/* Which is longer than any but a name of C++ or a command line is. */
static void put_long(struct cp_out *out, size_t length, const char *format, va_list args)
{
	char *text = cp_map(length + 1, -1, 0);

	if (!text) {
		if (!out->error)
			out->error = ENOMEM;
		return;
	}
	cp_vformat(text, length + 1, format, args);
	cp_out_bytes(out, text, length);
	munmap(text, length + 1);
}

void cp_out_format(struct cp_out *out, const char *format, ...)
{
	char text[4096];
	va_list args;
	size_t length;

	va_start(args, format);
	length = cp_vformat(text, sizeof(text), format, args);
	if (length < sizeof(text))
		cp_out_bytes(out, text, length);
	else
		put_long(out, length, format, args);
	va_end(args);
}
