/* SPDX-License-Identifier: MIT */
#include "preload/given.h"

#include <errno.h>
#include <string.h>

#include "base/map.h"
#include "base/text.h"
#include "base/env.h"

#define COMMAND_MAX ((size_t)64 << 10)

static struct {
	char *text; /* its last byte is NUL */
	size_t size;
} command;

static size_t size_of(char *const words[], size_t count)
{
	size_t size = 0;

	for (size_t i = 0; i < count; i++)
		size += strlen(words[i]) + 1;
	return size;
}

/* Without the slashes that only make it longer. */
static const char *short_path(const char *path)
{
	while (path[0] == '/' && path[1] == '/')
		path++;
	return path;
}

static void keep_command(char *to, size_t size, char *const argv[])
{
	size_t used = 0;

	for (; used < size; argv++) {
		const char *word = used ? *argv : short_path(*argv);
		size_t length = strlen(word) + 1;

		if (length > size - used)
			length = size - used;
		memcpy(to + used, word, length);
		used += length;
	}
	if (size)
		to[size - 1] = '\0';
	command.text = to;
	command.size = size;
}

static void keep_environment(char **pointers, char *to, char *const envp[], size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t length = strlen(envp[i]) + 1;

		pointers[i] = memcpy(to, envp[i], length);
		to += length;
	}
	cp_env_use(pointers); /* the memory was zeroed: NULL stands behind the last */
}

int cp_given_keep(int argc, char *const argv[], char *const envp[])
{
	size_t words = argc > 0 ? size_of(argv, (size_t)argc) -
					  (size_t)(short_path(argv[0]) - argv[0])
				: 0,
	       count = cp_env_count(envp), strings = size_of(envp, count);
	char **pointers;

	if (words > COMMAND_MAX)
		words = COMMAND_MAX;
	pointers = cp_map((count + 1) * sizeof(*pointers) + strings + words, -1, 0);
	if (!pointers)
		return -ENOMEM;
	keep_environment(pointers, (char *)(pointers + count + 1), envp, count);
	keep_command((char *)(pointers + count + 1) + strings, words, argv);
	return 0;
}

const char *cp_given_command(size_t *size)
{
	*size = command.size;
	return command.text;
}

bool cp_given_argument(const char *prefix)
{
	const char *end = command.text + command.size, *word = command.text;

	while (word < end) {
		word += strlen(word) + 1;
		if (word < end && cp_starts_with(word, prefix))
			return true;
	}
	return false;
}
