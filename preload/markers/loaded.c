/* SPDX-License-Identifier: MIT
 *
 * Overrides: dlopen (where functions can be passed on as they came).
 *
 * The relocations of an object name the functions that it calls; its tables of symbols
 * do not say where those without an address end.  What loads objects is noted, and goes
 * on to the dynamic linker as if we were not there: that looks at who has called it.
 */
#include "preload/markers/loaded.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>

#include "preload/libc/real.h"
#include "preload/markers/pass_on.h"
#include "preload/walk.h"

#define KNOWN 256

/* Answers that are known: one with another key takes the slot, and what two threads have
 * written at once fits no key.  The slots are one page: the begin of a region has touched
 * it before the end looks there, and so its fault is in no region. */
static struct {
	struct {
		uint64_t check; /* the key, exclusive or what was found; both atomic */
		uint64_t found;
	} known[KNOWN];
	uint64_t calls; /* of dlopen; atomic */
	unsigned first; /* objects */
} loaded __attribute__((aligned(4096)));

struct object {
	const ElfW(Sym) * symbols;
	const char *strings;
	const uint32_t *hash;
	const ElfW(Rela) * relocations[2];
	size_t sizes[2]; /* of these, in bytes */
};

struct search {
	const char *name;
	uint32_t hash;
	bool (*is_it)(const struct object *object, struct search *search);
	bool weak; /* how it names it */
	struct cp_loaded *found;
};

/* The dynamic linker has made addresses of the offsets, unless the section is not to be
 * written to. */
static const void *place(const ElfW(Dyn) * entry, uintptr_t base)
{
	uintptr_t at = entry->d_un.d_ptr;

	return (const void *)(at < base ? base + at : at);
}

static struct object read_dynamic(const ElfW(Dyn) * entry, uintptr_t base)
{
	struct object o = {0};

	for (; entry->d_tag != DT_NULL; entry++)
		switch (entry->d_tag) {
		case DT_SYMTAB:
			o.symbols = place(entry, base);
			break;
		case DT_STRTAB:
			o.strings = place(entry, base);
			break;
		case DT_GNU_HASH:
			o.hash = place(entry, base);
			break;
		case DT_RELA:
			o.relocations[0] = place(entry, base);
			break;
		case DT_RELASZ:
			o.sizes[0] = entry->d_un.d_val;
			break;
		case DT_JMPREL:
			o.relocations[1] = place(entry, base);
			break;
		case DT_PLTRELSZ:
			o.sizes[1] = entry->d_un.d_val;
			break;
		}
	return o;
}

/* ---- who calls it ---- */

static bool names_it(
	const struct object *object, const ElfW(Rela) * relocation, struct search *search)
{
	size_t index = ELF64_R_SYM(relocation->r_info);
	const ElfW(Sym) *symbol = &object->symbols[index];

	if (!index || strcmp(object->strings + symbol->st_name, search->name) != 0)
		return false;
	search->weak = ELF64_ST_BIND(symbol->st_info) == STB_WEAK;
	return true;
}

static bool uses(const struct object *object, struct search *search)
{
	for (unsigned table = 0; table < 2; table++) {
		const ElfW(Rela) *r = object->relocations[table];
		size_t count = r ? object->sizes[table] / sizeof(*r) : 0;

		for (size_t i = 0; i < count; i++)
			if (names_it(object, &r[i], search))
				return true;
	}
	return false;
}

/* ---- who has it ---- */

static uint32_t hash_of(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = 33 * hash + (unsigned char)*name;
	return hash;
}

/* By the table of hashes, whose form all linkers of the last fifteen years give. */
static bool owns(const struct object *object, struct search *search)
{
	const uint32_t *table = object->hash, *buckets, *chain;
	uint32_t at;

	if (!table || !table[0])
		return false;
	buckets = table + 4 + table[2] * (sizeof(ElfW(Addr)) / 4);
	chain = buckets + table[0];
	at = buckets[search->hash % table[0]];
	for (; at >= table[1] && at; at++) {
		const ElfW(Sym) *symbol = &object->symbols[at];
		uint32_t hash = chain[at - table[1]];

		if ((hash | 1) == (search->hash | 1) && symbol->st_shndx != SHN_UNDEF &&
			strcmp(object->strings + symbol->st_name, search->name) == 0)
			return true;
		if (hash & 1)
			break;
	}
	return false;
}

/* ---- all of them ---- */

static const ElfW(Dyn) * dynamic_of(const struct dl_phdr_info *info)
{
	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			return (const void *)(info->dlpi_addr +
					      info->dlpi_phdr[i].p_vaddr);
	return NULL;
}

static int look_at(struct dl_phdr_info *info, size_t size, void *to)
{
	struct search *search = to;
	struct cp_loaded *found = search->found;
	const ElfW(Dyn) *dynamic = dynamic_of(info);
	struct object object;

	(void)size;
	if (!dynamic || dynamic == _DYNAMIC)
		return 0;
	object = read_dynamic(dynamic, info->dlpi_addr);
	if (!object.symbols || !object.strings || !search->is_it(&object, search))
		return 0;
	found->weak[found->n] = search->weak;
	found->dynamic[found->n++] = dynamic;
	return found->n == CP_LOADED_MOST;
}

void cp_loaded_users(const char *function, struct cp_loaded *found)
{
	struct search search = {function, 0, uses, false, found};

	found->n = 0;
	cp_walk_objects(look_at, &search);
}

void cp_loaded_owners(const char *function, struct cp_loaded *found)
{
	struct search search = {function, hash_of(function), owns, false, found};

	found->n = 0;
	cp_walk_objects(look_at, &search);
}

const void *cp_loaded_at(const void *address)
{
	struct link_map *map;
	Dl_info info;

	return dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) ? map->l_ld : NULL;
}

bool cp_loaded_is_ours(const void *address)
{
	return cp_loaded_at(address) == _DYNAMIC;
}

/* ---- what was there first ---- */

/* The program's own dynamic section, by its program headers. */
static const ElfW(Dyn) * program_dynamic(void)
{
	const ElfW(Phdr) *header = (const ElfW(Phdr) *)getauxval(AT_PHDR);
	struct dl_phdr_info program = {
		.dlpi_phdr = header, .dlpi_phnum = (ElfW(Half))getauxval(AT_PHNUM)};

	for (unsigned i = 0; i < program.dlpi_phnum; i++)
		if (header[i].p_type == PT_PHDR)
			program.dlpi_addr = (ElfW(Addr))header - header[i].p_vaddr;
	return dynamic_of(&program);
}

/* The first of the dynamic linker's list, from where a debugger finds it: a sanitizer's
 * dl_iterate_phdr(3) is not ready yet, and dladdr(3) looks through all symbols.  Nothing
 * else runs. */
static const struct link_map *first_of_all(void)
{
	const ElfW(Dyn) *entry = program_dynamic();

	for (; entry && entry->d_tag != DT_NULL; entry++)
		if (entry->d_tag == DT_DEBUG && entry->d_un.d_ptr)
			return ((const struct r_debug *)entry->d_un.d_ptr)->r_map;
	return NULL;
}

void cp_loaded_note_first(void)
{
	for (const struct link_map *map = first_of_all(); map; map = map->l_next)
		loaded.first++;
}

static bool asks_to_be_first(const ElfW(Dyn) * entry)
{
	for (; entry->d_tag != DT_NULL; entry++)
		if (entry->d_tag == DT_FLAGS_1)
			return entry->d_un.d_val & DF_1_INITFIRST;
	return false;
}

const char *cp_loaded_before_us(void)
{
	const struct link_map *last = NULL;

	for (const struct link_map *map = first_of_all(); map; map = map->l_next)
		if (map->l_ld && asks_to_be_first(map->l_ld))
			last = map;
	return last && last->l_ld != _DYNAMIC ? last->l_name : NULL;
}

struct position {
	const void *dynamic;
	unsigned left;
	bool found;
};

static int look_at_first(struct dl_phdr_info *info, size_t size, void *to)
{
	struct position *position = to;

	(void)size;
	position->found = dynamic_of(info) == position->dynamic;
	return position->found || --position->left == 0;
}

bool cp_loaded_is_first(const void *address)
{
	struct position position = {cp_loaded_at(address), loaded.first, false};

	if (position.dynamic && position.left > 0)
		cp_walk_objects(look_at_first, &position);
	return position.found;
}

/* ---- what changes ---- */

#if CP_PASSES_ON
uint64_t cp_loaded_count(void)
{
	return __atomic_load_n(&loaded.calls, __ATOMIC_ACQUIRE);
}

/* Called below. */
__attribute__((used)) static const void *note_loading(void)
{
	__atomic_fetch_add(&loaded.calls, 1, __ATOMIC_RELEASE);
	return (const void *)(uintptr_t)CP_REAL(dlopen);
}

CP_PASS_ON("dlopen", "note_loading")
#else
static int count_it(struct dl_phdr_info *info, size_t size, void *to)
{
	(void)size;
	*(uint64_t *)to = info->dlpi_adds + info->dlpi_subs;
	return 1;
}

uint64_t cp_loaded_count(void)
{
	uint64_t count = 0;

	cp_walk_objects(count_it, &count);
	return count;
}
#endif

bool cp_loaded_is_known(uint64_t key, void **found)
{
	uint64_t real = __atomic_load_n(&loaded.known[key >> 56].found, __ATOMIC_RELAXED);

	*found = (void *)(uintptr_t)real;
	return (__atomic_load_n(&loaded.known[key >> 56].check, __ATOMIC_RELAXED) ^
		       real) == key;
}

void cp_loaded_know(uint64_t key, const void *found)
{
	uint64_t real = (uint64_t)(uintptr_t)found;

	__atomic_store_n(&loaded.known[key >> 56].check, key ^ real, __ATOMIC_RELAXED);
	__atomic_store_n(&loaded.known[key >> 56].found, real, __ATOMIC_RELAXED);
}
