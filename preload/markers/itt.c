/* SPDX-License-Identifier: MIT */
#include "preload/markers/itt.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/lock.h"
#include "preload/markers/markers.h"
#include "preload/self.h"

#define MAX_GLOBALS 64
static struct {
	struct cp_lock lock;
	struct cp_store store; /* under the lock */
	/* Ours: added to under the lock, looked through without. */
	struct itt_domain *domains;
	struct itt_string *strings;
	/* The programs' own parts, whose lists have what was made before we came. */
	struct itt_global *globals[MAX_GLOBALS];
	unsigned nglobals;
} itt;
CP_LOCK_LISTED(itt.lock);

static struct itt_domain *find_domain(struct itt_domain *domain, const char *name)
{
	while (domain && (!domain->name || strcmp(domain->name, name) != 0))
		domain = domain->next;
	return domain;
}

static struct itt_string *find_string(struct itt_string *string, const char *text)
{
	while (string && (!string->text || strcmp(string->text, text) != 0))
		string = string->next;
	return string;
}

/* A library that is closed takes its part along, and seldom says so.  The loader is asked
 * without our lock: who has the loader's may wait for ours, in a library's constructor.
 */
static void forget_closed(void)
{
	struct itt_global *known[MAX_GLOBALS];
	unsigned n = 0;
	Dl_info info;

	if (!cp_marker_lock(&itt.lock))
		return;
	for (; n < itt.nglobals; n++)
		known[n] = itt.globals[n];
	cp_marker_unlock(&itt.lock);
	for (unsigned i = 0; i < n; i++)
		if (!dladdr(known[i], &info))
			cp_itt_forget(known[i]);
}

static struct itt_domain *own_domain(const char *name)
{
	struct itt_domain *domain = find_domain(itt.domains, name);

	for (unsigned i = 0; i < itt.nglobals && !domain; i++)
		domain = find_domain(itt.globals[i]->domains, name);
	if (domain)
		return domain;
	domain = cp_store_take(&itt.store, sizeof(*domain));
	if (!domain)
		return NULL;
	domain->flags = 1;
	domain->name = cp_store_copy(&itt.store, name, strlen(name));
	domain->next = itt.domains;
	__atomic_store_n(&itt.domains, domain, __ATOMIC_RELEASE);
	return domain;
}

static struct itt_string *own_string(const char *text)
{
	struct itt_string *string = find_string(itt.strings, text);

	for (unsigned i = 0; i < itt.nglobals && !string; i++)
		string = find_string(itt.globals[i]->strings, text);
	if (string)
		return string;
	string = cp_store_take(&itt.store, sizeof(*string));
	if (!string)
		return NULL;
	string->text = cp_store_copy(&itt.store, text, strlen(text));
	string->next = itt.strings;
	__atomic_store_n(&itt.strings, string, __ATOMIC_RELEASE);
	return string;
}

struct itt_domain *cp_itt_domain(const char *name)
{
	int saved = errno, state;
	struct itt_domain *domain;

	cp_own_work_begin(&state);
	domain = find_domain(__atomic_load_n(&itt.domains, __ATOMIC_ACQUIRE), name);
	if (!domain)
		forget_closed();
	if (!domain && cp_marker_lock(&itt.lock)) {
		domain = own_domain(name);
		cp_marker_unlock(&itt.lock);
	}
	cp_own_work_end(state);
	errno = saved;
	return domain;
}

struct itt_string *cp_itt_string(const char *text)
{
	int saved = errno, state;
	struct itt_string *string;

	cp_own_work_begin(&state);
	string = find_string(__atomic_load_n(&itt.strings, __ATOMIC_ACQUIRE), text);
	if (!string)
		forget_closed();
	if (!string && cp_marker_lock(&itt.lock)) {
		string = own_string(text);
		cp_marker_unlock(&itt.lock);
	}
	cp_own_work_end(state);
	errno = saved;
	return string;
}

void cp_itt_know(struct itt_global *global)
{
	if (!cp_marker_lock(&itt.lock))
		return;
	for (unsigned i = 0; i < itt.nglobals; i++)
		if (itt.globals[i] == global)
			global = NULL;
	if (global && itt.nglobals < MAX_GLOBALS)
		itt.globals[itt.nglobals++] = global;
	cp_marker_unlock(&itt.lock);
}

void cp_itt_forget(const struct itt_global *global)
{
	if (!cp_marker_lock(&itt.lock))
		return;
	for (unsigned i = 0; i < itt.nglobals; i++)
		if (itt.globals[i] == global)
			itt.globals[i] = itt.globals[--itt.nglobals];
	cp_marker_unlock(&itt.lock);
}
