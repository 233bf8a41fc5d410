/* SPDX-License-Identifier: MIT
 *
 * Asked of the kernel, without libc: a tick may come anywhere.  A cgroup is one of
 * version 2; the limit may be one of those above it.
 */
#include "preload/shadow/memory.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/format.h"
#include "base/syscall.h"

#define CGROUPS "/sys/fs/cgroup"

/* As much of it as there is room for. */
static bool read_text(const char *path, char *text, size_t room)
{
	long fd = cp_syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0L), n;

	if (fd < 0)
		return false;
	n = cp_syscall(SYS_read, fd, text, room - 1);
	cp_syscall(SYS_close, fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* Behind that word at the beginning of a line; NULL: there is no such line. */
static const char *behind(const char *text, const char *word)
{
	while (*text) {
		const char *at = text, *in = word;

		for (; *in && *at == *in; in++)
			at++;
		if (!*in)
			return at;
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
	if (*at < '0' || *at > '9')
		return false;
	for (*number = 0; *at >= '0' && *at <= '9'; at++)
		*number = *number * 10 + (uint64_t)(*at - '0');
	return true;
}

/* The second number of statm. */
uint64_t cp_resident_pages(struct cp_memory_text *room)
{
	const char *at = room->text;
	uint64_t pages = 0;

	if (!read_text("/proc/self/statm", room->text, sizeof(room->text)))
		return 0;
	while (*at >= '0' && *at <= '9')
		at++;
	return take_number(at, &pages) ? pages : 0;
}

static bool read_of_cgroup(struct cp_memory_text *room, const char *file)
{
	cp_format(room->path, sizeof(room->path), "%s%s/%s", CGROUPS, room->cgroup, file);
	return read_text(room->path, room->text, sizeof(room->text));
}

static bool read_number(struct cp_memory_text *room, const char *file, uint64_t *number)
{
	return read_of_cgroup(room, file) && take_number(room->text, number);
}

/* What its limit leaves; what it keeps of files it would give back. */
static void look_at_cgroup(struct cp_memory_text *room, struct cp_memory_left *left)
{
	uint64_t most, used, files, unused;

	if (!read_number(room, "memory.max", &most) ||
		!read_number(room, "memory.current", &used))
		return;
	if (read_of_cgroup(room, "memory.stat") &&
		take_number(behind(room->text, "inactive_file"), &files))
		used -= files < used ? files : used;
	unused = most > used ? most - used : 0;
	if (unused < left->bytes)
		*left = (struct cp_memory_left){unused, "its cgroup"};
}

/* "/a/b", "/a", "". */
static void look_at_cgroups(struct cp_memory_text *room, struct cp_memory_left *left)
{
	char *name = room->cgroup;
	size_t end = 0;

	while (name[end] && name[end] != '\n')
		end++;
	for (;;) {
		while (end > 0 && name[end - 1] == '/')
			end--;
		name[end] = '\0';
		look_at_cgroup(room, left);
		if (end == 0)
			return;
		while (end > 0 && name[end - 1] != '/')
			end--;
	}
}

struct cp_memory_left cp_memory_left(struct cp_memory_text *room)
{
	struct cp_memory_left left = {UINT64_MAX, "the machine"};
	const char *own;
	uint64_t kib;

	if (read_text("/proc/meminfo", room->text, sizeof(room->text)) &&
		take_number(behind(room->text, "MemAvailable:"), &kib))
		left.bytes = kib * 1024;
	if (!read_text("/proc/self/cgroup", room->text, sizeof(room->text)))
		return left;
	own = behind(room->text, "0::");
	if (!own)
		return left;
	cp_format(room->cgroup, sizeof(room->cgroup), "%s", own);
	look_at_cgroups(room, &left);
	return left;
}
