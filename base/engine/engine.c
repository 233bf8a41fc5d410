/* SPDX-License-Identifier: MIT */
#include "base/engine/engine.h"

#include <elf.h>
#include <link.h>

#include "base/engine/simclient.h"

const struct cp_engine *cp_engine = &cp_engine_perf;

/* The part of our own mapping that holds code. */
static void tell_own_code(void)
{
	extern const char __ehdr_start[] __attribute__((visibility("hidden")));
	const ElfW(Ehdr) *file = (const void *)__ehdr_start;
	const ElfW(Phdr) *segment = (const void *)(__ehdr_start + file->e_phoff);

	for (unsigned i = 0; i < file->e_phnum; i++)
		if (segment[i].p_type == PT_LOAD && (segment[i].p_flags & PF_X))
			cp_sim_own_code(__ehdr_start + segment[i].p_vaddr,
				__ehdr_start + segment[i].p_vaddr + segment[i].p_memsz);
}

void cp_engine_start(void)
{
	if (!cp_sim_active())
		return;
	cp_engine = &cp_engine_sim;
	tell_own_code();
}
