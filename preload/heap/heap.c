/* SPDX-License-Identifier: MIT
 *
 * Overrides: malloc, calloc, realloc, reallocarray, free, memalign, aligned_alloc,
 *   posix_memalign, valloc, pvalloc, and the eight forms of C++'s operator new.
 *
 * A library of its own (heap.so): only a profile that samples preloads it, and no
 * other program's malloc is ever touched.  Each function calls the next one of its
 * own name, which is the one that the program would have called, and never one of
 * another name: the blocks may be of an allocator that stands before this library.
 * It tells the observer, if there is one, with the address that the program's own
 * call returns to.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/export.h"
#include "preload/heap/observer.h"

#define SITE __builtin_return_address(0)

EXPORT extern const struct cp_heap_observer *cachepeek_heap_observer;
const struct cp_heap_observer *cachepeek_heap_observer;

static __thread struct {
	int depth; /* > 0: we were called by an allocator, whose own calls are nobody's */
	int finding; /* > 0: dlsym was, and may want memory */
} self __attribute__((tls_model("initial-exec")));

/* ---- until the next malloc is known: dlsym may want some ---- */

/* Memory that is given out until the next malloc is known, and never given back. */
static struct {
	char memory[64 << 10] __attribute__((aligned(16)));
	size_t used;
} early;

static void *allocate_early(size_t size)
{
	size_t at;

	if (size > sizeof(early.memory) - 16)
		return NULL;
	at = __atomic_fetch_add(&early.used, (size + 31) & ~(size_t)15, __ATOMIC_RELAXED);
	if (at > sizeof(early.memory) - 16 - size)
		return NULL;
	*(size_t *)(void *)(early.memory + at) = size;
	return early.memory + at + 16;
}

static int is_early(const void *block)
{
	return (const char *)block >= early.memory &&
	       (const char *)block < early.memory + sizeof(early.memory);
}

static void *find_next(const char *name)
{
	void *next;

	self.finding++;
	next = dlsym(RTLD_NEXT, name);
	self.finding--;
	return next;
}

/* The next function of that name; NULL: there is none, or it is being looked for. */
#define NEXT(name)                                                                       \
	__extension__({                                                                  \
		static __typeof__(&(name)) next_##name;                                  \
		if (!next_##name && !self.finding)                                       \
			*(void **)&next_##name = find_next(#name);                       \
		next_##name;                                                             \
	})

/* A plugin's C++ library, or an allocator that has operators of its own, is in the
 * plugin's scope: dlsym(RTLD_NEXT) does not look there. */
static void *find_in_scope_of(const void *caller, const char *name)
{
	struct link_map *map;
	void *object, *found = NULL;
	Dl_info info;

	self.finding++;
	if (dladdr1(caller, &info, (void **)&map, RTLD_DL_LINKMAP) && map->l_name[0] &&
		(object = dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD))) {
		found = dlsym(object, name);
		dlclose(object);
	}
	/* The call may be a jump, so that it returns to another object. */
	if (!found && (object = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD))) {
		found = dlsym(object, name);
		dlclose(object);
	}
	self.finding--;
	return found;
}

/* ---- the observer ---- */

struct call {
	const struct cp_heap_observer *observer; /* NULL: nobody is told */
	uint64_t began;
};

static struct call enter_call(void)
{
	struct call call = {NULL, 0};
	int saved = errno;

	if (self.depth++ == 0 && (call.observer = cachepeek_heap_observer))
		call.began = call.observer->now();
	errno = saved;
	return call;
}

static void *leave_call(struct call call, void *block, size_t size, const void *site)
{
	int saved = errno;

	if (call.observer && block)
		call.observer->allocated(block, size, site, call.began);
	self.depth--;
	errno = saved;
	return block;
}

static void tell_freed(const void *block)
{
	const struct cp_heap_observer *observer = cachepeek_heap_observer;
	int saved = errno;

	if (block && self.depth == 0 && observer)
		observer->freed(block);
	errno = saved;
}

/* ---- the C library's ---- */

EXPORT void *malloc(size_t size)
{
	__typeof__(&malloc) next = NEXT(malloc);
	struct call call;

	if (!next)
		return allocate_early(size);
	call = enter_call();
	return leave_call(call, next(size), size, SITE);
}

/* Memory that is given out early is zero. */
EXPORT void *calloc(size_t n, size_t size)
{
	__typeof__(&calloc) next = NEXT(calloc);
	struct call call;
	size_t all;

	if (__builtin_mul_overflow(n, size, &all)) {
		errno = ENOMEM;
		return NULL;
	}
	if (!next)
		return allocate_early(all);
	call = enter_call();
	return leave_call(call, next(n, size), all, SITE);
}

static void *move_early(const void *block, size_t size)
{
	const size_t old = block ? ((const size_t *)block)[-2] : 0;
	void *moved = malloc(size);

	if (moved && block)
		memcpy(moved, block, size < old ? size : old);
	return moved;
}

static void *reallocate_block(void *block, size_t size, const void *site)
{
	__typeof__(&realloc) next = NEXT(realloc);
	struct call call;

	if (is_early(block) || !next)
		return move_early(block, size);
	tell_freed(block);
	call = enter_call();
	return leave_call(call, next(block, size), size, site);
}

EXPORT void *realloc(void *block, size_t size)
{
	return reallocate_block(block, size, SITE);
}

/* libc's calls the program's realloc, which need not be the one behind ours. */
EXPORT void *reallocarray(void *block, size_t n, size_t size)
{
	__typeof__(&reallocarray) next = NEXT(reallocarray);
	struct call call;
	size_t all;

	if (__builtin_mul_overflow(n, size, &all)) {
		errno = ENOMEM;
		return NULL;
	}
	if (is_early(block) || !next)
		return realloc(block, all);
	tell_freed(block);
	call = enter_call();
	return leave_call(call, next(block, n, size), all, SITE);
}

EXPORT void free(void *block)
{
	__typeof__(&free) next = NEXT(free);

	if (is_early(block) || !next)
		return;
	tell_freed(block);
	self.depth++;
	next(block);
	self.depth--;
}

/* Allocates size bytes at that alignment. */
#define ALIGNED(name)                                                                    \
	EXPORT void *name(size_t alignment, size_t size)                                 \
	{                                                                                \
		__typeof__(&(name)) next = NEXT(name);                                   \
		struct call call;                                                        \
                                                                                         \
		if (!next)                                                               \
			return NULL;                                                     \
		call = enter_call();                                                     \
		return leave_call(call, next(alignment, size), size, SITE);              \
	}

ALIGNED(memalign)
ALIGNED(aligned_alloc)

EXPORT int posix_memalign(void **block, size_t alignment, size_t size)
{
	__typeof__(&posix_memalign) next = NEXT(posix_memalign);
	struct call call;
	int result;

	if (!next)
		return ENOMEM;
	call = enter_call();
	result = next(block, alignment, size);
	leave_call(call, result == 0 ? *block : NULL, size, SITE);
	return result;
}

#define ON_PAGES(name)                                                                   \
	EXPORT void *name(size_t size)                                                   \
	{                                                                                \
		__typeof__(&(name)) next = NEXT(name);                                   \
		struct call call;                                                        \
                                                                                         \
		if (!next)                                                               \
			return NULL;                                                     \
		call = enter_call();                                                     \
		return leave_call(call, next(size), size, SITE);                         \
	}

ON_PAGES(valloc)
ON_PAGES(pvalloc)

/* ---- C++'s: an exception passes through, and depth has to be as before ---- */

static void restore_depth(const int *before)
{
	self.depth = *before;
}

#define OPERATOR_NEW(name, parameters, arguments)                                        \
	EXPORT void *name parameters                                                     \
	{                                                                                \
		const int before __attribute__((unused, cleanup(restore_depth))) =       \
			self.depth;                                                      \
		__typeof__(&(name)) next = NEXT(name);                                   \
		struct call call;                                                        \
                                                                                         \
		if (!next && !self.finding)                                              \
			*(void **)&next = find_in_scope_of(SITE, #name);                 \
		if (!next) /* a program with new and without its library */              \
			return malloc(size);                                             \
		call = enter_call();                                                     \
		return leave_call(call, next arguments, size, SITE);                     \
	}

OPERATOR_NEW(_Znwm, (size_t size), (size))
OPERATOR_NEW(_Znam, (size_t size), (size))
OPERATOR_NEW(_ZnwmRKSt9nothrow_t, (size_t size, const void *tag), (size, tag))
OPERATOR_NEW(_ZnamRKSt9nothrow_t, (size_t size, const void *tag), (size, tag))
OPERATOR_NEW(_ZnwmSt11align_val_t, (size_t size, size_t alignment), (size, alignment))
OPERATOR_NEW(_ZnamSt11align_val_t, (size_t size, size_t alignment), (size, alignment))
OPERATOR_NEW(_ZnwmSt11align_val_tRKSt9nothrow_t,
	(size_t size, size_t alignment, const void *tag), (size, alignment, tag))
OPERATOR_NEW(_ZnamSt11align_val_tRKSt9nothrow_t,
	(size_t size, size_t alignment, const void *tag), (size, alignment, tag))
