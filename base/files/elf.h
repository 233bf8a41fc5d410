/* SPDX-License-Identifier: MIT
 *
 * The sections of an ELF file of 64 bits that is in memory, whole or not: it may be
 * damaged.  No libc.
 */
#ifndef CACHEPEEK_BASE_FILES_ELF_H
#define CACHEPEEK_BASE_FILES_ELF_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cp_elf_bytes {
	const char *bytes; /* NULL: none */
	size_t size;
};

static inline bool cp_elf_has(
	const struct cp_elf_bytes *elf, uint64_t offset, uint64_t size)
{
	return offset <= elf->size && size <= elf->size - offset;
}

/* NULL: it is no such file. */
static inline const Elf64_Ehdr *cp_elf_header(const struct cp_elf_bytes *elf)
{
	const Elf64_Ehdr *header = (const void *)elf->bytes;

	return elf->size >= sizeof(*header) &&
			       __builtin_memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
			       header->e_ident[EI_CLASS] == ELFCLASS64
		       ? header
		       : NULL;
}

/* NULL: there are not so many, or they cannot be read. */
static inline const Elf64_Shdr *cp_elf_section(const struct cp_elf_bytes *elf, unsigned i)
{
	const Elf64_Ehdr *header = cp_elf_header(elf);

	if (!header || i >= header->e_shnum ||
		header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shoff % 8 ||
		!cp_elf_has(elf, header->e_shoff, header->e_shnum * sizeof(Elf64_Shdr)))
		return NULL;
	return (const Elf64_Shdr *)(const void *)(elf->bytes + header->e_shoff) + i;
}

/* Its sh_size bytes; NULL: it has none there. */
static inline const char *cp_elf_content(
	const struct cp_elf_bytes *elf, const Elf64_Shdr *of)
{
	return of->sh_type != SHT_NOBITS && of->sh_size > 0 &&
			       cp_elf_has(elf, of->sh_offset, of->sh_size)
		       ? elf->bytes + of->sh_offset
		       : NULL;
}

/* Texts, each of which ends; of may be NULL. */
static inline const char *cp_elf_texts(
	const struct cp_elf_bytes *elf, const Elf64_Shdr *of)
{
	const char *text =
		of && of->sh_type == SHT_STRTAB ? cp_elf_content(elf, of) : NULL;

	return text && text[of->sh_size - 1] == '\0' ? text : NULL;
}

/* The symbols of a table, and how many; NULL: they or their names cannot be read. */
static inline const Elf64_Sym *cp_elf_symbols(const struct cp_elf_bytes *elf,
	const Elf64_Shdr *table, size_t *count, const Elf64_Shdr **names)
{
	const char *symbols = table ? cp_elf_content(elf, table) : NULL;

	if (!symbols || table->sh_offset % 8)
		return NULL;
	*names = cp_elf_section(elf, table->sh_link);
	*count = table->sh_size / sizeof(Elf64_Sym);
	return cp_elf_texts(elf, *names) ? (const void *)symbols : NULL;
}

#endif
