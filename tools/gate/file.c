/* SPDX-License-Identifier: MIT */
#include "tools/gate/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/files/new_file.h"
#include "base/files/trusted.h"

enum { MOST = 64 << 20 };

static bool complain_of_file(const char *path, const char *why)
{
	fprintf(stderr, "cachepeek: gate: %s: %s\n", path, why);
	return false;
}

/* Through a descriptor of its own, since cp_new_file_finish closes the other. */
static int write_stream(
	int fd, void (*write)(FILE *file, const void *context), const void *context)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	FILE *file = copy < 0 ? NULL : fdopen(copy, "w");
	int error = 0;

	if (!file)
		return -errno;
	write(file, context);
	if (ferror(file))
		error = -EIO;
	if (fclose(file) != 0)
		error = -errno;
	return error;
}

bool cp_gate_write(const char *path, void (*write)(FILE *file, const void *context),
	const void *context)
{
	struct cp_new_file file;
	const char *why = cp_new_file_open(&file, path, true);
	int error;

	if (why)
		return complain_of_file(path, why);
	error = cp_new_file_finish(&file, write_stream(file.fd, write, context));
	return error == 0 || complain_of_file(path, strerror(-error));
}

FILE *cp_gate_read(const char *path)
{
	char why[200];
	int fd = cp_trusted_open(AT_FDCWD, path, CP_NAMED, MOST, why, sizeof(why));
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");

	if (fd >= 0 && !file)
		close(fd);
	return file;
}
