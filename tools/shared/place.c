/* SPDX-License-Identifier: MIT */
#include "tools/shared/place.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Beside the command as built or installed, or where a package puts it. */
int cp_library_path(char *to, size_t size)
{
	static const char *const places[] = {
		"libcachepeek.so",
		"../lib/libcachepeek.so",
		CP_LIBDIR "/libcachepeek.so",
	};
	char directory[PATH_MAX], path[PATH_MAX + 64], real[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", directory, sizeof(directory) - 1);

	if (length <= 0)
		return -ENOENT;
	directory[length] = '\0';
	*strrchr(directory, '/') = '\0';
	for (unsigned i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (places[i][0] == '/')
			snprintf(path, sizeof(path), "%s", places[i]);
		else
			snprintf(path, sizeof(path), "%s/%s", directory, places[i]);
		if (access(path, R_OK) == 0 && realpath(path, real) &&
			strlen(real) < size) {
			strcpy(to, real);
			return 0;
		}
	}
	return -ENOENT;
}

/* The dynamic linker separates them by colons or blanks. */
static bool is_listed(const char *list, const char *library)
{
	size_t length = strlen(library);

	while (*(list += strspn(list, ": "))) {
		size_t entry = strcspn(list, ": ");

		if (entry == length && strncmp(list, library, length) == 0)
			return true;
		list += entry;
	}
	return false;
}

/* Puts ours last: a library that is preloaded already may have to be first. */
static void add_preload(const char *library)
{
	const char *present = getenv("LD_PRELOAD");
	char *value;

	if (!present || !*present) {
		setenv("LD_PRELOAD", library, 1);
		return;
	}
	if (is_listed(present, library))
		return;
	if (asprintf(&value, "%s:%s", present, library) < 0)
		return;
	setenv("LD_PRELOAD", value, 1);
	free(value);
}

void cp_preload_companion(const char *name)
{
	char library[PATH_MAX], path[PATH_MAX + 64];

	if (cp_library_path(library, sizeof(library)) < 0)
		return;
	*strrchr(library, '/') = '\0';
	snprintf(path, sizeof(path), "%s/libcachepeek/%s", library, name);
	if (access(path, R_OK) == 0)
		add_preload(path);
}

int cp_prepare_preload(char *const added[])
{
	char library[PATH_MAX];

	if (cp_library_path(library, sizeof(library)) < 0) {
		fprintf(stderr, "cachepeek: libcachepeek.so is neither "
				"beside this command nor in ../lib or " CP_LIBDIR
				": run `make install`\n");
		return -ENOENT;
	}
	for (; *added; added++)
		putenv(*added);
	add_preload(library);
	return 0;
}

int cp_exec_preloaded(char *const argv[], char *const added[])
{
	int result = cp_prepare_preload(added);

	if (result < 0)
		return result;
	execvp(argv[0], argv);
	return -errno;
}
