/* SPDX-License-Identifier: MIT
 *
 * The file of a program or library: where its code is, and its functions, as its symbol
 * table has them, that of its separate debug file, or else its dynamic symbols.
 */
#ifndef CACHEPEEK_PRELOAD_PATCH_ELF_FILE_H
#define CACHEPEEK_PRELOAD_PATCH_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/files/elf.h"
#include "preload/patch/patch.h"

struct cp_elf_function {
	uint64_t value; /* first: what they are sorted by */
	uint64_t size;
	const char *name;
};

struct cp_elf_file {
	struct cp_elf_bytes elf;
	size_t nfunctions;
	struct cp_elf_function *functions; /* sorted; several may have one place */
};

/* Reads the file at path, through the host.  name: what the file is called, beside which
 * its debug file may be (path may be a link of /proc).  false: it is no ELF file, or
 * there is no memory.  The names are valid until it is closed, the functions live in the
 * store. */
bool cp_elf_open(struct cp_elf_file *file, const char *path, const char *name,
	const struct cp_patch_host *host, struct cp_store *store);
void cp_elf_close(struct cp_elf_file *file);

/* The bytes of the file for a place in memory; NULL: fewer than size. */
const void *cp_elf_at(const struct cp_elf_file *file, uint64_t value, size_t size);

#endif
