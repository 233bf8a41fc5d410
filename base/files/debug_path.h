/* SPDX-License-Identifier: MIT
 *
 * Where the debugging information of a file is that has a build ID, apart from it: in the
 * system's directory, and in the cache of debuginfod's clients
 * (debuginfod_find_debuginfo(3)), which a debugger, `cachepeek --debuginfod` or
 * debuginfod-find(1) fills.  Nothing of libc is needed here.
 */
#ifndef CACHEPEEK_BASE_FILES_DEBUG_PATH_H
#define CACHEPEEK_BASE_FILES_DEBUG_PATH_H

#include <stddef.h>

#define CP_DEBUG_DIRECTORY "/usr/lib/debug"

struct cp_debug_path {
	char *to;
	size_t room, length;
};

static inline void cp_debug_text(struct cp_debug_path *path, const char *text)
{
	while (*text && path->length + 1 < path->room)
		path->to[path->length++] = *text++;
	path->to[path->length] = '\0';
}

static inline void cp_debug_digits(
	struct cp_debug_path *path, const unsigned char *id, size_t size)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < size; i++) {
		char byte[] = {digits[id[i] >> 4], digits[id[i] & 15], '\0'};

		cp_debug_text(path, byte);
	}
}

/* DIRECTORY/.build-id/NN/NNNN.debug; room is at least 1, and what is too long is cut. */
static inline void cp_debug_path_of_system(
	char *to, size_t room, const unsigned char *id, size_t size)
{
	struct cp_debug_path path = {to, room, 0};

	cp_debug_text(&path, CP_DEBUG_DIRECTORY "/.build-id/");
	cp_debug_digits(&path, id, size ? 1 : 0);
	cp_debug_text(&path, "/");
	cp_debug_digits(&path, id + 1, size ? size - 1 : 0);
	cp_debug_text(&path, ".debug");
}

/* CACHE/NNNN/debuginfo */
static inline void cp_debug_path_of_cache(
	char *to, size_t room, const char *cache, const unsigned char *id, size_t size)
{
	struct cp_debug_path path = {to, room, 0};

	cp_debug_text(&path, cache);
	cp_debug_text(&path, "/");
	cp_debug_digits(&path, id, size);
	cp_debug_text(&path, "/debuginfo");
}

/* The cache's directory, as elfutils has it.  Returns false where the environment, which
 * get() reads, names none, or one that is relative or as long as room. */
static inline int cp_debug_cache(
	char *to, size_t room, const char *(*get)(const char *name))
{
	static const struct {
		const char *name, *behind;
	} roots[] = {{"DEBUGINFOD_CACHE_PATH", ""},
		{"XDG_CACHE_HOME", "/debuginfod_client"},
		{"HOME", "/.cache/debuginfod_client"}};
	struct cp_debug_path path = {to, room, 0};

	*to = '\0';
	for (size_t i = 0; i < sizeof(roots) / sizeof(*roots); i++) {
		const char *root = get(roots[i].name);

		if (!root || *root != '/')
			continue;
		cp_debug_text(&path, root);
		cp_debug_text(&path, roots[i].behind);
		if (path.length + 1 < room)
			return 1;
		*to = '\0';
		return 0;
	}
	return 0;
}

#endif
