/* SPDX-License-Identifier: MIT */
#include "preload/program/layout.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "base/map.h"
#include "base/env.h"

/* ---- the strings ---- */

/* Does the first string lie at end, the next behind it, and so on?  Moves end. */
static bool follow_each_other(char *const *strings, char **end)
{
	for (; *strings; strings++) {
		if (*strings != *end)
			return false;
		*end += strlen(*strings) + 1;
	}
	return true;
}

static char *pack_strings(char **strings, char *to)
{
	for (; *strings; strings++) {
		size_t length = strlen(*strings) + 1;

		*strings = memmove(to, *strings, length);
		to += length;
	}
	return to;
}

static void shift_vector(char **strings, ptrdiff_t by)
{
	for (; *strings; strings++)
		*strings += by;
}

/* The strings lie in [argv[0], end); from argv[1] on they are packed as far down as
 * they go, and up again if argv[0] needs the room. */
static void arrange_stack(
	char **argv, char **envp, char *end, const char *argv0, size_t length)
{
	char *second = argv[0] + strlen(argv[0]) + 1;
	char *free = pack_strings(envp, pack_strings(argv + 1, second));
	ptrdiff_t up = (ptrdiff_t)length - (second - argv[0]);

	if (up > end - free)
		return; /* cannot be: the text was among those taken away */
	if (up > 0) {
		memmove(second + up, second, (size_t)(free - second));
		shift_vector(argv + 1, up);
		shift_vector(envp, up);
		second += up;
		free += up;
	}
	argv[0] = memcpy(second - length, argv0, length);
	memset(free, 0, (size_t)(end - free));
}

/* ---- the vector ---- */

/* Between the array's new end and the vector: entries that say to be ignored, of two
 * pointers each. */
static void fill_gap(char **new_end, char *const *old_end)
{
	for (char **gap = new_end + 1; gap < old_end; gap += 2) {
		gap[0] = (char *)AT_IGNORE;
		gap[1] = NULL;
	}
}

static void take_away(char **envp, const char *const removed[])
{
	size_t before = cp_env_count(envp), after;

	for (; *removed; removed++)
		cp_env_remove(envp, *removed);
	after = cp_env_count(envp);
	if ((before - after) % 2 == 0)
		fill_gap(envp + after, envp + before);
}

void cp_layout_restore(
	char **argv, char **envp, const char *argv0, const char *const removed[])
{
	size_t length = strlen(argv0) + 1;
	char *copy, *end = argv[0];
	bool known = follow_each_other(argv, &end) && follow_each_other(envp, &end);

	take_away(envp, removed);
	copy = known ? cp_map(length, -1, 0) : NULL;
	if (!copy) {
		argv[0] = (char *)(uintptr_t)argv0;
		return;
	}
	memcpy(copy, argv0, length);
	arrange_stack(argv, envp, end, copy, length);
	munmap(copy, length);
}

/* ---- a longer array ---- */

/* The kernel's vector, until main begins. */
static struct {
	const ElfW(auxv_t) * vector;
	size_t size;
} layout;

void cp_layout_start(char *const envp[])
{
	const ElfW(auxv_t) * entry;

	while (*envp)
		envp++;
	layout.vector = entry = (const void *)(envp + 1);
	while (entry->a_type != AT_NULL)
		entry++;
	layout.size = (size_t)((const char *)(entry + 1) - (const char *)layout.vector);
}

static void put_before_last(char **last, size_t more)
{
	char *entry = *last;

	memmove(last, last + 1, more * sizeof(*last));
	last[more] = entry;
}

char **cp_layout_extend(char *const envp[], char *const added[])
{
	size_t more = cp_env_count(added), count = cp_env_count(envp) + more;
	char **extended = cp_map((count + 1) * sizeof(*extended) + layout.size, -1, 0);

	if (!extended)
		return NULL;
	cp_env_merge(extended, envp, added);
	count = cp_env_count(extended);
	if (count > more)
		put_before_last(extended + count - more - 1, more);
	memcpy(extended + count + 1, layout.vector, layout.size);
	return extended;
}
