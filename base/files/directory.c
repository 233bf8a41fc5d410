/* SPDX-License-Identifier: MIT */
#include "base/files/directory.h"

#include <stdint.h>

#include "base/syscall.h"

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
