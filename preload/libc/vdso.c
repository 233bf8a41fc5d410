/* SPDX-License-Identifier: MIT
 *
 * Its symbol table is read here because whoever is asked for clock_gettime,
 * dlsym included, may answer with another library's (libfaketime's).
 */
#include "preload/libc/vdso.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

#ifdef __aarch64__
#define CLOCK_GETTIME "__kernel_clock_gettime"
#else
#define CLOCK_GETTIME "__vdso_clock_gettime"
#endif

typedef int clock_function(clockid_t clock, struct timespec *now);

struct tables {
	const ElfW(Sym) * symbols;
	const char *strings;
	const uint32_t *hash; /* DT_HASH: its second word counts the symbols */
	const uint32_t *gnu_hash;
};

static void read_dynamic(struct tables *tables, const ElfW(Dyn) * entry, uintptr_t base)
{
	for (; entry->d_tag != DT_NULL; entry++) {
		const void *at = (const void *)(base + entry->d_un.d_ptr);

		if (entry->d_tag == DT_SYMTAB)
			tables->symbols = at;
		else if (entry->d_tag == DT_STRTAB)
			tables->strings = at;
		else if (entry->d_tag == DT_HASH)
			tables->hash = at;
		else if (entry->d_tag == DT_GNU_HASH)
			tables->gnu_hash = at;
	}
}

/* Newer kernels leave DT_HASH out: the chains end with an odd hash. */
static uint32_t count_by_gnu_hash(const uint32_t *table)
{
	uint32_t buckets = table[0], first = table[1], last = 0;
	const uint32_t *bucket = table + 4 + table[2] * sizeof(ElfW(Addr)) / 4;
	const uint32_t *chain = bucket + buckets;

	for (uint32_t i = 0; i < buckets; i++)
		if (bucket[i] > last)
			last = bucket[i];
	if (last < first)
		return first;
	while (!(chain[last - first] & 1))
		last++;
	return last + 1;
}

static uint32_t count_symbols(const struct tables *tables)
{
	if (tables->hash)
		return tables->hash[1];
	return tables->gnu_hash ? count_by_gnu_hash(tables->gnu_hash) : 0;
}

static uintptr_t find_symbol(
	const struct tables *tables, uintptr_t base, const char *name)
{
	uint32_t count = count_symbols(tables);

	if (!tables->symbols || !tables->strings)
		return 0;
	for (uint32_t i = 0; i < count; i++)
		if (tables->symbols[i].st_shndx != SHN_UNDEF &&
			strcmp(tables->strings + tables->symbols[i].st_name, name) == 0)
			return base + tables->symbols[i].st_value;
	return 0;
}

static clock_function *look_up(void)
{
	const ElfW(Ehdr) *file = (const void *)getauxval(AT_SYSINFO_EHDR);
	const ElfW(Phdr) * segment;
	const ElfW(Dyn) *dynamic = NULL;
	struct tables tables = {0};
	uintptr_t base = 0;

	if (!file)
		return NULL;
	segment = (const void *)((uintptr_t)file + file->e_phoff);
	for (unsigned i = 0; i < file->e_phnum; i++) {
		if (segment[i].p_type == PT_LOAD && !base)
			base = (uintptr_t)file + segment[i].p_offset - segment[i].p_vaddr;
		else if (segment[i].p_type == PT_DYNAMIC)
			dynamic = (const void *)((uintptr_t)file + segment[i].p_offset);
	}
	if (!dynamic)
		return NULL;
	read_dynamic(&tables, dynamic, base);
	return (clock_function *)find_symbol(&tables, base, CLOCK_GETTIME);
}

int cp_vdso_clock_gettime(clockid_t clock, struct timespec *now)
{
	static clock_function *function; /* atomic */
	static int looked_up;            /* atomic */
	clock_function *known;

	if (!__atomic_load_n(&looked_up, __ATOMIC_ACQUIRE)) {
		__atomic_store_n(&function, look_up(), __ATOMIC_RELAXED);
		__atomic_store_n(&looked_up, 1, __ATOMIC_RELEASE);
	}
	known = __atomic_load_n(&function, __ATOMIC_RELAXED);
	return known ? known(clock, now) : -ENOSYS;
}
