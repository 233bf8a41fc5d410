/* SPDX-License-Identifier: MIT
 *
 * A library that was loaded for itself (RTLD_LOCAL) has its own scope, which RTLD_NEXT
 * does not look into; what RTLD_NEXT finds is what all call if it was there first.  Where
 * such a library calls by a jump, as compilers make of a function's last call, the return
 * address is in another object.  Then whoever refers to the name may be the caller; where
 * these refer to different functions, the code in front of the return address is looked
 * at.
 */
#include "preload/markers/scopes.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "preload/libc/real.h"
#include "preload/markers/loaded.h"
#include "preload/program/readable.h"

/* ---- one scope ---- */

/* By an object's own scope, which begins with itself; the main program's is the global
 * one, where ours hides what is behind it. */
static void *find_in_scope(const char *name, const void *place)
{
	struct link_map *map;
	void *library, *found;
	Dl_info info;

	if (!dladdr1(place, &info, (void **)&map, RTLD_DL_LINKMAP))
		return NULL;
	library = CP_REAL(dlopen)(
		map->l_name[0] ? map->l_name : NULL, RTLD_LAZY | RTLD_NOLOAD);
	if (!library)
		return NULL;
	found = dlsym(library, name);
	dlclose(library);
	return found && cp_loaded_is_ours(found) ? NULL : found;
}

/* It will be called for as long as the process lives: its library stays where it is,
 * whoever closes it.  The handle is not given back for that. */
static void *keep(void *found)
{
	Dl_info info;

	if (found && dladdr(found, &info))
		(void)CP_REAL(dlopen)(
			info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
	return found;
}

/* In the global scope.  first: it is in a library that was there before the program
 * began, so that every other finds it there. */
static void *find_behind(const char *name, bool *first)
{
	void *found = dlsym(RTLD_NEXT, name);

	if (found && cp_loaded_is_ours(found))
		found = NULL;
	*first = found && cp_loaded_is_first(found);
	return found;
}

void *cp_scope_find(const char *name, const void *place)
{
	bool first;
	void *behind = find_behind(name, &first);

	return keep(first ? behind : find_in_scope(name, place));
}

/* ---- several ---- */

/* A library that has become global since (Open MPI makes itself so) is not what those are
 * bound to who were loaded before it, and those have their own. */
struct reference {
	const char *name;
	void *behind; /* in the global scope; NULL: nothing is */
};

static void *resolve(const struct reference *it, const void *place)
{
	void *own = find_in_scope(it->name, place);

	return own ? own : it->behind;
}

static void add_found(struct cp_found *all, void *function)
{
	for (unsigned i = 0; i < all->n; i++)
		if (all->functions[i] == function)
			return;
	if (function && all->n < CP_SCOPES_MOST)
		all->functions[all->n++] = function;
}

static void add_of(
	struct cp_found *all, const struct reference *it, const struct cp_loaded *objects)
{
	for (unsigned i = 0; i < objects->n; i++)
		add_found(all, resolve(it, objects->dynamic[i]));
}

void cp_scope_all(const char *name, struct cp_found *all)
{
	const struct reference it = {name, NULL};
	struct cp_loaded owners;

	all->n = 0;
	cp_loaded_owners(name, &owners);
	add_of(all, &it, &owners);
}

/* -1: it is none of them. */
static int index_of(const struct cp_loaded *objects, const void *place)
{
	const void *dynamic = place ? cp_loaded_at(place) : NULL;

	for (unsigned i = 0; dynamic && i < objects->n; i++)
		if (objects->dynamic[i] == dynamic)
			return (int)i;
	return -1;
}

/* ---- the code in front of the return address ---- */

#if defined(__x86_64__)
static bool read_bytes(void *to, const unsigned char *from, size_t size)
{
	if (!cp_can_read(from, size))
		return false;
	memcpy(to, from, size);
	return true;
}

/* The address that an instruction names which ends at `end` with a distance of 32 bits.
 */
static const unsigned char *named_by(const unsigned char *end)
{
	int32_t distance;

	return read_bytes(&distance, end - 4, 4) ? end + distance : NULL;
}

static const unsigned char *read_slot(const unsigned char *slot)
{
	const unsigned char *value = NULL;

	return slot && read_bytes(&value, slot, sizeof(value)) ? value : NULL;
}

/* Behind an entry of the table for calls into other objects. */
static const unsigned char *behind_table(const unsigned char *entry)
{
	static const unsigned char endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
	unsigned char code[16];
	unsigned at = 0;

	if (!entry || !cp_loaded_at(entry) || !read_bytes(code, entry, sizeof(code)))
		return NULL;
	if (memcmp(code, endbr, sizeof(endbr)) == 0)
		at = sizeof(endbr);
	at += code[at] == 0xf2;
	if (code[at] != 0xff || code[at + 1] != 0x25)
		return entry;
	return read_slot(named_by(entry + at + 6));
}

/* The function that was called, by a direct call or through a slot; NULL: not known. */
static const void *called_before(const void *caller)
{
	const unsigned char *end = caller;
	unsigned char code[6];

	if (!read_bytes(code, end - sizeof(code), sizeof(code)))
		return NULL;
	if (code[0] == 0xff && code[1] == 0x15)
		return read_slot(named_by(end));
	return code[1] == 0xe8 ? behind_table(named_by(end)) : NULL;
}
#else
static const void *called_before(const void *caller)
{
	(void)caller;
	return NULL;
}
#endif

/* ---- MPI ---- */

static bool answers_yes(const char *name, const void *place)
{
	void *found = find_in_scope(name, place);
	int (*asks)(int *), yes = 0;

	if (!found)
		return false;
	memcpy(&asks, &found, sizeof(found));
	return asks(&yes) == 0 && yes;
}

bool cp_scope_has_open_mpi(const void *place)
{
	return answers_yes("PMPI_Initialized", place) &&
	       !answers_yes("PMPI_Finalized", place);
}

/* Finds the one that is in use where a process has two MPIs. */
static void *find_open(const char *name, const struct cp_found *all)
{
	void *open = NULL;

	if (strncasecmp(name, "MPI_", 4) != 0 && strncasecmp(name, "PMPI_", 5) != 0)
		return NULL;
	for (unsigned i = 0; i < all->n; i++) {
		if (!cp_scope_has_open_mpi(all->functions[i]))
			continue;
		if (open)
			return NULL;
		open = all->functions[i];
	}
	return open;
}

/* ---- who has called ---- */

static void *choose(const char *name, const struct cp_found *all, enum cp_answer *answer)
{
	void *open = all->n > 1 ? find_open(name, all) : NULL;

	if (all->n > 1)
		*answer = CP_ANSWER_NOW;
	return open ? open : all->n ? all->functions[0] : NULL;
}

/* Nobody is linked with it, so far as can be seen: it is in the scope of whoever has
 * loaded those who call it, unless these can do without. */
static void *find_anywhere(
	const char *name, const struct cp_loaded *users, enum cp_answer *answer)
{
	struct cp_found all;
	unsigned weak = 0;

	while (weak < users->n && users->weak[weak])
		weak++;
	if (weak == users->n)
		return NULL;
	cp_scope_all(name, &all);
	return choose(name, &all, answer);
}

/* Has the code in front of the return address itself called us, by a reference that need
 * not be met? */
static bool calls_weakly(
	const struct cp_loaded *users, const void *caller, const void *called)
{
	int by = index_of(users, caller);

	return by >= 0 && users->weak[by] && called && cp_loaded_is_ours(called);
}

/* Finds the one of several that the place of the call leads to. */
static void *find_by_place(const struct reference *it, const struct cp_loaded *users,
	const struct cp_caller *caller, const void *called)
{
	const void *by = called ? called : caller->returns_to;

	if (index_of(users, by) >= 0)
		return resolve(it, by);
	return index_of(users, caller->near) >= 0 ? resolve(it, caller->near) : NULL;
}

static void *find_by_caller(const struct reference *it, const struct cp_caller *caller,
	enum cp_answer *answer)
{
	void *own = resolve(it, caller->returns_to), *found = NULL;
	struct cp_found all = {{NULL}, 0};
	struct cp_loaded users;
	const void *called;

	cp_loaded_users(it->name, &users);
	if (users.n == 0)
		return own;
	add_found(&all, own);
	add_of(&all, it, &users);
	if (all.n == 1 && own)
		return own;
	called = called_before(caller->returns_to);
	if (!own && calls_weakly(&users, caller->returns_to, called))
		return NULL;
	if (all.n > 1)
		found = own && called && cp_loaded_is_ours(called)
				? own
				: find_by_place(it, &users, caller, called);
	if (found)
		return found;
	return all.n ? choose(it->name, &all, answer)
		     : find_anywhere(it->name, &users, answer);
}

void *cp_scope_called(
	const char *name, const struct cp_caller *caller, enum cp_answer *answer)
{
	struct reference it = {name, NULL};
	void *found = NULL;
	bool first;

	it.behind = find_behind(name, &first);
	*answer = first ? CP_ANSWER_STAYS : CP_ANSWER_UNTIL_LOADED;
	if (first)
		return keep(it.behind);
	if (caller->inside)
		found = find_in_scope(name, caller->inside);
	return keep(found ? found : find_by_caller(&it, caller, answer));
}
