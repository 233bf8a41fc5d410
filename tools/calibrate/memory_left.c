/* SPDX-License-Identifier: MIT
 *
 * What the control groups of this process let it take: whoever takes more is killed, with
 * no error before.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "base/text.h"
#include "tools/calibrate/calibrate.h"

/* The files of both versions. */
struct version {
	const char *mark; /* in /proc/self/cgroup */
	const char *root, *most, *used, *cached;
};
static const struct version versions[] = {
	{":memory:", "/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
		"total_inactive_file "},
	{"0::", "", "memory.max", "memory.current", "inactive_file "},
};

/* The number behind the word at the begin of a line, or of the file; false: no number. */
static bool number_of(
	const char *directory, const char *file, const char *word, size_t *number)
{
	char path[PATH_MAX], text[8192], *end;
	const char *at = text;

	cp_format(path, sizeof(path), "%s/%s", directory, file);
	if (!cp_read_file(path, text, sizeof(text)))
		return false;
	while (strncmp(at, word, strlen(word)) != 0)
		if (!(at = strchr(at, '\n')) || !*++at)
			return false;
	*number = strtoul(at + strlen(word), &end, 10);
	return end > at + strlen(word);
}

/* Without what the kernel keeps of files, which goes when memory is wanted. */
static size_t left_in(const struct version *version, const char *directory)
{
	size_t most, used, cached = 0;

	if (!number_of(directory, version->most, "", &most) ||
		!number_of(directory, version->used, "", &used))
		return SIZE_MAX;
	(void)number_of(directory, "memory.stat", version->cached, &cached);
	used = used > cached ? used - cached : 0;
	return most > used ? most - used : 0;
}

/* The group, and those that it is in; the path may be of another view of them. */
static size_t left_on(const struct version *version, const char *root, char *group)
{
	size_t least = SIZE_MAX;
	char directory[PATH_MAX];

	for (;;) {
		size_t left;

		cp_format(directory, sizeof(directory), "%s%s%s", root, version->root,
			group);
		left = left_in(version, directory);
		least = left < least ? left : least;
		if (!strrchr(group, '/'))
			return least;
		*strrchr(group, '/') = '\0';
	}
}

size_t cp_memory_left(const char *root, const char *groups)
{
	char text[8192], *at, *next;
	size_t least = SIZE_MAX;

	if (!cp_read_file(groups, text, sizeof(text)))
		return SIZE_MAX;
	for (at = text; *at; at = next) {
		next = at + strcspn(at, "\n");
		if (*next)
			*next++ = '\0';
		for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
			char *mark = strstr(at, versions[i].mark);
			size_t left;

			if (!mark)
				continue;
			left = left_on(
				&versions[i], root, mark + strlen(versions[i].mark));
			least = left < least ? left : least;
		}
	}
	return least;
}
