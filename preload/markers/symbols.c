/* SPDX-License-Identifier: MIT */
#include "preload/markers/symbols.h"
#include "base/search.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/fd.h"
#include "base/format.h"
#include "base/lock.h"
#include "base/files/build_id.h"
#include "base/files/elf.h"
#include "base/files/trusted.h"
#include "base/sort.h"
#include "preload/reexec.h"
#include "regions/record_write.h"

struct symbol {
	uint64_t value; /* first: what they are sorted by */
	const char *name;
};

/* A file of the process, and its functions in the order of their addresses. */
struct file {
	struct file *next;
	uint64_t base; /* what is added to addresses in the file */
	const char *path;
	char id[2 * CP_BUILD_ID_MAX + 1]; /* its build ID; "": it has none */
	bool described;
	size_t nsymbols;
	struct symbol *symbols;
};

/* All files whose symbols were asked for. */
static struct {
	struct cp_store store;
	struct file *files;
	struct cp_lock lock; /* of both; innermost but for the record's */
} searched;
CP_LOCK_LISTED(searched.lock);

static void take_table(
	struct file *file, const struct cp_elf_bytes *elf, const Elf64_Shdr *table)
{
	const Elf64_Shdr *names;
	size_t count;
	const Elf64_Sym *symbols = cp_elf_symbols(elf, table, &count, &names);
	const char *text = symbols ? cp_elf_texts(elf, names) : NULL;

	if (!text)
		return;
	file->symbols = cp_store_take(&searched.store, count * sizeof(*file->symbols));
	if (!file->symbols)
		return;
	for (size_t i = 0; i < count; i++)
		if (ELF64_ST_TYPE(symbols[i].st_info) == STT_FUNC &&
			symbols[i].st_value && symbols[i].st_name < names->sh_size)
			file->symbols[file->nsymbols++] = (struct symbol){
				symbols[i].st_value, text + symbols[i].st_name};
	cp_sort(file->symbols, file->nsymbols, sizeof(*file->symbols));
}

/* The bytes stay mapped: the names are in them.  Whoever shortens the file of a library
 * that is in use takes its code from the program as well. */
static void read_symbols(struct file *file, const struct cp_elf_bytes *elf)
{
	const Elf64_Shdr *section;

	for (unsigned i = 0; (section = cp_elf_section(elf, i)); i++) {
		const char *content = cp_elf_content(elf, section);

		if (section->sh_type == SHT_NOTE && content && !file->id[0])
			cp_build_id_text(content, section->sh_size, file->id);
		if (section->sh_type == SHT_SYMTAB)
			take_table(file, elf, section);
	}
}

static void read_file(struct file *file, const char *path)
{
	char why[160];
	int fd = cp_trusted_open(
		AT_FDCWD, path, CP_NAMED, CP_TRUSTED_PROGRAM, why, sizeof(why));
	struct stat status;
	void *bytes;

	if (fd < 0)
		return;
	if (fstat(fd, &status) == 0 && status.st_size > 0) {
		bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (bytes != MAP_FAILED)
			read_symbols(file,
				&(struct cp_elf_bytes){bytes, (size_t)status.st_size});
	}
	cp_fd_close(fd);
}

static struct file *file_of(const struct link_map *map)
{
	const char *path = map->l_name[0] ? map->l_name : cp_own_executable();
	struct file *file = searched.files;

	/* Where a library was that is closed, another one may be. */
	while (file && (file->base != map->l_addr || strcmp(file->path, path) != 0))
		file = file->next;
	if (file)
		return file;
	file = cp_store_take(&searched.store, sizeof(*file));
	if (!file)
		return NULL;
	file->base = map->l_addr;
	file->path = cp_store_copy(&searched.store, path, strlen(path));
	if (!file->path)
		return NULL;
	read_file(file, file->path);
	file->next = searched.files;
	searched.files = file;
	return file;
}

static const char *look_up(const struct file *file, uint64_t value)
{
	size_t low =
		CP_IN_FRONT(file ? file->nsymbols : 0, i, file->symbols[i].value < value);

	return file && low < file->nsymbols && file->symbols[low].value == value
		       ? file->symbols[low].name
		       : NULL;
}

bool cp_symbol_find(const void *address, struct cp_symbol *symbol)
{
	struct link_map *map = NULL;
	const struct file *file;
	Dl_info info;

	if (!dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
		return false;
	cp_lock(&searched.lock);
	file = file_of(map);
	cp_unlock(&searched.lock);
	if (!file)
		return false;
	symbol->path = file->path;
	symbol->offset = (uint64_t)(uintptr_t)address - map->l_addr;
	symbol->name = look_up(file, symbol->offset);
	if (!symbol->name && info.dli_saddr == address)
		symbol->name = info.dli_sname;
	return true;
}

size_t cp_symbol_name(const void *address, char *to, size_t size)
{
	struct cp_symbol symbol;
	const char *slash;
	size_t length;

	if (!cp_symbol_find(address, &symbol))
		return cp_format(to, size, "0x%lx", (unsigned long)(uintptr_t)address);
	slash = strrchr(symbol.path, '/');
	if (symbol.name)
		length = cp_format(to, size, "%s", symbol.name);
	else
		length = cp_format(to, size, "%s+0x%lx", slash ? slash + 1 : symbol.path,
			(unsigned long)symbol.offset);
	return length < size ? length : size - 1;
}

void cp_symbol_describe(struct cp_recording *record)
{
	char text[PATH_MAX + sizeof(searched.files->id) + 2];
	size_t length;

	cp_lock(&searched.lock);
	for (struct file *file = searched.files; file; file = file->next) {
		if (file->described)
			continue;
		length = cp_format(text, sizeof(text), "%s %s",
			file->id[0] ? file->id : "-", file->path);
		if (length < sizeof(text))
			cp_record_put_meta(record, "object", text, length);
		file->described = true;
	}
	cp_unlock(&searched.lock);
}

void cp_symbols_after_fork(void)
{
	for (struct file *file = searched.files; file; file = file->next)
		file->described = false;
}
