/* SPDX-License-Identifier: MIT */
#include "base/embedded.h"

#include <string.h>

const char *cp_embedded_find_in(const struct cp_embedded *files, const char *name)
{
	for (const struct cp_embedded *file = files; file->name; file++)
		if (strcmp(file->name, name) == 0)
			return file->text;
	return NULL;
}

const char *cp_embedded_find(const char *name)
{
	return cp_embedded_find_in(cp_embedded_files, name);
}
