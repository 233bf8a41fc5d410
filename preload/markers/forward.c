/* SPDX-License-Identifier: MIT */
#include "preload/markers/forward.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/syscall.h"
#include "preload/runtime.h"
#include "preload/self.h"

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
	if (!found || !dladdr(found, &theirs))
		return found;
	if (dladdr((void *)(uintptr_t)cp_forward_look, &ours) &&
		ours.dli_fbase == theirs.dli_fbase)
		return NULL;
	/* It will be called for as long as the process lives: its library stays where
	 * it is, whoever closes it.  The handle is not given back for that. */
	(void)dlopen(theirs.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
	return found;
}

/* Functions that were looked for in vain, by the place of the call: one with another
 * hash takes the slot.  Atomic.  They are one page: the begin of a region has touched
 * it before the end looks there, and so its fault is in no region. */
#define MISSES 512
static uint64_t misses[MISSES] __attribute__((aligned(4096)));

static uint64_t hash_caller(const struct cp_forward *forward, const void *caller)
{
	return ((uint64_t)(uintptr_t)forward ^ (uint64_t)(uintptr_t)caller << 16) *
	       0x9e3779b97f4a7c15u;
}

/* dlsym keeps the text of an error: no signal handler that comes here as well may
 * interrupt that. */
static void *look_undisturbed(const char *name, const void *caller)
{
	uint64_t all = ~0ull, before = 0;
	bool held = !cp_confined() && cp_syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all,
					      &before, sizeof(all)) == 0;
	void *found = cp_forward_look(name, caller);

	if (held)
		cp_syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(all));
	return found;
}

void *cp_forward_find(struct cp_forward *forward, const void *caller)
{
	void *real = __atomic_load_n(&forward->real, __ATOMIC_ACQUIRE);
	uint64_t key = hash_caller(forward, caller), *miss = &misses[key >> 55];
	int saved = errno, state;

	if (real || __atomic_load_n(miss, __ATOMIC_RELAXED) == key)
		return real;
	cp_own_work_begin(&state);
	real = look_undisturbed(forward->name, caller);
	cp_own_work_end(state);
	if (real)
		__atomic_store_n(&forward->real, real, __ATOMIC_RELEASE);
	else
		__atomic_store_n(miss, key, __ATOMIC_RELAXED);
	errno = saved;
	return real;
}

void *cp_forward_open(const char *path, int flags)
{
	void *library;
	Dl_info ours;

	if (!path || !*path)
		return NULL;
	library = dlopen(path, flags);
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
