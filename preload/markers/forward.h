/* SPDX-License-Identifier: MIT
 *
 * The functions of other tools that stand behind ours, if those tools are there.
 */
#ifndef CACHEPEEK_PRELOAD_MARKERS_FORWARD_H
#define CACHEPEEK_PRELOAD_MARKERS_FORWARD_H

#include <stdint.h>

struct cp_forward {
	const char *name;
	void *real; /* once found; atomic */
};

/*
 * The function of that name that the caller (a return address) would have
 * called without us: in the libraries after ours, else in those that the
 * calling library was linked with.  NULL: there is none.
 */
void *cp_forward_find(struct cp_forward *forward, const void *caller);

/* The same, looked for each time; name is the symbol's. */
void *cp_forward_look(const char *name, const void *caller);

/* A pointer to the real `function`, or NULL; used in its hook only. */
#define CP_FORWARD(function)                                                             \
	__extension__({                                                                  \
		static struct cp_forward forward_ = {#function, 0};                      \
		(__typeof__(&function))(uintptr_t)cp_forward_find(                       \
			&forward_, __builtin_return_address(0));                         \
	})

/* A tool's library, which the user named in the environment: a handle for
 * dlsym, or NULL where it cannot be loaded, is ours, or path is NULL.  The flags
 * are those of dlopen that the tool is loaded with without us. */
void *cp_forward_open(const char *path, int flags);

/* The same under its name in that library; NULL if library is. */
void *cp_forward_symbol(void *library, const char *name);

#endif
