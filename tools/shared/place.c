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

/* A sanitizer's library ends the program if it is not the first of all. */
static bool has_sanitizer(const char *list)
{
	static const char *const names[] = {"libasan.", "libhwasan.", "libtsan.",
		"liblsan.", "libubsan.", "libclang_rt."};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strstr(list, names[i]))
			return true;
	return false;
}

static void add_preload(const char *library, bool first)
{
	const char *present = getenv("LD_PRELOAD");
	char *value;

	if (!present || !*present) {
		setenv("LD_PRELOAD", library, 1);
		return;
	}
	if (is_listed(present, library))
		return;
	if (asprintf(&value, "%s:%s", first ? library : present,
		    first ? present : library) < 0)
		return;
	setenv("LD_PRELOAD", value, 1);
	free(value);
}

void cp_preload_allocator_watch(void)
{
	char library[PATH_MAX], path[PATH_MAX + 64];
	const char *present = getenv("LD_PRELOAD");

	if (cp_library_path(library, sizeof(library)) < 0)
		return;
	*strrchr(library, '/') = '\0';
	snprintf(path, sizeof(path), "%s/libcachepeek/heap.so", library);
	if (access(path, R_OK) == 0)
		add_preload(path, !present || !has_sanitizer(present));
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
	/* Last: a library that is preloaded already may have to be first. */
	add_preload(library, false);
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
