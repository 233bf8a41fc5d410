/* SPDX-License-Identifier: MIT */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/format.h"
#include "base/text.h"

int cp_log_fd = 2;
bool cp_log_only_write;
int cp_log_level;

/* The file that stderr was when it was remembered. */
static struct {
	bool known;
	dev_t device;
	ino_t inode;
} original;

void cp_log_remember_stderr(void)
{
	struct stat file;

	original.known = true;
	if (cp_fd_stat(STDERR_FILENO, &file) == 0) {
		original.device = file.st_dev;
		original.inode = file.st_ino;
	}
}

static bool is_original(int fd)
{
	struct stat file;

	return cp_fd_stat(fd, &file) == 0 && file.st_dev == original.device &&
	       file.st_ino == original.inode;
}

int cp_log_target(void)
{
	if (cp_log_fd >= 0)
		return cp_log_fd;
	return original.known && (cp_log_only_write || is_original(STDERR_FILENO))
		       ? STDERR_FILENO
		       : -1;
}

/* Names in a line are the program's, and a terminal may be what reads it. */
static void make_safe(char *line, const char *end)
{
	size_t bytes;

	for (; line < end; line++)
		for (bytes = cp_control_length(line, end); bytes > 0; bytes--)
			line[bytes - 1] = '?';
}

static void say_line(const char *format, va_list args)
{
	static const char prefix[] = "cachepeek: ";
	char line[1000];
	size_t length = sizeof(prefix) - 1, room = sizeof(line) - length - 1;
	int saved = errno;
	ssize_t ignored;

	__builtin_memcpy(line, prefix, length);
	length += cp_vformat(line + length, room, format, args);
	if (length > sizeof(line) - 2)
		length = sizeof(line) - 2;
	make_safe(line, line + length);
	line[length++] = '\n';
	if (cp_log_only_write || length <= cp_fd_room(cp_log_target())) {
		ignored = write(cp_log_target(), line, length);
		(void)ignored; /* nowhere to complain to */
	}
	errno = saved;
}

void cp_say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say_line(format, args);
	va_end(args);
}
