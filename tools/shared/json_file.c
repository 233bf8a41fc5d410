/* SPDX-License-Identifier: MIT */
#include "tools/shared/json_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/files/trusted.h"
#include "base/text/table.h"

json_t *cp_json_read(int fd, json_error_t *fault)
{
	FILE *file = fdopen(fd, "r");
	json_t *document;

	if (!file) {
		if (fault)
			snprintf(fault->text, sizeof(fault->text), "no memory");
		close(fd);
		return NULL;
	}
	document = json_loadf(file, 0, fault);
	fclose(file);
	return document;
}

json_t *cp_json_file(const char *path, json_error_t *fault)
{
	int fd = cp_trusted_open(AT_FDCWD, path, CP_NAMED, CP_TRUSTED_MOST, fault->text,
		sizeof(fault->text));

	fault->line = -1;
	return fd < 0 ? NULL : cp_json_read(fd, fault);
}

const char *cp_json_word(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

const char *cp_json_shown(struct cp_arena *arena, const json_t *object, const char *key)
{
	return cp_text_safe(arena, cp_slice_of(cp_json_word(object, key)));
}

uint64_t cp_json_count(const json_t *object, const char *key)
{
	json_int_t value = json_integer_value(json_object_get(object, key));

	return value > 0 ? (uint64_t)value : 0;
}
