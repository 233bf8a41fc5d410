/* SPDX-License-Identifier: MIT
 *
 * The functions of other tools that stand behind ours, if those tools are there.
 */
#ifndef CACHEPEEK_PRELOAD_MARKERS_FORWARD_H
#define CACHEPEEK_PRELOAD_MARKERS_FORWARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/markers/scopes.h"

struct cp_forward {
	const char *name;
	void *real; /* once found behind ours, which is the same for all; atomic */
};

/*
 * The function of that name that was called through our hook: in the libraries after
 * ours, else in those that the calling library was linked with (scopes.h).  NULL: there
 * is none.  Async-signal-safe once it is known.
 */
void *cp_forward_find(struct cp_forward *forward, const struct cp_caller *caller);

/* By the return address alone. */
static inline void *cp_forward_from(struct cp_forward *forward, const void *returns_to)
{
	const struct cp_caller caller = {returns_to, NULL, NULL};

	return cp_forward_find(forward, &caller);
}

/* Another function of the library that has `real`, the one that was called; as the
 * caller's where that is NULL. */
static inline void *cp_forward_beside(
	struct cp_forward *forward, const void *real, const void *returns_to)
{
	const struct cp_caller caller = {returns_to, real, NULL};

	return cp_forward_find(forward, &caller);
}

/* A pointer to the real `function`, or NULL; used in its hook only. */
#define CP_FORWARD(function)                                                             \
	__extension__({                                                                  \
		static struct cp_forward forward_ = {#function, 0};                      \
		(__typeof__(&function))(uintptr_t)cp_forward_from(                       \
			&forward_, __builtin_return_address(0));                         \
	})

/* Calls it with these arguments, if it is there; of one without any, behind a comma. */
#define CP_PASS(function, ...)                                                           \
	do {                                                                             \
		__typeof__(&function) real_ = CP_FORWARD(function);                      \
                                                                                         \
		if (real_)                                                               \
			real_(__VA_ARGS__);                                              \
	} while (0)

/* The same of one that has a result; 0: it is not there. */
#define CP_PASSED(function, ...)                                                         \
	__extension__({                                                                  \
		__typeof__(&function) real_ = CP_FORWARD(function);                      \
                                                                                         \
		real_ ? real_(__VA_ARGS__) : 0;                                          \
	})

/* The same as CP_PASS(), and within says so meanwhile: what it calls of ours is its own.
 */
#define CP_PASS_WITHIN(within, function, ...)                                            \
	do {                                                                             \
		bool outer_ = (within);                                                  \
                                                                                         \
		(within) = true;                                                         \
		CP_PASS(function, __VA_ARGS__);                                          \
		(within) = outer_;                                                       \
	} while (0)

/* A tool's library, which the user named in the environment: a handle for
 * dlsym, or NULL where it cannot be loaded, is ours, or path is NULL.  The flags
 * are those of dlopen that the tool is loaded with without us. */
void *cp_forward_open(const char *path, int flags);

/* The same under its name in that library; NULL if library is. */
void *cp_forward_symbol(void *library, const char *name);

#endif
