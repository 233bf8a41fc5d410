/* SPDX-License-Identifier: MIT
 *
 * Functions of unmodified programs as regions where nothing simulates: their entries are
 * patched at run time, so that they come here first, and their return addresses replaced.
 *
 * That takes a disassembler, and code that is seldom wanted: so it lives in an object of
 * its own, patcher.so, which the library loads when CACHEPEEK_REGIONS names a function.
 *
 * Code is changed before anybody can be in it: of what is loaded at the start in the
 * library's constructor, which is the first one; of what is loaded later when the dynamic
 * linker has mapped it, before it has run any of it (modules.c).
 */
#ifndef CACHEPEEK_PRELOAD_PATCH_PATCH_H
#define CACHEPEEK_PRELOAD_PATCH_PATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/name_pattern.h"

/* A function's entry: its number, where its return address is, its arguments in
 * registers, and the highest word of its frame. */
typedef void cp_patch_entered(
	uint32_t number, uintptr_t *address, const uintptr_t *arguments, uintptr_t frame);

/* Functions of the library that the patcher calls. */
struct dl_phdr_info;

struct cp_patch_host {
	/* The calling thread's innermost open call, as below; NULL: it is not counted, or
	 * something of ours is under way in it. */
	uint32_t *(*can_begin)(void);

	/* A region of that function (see below) begins in the calling thread; arguments
	 * are the call's.  Returns what is to be ended there. */
	void *(*begin)(void *function, const uintptr_t *arguments);
	void (*end)(void *region);

	/* The calling thread's innermost open call: 0 until the patcher stores there. */
	uint32_t *(*innermost)(void);

	/* The library's handle of a function, which lives on; NULL: no memory.  plain:
	 * its name of C++.  naming: base/text/name_pattern.h has it; it stays, as the
	 * patterns do. */
	void *(*function)(const char *name, const char *plain, struct cp_span naming);

	/* Makes calls of the function at an address, which cannot be patched, come to
	 * entered, by a breakpoint of the CPU; false: there is none for it. */
	bool (*stop_at)(uintptr_t address, uint32_t number, cp_patch_entered *entered);

	/* Between these two nothing of ours interrupts itself; false: it would. */
	bool (*enter)(void);
	void (*leave)(void);

	/* dl_iterate_phdr(3); no fork child waits for such a walk of ours. */
	int (*walk)(
		int (*callback)(struct dl_phdr_info *, size_t, void *), void *context);

	/* Can a word of memory be read?  Without a fault if not. */
	bool (*can_read)(const void *memory, size_t size);

	/* Opens a file of the program's to be read; -errno. */
	int (*open)(const char *path);

	/* Where debuginfod's clients keep what they fetched; "": nowhere. */
	const char *debug_cache;
};

/* Why a function, or all of a file, cannot be patched.  refusals.c has their texts. */
enum cp_patch_why {
	CP_PATCH_DONE,
	CP_PATCH_SHORT,     /* a jump has no room */
	CP_PATCH_TARGET,    /* something jumps into the bytes that a jump would take */
	CP_PATCH_FIXED,     /* an instruction there cannot be elsewhere */
	CP_PATCH_UNKNOWN,   /* or is none that the disassembler knows */
	CP_PATCH_SPECIAL,   /* it returns twice, or looks at its return address */
	CP_PATCH_DIFFERENT, /* memory has other code than the file */
	CP_PATCH_FAR,       /* no memory within reach of a jump */
	CP_PATCH_FORBIDDEN, /* the kernel lets nobody change the code */
	CP_PATCH_SHADOW,    /* the CPU keeps return addresses of its own */
	CP_PATCH_UNWINDER,  /* exceptions are unwound by code that would stop there */
	CP_PATCH_REGISTERS, /* the CPU's cannot be saved */
	CP_PATCH_MEMORY,
	CP_PATCH_STOPPED, /* no refusal: it begins at a breakpoint instead */
	CP_PATCH_WHYS,
};

/* How many functions were refused for one reason, and the names of some. */
struct cp_patch_refused {
	const char *why; /* NULL: there is no such reason */
	unsigned count, named;
	char names[200];
};

struct cp_patcher {
	/* Once: patches what is loaded and chosen by patterns (base/text/name_pattern.h),
	 * and from then on what is loaded later. */
	void (*start)(const struct cp_patch_host *host, const char *patterns);

	/* How often a call was no region, for want of memory for it. */
	uint64_t (*missed)(void);

	/* Is anything chosen by the pattern? */
	bool (*found)(const char *pattern, size_t length);
	void (*refused)(enum cp_patch_why why, struct cp_patch_refused *refused);

	/* Code that is loaded later is not looked at. */
	bool (*looks_later)(void);

	/* The stack pointer is about to become sp, by a jump. */
	void (*jump)(uintptr_t sp);
};

/* The only symbol that patcher.so shows. */
extern const struct cp_patcher cp_patcher;

#endif
