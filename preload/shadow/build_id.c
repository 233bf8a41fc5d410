/* SPDX-License-Identifier: MIT
 *
 * The build ID of a file whose beginning is mapped: it is in a note there.
 */
#include <elf.h>
#include <string.h>

#include "preload/shadow/places.h"

#define NOTE_NAME "GNU"

static uint32_t id_in(const char *note, uint64_t size, uint8_t *to, uint32_t room)
{
	while (size >= sizeof(Elf64_Nhdr)) {
		const Elf64_Nhdr *head = (const void *)note;
		uint64_t name = ((uint64_t)head->n_namesz + 3) & ~(uint64_t)3,
			 data = ((uint64_t)head->n_descsz + 3) & ~(uint64_t)3,
			 all = sizeof(*head) + name + data;

		if (all > size)
			return 0;
		if (head->n_type == NT_GNU_BUILD_ID &&
			head->n_namesz == sizeof(NOTE_NAME) &&
			memcmp(note + sizeof(*head), NOTE_NAME, sizeof(NOTE_NAME)) == 0 &&
			head->n_descsz <= room) {
			memcpy(to, note + sizeof(*head) + name, head->n_descsz);
			return head->n_descsz;
		}
		note += all;
		size -= all;
	}
	return 0;
}

uint32_t cp_places_build_id(uint64_t start, uint64_t end, uint8_t *to, uint32_t room)
{
	const char *base = (const char *)(uintptr_t)start;
	const Elf64_Ehdr *file = (const void *)base;
	uint64_t size = end - start;
	uint32_t length = 0;

	if (size < sizeof(*file) || memcmp(file->e_ident, ELFMAG, SELFMAG) != 0 ||
		file->e_ident[EI_CLASS] != ELFCLASS64 ||
		file->e_phentsize != sizeof(Elf64_Phdr) || file->e_phoff % 8 ||
		file->e_phoff > size ||
		file->e_phnum > (size - file->e_phoff) / sizeof(Elf64_Phdr))
		return 0;
	for (unsigned i = 0; i < file->e_phnum && !length; i++) {
		const Elf64_Phdr *p = (const Elf64_Phdr *)(base + file->e_phoff) + i;

		if (p->p_type == PT_NOTE && p->p_offset % 4 == 0 && p->p_offset <= size &&
			p->p_filesz <= size - p->p_offset)
			length = id_in(base + p->p_offset, p->p_filesz, to, room);
	}
	return length;
}
