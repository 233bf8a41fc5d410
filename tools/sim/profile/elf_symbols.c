/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/elf_symbols.h"

#include "profile/debug_file.h"
#include "pub_tool_libcfile.h"
#include "profile/profile.h"

#define LARGEST (256u << 20) /* of a table */

static void *read_section(Int fd, const Elf64_Shdr *section)
{
	void *bytes;

	if (!section->sh_size || section->sh_size > LARGEST)
		return NULL;
	bytes = VG_(malloc)("cachepeek.section", section->sh_size + 1);
	((HChar *)bytes)[section->sh_size] = '\0';
	if (elf_read(fd, bytes, (UInt)section->sh_size, section->sh_offset))
		return bytes;
	VG_(free)(bytes);
	return NULL;
}

static void visit_all(const Elf64_Sym *symbols, ULong n, const HChar *names, ULong size,
	elf_visit *visit, void *context)
{
	for (ULong i = 0; i < n; i++)
		if (symbols[i].st_name < size)
			visit(context, &symbols[i], names + symbols[i].st_name);
}

static void read_table(Int fd, const Elf64_Ehdr *file, const Elf64_Shdr *section,
	elf_visit *visit, void *context)
{
	Elf64_Shdr strings;
	HChar *names = NULL;
	Elf64_Sym *symbols = NULL;

	if (section->sh_link < file->e_shnum &&
		elf_read(fd, &strings, sizeof(strings),
			file->e_shoff + section->sh_link * sizeof(strings)))
		names = read_section(fd, &strings);
	if (names)
		symbols = read_section(fd, section);
	if (symbols)
		visit_all(symbols, section->sh_size / sizeof(*symbols), names,
			strings.sh_size, visit, context);
	VG_(free)(symbols);
	VG_(free)(names);
}

/* All tables of that type; returns whether there was one. */
static Bool read_tables(
	Int fd, const Elf64_Ehdr *file, UInt type, elf_visit *visit, void *context)
{
	Elf64_Shdr section;
	Bool any = False;

	for (UInt i = 0; i < file->e_shnum; i++) {
		if (!elf_read(fd, &section, sizeof(section),
			    file->e_shoff + i * sizeof(section)))
			return any;
		if (section.sh_type != type)
			continue;
		read_table(fd, file, &section, visit, context);
		any = True;
	}
	return any;
}

static Bool read_debug_file(const HChar *of, elf_visit *visit, void *context)
{
	Elf64_Ehdr file;
	Int fd = debug_file_open(of, &file);
	Bool found;

	if (fd < 0)
		return False;
	found = read_tables(fd, &file, SHT_SYMTAB, visit, context);
	VG_(close)(fd);
	return found;
}

void elf_symbols_each(const HChar *path, elf_visit *visit, void *context)
{
	Elf64_Ehdr file;
	Int fd = elf_open(path, &file);

	if (fd < 0)
		return;
	if (!read_tables(fd, &file, SHT_SYMTAB, visit, context) &&
		!read_debug_file(path, visit, context))
		read_tables(fd, &file, SHT_DYNSYM, visit, context);
	VG_(close)(fd);
}

Bool elf_is_function(const Elf64_Sym *symbol, const HChar *name)
{
	const HChar *cold = VG_(strstr)(name, ".cold");

	return ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_value &&
	       symbol->st_shndx != SHN_UNDEF && !(cold && (!cold[5] || cold[5] == '.'));
}
