/* SPDX-License-Identifier: MIT
 *
 * Overrides: __cyg_profile_func_enter, __cyg_profile_func_exit.
 *
 * Programs built with -finstrument-functions: each function is a region.  What
 * CACHEPEEK_REGIONS leaves out costs a look into a table.  Another library's
 * functions of these names are called too; libc's do nothing.
 */
#include <dlfcn.h>
#include <string.h>

#include "base/export.h"
#include "base/lock.h"
#include "base/probe.h"
#include "preload/markers/functions.h"
#include "preload/markers/markers.h"
#include "preload/libc/real.h"
#include "preload/runtime.h"
#include "preload/markers/symbols.h"
#include "preload/self.h"

#define TAG cp_marker_tag_of(CP_MARKER_FUNCTION, 0)

void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);

/* ---- names by address: read without a lock ---- */

#define SLOTS ((size_t)1 << 18)
#define MOST (SLOTS / 4 * 3)

/* The names of addresses; read without the lock. */
static struct {
	__typeof__(&__cyg_profile_func_enter) next_enter, next_exit;
	struct {
		void *function; /* written last */
		struct cp_name *name;
	} slots[SLOTS];
	size_t nfunctions;   /* under the lock */
	struct cp_lock lock; /* of additions */
} named;
CP_LOCK_LISTED(named.lock);

static inline bool ends_at(size_t i, const void *function)
{
	void *there = __atomic_load_n(&named.slots[i].function, __ATOMIC_ACQUIRE);

	return !there || there == function;
}

static size_t slot_of(const void *function)
{
	return CP_PROBE(
		SLOTS, cp_hash_word((uintptr_t)function) >> 46, i, ends_at(i, function));
}

static struct cp_name *add_name(void *function)
{
	char text[CP_MAX_REGION_NAME];
	size_t i = slot_of(function);

	if (!named.slots[i].function && named.nfunctions < MOST) {
		named.slots[i].name = cp_name_intern(
			text, cp_symbol_name(function, text, sizeof(text)));
		named.nfunctions += named.slots[i].name != NULL;
		if (named.slots[i].name)
			__atomic_store_n(
				&named.slots[i].function, function, __ATOMIC_RELEASE);
	}
	return named.slots[i].name;
}

/* For the first time: reads files, and must not be interrupted by a region. */
static struct cp_name *look_up(void *function)
{
	struct cp_name *name;
	int state;

	if (cp_confined() || !cp_enter_slowly(&state))
		return NULL;
	cp_lock(&named.lock);
	name = add_name(function);
	cp_unlock(&named.lock);
	cp_leave_slowly(state);
	return name;
}

static inline struct cp_name *name_of(void *function)
{
	size_t i = slot_of(function);

	return __builtin_expect(named.slots[i].function == function, 1)
		       ? named.slots[i].name
		       : look_up(function);
}

/* ---- the hooks ---- */

static void find_next(const char *name, void *to)
{
	void *found = dlsym(RTLD_NEXT, name);
	Dl_info theirs, libc;

	if (found && dladdr(found, &theirs) &&
		dladdr((void *)(uintptr_t)cp_reals._exit, &libc) &&
		theirs.dli_fbase != libc.dli_fbase)
		memcpy(to, &found, sizeof(found));
}

void cp_functions_start(void)
{
	find_next("__cyg_profile_func_enter", &named.next_enter);
	find_next("__cyg_profile_func_exit", &named.next_exit);
}

EXPORT void __cyg_profile_func_enter(void *function, void *site)
{
	struct cp_name *name = cp_counting() ? name_of(function) : NULL;

	if (named.next_enter)
		named.next_enter(function, site);
	if (name && !name->left_out)
		cp_marker_begin(name, TAG);
}

/* Functions that a longjmp has left are closed with the one that is around them;
 * a region that the program begins here and ends elsewhere goes on. */
EXPORT void __cyg_profile_func_exit(void *function, void *site)
{
	struct cp_name *name = cp_counting() ? name_of(function) : NULL;

	if (name && !name->left_out)
		cp_marker_end(name, TAG, CP_END_OWN);
	if (named.next_exit)
		named.next_exit(function, site);
}
