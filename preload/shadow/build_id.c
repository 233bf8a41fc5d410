/* SPDX-License-Identifier: MIT
 *
 * The build ID of a file whose beginning is mapped: it is in a note there.
 */
#include <elf.h>
#include <string.h>

#include "base/files/build_id.h"
#include "preload/shadow/places.h"

uint32_t cp_places_build_id(uint64_t start, uint64_t end, uint8_t *to)
{
	const char *base = (const char *)(uintptr_t)start;
	const Elf64_Ehdr *file = (const void *)base;
	uint64_t size = end - start;
	const unsigned char *id = NULL;
	uint32_t length = 0;

	if (size < sizeof(*file) || memcmp(file->e_ident, ELFMAG, SELFMAG) != 0 ||
		file->e_ident[EI_CLASS] != ELFCLASS64 ||
		file->e_phentsize != sizeof(Elf64_Phdr) || file->e_phoff % 8 ||
		file->e_phoff > size ||
		file->e_phnum > (size - file->e_phoff) / sizeof(Elf64_Phdr))
		return 0;
	for (unsigned i = 0; i < file->e_phnum && !id; i++) {
		const Elf64_Phdr *p = (const Elf64_Phdr *)(base + file->e_phoff) + i;

		if (p->p_type == PT_NOTE && p->p_offset <= size &&
			p->p_filesz <= size - p->p_offset)
			id = cp_build_id(base + p->p_offset, p->p_filesz, &length);
	}
	if (id)
		memcpy(to, id, length);
	return length;
}
