/* SPDX-License-Identifier: MIT */
#include "tools/shared/json_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/files/trusted.h"

json_t *cp_json_file(const char *path, json_error_t *fault)
{
	int fd = cp_trusted_open(AT_FDCWD, path, CP_NAMED, CP_TRUSTED_MOST, fault->text,
		sizeof(fault->text));
	json_t *document;

	fault->line = -1;
	if (fd < 0)
		return NULL;
	document = json_loadfd(fd, 0, fault);
	close(fd);
	return document;
}
