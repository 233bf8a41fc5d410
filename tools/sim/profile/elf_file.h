/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * ELF files as they are on disk: their header, their sections, and where they are mapped.
 */
#ifndef CACHEPEEK_SIM_ELF_FILE_H
#define CACHEPEEK_SIM_ELF_FILE_H

#include <elf.h>

#include "tool.h"

/* -1: it cannot be read, or is no ELF file of 64 bits. */
Int elf_open(const HChar *path, Elf64_Ehdr *file);
Bool elf_read(Int fd, void *to, UInt size, ULong offset);

/* The first characters of its name are enough to know it. */
typedef void elf_visit_section(
	void *context, const Elf64_Shdr *section, const HChar *name);

void elf_sections_each(const HChar *path, elf_visit_section *visit, void *context);

/* Finds what is added to the file's addresses where that part of it is mapped; False:
 * it is in no segment. */
Bool elf_bias(const HChar *path, Addr start, ULong offset, Addr *bias);

#endif
