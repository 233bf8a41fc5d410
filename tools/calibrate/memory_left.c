/* SPDX-License-Identifier: MIT */
#include "tools/calibrate/memory_left.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/format.h"
#include "base/syscall.h"

/* The files of both versions of control groups; cached: the line of memory.stat with what
 * a group keeps of files, and would give back. */
static const struct version {
	const char *mark; /* behind the number of its line in the list of groups */
	const char *folder, *most, *used, *cached;
} versions[] = {
	{":memory:", "/sys/fs/cgroup/memory", "memory.limit_in_bytes",
		"memory.usage_in_bytes", "total_inactive_file"},
	{"::", "/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"},
};

/* As much of it as there is room for. */
static bool read_text(const char *path, char *text, size_t room)
{
	long fd = cp_syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0L), n = 1;
	size_t have = 0;

	if (fd < 0)
		return false;
	while (n > 0 && have < room - 1) {
		n = cp_syscall(SYS_read, fd, text + have, room - 1 - have);
		have += n > 0 ? (size_t)n : 0;
	}
	cp_syscall(SYS_close, fd);
	text[have] = '\0';
	return have > 0;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Behind that word at the beginning of a line, or behind the number there; NULL: there is
 * no such line. */
static const char *behind(const char *text, const char *word, bool has_number)
{
	while (*text) {
		const char *in = word;

		while (has_number && is_digit(*text))
			text++;
		for (; *in && *text == *in; in++)
			text++;
		if (!*in)
			return text;
		while (*text && *text++ != '\n')
			;
	}
	return NULL;
}

/* False: no number is there. */
static bool take_number(const char *at, uint64_t *number)
{
	if (!at)
		return false;
	while (*at == ' ')
		at++;
	if (!is_digit(*at))
		return false;
	for (*number = 0; is_digit(*at); at++)
		*number = *number * 10 + (uint64_t)(*at - '0');
	return true;
}

/* A file of a group's. */
static bool read_of_group(struct cp_memory_text *room, const char *root,
	const struct version *version, const char *file)
{
	cp_format(room->path, sizeof(room->path), "%s%s%s/%s", root, version->folder,
		room->group, file);
	return read_text(room->path, room->text, sizeof(room->text));
}

static uint64_t left_in(
	struct cp_memory_text *room, const char *root, const struct version *version)
{
	uint64_t most, used, cached;

	if (!read_of_group(room, root, version, version->most) ||
		!take_number(room->text, &most) ||
		!read_of_group(room, root, version, version->used) ||
		!take_number(room->text, &used))
		return UINT64_MAX;
	if (read_of_group(room, root, version, "memory.stat") &&
		take_number(behind(room->text, version->cached, false), &cached))
		used -= cached < used ? cached : used;
	return most > used ? most - used : 0;
}

/* Makes "/a/b" "/a", and that ""; false: it is "". */
static bool go_up(char *group)
{
	size_t end = 0;

	while (group[end])
		end++;
	if (end == 0)
		return false;
	while (end > 0 && group[end - 1] != '/')
		end--;
	group[end > 0 ? end - 1 : 0] = '\0';
	return true;
}

/* The group, and those that it is in; its path may be of another view of them, a
 * container's. */
static uint64_t left_on(
	struct cp_memory_text *room, const char *root, const struct version *version)
{
	uint64_t least = UINT64_MAX;

	do {
		uint64_t left = left_in(room, root, version);

		least = left < least ? left : least;
	} while (go_up(room->group));
	return least;
}

/* Has the process a group of that version?  It is in room->group then. */
static bool find_group(
	struct cp_memory_text *room, const char *root, const struct version *version)
{
	const char *at = NULL;
	size_t n = 0;

	cp_format(room->path, sizeof(room->path), "%s/proc/self/cgroup", root);
	if (read_text(room->path, room->text, sizeof(room->text)))
		at = behind(room->text, version->mark, true);
	while (at && at[n] && at[n] != '\n')
		n++;
	cp_format(room->group, sizeof(room->group), "%.*s", (int)n, at ? at : "");
	return at != NULL;
}

struct cp_memory_left cp_memory_left(struct cp_memory_text *room, const char *root)
{
	struct cp_memory_left left = {UINT64_MAX, UINT64_MAX};
	uint64_t kib;

	cp_format(room->path, sizeof(room->path), "%s/proc/meminfo", root);
	if (read_text(room->path, room->text, sizeof(room->text)) &&
		take_number(behind(room->text, "MemAvailable:", false), &kib))
		left.machine = kib * 1024;
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		uint64_t least;

		if (!find_group(room, root, &versions[i]))
			continue;
		least = left_on(room, root, &versions[i]);
		left.groups = least < left.groups ? least : left.groups;
	}
	return left;
}
