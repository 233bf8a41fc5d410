/* SPDX-License-Identifier: MIT
 *
 * The files of processors (base/embedded.h), which are 250 KB: the file DATA beside the
 * library has them, each as its name and its text, both ended by a NUL, and behind the
 * last an empty name.
 */
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base/embedded.h"
#include "base/fd.h"
#include "base/map.h"
#include "preload/reexec.h"
#include "preload/warn.h"

#define DATA "data"

enum { MOST = 255 };

static struct {
	bool tried;
	struct cp_embedded files[MOST + 1];
} data;

/* NULL: there is none, or it is no such file. */
static const char *map_data(size_t *size)
{
	char path[PATH_MAX];
	const char *bytes = NULL;
	struct stat file;
	int fd;

	if (cp_companion_path(DATA, path, sizeof(path)) < 0)
		return NULL;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	if (cp_fd_stat(fd, &file) == 0 && S_ISREG(file.st_mode) && file.st_size > 0) {
		*size = (size_t)file.st_size;
		bytes = cp_map_file(*size, fd);
	}
	cp_fd_close(fd);
	return bytes && !bytes[*size - 1] ? bytes : NULL;
}

/* Its last byte is NUL, so each string ends in it.  False: it ends in the middle. */
static bool list_files(const char *at, const char *end)
{
	unsigned count = 0;

	for (; *at && count < MOST; count++) {
		const char *text = at + strlen(at) + 1;

		if (text >= end || text + strlen(text) + 1 >= end)
			break;
		data.files[count] = (struct cp_embedded){at, text};
		at = text + strlen(text) + 1;
	}
	return count > 0 && at + 1 == end;
}

const struct cp_embedded *cp_processor_files(void)
{
	const char *bytes;
	size_t size;

	if (data.tried)
		return data.files;
	data.tried = true;
	bytes = map_data(&size);
	if (!bytes || !list_files(bytes, bytes + size)) {
		data.files[0].name = NULL;
		cp_warn("events and machines of processors are unknown: the file "
			"libcachepeek/" DATA
			" is not installed beside the library: `make "
			"install`");
	}
	return data.files;
}
