/* SPDX-License-Identifier: MIT */
#include "tools/runs/preloading.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files/trusted.h"

static int open_file(const char *path)
{
	char why[160];

	return cp_trusted_open(
		AT_FDCWD, path, CP_NAMED, CP_TRUSTED_PROGRAM, why, sizeof(why));
}

int cp_program_open(const char *program)
{
	char path[PATH_MAX];
	const char *at = getenv("PATH"), *end;

	if (strchr(program, '/') || !at)
		return open_file(program);
	for (; at; at = *end ? end + 1 : NULL) {
		int fd;

		end = strchrnul(at, ':');
		snprintf(path, sizeof(path), "%.*s/%s", (int)(end - at), at, program);
		fd = open_file(path);
		if (fd >= 0)
			return fd;
	}
	return -1;
}

bool cp_program_interpreter(int fd, char *to, size_t size)
{
	Elf64_Ehdr file;
	Elf64_Phdr segment;

	memset(to, 0, size);
	if (pread(fd, &file, sizeof(file), 0) != (ssize_t)sizeof(file) ||
		memcmp(file.e_ident, ELFMAG, SELFMAG) != 0 ||
		file.e_ident[EI_CLASS] != ELFCLASS64)
		return false;
	for (unsigned i = 0; i < file.e_phnum; i++) {
		off_t at = (off_t)(file.e_phoff + i * sizeof(segment));

		if (pread(fd, &segment, sizeof(segment), at) != (ssize_t)sizeof(segment))
			return false;
		if (segment.p_type == PT_INTERP)
			return pread(fd, to,
				       segment.p_filesz < size ? segment.p_filesz
							       : size - 1,
				       (off_t)segment.p_offset) > 0;
	}
	return true;
}

/* ELF, but not of our word size. */
static bool is_other_class(int fd)
{
	unsigned char ident[EI_NIDENT];

	return pread(fd, ident, sizeof(ident), 0) == (ssize_t)sizeof(ident) &&
	       memcmp(ident, ELFMAG, SELFMAG) == 0 && ident[EI_CLASS] == ELFCLASS32;
}

enum cp_preloading cp_can_be_preloaded(const char *program)
{
	char interpreter[PATH_MAX];
	enum cp_preloading can = CP_CAN_PRELOAD;
	int fd = cp_program_open(program);

	if (fd < 0)
		return CP_CAN_PRELOAD;
	if (is_other_class(fd)) {
		fprintf(stderr,
			"cachepeek: %s is a 32-bit program, "
			"and this library a 64-bit one: it runs uncounted "
			"(build it for 64 bits)\n",
			program);
		can = CP_CANNOT_PRELOAD;
	} else if (!cp_program_interpreter(fd, interpreter, sizeof(interpreter))) {
		/* a script, or something for execvp() to refuse */
	} else if (!*interpreter) {
		can = CP_STATIC;
	} else if (strstr(interpreter, "/ld-musl-")) {
		fprintf(stderr,
			"cachepeek: %s is linked with musl, "
			"whose loader cannot load this library: it runs uncounted "
			"(link it with glibc)\n",
			program);
		can = CP_CANNOT_PRELOAD;
	}
	close(fd);
	return can;
}
