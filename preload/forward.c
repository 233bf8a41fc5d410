/* SPDX-License-Identifier: MIT */
#include "preload/forward.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "preload/reexec.h"
#include "preload/runtime.h"

/* A library that was loaded for itself (RTLD_LOCAL) has its own scope, which
 * RTLD_NEXT does not look into. */
static void *find_from(const char *name, const void *caller)
{
	struct link_map *map;
	void *library, *found;
	Dl_info info;

	if (!dladdr1(caller, &info, (void **)&map, RTLD_DL_LINKMAP) || !map->l_name[0])
		return NULL;
	library = dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
	if (!library)
		return NULL;
	found = dlsym(library, name);
	dlclose(library);
	return found;
}

void *cp_forward_look(const char *name, const void *caller)
{
	void *found = dlsym(RTLD_NEXT, name);
	Dl_info ours, theirs;

	if (!found)
		found = find_from(name, caller);
	if (found && dladdr((void *)(uintptr_t)cp_forward_look, &ours) &&
		dladdr(found, &theirs) && ours.dli_fbase == theirs.dli_fbase)
		return NULL;
	return found;
}

void *cp_forward_find(struct cp_forward *forward, const void *caller)
{
	void *real = __atomic_load_n(&forward->real, __ATOMIC_ACQUIRE);
	int saved = errno;

	if (real || __atomic_load_n(&forward->missed_by, __ATOMIC_RELAXED) == caller)
		return real;
	cp_sim_pause();
	real = cp_forward_look(forward->name, caller);
	cp_sim_resume();
	if (real)
		__atomic_store_n(&forward->real, real, __ATOMIC_RELEASE);
	else
		__atomic_store_n(&forward->missed_by, caller, __ATOMIC_RELAXED);
	errno = saved;
	return real;
}

void *cp_forward_open(const char *path)
{
	void *library;
	Dl_info ours;

	if (!path || !*path)
		return NULL;
	library = dlopen(path, RTLD_LAZY);
	if (!library) {
		cp_say("the tool library %s cannot be loaded: it gets no markers", path);
		return NULL;
	}
	if (dladdr((void *)(uintptr_t)cp_forward_look, &ours)) {
		struct link_map *map = NULL;

		if (dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map &&
			(const void *)map->l_addr == ours.dli_fbase)
			return NULL;
	}
	return library;
}

void *cp_forward_symbol(void *library, const char *name)
{
	return library ? dlsym(library, name) : NULL;
}
