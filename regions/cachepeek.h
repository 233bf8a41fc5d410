/* SPDX-License-Identifier: MIT
 *
 * libcachepeek's region markers: say where a part of the program begins and
 * ends, and `LD_PRELOAD=libcachepeek.so ./app` reports the caches it used.
 *
 *     #include <cachepeek.h>
 *
 *     CACHEPEEK_BEGIN("solve");
 *     …
 *     CACHEPEEK_END("solve");
 *
 * A program that includes this header is linked with nothing.  Where the
 * library is not preloaded, and in static programs, a marker is a test of a
 * pointer.  C and C++, gcc and clang.
 *
 * Regions nest, belong to the calling thread, and are closed in reverse order;
 * END of an outer region closes the inner ones too (and that is reported, as is
 * an END without BEGIN, which is ignored).  Markers keep errno, never block and
 * never call malloc.  They may be used in any thread, not in signal handlers
 * that interrupt a marker (there they do nothing).
 */
#ifndef CACHEPEEK_H
#define CACHEPEEK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A registered region name.  NULL: none, and markers with it do nothing. */
typedef struct cp_name *cachepeek_region;

/* The library's functions, found at run time.  Later versions only add to the
 * end; size tells how much is there. */
struct cachepeek_api {
	size_t size;
	cachepeek_region (*region_register)(const char *name);
	void (*begin)(cachepeek_region region);
	void (*end)(cachepeek_region region);
	int (*read)(const char *quantity, uint64_t *value);
	void (*pause)(void);
	void (*resume)(void);
	void (*flush)(void);
};

/*
 * The address of the library's table, or NULL.  It is loaded from the global
 * offset table by hand, because compilers turn a weak reference in a program
 * that is not position-independent into a constant 0.
 */
#if defined(__x86_64__) && !defined(__ILP32__)
__asm__(".weak cachepeek_api_1");
static inline const struct cachepeek_api *cachepeek_api(void)
{
	const struct cachepeek_api *table;

	__asm__("movq cachepeek_api_1@GOTPCREL(%%rip), %0" : "=r"(table));
	return table;
}
#elif defined(__aarch64__) && !defined(__ILP32__)
__asm__(".weak cachepeek_api_1");
static inline const struct cachepeek_api *cachepeek_api(void)
{
	const struct cachepeek_api *table;

	__asm__("adrp %0, :got:cachepeek_api_1\n\tldr %0, [%0, :got_lo12:cachepeek_api_1]"
		: "=r"(table));
	return table;
}
#else
extern const struct cachepeek_api cachepeek_api_1 __attribute__((weak));
static inline const struct cachepeek_api *cachepeek_api(void)
{
	return &cachepeek_api_1;
}
#endif

/* Registers a name (any bytes, cut at 4,096).  The same name gives the same
 * handle.  Cheap enough for start-up code, not for inner loops. */
static inline cachepeek_region cachepeek_region_register(const char *name)
{
	return cachepeek_api() ? cachepeek_api()->region_register(name)
			       : (cachepeek_region)0;
}

static inline void cachepeek_begin(cachepeek_region region)
{
	if (cachepeek_api())
		cachepeek_api()->begin(region);
}

static inline void cachepeek_end(cachepeek_region region)
{
	if (cachepeek_api())
		cachepeek_api()->end(region);
}

/* The calling thread's count so far of a quantity, spelled as it was asked for
 * (an event, or a preset such as "l1d_misses").  0, or -ENOENT if it was not
 * asked for, -ENODATA if there is no count of it, -ENOSYS without the library.
 * A count that was multiplexed is scaled. */
static inline int cachepeek_read(const char *quantity, uint64_t *value)
{
	return cachepeek_api() ? cachepeek_api()->read(quantity, value) : -38;
}

/* Between pause and resume the calling thread's counts belong to no open
 * region (they stay in the thread's total).  They nest. */
static inline void cachepeek_pause(void)
{
	if (cachepeek_api())
		cachepeek_api()->pause();
}

static inline void cachepeek_resume(void)
{
	if (cachepeek_api())
		cachepeek_api()->resume();
}

/* Brings the run record up to date for all threads, for a reader outside. */
static inline void cachepeek_flush(void)
{
	if (cachepeek_api())
		cachepeek_api()->flush();
}

/* Markers by name; the handle is looked up once per place in the source. */
#define CACHEPEEK_REGION_(call, name)                                                    \
	do {                                                                             \
		static cachepeek_region cachepeek_handle_;                               \
		cachepeek_region cachepeek_known_;                                       \
		if (cachepeek_api()) {                                                   \
			cachepeek_known_ =                                               \
				__atomic_load_n(&cachepeek_handle_, __ATOMIC_ACQUIRE);   \
			if (!cachepeek_known_) {                                         \
				cachepeek_known_ = cachepeek_region_register(name);      \
				__atomic_store_n(&cachepeek_handle_, cachepeek_known_,   \
					__ATOMIC_RELEASE);                               \
			}                                                                \
			cachepeek_api()->call(cachepeek_known_);                         \
		}                                                                        \
	} while (0)
#define CACHEPEEK_BEGIN(name) CACHEPEEK_REGION_(begin, name)
#define CACHEPEEK_END(name) CACHEPEEK_REGION_(end, name)

#ifdef __cplusplus
}
#endif

#endif
