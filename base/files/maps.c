/* SPDX-License-Identifier: MIT
 *
 * The text of /proc/self/maps, by system calls alone.
 */
#include <fcntl.h>

#include "base/syscall.h"
#include "base/files/maps.h"

size_t cp_maps_read(char *text, size_t size)
{
	long fd = cp_syscall(
		     SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0L),
	     n = 1;
	size_t have = 0;

	while (fd >= 0 && n > 0 && have < size - 1) {
		n = cp_syscall(SYS_read, fd, text + have, size - 1 - have);
		have += n > 0 ? (size_t)n : 0;
	}
	text[have] = '\0';
	if (fd >= 0)
		cp_syscall(SYS_close, fd);
	return have;
}

uint64_t cp_maps_number(const char **at)
{
	uint64_t value = 0;

	for (;; ++*at) {
		char c = **at;

		if (c >= '0' && c <= '9')
			value = value << 4 | (uint64_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			value = value << 4 | (uint64_t)(c - 'a' + 10);
		else
			return value;
	}
}
