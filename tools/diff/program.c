/* SPDX-License-Identifier: MIT */
#include "tools/diff/program.h"
#include "base/text.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The last part of the command's first word. */
static const char *program_of(const char *command, size_t *length)
{
	const char *end = command + strcspn(command, " "), *start = end;

	while (start > command && start[-1] != '/')
		start--;
	*length = (size_t)(end - start);
	return start;
}

bool cp_is_program(const char *module, const char *command)
{
	size_t length;
	const char *name = program_of(command, &length), *base = cp_base_name(module);

	return length && strlen(base) == length && memcmp(base, name, length) == 0;
}

char *cp_without_program(const char *names, const char *command)
{
	size_t length;
	const char *name = program_of(command, &length);
	char *made = malloc(strlen(names) + 1), *to = made;
	bool starts = true;

	while (made && *names) {
		if (starts && length && strncmp(names, name, length) == 0 &&
			(strncmp(names + length, "::", 2) == 0 ||
				strncmp(names + length, ": ", 2) == 0))
			names += length + 2;
		starts = *names == ' ';
		if (*names)
			*to++ = *names++;
	}
	if (made)
		*to = '\0';
	return made;
}

bool cp_cut_number(char *name, const char *before, const char *after)
{
	size_t length = strlen(name), end = strlen(after), digits = 0;
	char *at = name + length;

	if (length < end || strcmp(at - end, after) != 0)
		return false;
	for (at -= end; at > name && at[-1] >= '0' && at[-1] <= '9'; at--)
		digits++;
	length = strlen(before);
	if (!digits || (size_t)(at - name) <= length ||
		memcmp(at - length, before, length) != 0)
		return false;
	at[-(ptrdiff_t)length] = '\0';
	return true;
}
