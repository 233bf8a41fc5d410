/* SPDX-License-Identifier: MIT
 *
 * Exports: __itt_api_init, __itt_api_fini.
 *
 * ITT, whose part inside the program (or inside each of its libraries) loads the
 * collector that an environment variable names (hooks_getenv.c) and has it fill
 * a list of function pointers.  Tasks nest per thread; overlapped tasks, regions
 * and frames are ranges, by their id; events nest.  A collector that the user
 * has named fills the list first and gets every call.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/lock.h"
#include "preload/forward.h"
#include "preload/handles.h"
#include "preload/injection.h"
#include "preload/markers.h"
#include "preload/runtime.h"

#define EXPORT __attribute__((visibility("default")))

/* ---- the ABI, of 64-bit systems ---- */

struct itt_id {
	uint64_t d1, d2, d3;
};

struct itt_domain {
	volatile int flags; /* 0: the program does not even call */
	const char *name;
	void *wide;
	int extra1;
	void *extra2;
	struct itt_domain *next;
};

struct itt_string {
	const char *text;
	void *wide;
	int extra1;
	void *extra2;
	struct itt_string *next;
};

struct itt_function {
	const char *name;
	void **pointer;
	void *init, *null;
	int group;
};

struct itt_global {
	unsigned char magic[8];
	unsigned long major, minor, build;
	volatile long api_initialized, mutex_initialized, atomic_counter;
	pthread_mutex_t mutex;
	void *library, *error_handler;
	const char **path;
	struct itt_function *functions;
	struct itt_global *next;
	void *threads;
	struct itt_domain *domains;
	struct itt_string *strings;
};

void __itt_api_init(struct itt_global *global, int groups);
void __itt_api_fini(struct itt_global *global);

/* ---- domains and strings ---- */

static struct cp_store store; /* under the lock */
static struct cp_lock lock;
CP_LOCK_LISTED(lock);
/* Ours: added to under the lock, looked through without. */
static struct itt_domain *domains;
static struct itt_string *strings;

/* The programs' own parts, whose lists have what was made before we came. */
#define MAX_GLOBALS 64
static struct itt_global *globals[MAX_GLOBALS];
static unsigned nglobals;

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

static struct itt_domain *own_domain(const char *name)
{
	struct itt_domain *domain = find_domain(domains, name);

	for (unsigned i = 0; i < nglobals && !domain; i++)
		domain = find_domain(globals[i]->domains, name);
	if (domain)
		return domain;
	domain = cp_store_take(&store, sizeof(*domain));
	if (!domain)
		return NULL;
	domain->flags = 1;
	domain->name = cp_store_copy(&store, name, strlen(name));
	domain->next = domains;
	__atomic_store_n(&domains, domain, __ATOMIC_RELEASE);
	return domain;
}

static struct itt_string *own_string(const char *text)
{
	struct itt_string *string = find_string(strings, text);

	for (unsigned i = 0; i < nglobals && !string; i++)
		string = find_string(globals[i]->strings, text);
	if (string)
		return string;
	string = cp_store_take(&store, sizeof(*string));
	if (!string)
		return NULL;
	string->text = cp_store_copy(&store, text, strlen(text));
	string->next = strings;
	__atomic_store_n(&strings, string, __ATOMIC_RELEASE);
	return string;
}

static struct cp_name *name_of(const struct itt_string *string)
{
	return cp_marker_name(string && string->text ? string->text : "(no name)");
}

/* ---- our functions, and those of the user's collector behind them ---- */

#define FUNCTIONS(X)                                                                     \
	X(domain_create, struct itt_domain *, const char *)                              \
	X(string_handle_create, struct itt_string *, const char *)                       \
	X(task_begin, void, const struct itt_domain *, struct itt_id, struct itt_id,     \
		struct itt_string *)                                                     \
	X(task_end, void, const struct itt_domain *)                                     \
	X(task_begin_overlapped, void, const struct itt_domain *, struct itt_id,         \
		struct itt_id, struct itt_string *)                                      \
	X(task_end_overlapped, void, const struct itt_domain *, struct itt_id)           \
	X(region_begin, void, const struct itt_domain *, struct itt_id, struct itt_id,   \
		struct itt_string *)                                                     \
	X(region_end, void, const struct itt_domain *, struct itt_id)                    \
	X(frame_begin_v3, void, const struct itt_domain *, struct itt_id *)              \
	X(frame_end_v3, void, const struct itt_domain *, struct itt_id *)                \
	X(event_create, int, const char *, int)                                          \
	X(event_start, int, int)                                                         \
	X(event_end, int, int)                                                           \
	X(pause, void, void)                                                             \
	X(resume, void, void)

static struct {
#define X(name, result, ...) result (*name)(__VA_ARGS__);
	FUNCTIONS(X)
#undef X
} next;

enum { TASKS = 1, EVENTS, OVERLAPPED, REGIONS, FRAMES, EVENT_NAMES };

static uint64_t stack_of(unsigned what, const struct itt_domain *domain)
{
	return cp_marker_tag(CP_MARKER_ITT, (uint64_t)(uintptr_t)domain << 4 | what);
}

static struct cp_range_key range_of(
	unsigned what, const struct itt_domain *domain, struct itt_id id)
{
	return (struct cp_range_key){
		stack_of(what, NULL), {id.d1, id.d2, id.d3, (uint64_t)(uintptr_t)domain}};
}

/* Those that are ours are found in a signal handler as well, that has interrupted
 * somebody with the lock; a new one is then NULL, as without a collector. */
static struct itt_domain *ready_domain(const char *name)
{
	int saved = errno;
	struct itt_domain *domain;

	cp_sim_pause();
	domain = find_domain(__atomic_load_n(&domains, __ATOMIC_ACQUIRE), name);
	if (!domain && cp_marker_lock(&lock)) {
		domain = own_domain(name);
		cp_marker_unlock(&lock);
	}
	cp_sim_resume();
	errno = saved;
	return domain;
}

static struct itt_string *ready_string(const char *text)
{
	int saved = errno;
	struct itt_string *string;

	cp_sim_pause();
	string = find_string(__atomic_load_n(&strings, __ATOMIC_ACQUIRE), text);
	if (!string && cp_marker_lock(&lock)) {
		string = own_string(text);
		cp_marker_unlock(&lock);
	}
	cp_sim_resume();
	errno = saved;
	return string;
}

static struct itt_domain *domain_create(const char *name)
{
	struct itt_domain *domain;

	if (next.domain_create)
		return next.domain_create(name);
	if (!name)
		return NULL;
	domain = ready_domain(name);
	if (domain)
		domain->flags = 1;
	return domain;
}

static struct itt_string *string_handle_create(const char *text)
{
	if (next.string_handle_create)
		return next.string_handle_create(text);
	return text ? ready_string(text) : NULL;
}

static void task_begin(const struct itt_domain *domain, struct itt_id id,
	struct itt_id parent, struct itt_string *name)
{
	if (next.task_begin)
		next.task_begin(domain, id, parent, name);
	cp_marker_begin(name_of(name), stack_of(TASKS, domain));
}

static void task_end(const struct itt_domain *domain)
{
	cp_marker_end(NULL, stack_of(TASKS, domain), CP_END_ALONE);
	if (next.task_end)
		next.task_end(domain);
}

static void task_begin_overlapped(const struct itt_domain *domain, struct itt_id id,
	struct itt_id parent, struct itt_string *name)
{
	struct cp_range_key key = range_of(OVERLAPPED, domain, id);

	if (next.task_begin_overlapped)
		next.task_begin_overlapped(domain, id, parent, name);
	cp_range_begin(name_of(name), &key);
}

static void task_end_overlapped(const struct itt_domain *domain, struct itt_id id)
{
	struct cp_range_key key = range_of(OVERLAPPED, domain, id);

	cp_range_end(&key);
	if (next.task_end_overlapped)
		next.task_end_overlapped(domain, id);
}

static void region_begin(const struct itt_domain *domain, struct itt_id id,
	struct itt_id parent, struct itt_string *name)
{
	struct cp_range_key key = range_of(REGIONS, domain, id);

	if (next.region_begin)
		next.region_begin(domain, id, parent, name);
	cp_range_begin(name_of(name), &key);
}

static void region_end(const struct itt_domain *domain, struct itt_id id)
{
	struct cp_range_key key = range_of(REGIONS, domain, id);

	cp_range_end(&key);
	if (next.region_end)
		next.region_end(domain, id);
}

/* A frame has no name but its domain's, and may have no id. */
static void frame_begin_v3(const struct itt_domain *domain, struct itt_id *id)
{
	struct cp_range_key key =
		range_of(FRAMES, domain, id ? *id : (struct itt_id){0, 0, 0});

	if (next.frame_begin_v3)
		next.frame_begin_v3(domain, id);
	cp_range_begin(cp_marker_name(domain->name), &key);
}

static void frame_end_v3(const struct itt_domain *domain, struct itt_id *id)
{
	struct cp_range_key key =
		range_of(FRAMES, domain, id ? *id : (struct itt_id){0, 0, 0});

	cp_range_end(&key);
	if (next.frame_end_v3)
		next.frame_end_v3(domain, id);
}

static int event_create(const char *name, int length)
{
	static int last;
	int event = next.event_create ? next.event_create(name, length)
				      : __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);

	if (name && length > 0 && event > 0)
		cp_handle_set(stack_of(EVENT_NAMES, NULL), (uint64_t)event,
			cp_marker_name_of(name, (size_t)length));
	return event;
}

static int event_start(int event)
{
	int result = next.event_start ? next.event_start(event) : 0;

	if (event > 0)
		cp_marker_begin(
			cp_handle_name(stack_of(EVENT_NAMES, NULL), (uint64_t)event),
			stack_of(EVENTS, NULL));
	return result;
}

static int event_end(int event)
{
	struct cp_name *name =
		event > 0 ? cp_handle_name(stack_of(EVENT_NAMES, NULL), (uint64_t)event)
			  : NULL;

	if (name)
		cp_marker_end(name, stack_of(EVENTS, NULL), CP_END_ALONE);
	return next.event_end ? next.event_end(event) : 0;
}

static void pause(void)
{
	cp_marker_pause();
	if (next.pause)
		next.pause();
}

static void resume(void)
{
	if (next.resume)
		next.resume();
	cp_marker_resume();
}

/* ---- the list ---- */

static const struct {
	const char *name;
	void *ours, *next;
} table[] = {
#define X(name, result, ...)                                                             \
	{"__itt_" #name, (void *)(uintptr_t)(name), (void *)&next.name},
	FUNCTIONS(X)
#undef X
};

static int index_of(const char *name)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (strcmp(name, table[i].name) == 0)
			return (int)i;
	return -1;
}

/* What the collector has not put there stays away: its own stubs call back. */
static void chain(struct itt_global *global, int groups)
{
	void *library = cp_forward_open(cp_injection_of_user("INTEL_LIBITTNOTIFY64"));
	void *found = cp_forward_symbol(library, "__itt_api_init");
	__typeof__(&__itt_api_init) initialize;

	if (!found)
		return;
	global->library = library;
	memcpy(&initialize, &found, sizeof(found));
	initialize(global, groups);
	for (struct itt_function *f = global->functions; f->name; f++) {
		int i = index_of(f->name);

		if (i >= 0 && *f->pointer != f->null && *f->pointer != f->init &&
			*f->pointer != table[i].ours)
			memcpy(table[i].next, f->pointer, sizeof(void *));
	}
}

static void know(struct itt_global *global)
{
	if (!cp_marker_lock(&lock))
		return;
	for (unsigned i = 0; i < nglobals; i++)
		if (globals[i] == global)
			global = NULL;
	if (global && nglobals < MAX_GLOBALS)
		globals[nglobals++] = global;
	cp_marker_unlock(&lock);
}

static void forget(const struct itt_global *global)
{
	if (!cp_marker_lock(&lock))
		return;
	for (unsigned i = 0; i < nglobals; i++)
		if (globals[i] == global)
			globals[i] = globals[--nglobals];
	cp_marker_unlock(&lock);
}

/* Functions that we do not have do nothing, unless a collector has them. */
EXPORT void __itt_api_init(struct itt_global *global, int groups)
{
	bool alone;

	if (!global || !global->functions)
		return;
	know(global);
	chain(global, groups);
	alone = !next.domain_create && !next.task_begin;
	for (struct itt_function *f = global->functions; f->name; f++) {
		int i = index_of(f->name);

		if (i >= 0)
			*f->pointer = table[i].ours;
		else if (alone || *f->pointer == f->init)
			*f->pointer = f->null;
	}
}

EXPORT void __itt_api_fini(struct itt_global *global)
{
	forget(global);
	for (struct itt_function *f = global ? global->functions : NULL; f && f->name;
		f++)
		*f->pointer = f->null;
}
