/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/elf_file.h"

#include "pub_tool_libcfile.h"
#include "profile/profile.h"
#include "valgrind/core.h"

Bool elf_read(Int fd, void *to, UInt size, ULong offset)
{
	SysRes result = VG_(pread)(fd, to, (Int)size, (OffT)offset);

	return !sr_isError(result) && sr_Res(result) == size;
}

Int elf_open(const HChar *path, Elf64_Ehdr *file)
{
	SysRes opened = VG_(open)(path, VKI_O_RDONLY | VKI_O_NONBLOCK, 0);

	if (sr_isError(opened))
		return -1;
	if (elf_read((Int)sr_Res(opened), file, sizeof(*file), 0) &&
		VG_(memcmp)(file->e_ident, ELFMAG, SELFMAG) == 0 &&
		file->e_ident[EI_CLASS] == ELFCLASS64)
		return (Int)sr_Res(opened);
	VG_(close)((Int)sr_Res(opened));
	return -1;
}

/* ---- sections ---- */

static Bool read_header(Int fd, const Elf64_Ehdr *file, UInt i, Elf64_Shdr *section)
{
	return elf_read(
		fd, section, sizeof(*section), file->e_shoff + i * sizeof(*section));
}

/* A name at the end of the file may be shorter than what is read of it. */
static void read_name(Int fd, ULong at, HChar *to, UInt room)
{
	VG_(memset)(to, 0, room);
	for (UInt i = 0; i + 1 < room; i++)
		if (!elf_read(fd, to + i, 1, at + i) || !to[i])
			return;
}

void elf_sections_each(const HChar *path, elf_visit_section *visit, void *context)
{
	Elf64_Ehdr file;
	Elf64_Shdr names, section;
	HChar name[16];
	Int fd = elf_open(path, &file);

	if (fd < 0)
		return;
	if (!read_header(fd, &file, file.e_shstrndx, &names))
		file.e_shnum = 0;
	for (UInt i = 0; i < file.e_shnum; i++) {
		if (!read_header(fd, &file, i, &section))
			break;
		read_name(fd, names.sh_offset + section.sh_name, name, sizeof(name));
		visit(context, &section, name);
	}
	VG_(close)(fd);
}

/* ---- where it is ---- */

static Bool find_bias(
	Int fd, const Elf64_Ehdr *file, Addr start, ULong offset, Addr *bias)
{
	Elf64_Phdr s;

	for (UInt i = 0; i < file->e_phnum; i++) {
		if (!elf_read(fd, &s, sizeof(s), file->e_phoff + i * sizeof(s)))
			return False;
		if (s.p_type != PT_LOAD || !(s.p_flags & PF_X) ||
			offset < (s.p_offset & ~(VKI_PAGE_SIZE - 1)) ||
			offset >= s.p_offset + s.p_filesz)
			continue;
		*bias = start - (s.p_vaddr + offset - s.p_offset);
		return True;
	}
	return False;
}

Bool elf_bias(const HChar *path, Addr start, ULong offset, Addr *bias)
{
	Elf64_Ehdr file;
	Int fd = elf_open(path, &file);
	Bool found;

	if (fd < 0)
		return False;
	found = find_bias(fd, &file, start, offset, bias);
	VG_(close)(fd);
	return found;
}
