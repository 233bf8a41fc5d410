/* SPDX-License-Identifier: MIT */
#include "tools/profile/model/jit.h"
#include "base/search.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files/trusted.h"
#include "base/text/table.h"

#define MAX_MAP ((uint64_t)256 << 20)

struct function {
	uint64_t start, size;
	const char *name;
};

/* The map of the process that was asked for last. */
static struct {
	int32_t pid;
	size_t n;
	struct function *functions;
} map;

static int by_start(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* "START SIZE NAME", in hexadecimal. */
static void add_line(struct cp_arena *arena, const char *line)
{
	struct function function;
	int name = 0;

	if (sscanf(line, "%" SCNx64 " %" SCNx64 " %n", &function.start, &function.size,
		    &name) != 2 ||
		!name)
		return;
	if (!(map.n & (map.n - 1))) {
		struct function *larger =
			cp_arena_alloc(arena, (map.n ? 2 * map.n : 1) * sizeof(*larger));

		if (map.n)
			memcpy(larger, map.functions, map.n * sizeof(*larger));
		map.functions = larger;
	}
	function.name = cp_text_safe(
		arena, (struct cp_slice){line + name, line + strcspn(line, "\n")});
	map.functions[map.n++] = function;
}

/* Cut into its lines: sscanf() looks for the end of all that it is given. */
static void read_lines(struct cp_arena *arena, char *text)
{
	while (*text) {
		char *end = strchrnul(text, '\n'), *next = *end ? end + 1 : end;

		*end = '\0';
		add_line(arena, text);
		text = next;
	}
	if (map.n)
		qsort(map.functions, map.n, sizeof(*map.functions), by_start);
}

static char *load_map(struct cp_profile *profile, const char *path)
{
	char why[160], *text = NULL;
	int fd = cp_trusted_open(AT_FDCWD, path, CP_FOUND, MAX_MAP, why, sizeof(why));
	FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
	size_t size = 0;

	if (fd == -ENOENT)
		return NULL;
	if (!file) {
		cp_profile_warn(profile, "names of functions: %s: %s", path, why);
		return NULL;
	}
	if (getdelim(&text, &size, '\0', file) < 0) {
		free(text);
		text = NULL;
	}
	fclose(file);
	return text;
}

static void read_map(struct cp_profile *profile, int32_t pid)
{
	char path[64], *text;

	map.pid = pid;
	map.n = 0;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)pid);
	text = load_map(profile, path);
	if (text)
		read_lines(profile->arena, text);
	free(text);
}

void cp_jit_forget(void)
{
	memset(&map, 0, sizeof(map));
}

void cp_jit_find(struct cp_profile *profile, int32_t pid, struct cp_place_in_code *at)
{
	size_t low;

	if (map.pid != pid)
		read_map(profile, pid);
	low = CP_IN_FRONT(map.n, i, map.functions[i].start <= at->address);
	if (!low ||
		at->address - map.functions[low - 1].start >= map.functions[low - 1].size)
		return;
	at->function = map.functions[low - 1].name;
	at->offset = at->address - map.functions[low - 1].start;
}
