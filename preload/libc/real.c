/* SPDX-License-Identifier: MIT */
#include "preload/libc/real.h"

#include "base/log.h"

struct cp_real cp_reals;

void *cp_real_find(const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);

	if (found)
		return found;
	cp_say("this C library has no %s and is not supported: "
	       "run the program without libcachepeek.so",
		name);
	if (cp_reals._exit)
		cp_reals._exit(127);
	__builtin_trap();
}

void cp_real_fill(void)
{
#define X(name)                                                                          \
	{                                                                                \
		void *found = cp_real_find(#name);                                       \
		memcpy(&cp_reals.name, &found, sizeof(found));                           \
	}
	CP_REAL_FUNCTIONS(X)
	X(sigset)
#undef X
}
