/* SPDX-License-Identifier: MIT */
#include "base/files/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>

#include "base/fd.h"
#include "base/syscall.h"
#include "base/text.h"

/* struct linux_dirent64 of getdents64(2). */
struct entry {
	uint64_t inode;
	int64_t offset;
	uint16_t size;
	uint8_t type;
	char name[];
};

int cp_directory_any(int dir, cp_name_visitor *visit, void *context)
{
	char buffer[1024] __attribute__((aligned(8)));
	long size;

	while ((size = cp_syscall(SYS_getdents64, dir, buffer, sizeof(buffer))) > 0)
		for (long at = 0; at < size;) {
			const struct entry *entry = (const struct entry *)(buffer + at);

			at += entry->size;
			if (entry->name[0] != '.' && visit(context, dir, entry->name))
				return 1;
		}
	return (int)size;
}

struct each {
	const char *ending;
	cp_name_visitor *visit;
	void *context;
};

static bool visit_each(void *context, int dir, const char *name)
{
	const struct each *each = context;

	return cp_ends_with(name, each->ending) && each->visit(each->context, dir, name);
}

int cp_directory_each(
	const char *path, const char *ending, cp_name_visitor *visit, void *context)
{
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), result;

	if (dir < 0)
		return -errno;
	result =
		cp_directory_any(dir, visit_each, &(struct each){ending, visit, context});
	cp_fd_close(dir);
	return result;
}

static bool is_any(void *context, int dir, const char *name)
{
	(void)context;
	(void)dir;
	(void)name;
	return true;
}

bool cp_directory_has(const char *path, const char *ending)
{
	return cp_directory_each(path, ending, is_any, NULL) > 0;
}
