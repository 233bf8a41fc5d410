/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The profile's file: made with the first entry, mapped a chunk at a time.
 */

#include "base/space.h"
#include "pub_tool_libcfile.h"
#include "memory.h"
#include "profile/profile.h"
#include "valgrind/core.h"

struct chunk {
	struct chunk *next;
	void *memory;
};

/* This process's file; a fork's child begins another. */
static struct {
	struct chunk *chunks; /* the newest first */
	UInt used;            /* bytes of the newest */
	ULong nchunks;
	struct cp_profile_header *header;
	int fd;
	Bool failed;
} file = {.fd = -1};

static Bool open_file(void)
{
	HChar path[1024];
	SysRes opened;

	if (VG_(strlen)(tool_options.profile) > sizeof(path) - 40)
		return False;
	for (UInt n = 0; n < 1000; n++) {
		VG_(sprintf)
		(path, "%s/%d-%u.profile", tool_options.profile, VG_(getpid)(), n);
		opened = VG_(open)(path, VKI_O_RDWR | VKI_O_CREAT | VKI_O_EXCL, 0600);
		if (!sr_isError(opened)) {
			file.fd = VG_(safe_fd)((Int)sr_Res(opened));
			return file.fd >= 0;
		}
		if (sr_Err(opened) != VKI_EEXIST)
			return False;
	}
	return False;
}

/* Memory of the core's own, over which the file is mapped. */
static void *map_chunk(void)
{
	long offset = (long)(file.nchunks * CP_PROFILE_CHUNK);
	void *memory;

	if (cp_space_reserve(file.fd, (ULong)offset, CP_PROFILE_CHUNK) != 0)
		return NULL;
	memory = valgrind_alloc(CP_PROFILE_CHUNK);
	if (!memory)
		return NULL;
	if (cp_syscall(SYS_mmap, memory, CP_PROFILE_CHUNK, VKI_PROT_READ | VKI_PROT_WRITE,
		    VKI_MAP_SHARED | VKI_MAP_FIXED, file.fd, offset) != (long)memory) {
		VG_(am_munmap_valgrind)((Addr)memory, CP_PROFILE_CHUNK);
		return NULL;
	}
	return memory;
}

static Bool add_chunk(void)
{
	struct chunk *chunk;
	void *memory = file.fd >= 0 || open_file() ? map_chunk() : NULL;

	if (!memory)
		return False;
	chunk = VG_(malloc)("cachepeek.chunk", sizeof(*chunk));
	chunk->memory = memory;
	chunk->next = file.chunks;
	file.chunks = chunk;
	file.nchunks++;
	file.used = 0;
	return True;
}

static ULong entries_of(const struct geometry *g)
{
	return (ULong)g->sets * g->ways;
}

static UInt larger_of(UInt a, UInt b)
{
	return a > b ? a : b;
}

/* Writes what the prefetchers of the level follow (flex_prefetchers.h). */
static void put_prefetchers(const struct geometry *g)
{
	struct cp_profile_header *header = file.header;

	for (UInt i = 0; i < PREFETCHERS && g->prefetch[i].kind != PREFETCH_NONE; i++) {
		const struct prefetcher *p = &g->prefetch[i];

		header->prefetches = 1;
		if (p->kind == PREFETCH_STREAMER)
			header->followed_pages =
				larger_of(header->followed_pages, p->number[2]);
		if (p->kind == PREFETCH_IP_STRIDE)
			header->followed_bytes =
				larger_of(header->followed_bytes, p->number[2]);
	}
}

static void put_header(void)
{
	file.header = file.chunks->memory;
	file.used = sizeof(*file.header);
	file.header->version = CP_PROFILE_VERSION;
	file.header->counters = CP_SIM_NCOUNTERS;
	file.header->pid = VG_(getpid)();
	file.header->line = tool_options.machine.line;
	file.header->page = tool_options.machine.page;
	file.header->tlb_entries = entries_of(&tool_options.machine.dtlb) +
				   entries_of(&tool_options.machine.stlb) +
				   entries_of(&tool_options.machine.dtlb2);
	file.header->dtlb_entries = (UInt)entries_of(&tool_options.machine.dtlb);
	file.header->l2_bytes =
		entries_of(&tool_options.machine.l2) * tool_options.machine.l2.line;
	file.header->l1d_sets = tool_options.machine.l1d.sets;
	file.header->l1d_ways = tool_options.machine.l1d.ways;
	file.header->without_sites = !tool_options.sites;
	put_prefetchers(&tool_options.machine.l1d);
	put_prefetchers(&tool_options.machine.l2);
	VG_(memcpy)(file.header->magic, CP_PROFILE_MAGIC, sizeof(file.header->magic));
}

void *profile_allocate(UInt size)
{
	struct cp_profile_entry *entry;

	size = (size + 7) & ~7u;
	if (!file.failed && (!file.chunks || file.used + size > CP_PROFILE_CHUNK)) {
		file.failed = !add_chunk();
		if (!file.failed && !file.header)
			put_header();
	}
	if (file.failed)
		return NULL;
	entry = (struct cp_profile_entry *)((UChar *)file.chunks->memory + file.used);
	entry->size = size;
	file.used += size;
	return entry;
}

void profile_publish(void *entry, enum cp_profile_kind kind)
{
	__atomic_store_n(
		&((struct cp_profile_entry *)entry)->kind, kind, __ATOMIC_RELEASE);
}

struct cp_profile_site *profile_nowhere(void)
{
	static struct cp_profile_site nowhere;

	return file.header ? &file.header->lost : &nowhere;
}

void profile_note_python(UInt version, Bool has_scripts)
{
	if (!file.header)
		return;
	file.header->python = version;
	file.header->has_scripts = has_scripts;
}

/* The child's entries go to a file of its own. */
void profile_file_fork_child(void)
{
	while (file.chunks) {
		struct chunk *next = file.chunks->next;

		VG_(am_munmap_valgrind)((Addr)file.chunks->memory, CP_PROFILE_CHUNK);
		VG_(free)(file.chunks);
		file.chunks = next;
	}
	if (file.fd >= 0)
		VG_(close)(file.fd);
	file.fd = -1;
	file.header = NULL;
	file.nchunks = file.used = 0;
	file.failed = False;
}
