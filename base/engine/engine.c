/* SPDX-License-Identifier: MIT */
#include "base/engine/engine.h"

#include <elf.h>
#include <link.h>
#include <sys/auxv.h>

#include "base/engine/simclient.h"
#include "base/syscall.h"

const struct cp_engine *cp_engine = &cp_engine_perf;

/* Visits our own segments that nobody writes: code, and what the dynamic linker looks up.
 */
static void each_segment(unsigned flags, void (*visit)(const void *from, const void *to))
{
	extern const char __ehdr_start[] __attribute__((visibility("hidden")));
	const ElfW(Ehdr) *file = (const void *)__ehdr_start;
	const ElfW(Phdr) *segment = (const void *)(__ehdr_start + file->e_phoff);

	for (unsigned i = 0; i < file->e_phnum; i++)
		if (segment[i].p_type == PT_LOAD && !(segment[i].p_flags & PF_W) &&
			(segment[i].p_flags & flags) == flags)
			visit(__ehdr_start + segment[i].p_vaddr,
				__ehdr_start + segment[i].p_vaddr + segment[i].p_memsz);
}

/*
 * The kernel maps what lies around a page that is missing, but not what another process
 * is just mapping, too: that would be a fault in the first region that needs it.  (Before
 * Linux 5.14 it is.)
 */
static void map_pages(const void *from, const void *to)
{
	enum { POPULATE_READ = 22 };
	uintptr_t page = getauxval(AT_PAGESZ), start = (uintptr_t)from & -page;

	cp_syscall(SYS_madvise, start, (uintptr_t)to - start, POPULATE_READ);
}

void cp_engine_map_own(void)
{
	each_segment(PF_R, map_pages);
}

static void tell_own_code(const void *from, const void *to)
{
	cp_sim_own_code(from, to);
}

void cp_engine_start(void)
{
	if (!cp_sim_active())
		return;
	cp_engine = &cp_engine_sim;
	each_segment(PF_X, tell_own_code);
}
