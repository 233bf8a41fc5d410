/* SPDX-License-Identifier: MIT */
#include "preload/parallel/openmp.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/format.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/text.h"
#include "base/once.h"
#include "base/probe.h"
#include "preload/libc/real.h"
#include "preload/markers/loaded.h"
#include "preload/parallel/openmp_alone.h"
#include "preload/runtime.h"
#include "preload/markers/symbols.h"
#include "preload/self.h"
#include "base/counters/options.h"

/* ---- names ---- */

/* Compilers' names of bodies end like this; the place tells them apart. */
static size_t without_suffix(const char *name)
{
	static const char *const suffixes[] = {"._omp_fn.", ".omp_outlined"};
	const char *end = NULL;

	for (unsigned i = 0; !end && i < 2; i++)
		end = strstr(name, suffixes[i]);
	return end ? (size_t)(end - name) : strlen(name);
}

/* Fortran's: a procedure of a module. */
static bool demangle_fortran(const char *name, const char *end, char *to, size_t size)
{
	const char *middle = strstr(name, "_MOD_");

	if (!cp_starts_with(name, "__") || !middle || middle >= end)
		return false;
	return cp_format(to, size, "%.*s::%.*s", (int)(middle - name - 2), name + 2,
		       (int)(end - middle - 5), middle + 5) < size;
}

/* Reports make names of C++ readable. */
static void name_function(const char *name, char *to, size_t size)
{
	const char *end = name + without_suffix(name);

	if (!demangle_fortran(name, end, to, size))
		cp_format(to, size, "%.*s", (int)(end - name), name);
}

/* ";FILE;FUNCTION;LINE;COLUMN;;" is FUNCTION@FILE:LINE.  false: it says nothing. */
static bool name_from_source(const char *source, char *to, size_t size)
{
	const char *piece[4];
	int length[4];

	for (unsigned i = 0; i < 4; i++) {
		if (!source || *source++ != ';')
			return false;
		piece[i] = source;
		source = strchr(source, ';');
		length[i] = source ? (int)(source - piece[i]) : 0;
	}
	if (length[0] == 0 || length[1] == 0 || length[2] == 0 || *piece[2] == '0')
		return false;
	for (int i = 0; i < length[0]; i++)
		if (piece[0][i] == '/') {
			piece[0] += i + 1;
			length[0] -= i + 1;
			i = -1;
		}
	return cp_format(to, size, "%.*s@%.*s:%.*s", length[1], piece[1], length[0],
		       piece[0], length[2], piece[2]) < size;
}

/* FUNCTION@FILE+0xOFFSET, of which reports make FUNCTION@SOURCE:LINE. */
static void name_from_place(const void *function, char *to, size_t size)
{
	char text[CP_MAX_REGION_NAME - PATH_MAX / 4];
	struct cp_symbol symbol;

	if (!cp_symbol_find(function, &symbol)) {
		cp_format(to, size, "0x%lx", (unsigned long)(uintptr_t)function);
		return;
	}
	text[0] = '\0';
	if (symbol.name)
		name_function(symbol.name, text, sizeof(text));
	cp_format(to, size, "%s@%s+0x%lx", text, cp_base_name(symbol.path),
		(unsigned long)symbol.offset);
	cp_symbol_describe(&cp_runtime.record);
}

/* Reads files, the first time. */
static struct cp_name *name_of(const void *function, const char *source)
{
	char text[CP_MAX_REGION_NAME];
	struct cp_name *name;
	int state;

	if ((source && !*source) || !cp_counting() || !cp_options.openmp ||
		cp_confined() || !cp_enter_slowly(&state))
		return NULL;
	if (!name_from_source(source, text, sizeof(text)))
		name_from_place(function, text, sizeof(text));
	name = cp_name_intern(text, strlen(text));
	cp_leave_slowly(state);
	return name;
}

/* ---- sites: found without a lock ---- */

#define SLOTS ((size_t)1 << 12)
#define MOST (SLOTS / 4 * 3)

/* The places of constructs; read without the lock. */
static struct {
	struct cp_omp_site slots[SLOTS];
	size_t n;            /* under the lock */
	struct cp_lock lock; /* of additions; outermost */
	bool told;           /* by a runtime (hooks_ompt.c); atomic */
	struct cp_once alone;
} sites;
CP_LOCK_LISTED(sites.lock);

void cp_omp_note_told(void)
{
	__atomic_store_n(&sites.told, true, __ATOMIC_RELEASE);
}

static inline bool ends_at(const struct cp_omp_site *slot, const void *function,
	const char *entry, const void *real)
{
	const void *there = __atomic_load_n(&slot->function, __ATOMIC_ACQUIRE);

	return !there ||
	       (there == function && slot->entry == entry && slot->real == real);
}

static struct cp_omp_site *slot_of(
	const void *function, const char *entry, const void *real)
{
	uint64_t key = (uint64_t)(uintptr_t)function ^ (uint64_t)(uintptr_t)entry << 7;

	return &sites.slots[CP_PROBE(SLOTS, cp_hash_word(key) >> 52, i,
		ends_at(&sites.slots[i], function, entry, real))];
}

void *cp_omp_real(struct cp_forward *forward, const struct cp_caller *caller)
{
	void *real = cp_forward_find(forward, caller);

	if (real)
		return real;
	if (cp_once(&sites.alone))
		cp_say("the program calls %s, and no library has it: "
		       "its threads work alone",
			forward->name);
	return cp_omp_alone(forward->name);
}

/* LLVM's runtime has GCC's entries, too, and tells of them by itself, once it has
 * been started: the first region would be seen twice. */
static bool is_llvm(void *real)
{
	int (*start)(void);
	void *library, *found;
	bool llvm;
	Dl_info info;

	if (cp_loaded_is_ours(real) || !dladdr(real, &info))
		return false;
	library = CP_REAL(dlopen)(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	if (!library)
		return false;
	llvm = dlsym(library, "__kmpc_fork_call") != NULL;
	found = llvm ? dlsym(library, "omp_get_max_threads") : NULL;
	dlclose(library);
	if (!found)
		return false;
	memcpy(&start, &found, sizeof(start));
	start();
	return __atomic_load_n(&sites.told, __ATOMIC_ACQUIRE);
}

static const struct cp_omp_site *add_name(const struct cp_omp_site *site)
{
	struct cp_omp_site *slot;

	cp_self.depth++;
	cp_lock(&sites.lock);
	slot = slot_of(site->function, site->entry, site->real);
	if (!slot->function && sites.n < MOST) {
		sites.n++;
		slot->entry = site->entry;
		slot->real = site->real;
		slot->name = site->name;
		slot->told = site->told;
		__atomic_store_n(&slot->function, site->function, __ATOMIC_RELEASE);
	}
	cp_unlock(&sites.lock);
	cp_leave();
	return slot->function ? slot : NULL;
}

/* For the first time, or where the table is full, each time. */
static const struct cp_omp_site *look_up(
	const void *function, const char *entry, const char *source, void *real)
{
	static __thread struct cp_omp_site extra
		__attribute__((tls_model("initial-exec")));
	const struct cp_omp_site *site;
	int saved = errno, state;

	cp_own_work_begin(&state);
	extra = (struct cp_omp_site){function, entry, real, NULL, false};
	extra.told = real && is_llvm(real);
	extra.name = name_of(function, source);
	site = add_name(&extra);
	cp_own_work_end(state);
	errno = saved;
	return site ? site : &extra;
}

const struct cp_omp_site *cp_omp_site(
	const void *function, const char *entry, const char *source, void *real)
{
	const struct cp_omp_site *site = slot_of(function, entry, real);

	return __builtin_expect(site->function != NULL, 1)
		       ? site
		       : look_up(function, entry, source, real);
}
