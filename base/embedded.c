/* SPDX-License-Identifier: MIT */
#include "base/embedded.h"

#include <string.h>

const char *cp_embedded_find(const char *name)
{
	for (const struct cp_embedded *file = cp_embedded_files; file->name; file++)
		if (strcmp(file->name, name) == 0)
			return file->text;
	return NULL;
}
