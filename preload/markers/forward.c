/* SPDX-License-Identifier: MIT */
#include "preload/markers/forward.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <signal.h>

#include "base/log.h"
#include "base/syscall.h"
#include "preload/libc/real.h"
#include "preload/markers/loaded.h"
#include "preload/runtime.h"
#include "preload/self.h"

static uint64_t mix(uint64_t key, uint64_t value)
{
	return (key ^ key >> 32 ^ value) * 0x9e3779b97f4a7c15u;
}

static uint64_t key_of(const struct cp_forward *forward, const struct cp_caller *caller)
{
	uint64_t key = mix(cp_loaded_count(), (uint64_t)(uintptr_t)forward);

	key = mix(key, (uint64_t)(uintptr_t)caller->returns_to);
	key = mix(key, (uint64_t)(uintptr_t)caller->inside);
	return mix(key, (uint64_t)(uintptr_t)caller->near);
}

/* dlsym keeps the text of an error: no signal handler that comes here as well may
 * interrupt that. */
static void *look_undisturbed(
	const char *name, const struct cp_caller *caller, enum cp_answer *answer)
{
	uint64_t all = ~0ull, before = 0;
	bool held = !cp_confined() && cp_syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all,
					      &before, sizeof(all)) == 0;
	void *found = cp_scope_called(name, caller, answer);

	if (held)
		cp_syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(all));
	return found;
}

static void *look(
	struct cp_forward *forward, uint64_t key, const struct cp_caller *caller)
{
	int saved = errno, state;
	enum cp_answer answer;
	void *real;

	cp_own_work_begin(&state);
	real = look_undisturbed(forward->name, caller, &answer);
	cp_own_work_end(state);
	if (answer == CP_ANSWER_STAYS)
		__atomic_store_n(&forward->real, real, __ATOMIC_RELEASE);
	else if (answer == CP_ANSWER_UNTIL_LOADED)
		cp_loaded_know(key, real);
	errno = saved;
	return real;
}

void *cp_forward_find(struct cp_forward *forward, const struct cp_caller *caller)
{
	void *real = __atomic_load_n(&forward->real, __ATOMIC_ACQUIRE);
	uint64_t key;

	if (real)
		return real;
	key = key_of(forward, caller);
	return cp_loaded_is_known(key, &real) ? real : look(forward, key, caller);
}

void *cp_forward_open(const char *path, int flags)
{
	struct link_map *map = NULL;
	void *library;

	if (!path || !*path)
		return NULL;
	library = CP_REAL(dlopen)(path, flags);
	if (!library) {
		cp_say("the tool library %s cannot be loaded: it gets no markers", path);
		return NULL;
	}
	if (dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map &&
		cp_loaded_is_ours(map->l_ld))
		return NULL;
	return library;
}

void *cp_forward_symbol(void *library, const char *name)
{
	return library ? dlsym(library, name) : NULL;
}
