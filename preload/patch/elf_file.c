/* SPDX-License-Identifier: MIT */
#include "preload/patch/elf_file.h"

#include <limits.h>
#include <string.h>
#include <sys/mman.h>

#include "base/files/build_id.h"
#include "base/files/debug_path.h"
#include "base/format.h"
#include "base/sort.h"
#include "base/syscall.h"

/* A debug file is found by these. */
struct debug_link {
	const unsigned char *id;
	uint32_t id_size;
	const char *name;
};

static const Elf64_Shdr *section_of_type(const struct cp_elf_bytes *elf, uint32_t type)
{
	const Elf64_Shdr *s;

	for (unsigned i = 0; (s = cp_elf_section(elf, i)); i++)
		if (s->sh_type == type)
			return s;
	return NULL;
}

/* ---- functions ---- */

/* The part of a function that is seldom run is none. */
static bool is_function(const Elf64_Sym *symbol, const char *name)
{
	size_t length = strlen(name);

	return ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_value && *name &&
	       symbol->st_shndx != SHN_UNDEF &&
	       !(length > 5 && strcmp(name + length - 5, ".cold") == 0);
}

static bool read_table(struct cp_elf_file *file, const struct cp_elf_bytes *from,
	uint32_t type, struct cp_store *store)
{
	const Elf64_Shdr *names;
	size_t count;
	const Elf64_Sym *symbols =
		cp_elf_symbols(from, section_of_type(from, type), &count, &names);
	const char *text;

	if (!symbols)
		return false;
	text = cp_elf_texts(from, names);
	file->functions = cp_store_take(store, count * sizeof(*file->functions));
	if (!file->functions)
		return false;
	for (size_t i = 0; i < count; i++)
		if (symbols[i].st_name < names->sh_size &&
			is_function(&symbols[i], text + symbols[i].st_name))
			file->functions[file->nfunctions++] =
				(struct cp_elf_function){symbols[i].st_value,
					symbols[i].st_size, text + symbols[i].st_name};
	return file->nfunctions > 0;
}

/* ---- separate debug files ---- */

static struct debug_link find_link(const struct cp_elf_bytes *elf)
{
	const Elf64_Ehdr *header = cp_elf_header(elf);
	const Elf64_Shdr *names = header ? cp_elf_section(elf, header->e_shstrndx) : NULL,
			 *s;
	const char *text = cp_elf_texts(elf, names);
	struct debug_link link = {NULL, 0, NULL};

	for (unsigned i = 0; text && (s = cp_elf_section(elf, i)); i++) {
		const char *found = cp_elf_content(elf, s);

		if (s->sh_type == SHT_NOTE && found && !link.id)
			link.id = cp_build_id(found, s->sh_size, &link.id_size);
		if (found && s->sh_name < names->sh_size &&
			strcmp(text + s->sh_name, ".gnu_debuglink") == 0 &&
			memchr(found, '\0', s->sh_size))
			link.name = found;
	}
	return link;
}

static void unmap_file(struct cp_elf_bytes *elf)
{
	if (elf->bytes)
		munmap((void *)(uintptr_t)elf->bytes, elf->size);
	*elf = (struct cp_elf_bytes){NULL, 0};
}

static bool map_file(
	struct cp_elf_bytes *elf, const char *path, int (*open_file)(const char *))
{
	int fd = open_file(path);
	void *bytes = MAP_FAILED;
	long size;

	if (fd < 0)
		return false;
	size = cp_syscall(SYS_lseek, fd, 0, SEEK_END);
	if (size > 0)
		bytes = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
	cp_syscall(SYS_close, fd);
	if (bytes == MAP_FAILED)
		return false;
	*elf = (struct cp_elf_bytes){bytes, (size_t)size};
	if (cp_elf_header(elf))
		return true;
	unmap_file(elf);
	return false;
}

static bool same_id(const struct debug_link *a, const struct debug_link *b)
{
	return a->id && b->id && a->id_size == b->id_size &&
	       memcmp(a->id, b->id, a->id_size) == 0;
}

/* Its names stay mapped with it. */
static bool read_debug_file(struct cp_elf_file *file, const char *path,
	const struct debug_link *link, int (*open_file)(const char *),
	struct cp_store *store)
{
	struct cp_elf_bytes debug;
	struct debug_link its;

	if (!map_file(&debug, path, open_file))
		return false;
	its = find_link(&debug);
	if (same_id(link, &its) && read_table(file, &debug, SHT_SYMTAB, store))
		return true;
	unmap_file(&debug);
	return false;
}

static bool read_by_id(struct cp_elf_file *file, const struct debug_link *link,
	const struct cp_patch_host *host, struct cp_store *store)
{
	char path[PATH_MAX];

	if (!link->id)
		return false;
	cp_debug_path_of_system(path, sizeof(path), link->id, link->id_size);
	if (read_debug_file(file, path, link, host->open, store))
		return true;
	if (!*host->debug_cache)
		return false;
	cp_debug_path_of_cache(
		path, sizeof(path), host->debug_cache, link->id, link->id_size);
	return read_debug_file(file, path, link, host->open, store);
}

static bool read_by_name(struct cp_elf_file *file, const char *of,
	const struct debug_link *link, int (*open_file)(const char *),
	struct cp_store *store)
{
	const char *slash = strrchr(of, '/');
	int length = slash ? (int)(slash - of) : 0;
	static const char *const forms[] = {
		"%.*s/%s", "%.*s/.debug/%s", CP_DEBUG_DIRECTORY "%.*s/%s"};
	char path[PATH_MAX];

	for (size_t i = 0; link->name && slash && i < sizeof(forms) / sizeof(*forms);
		i++) {
		if (cp_format(path, sizeof(path), forms[i], length, of, link->name) >=
			sizeof(path))
			continue;
		if (read_debug_file(file, path, link, open_file, store))
			return true;
	}
	return false;
}

bool cp_elf_open(struct cp_elf_file *file, const char *path, const char *name,
	const struct cp_patch_host *host, struct cp_store *store)
{
	struct debug_link link;

	*file = (struct cp_elf_file){{NULL, 0}, 0, NULL};
	if (!map_file(&file->elf, path, host->open))
		return false;
	link = find_link(&file->elf);
	if (!read_table(file, &file->elf, SHT_SYMTAB, store) &&
		!read_by_id(file, &link, host, store) &&
		!read_by_name(file, name, &link, host->open, store))
		(void)read_table(file, &file->elf, SHT_DYNSYM, store);
	cp_sort(file->functions, file->nfunctions, sizeof(*file->functions));
	return true;
}

void cp_elf_close(struct cp_elf_file *file)
{
	unmap_file(&file->elf);
}

/* ---- segments ---- */

static const Elf64_Phdr *segment_at(const struct cp_elf_bytes *elf, unsigned i)
{
	const Elf64_Ehdr *header = cp_elf_header(elf);

	if (!header || i >= header->e_phnum ||
		header->e_phentsize != sizeof(Elf64_Phdr) || header->e_phoff % 8 ||
		!cp_elf_has(elf, header->e_phoff, header->e_phnum * sizeof(Elf64_Phdr)))
		return NULL;
	return (const Elf64_Phdr *)(const void *)(elf->bytes + header->e_phoff) + i;
}

const void *cp_elf_at(const struct cp_elf_file *file, uint64_t value, size_t size)
{
	const struct cp_elf_bytes *elf = &file->elf;
	const Elf64_Phdr *s;

	for (unsigned i = 0; (s = segment_at(elf, i)); i++)
		if (s->p_type == PT_LOAD && value >= s->p_vaddr &&
			value - s->p_vaddr < s->p_filesz &&
			size <= s->p_filesz - (value - s->p_vaddr) &&
			cp_elf_has(elf, s->p_offset + (value - s->p_vaddr), size))
			return elf->bytes + s->p_offset + (value - s->p_vaddr);
	return NULL;
}
