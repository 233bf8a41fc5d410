/* SPDX-License-Identifier: MIT
 *
 * For readers that want a file's name: one in a folder of its own, which is
 * written anew for each run; and somewhere to write to.
 */
#ifndef CACHEPEEK_TESTS_FUZZ_FILE_H
#define CACHEPEEK_TESTS_FUZZ_FILE_H

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/out.h"
#include "tests/fuzz/fuzz.h"

static struct {
	int fd, sink;
	char directory[64], path[96];
} fuzz_file = {.fd = -1};

static inline void fuzz_file_remove(void)
{
	unlink(fuzz_file.path);
	rmdir(fuzz_file.directory);
}

static inline void fuzz_file_write(const char *name, const uint8_t *data, size_t size)
{
	if (fuzz_file.fd < 0) {
		snprintf(fuzz_file.directory, sizeof(fuzz_file.directory),
			"/dev/shm/fuzz-%d", (int)getpid());
		snprintf(fuzz_file.path, sizeof(fuzz_file.path), "%s/%s",
			fuzz_file.directory, name);
		if (mkdir(fuzz_file.directory, 0700) < 0)
			abort();
		fuzz_file.fd = open(fuzz_file.path,
			O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		fuzz_file.sink = open("/dev/null", O_WRONLY | O_CLOEXEC);
		if (fuzz_file.fd < 0 || fuzz_file.sink < 0)
			abort();
		atexit(fuzz_file_remove);
	}
	if (ftruncate(fuzz_file.fd, 0) < 0 ||
		pwrite(fuzz_file.fd, data, size, 0) != (ssize_t)size)
		abort();
}

#endif
