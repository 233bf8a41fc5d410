/* SPDX-License-Identifier: MIT */
#include "preload/sampling/allocators.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>

#include "base/engine/simclient.h"
#include "preload/walk.h"
#include "tools/sim/request.h"

static const struct {
	const char *name;
	enum cp_sim_allocator kind;
} allocators[] = {
	{"malloc", CP_SIM_MALLOC},
	{"valloc", CP_SIM_MALLOC},
	{"pvalloc", CP_SIM_MALLOC},
	{"calloc", CP_SIM_CALLOC},
	{"realloc", CP_SIM_REALLOC},
	{"memalign", CP_SIM_MEMALIGN},
	{"aligned_alloc", CP_SIM_MEMALIGN},
	{"posix_memalign", CP_SIM_POSIX_MEMALIGN},
	{"free", CP_SIM_FREE},
	{"mmap", CP_SIM_MMAP},
	/* operator new: plain, nothrow, aligned; of arrays, too */
	{"_Znwm", CP_SIM_MALLOC},
	{"_Znam", CP_SIM_MALLOC},
	{"_ZnwmRKSt9nothrow_t", CP_SIM_MALLOC},
	{"_ZnamRKSt9nothrow_t", CP_SIM_MALLOC},
	{"_ZnwmSt11align_val_t", CP_SIM_MALLOC},
	{"_ZnamSt11align_val_t", CP_SIM_MALLOC},
	{"_ZnwmSt11align_val_tRKSt9nothrow_t", CP_SIM_MALLOC},
	{"_ZnamSt11align_val_tRKSt9nothrow_t", CP_SIM_MALLOC},
};

static bool told;

void cp_allocators_tell(void)
{
	told = true;
	for (size_t i = 0; i < sizeof(allocators) / sizeof(allocators[0]); i++) {
		const void *function = dlsym(RTLD_DEFAULT, allocators[i].name);

		if (function)
			cp_sim_allocator(function, allocators[i].kind);
	}
}

/* ---- thread-local variables ---- */

/* Bytes that the module has of them in each thread; first: where its first segment is. */
static size_t tls_size(const struct dl_phdr_info *module, const void **first)
{
	size_t size = 0;

	*first = NULL;
	for (unsigned i = 0; i < module->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &module->dlpi_phdr[i];

		if (segment->p_type == PT_TLS)
			size = segment->p_memsz;
		if (segment->p_type == PT_LOAD && !*first)
			*first = (const char *)module->dlpi_addr + segment->p_vaddr;
	}
	return size;
}

static int tell_module(struct dl_phdr_info *module, size_t size, void *context)
{
	const void *first;
	size_t bytes = tls_size(module, &first);

	(void)context;
	if (size < sizeof(*module))
		return 1;
	if (bytes && module->dlpi_tls_data)
		cp_sim_tls(module->dlpi_tls_data, bytes, first);
	return 0;
}

void cp_allocators_thread_begin(void)
{
	if (told)
		cp_walk_objects(tell_module, NULL);
}
