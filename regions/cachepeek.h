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
 * Regions nest to any depth (250 have paths of their own), belong to the calling
 * thread, and are closed in reverse order; END of an outer region closes the
 * inner ones too (and that is reported, as is an END without BEGIN, which is
 * ignored).  A region that calls itself is a path below itself.  Markers keep errno,
 * never block and never call malloc.  They may be used in any thread, not in signal
 * handlers that interrupt a marker (there they do nothing).
 */
#ifndef CACHEPEEK_H
#define CACHEPEEK_H

#include <stddef.h>
#include <stdint.h>

/* Not a region of its own in a program built with -finstrument-functions. */
#define CACHEPEEK_NOT_A_REGION_ __attribute__((no_instrument_function))
#define CACHEPEEK_INLINE_ static inline CACHEPEEK_NOT_A_REGION_

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
	void (*begin_named)(const char *name);
	void (*end_named)(const char *name);
};

/*
 * The address of the library's table, or NULL.  It is loaded from the global
 * offset table by hand, because compilers turn a weak reference in a program
 * that is not position-independent into a constant 0.
 */
#if defined(__x86_64__) && !defined(__ILP32__)
__asm__(".weak cachepeek_api_1");
CACHEPEEK_INLINE_ const struct cachepeek_api *cachepeek_api(void)
{
	const struct cachepeek_api *table;

	__asm__("movq cachepeek_api_1@GOTPCREL(%%rip), %0" : "=r"(table));
	return table;
}
#elif defined(__aarch64__) && !defined(__ILP32__)
__asm__(".weak cachepeek_api_1");
CACHEPEEK_INLINE_ const struct cachepeek_api *cachepeek_api(void)
{
	const struct cachepeek_api *table;

	__asm__("adrp %0, :got:cachepeek_api_1\n\tldr %0, [%0, :got_lo12:cachepeek_api_1]"
		: "=r"(table));
	return table;
}
#else
extern const struct cachepeek_api cachepeek_api_1 __attribute__((weak));
CACHEPEEK_INLINE_ const struct cachepeek_api *cachepeek_api(void)
{
	return &cachepeek_api_1;
}
#endif

/* Registers a name (any bytes, cut at 4,096).  The same name gives the same
 * handle.  Cheap enough for start-up code, not for inner loops. */
CACHEPEEK_INLINE_ cachepeek_region cachepeek_region_register(const char *name)
{
	return cachepeek_api() ? cachepeek_api()->region_register(name)
			       : (cachepeek_region)0;
}

CACHEPEEK_INLINE_ void cachepeek_begin(cachepeek_region region)
{
	if (cachepeek_api())
		cachepeek_api()->begin(region);
}

CACHEPEEK_INLINE_ void cachepeek_end(cachepeek_region region)
{
	if (cachepeek_api())
		cachepeek_api()->end(region);
}

/* The same by name, which is looked up each time: for names that are made at
 * run time. */
CACHEPEEK_INLINE_ void cachepeek_begin_named(const char *name)
{
	if (cachepeek_api())
		cachepeek_api()->begin_named(name);
}

CACHEPEEK_INLINE_ void cachepeek_end_named(const char *name)
{
	if (cachepeek_api())
		cachepeek_api()->end_named(name);
}

/* The calling thread's count so far of a quantity, spelled as it was asked for
 * (an event, or a preset such as "l1d_misses").  0, or -ENOENT if it was not
 * asked for, -ENODATA if there is no count of it, -ENOSYS without the library.
 * A count that was multiplexed is scaled; one that takes turns, or is of a whole
 * socket, has no value here. */
CACHEPEEK_INLINE_ int cachepeek_read(const char *quantity, uint64_t *value)
{
	return cachepeek_api() ? cachepeek_api()->read(quantity, value) : -38;
}

/* Between pause and resume the calling thread's counts belong to no open
 * region (they stay in the thread's total).  They nest. */
CACHEPEEK_INLINE_ void cachepeek_pause(void)
{
	if (cachepeek_api())
		cachepeek_api()->pause();
}

CACHEPEEK_INLINE_ void cachepeek_resume(void)
{
	if (cachepeek_api())
		cachepeek_api()->resume();
}

/* Brings the run record up to date for all threads, for a reader outside. */
CACHEPEEK_INLINE_ void cachepeek_flush(void)
{
	if (cachepeek_api())
		cachepeek_api()->flush();
}

/* The handle in *place, looked up when it is first asked for.  Threads that do
 * that at once find the same. */
CACHEPEEK_INLINE_ cachepeek_region cachepeek_region_once(
	cachepeek_region *place, const char *name)
{
	cachepeek_region region = __atomic_load_n(place, __ATOMIC_ACQUIRE);

	if (!region) {
		region = cachepeek_region_register(name);
		__atomic_store_n(place, region, __ATOMIC_RELEASE);
	}
	return region;
}

/* Refuses a name that is not a constant when the program is compiled; languages that
 * have no static assertions say it with a type. */
#if defined(__cplusplus) ? __cplusplus < 201103L : __STDC_VERSION__ < 201112L
#define CACHEPEEK_LITERAL_(name, what)                                                   \
	typedef char cachepeek_the_name_must_be_a_string_literal_                        \
		[__builtin_constant_p(name) ? 1 : -1] __attribute__((unused))
#else
#ifdef __cplusplus
#define CACHEPEEK_ASSERT_ static_assert
#else
#define CACHEPEEK_ASSERT_ _Static_assert
#endif
#define CACHEPEEK_LITERAL_(name, what)                                                   \
	CACHEPEEK_ASSERT_(__builtin_constant_p(name),                                    \
		"the name must be a string literal, "                                    \
		"because it is looked up only once: " what)
#endif

/* Markers by name; the handle is looked up once per place in the source, so the
 * name must be the same each time. */
#define CACHEPEEK_REGION_(call, name)                                                    \
	do {                                                                             \
		CACHEPEEK_LITERAL_(                                                      \
			name, "use cachepeek_begin_named() and cachepeek_end_named()");  \
		static cachepeek_region cachepeek_handle_;                               \
		if (cachepeek_api())                                                     \
			cachepeek_api()->call(                                           \
				cachepeek_region_once(&cachepeek_handle_, name));        \
	} while (0)
#define CACHEPEEK_BEGIN(name) CACHEPEEK_REGION_(begin, name)
#define CACHEPEEK_END(name) CACHEPEEK_REGION_(end, name)

#ifdef __cplusplus
}

/*
 * A region as long as the block it stands in, however that is left:
 *
 *     cachepeek::scope scope("solve");       or        CACHEPEEK_SCOPE("solve");
 */
namespace cachepeek
{
class scope
{
	cachepeek_region region_;
	scope(const scope &);
	scope &operator=(const scope &);

      public:
	CACHEPEEK_NOT_A_REGION_ explicit scope(cachepeek_region region) : region_(region)
	{
		cachepeek_begin(region_);
	}
	CACHEPEEK_NOT_A_REGION_ explicit scope(const char *name)
	    : region_(cachepeek_region_register(name))
	{
		cachepeek_begin(region_);
	}
	CACHEPEEK_NOT_A_REGION_ ~scope()
	{
		cachepeek_end(region_);
	}
};
} // namespace cachepeek
#define CACHEPEEK_JOIN2_(a, b) a##b
#define CACHEPEEK_JOIN_(a, b) CACHEPEEK_JOIN2_(a, b)
#define CACHEPEEK_SCOPE(name)                                                            \
	CACHEPEEK_LITERAL_(name, "use cachepeek::scope");                                \
	static cachepeek_region CACHEPEEK_JOIN_(cachepeek_handle_, __LINE__);            \
	cachepeek::scope CACHEPEEK_JOIN_(cachepeek_scope_, __LINE__)(                    \
		cachepeek_region_once(                                                   \
			&CACHEPEEK_JOIN_(cachepeek_handle_, __LINE__), name))
#endif

#endif
