/* SPDX-License-Identifier: MIT */
#include "preload/symbols.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/fd.h"
#include "base/format.h"
#include "preload/reexec.h"

struct symbol {
	uint64_t value;
	const char *name;
};

/* A file of the process, and its functions in the order of their addresses. */
struct file {
	struct file *next;
	uint64_t base; /* what is added to addresses in the file */
	size_t nsymbols;
	struct symbol *symbols;
};

static struct cp_arena arena;
static struct file *files;

static bool fits(uint64_t offset, uint64_t size, uint64_t all)
{
	return offset <= all && size <= all - offset;
}

static void sift_down(struct symbol *items, size_t root, size_t count)
{
	for (size_t child; (child = 2 * root + 1) < count; root = child) {
		struct symbol top = items[root];

		if (child + 1 < count && items[child].value < items[child + 1].value)
			child++;
		if (top.value >= items[child].value)
			return;
		items[root] = items[child];
		items[child] = top;
	}
}

/* Heapsort, because qsort(3) may use malloc. */
static void sort(struct symbol *items, size_t count)
{
	for (size_t i = count / 2; i > 0; i--)
		sift_down(items, i - 1, count);
	for (size_t end = count; end > 1; end--) {
		struct symbol last = items[end - 1];

		items[end - 1] = items[0];
		items[0] = last;
		sift_down(items, 0, end - 1);
	}
}

static void take_table(struct file *file, const char *bytes, size_t size,
	const ElfW(Shdr) * table, const ElfW(Shdr) * strings)
{
	const ElfW(Sym) *symbols = (const void *)(bytes + table->sh_offset);
	const char *text = bytes + strings->sh_offset;
	size_t count = table->sh_size / sizeof(*symbols);

	if (!fits(table->sh_offset, table->sh_size, size) || strings->sh_size == 0 ||
		!fits(strings->sh_offset, strings->sh_size, size) ||
		text[strings->sh_size - 1] != '\0' || table->sh_offset % 8)
		return;
	file->symbols = cp_arena_alloc(&arena, count * sizeof(*file->symbols));
	for (size_t i = 0; file->symbols && i < count; i++)
		if (ELF64_ST_TYPE(symbols[i].st_info) == STT_FUNC &&
			symbols[i].st_value && symbols[i].st_name < strings->sh_size)
			file->symbols[file->nsymbols++] = (struct symbol){
				symbols[i].st_value, text + symbols[i].st_name};
	sort(file->symbols, file->nsymbols);
}

/* The bytes stay mapped: the names are in them. */
static void read_symbols(struct file *file, const char *bytes, size_t size)
{
	const ElfW(Ehdr) *header = (const void *)bytes;
	const ElfW(Shdr) * sections;

	if (size < sizeof(*header) || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
		header->e_shentsize != sizeof(*sections) || header->e_shoff % 8 ||
		!fits(header->e_shoff, header->e_shnum * sizeof(*sections), size))
		return;
	sections = (const void *)(bytes + header->e_shoff);
	for (unsigned i = 0; i < header->e_shnum; i++)
		if (sections[i].sh_type == SHT_SYMTAB &&
			sections[i].sh_link < header->e_shnum)
			take_table(file, bytes, size, &sections[i],
				&sections[sections[i].sh_link]);
}

static void read_file(struct file *file, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	void *bytes;

	if (fd < 0)
		return;
	if (fstat(fd, &status) == 0 && status.st_size > 0) {
		bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (bytes != MAP_FAILED)
			read_symbols(file, bytes, (size_t)status.st_size);
	}
	cp_fd_close(fd);
}

static const struct file *file_of(const struct link_map *map)
{
	struct file *file = files;

	while (file && file->base != map->l_addr)
		file = file->next;
	if (file)
		return file;
	file = cp_arena_alloc(&arena, sizeof(*file));
	if (!file)
		return NULL;
	file->base = map->l_addr;
	read_file(file, map->l_name[0] ? map->l_name : cp_own_executable());
	file->next = files;
	files = file;
	return file;
}

static const char *look_up(const struct file *file, uint64_t value)
{
	size_t low = 0, high = file ? file->nsymbols : 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (file->symbols[middle].value < value)
			low = middle + 1;
		else
			high = middle;
	}
	return file && low < file->nsymbols && file->symbols[low].value == value
		       ? file->symbols[low].name
		       : NULL;
}

size_t cp_symbol_name(const void *address, char *to, size_t size)
{
	const char *name = NULL, *slash;
	struct link_map *map = NULL;
	Dl_info info;
	size_t length;

	if (!dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
		return cp_format(to, size, "0x%lx", (unsigned long)(uintptr_t)address);
	if (info.dli_sname && info.dli_saddr == address)
		name = info.dli_sname;
	else
		name = look_up(file_of(map), (uint64_t)(uintptr_t)address - map->l_addr);
	slash = strrchr(info.dli_fname, '/');
	if (name)
		length = cp_format(to, size, "%s", name);
	else
		length = cp_format(to, size, "%s+0x%lx",
			slash ? slash + 1 : info.dli_fname,
			(unsigned long)((uintptr_t)address - map->l_addr));
	return length < size ? length : size - 1;
}
