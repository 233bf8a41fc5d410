/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The profile's file: made with the first entry, mapped a chunk at a time.
 */

#include "base/space.h"
#include "pub_tool_libcfile.h"
#include "memory.h"
#include "profile/profile.h"

/* A descriptor of the core's, which the program can neither see nor close. */
Int VG_(safe_fd)(Int oldfd);

struct chunk {
	struct chunk *next;
	void *memory;
};

static struct chunk *chunks; /* the newest first */
static UInt used;            /* bytes of the newest */
static ULong nchunks;
static struct cp_profile_header *header;
static int fd = -1;
static Bool failed;

static Bool open_file(void)
{
	HChar path[1024];
	SysRes opened;

	if (VG_(strlen)(profile_directory) > sizeof(path) - 40)
		return False;
	for (UInt n = 0; n < 1000; n++) {
		VG_(sprintf)
		(path, "%s/%d-%u.profile", profile_directory, VG_(getpid)(), n);
		opened = VG_(open)(path, VKI_O_RDWR | VKI_O_CREAT | VKI_O_EXCL, 0600);
		if (!sr_isError(opened)) {
			fd = VG_(safe_fd)((Int)sr_Res(opened));
			return fd >= 0;
		}
		if (sr_Err(opened) != VKI_EEXIST)
			return False;
	}
	return False;
}

/* Memory of the core's own, over which the file is mapped. */
static void *map_chunk(void)
{
	long offset = (long)(nchunks * CP_PROFILE_CHUNK);
	void *memory;

	if (cp_space_reserve(fd, (ULong)offset, CP_PROFILE_CHUNK) != 0)
		return NULL;
	memory = valgrind_alloc(CP_PROFILE_CHUNK);
	if (!memory)
		return NULL;
	if (cp_syscall(SYS_mmap, memory, CP_PROFILE_CHUNK, VKI_PROT_READ | VKI_PROT_WRITE,
		    VKI_MAP_SHARED | VKI_MAP_FIXED, fd, offset) != (long)memory) {
		VG_(am_munmap_valgrind)((Addr)memory, CP_PROFILE_CHUNK);
		return NULL;
	}
	return memory;
}

static Bool add_chunk(void)
{
	struct chunk *chunk;
	void *memory = fd >= 0 || open_file() ? map_chunk() : NULL;

	if (!memory)
		return False;
	chunk = VG_(malloc)("cachepeek.chunk", sizeof(*chunk));
	chunk->memory = memory;
	chunk->next = chunks;
	chunks = chunk;
	nchunks++;
	used = 0;
	return True;
}

static ULong entries_of(const struct geometry *g)
{
	return (ULong)g->sets * g->ways;
}

static void put_header(void)
{
	header = chunks->memory;
	used = sizeof(*header);
	header->version = CP_PROFILE_VERSION;
	header->counters = CP_SIM_NCOUNTERS;
	header->pid = VG_(getpid)();
	header->line = tool_machine.line;
	header->page = tool_machine.page;
	header->tlb_entries = entries_of(&tool_machine.dtlb) +
			      entries_of(&tool_machine.stlb) +
			      entries_of(&tool_machine.dtlb2);
	header->l2_bytes = entries_of(&tool_machine.l2) * tool_machine.l2.line;
	header->l1d_sets = tool_machine.l1d.sets;
	header->l1d_ways = tool_machine.l1d.ways;
	header->without_sites = !profile_sites;
	header->l1d_prefetches = tool_machine.l1d.prefetch != 0;
	VG_(memcpy)(header->magic, CP_PROFILE_MAGIC, sizeof(header->magic));
}

void *profile_allocate(UInt size)
{
	struct cp_profile_entry *entry;

	size = (size + 7) & ~7u;
	if (!failed && (!chunks || used + size > CP_PROFILE_CHUNK)) {
		failed = !add_chunk();
		if (!failed && !header)
			put_header();
	}
	if (failed)
		return NULL;
	entry = (struct cp_profile_entry *)((UChar *)chunks->memory + used);
	entry->size = size;
	used += size;
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

	return header ? &header->lost : &nowhere;
}

/* The child's entries go to a file of its own. */
void profile_file_fork_child(void)
{
	while (chunks) {
		struct chunk *next = chunks->next;

		VG_(am_munmap_valgrind)((Addr)chunks->memory, CP_PROFILE_CHUNK);
		VG_(free)(chunks);
		chunks = next;
	}
	if (fd >= 0)
		VG_(close)(fd);
	fd = -1;
	header = NULL;
	nchunks = used = 0;
	failed = False;
}
