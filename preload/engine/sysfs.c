/* SPDX-License-Identifier: MIT */
#include "preload/engine/sysfs.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/format.h"
#include "base/syscall.h"
#include "base/text.h"
#include "preload/engine/arch/arch.h"

#define DEVICES "/sys/bus/event_source/devices"

/* struct linux_dirent64 of getdents64(2); readdir would call malloc. */
struct entry {
	uint64_t inode;
	int64_t offset;
	uint16_t size;
	uint8_t type;
	char name[];
};

/* Calls visit for the names in a directory until it returns true. */
static bool any_entry(const char *path,
	bool (*visit)(const char *directory, const char *name, void *context),
	void *context)
{
	char buffer[2048] __attribute__((aligned(8)));
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool found = false;
	long size;

	if (fd < 0)
		return false;
	while (!found &&
		(size = cp_syscall(SYS_getdents64, fd, buffer, sizeof(buffer))) > 0)
		for (long at = 0; at < size && !found;) {
			const struct entry *entry = (const struct entry *)(buffer + at);

			at += entry->size;
			found = entry->name[0] != '.' &&
				visit(path, entry->name, context);
		}
	cp_fd_close(fd);
	return found;
}

/* Core PMUs are called "cpu", or have a file "cpus" (others have "cpumask"). */
static bool is_core(const char *directory, const char *name, void *path)
{
	char cpus[256];

	cp_format(path, 256, "%s/%s", directory, name);
	cp_format(cpus, sizeof(cpus), "%s/%s/cpus", directory, name);
	return strcmp(name, "cpu") == 0 || access(cpus, F_OK) == 0;
}

bool cp_sysfs_core_pmu(char *path, size_t size)
{
	char found[256];

	if (!any_entry(DEVICES, is_core, found))
		return false;
	cp_format(path, size, "%s", found);
	return true;
}

/* "event=0x0011" and nothing else. */
static bool has_code(const char *directory, const char *name, void *wanted)
{
	char path[320], text[64];
	const char *end;
	uint64_t code;

	cp_format(path, sizeof(path), "%s/%s", directory, name);
	if (!cp_read_file(path, text, sizeof(text)) || !cp_starts_with(text, "event="))
		return false;
	return cp_parse_u64_prefix(text + 6, &end, &code) == 0 &&
	       code == *(const uint64_t *)wanted && (*end == '\n' || !*end);
}

enum cp_listed cp_sysfs_lists(uint64_t config)
{
	char path[288];
	uint64_t known = CP_ARCH_LISTED_EVENT;

	if (!CP_ARCH_LISTS(config) || !cp_sysfs_core_pmu(path, sizeof(path) - 32))
		return CP_LIST_SILENT;
	memcpy(path + strlen(path), "/events", sizeof("/events"));
	if (any_entry(path, has_code, &config))
		return CP_LISTED;
	/* A list without the event that every CPU has is not one. */
	return any_entry(path, has_code, &known) ? CP_NOT_LISTED : CP_LIST_SILENT;
}
