/* SPDX-License-Identifier: MIT */
#include "preload/real.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

#include "base/log.h"

static void *find(const char *name, void (*leave)(int))
{
	void *found = dlsym(RTLD_NEXT, name);

	if (!found) {
		cp_say("this C library has no %s and is not supported: run the program without "
		       "libcachepeek.so",
			name);
		if (leave)
			leave(127);
		__builtin_trap();
	}
	return found;
}

const struct cp_real *cp_real(void)
{
	static struct cp_real table;
	static bool filled; /* two threads would write the same values */

	if (__atomic_load_n(&filled, __ATOMIC_ACQUIRE))
		return &table;
#define X(name)                                                                            \
	{                                                                                  \
		void *found = find(#name, table._exit);                                    \
		memcpy(&table.name, &found, sizeof(found));                                \
	}
	CP_REAL_FUNCTIONS(X)
#undef X
	__atomic_store_n(&filled, true, __ATOMIC_RELEASE);
	return &table;
}
