/* SPDX-License-Identifier: MIT
 *
 * Exports: __itt_api_init, __itt_api_fini.
 *
 * ITT, whose part inside the program (or inside each of its libraries) loads the
 * collector that an environment variable names (hooks_getenv.c) and has it fill
 * a list of function pointers.  Tasks nest per thread; overlapped tasks, regions
 * and frames are ranges, by their id; events nest.  A collector that the user
 * has named fills the list first and gets every call; what it would have created, and
 * does not, the program's part creates as without us.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/export.h"
#include "base/once.h"
#include "preload/markers/forward.h"
#include "preload/markers/handles.h"
#include "preload/markers/injection.h"
#include "preload/markers/itt.h"
#include "preload/markers/markers.h"
#include "preload/warn.h"

static CP_MARKER_TOOL(this_tool, " of ITT");

void __itt_api_init(struct itt_global *global, int groups);

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
	return cp_marker_tag(&this_tool, (uint64_t)(uintptr_t)domain << 4 | what);
}

static struct cp_range_key range_of(
	unsigned what, const struct itt_domain *domain, struct itt_id id)
{
	return (struct cp_range_key){
		stack_of(what, NULL), {id.d1, id.d2, id.d3, (uint64_t)(uintptr_t)domain}};
}

static struct itt_domain *domain_create(const char *name)
{
	struct itt_domain *domain;

	if (next.domain_create)
		return next.domain_create(name);
	if (!name)
		return NULL;
	domain = cp_itt_domain(name);
	if (domain)
		domain->flags = 1;
	return domain;
}

static struct itt_string *string_handle_create(const char *text)
{
	if (next.string_handle_create)
		return next.string_handle_create(text);
	return text ? cp_itt_string(text) : NULL;
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

/* ---- the user's collector ---- */

/* Without a name it is libittnotify.so, where groups of functions are asked for. */
static void *open_collector(void)
{
	static const char *const groups[] = {
		"INTEL_ITTNOTIFY_GROUPS", "KMP_FOR_TPROFILE", "KMP_FOR_TCHECK"};
	const char *path = cp_injection_of_user("INTEL_LIBITTNOTIFY64");

	if (path)
		return cp_forward_open(path, RTLD_LAZY);
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		if (cp_injection_of_user(groups[i]))
			return dlmopen(LM_ID_BASE, "libittnotify.so", RTLD_LAZY);
	return NULL;
}

static void *users_collector(void)
{
	static void *collector;
	static bool asked;

	if (!__atomic_load_n(&asked, __ATOMIC_ACQUIRE)) {
		collector = open_collector();
		__atomic_store_n(&asked, true, __ATOMIC_RELEASE);
	}
	return collector;
}

/* Before there was __itt_api_init, the program's part looked for each function by its
 * name, and only in groups that were asked for: that is left to it. */
bool cp_itt_stands_in(void)
{
	static struct cp_once said;
	void *collector = users_collector();

	if (!collector || cp_forward_symbol(collector, "__itt_api_init"))
		return true;
	if (cp_once(&said))
		cp_warn("no regions of ITT: "
			"the collector in INTEL_LIBITTNOTIFY64 has no __itt_api_init");
	return false;
}

static void call_collector(struct itt_global *global, void *function, int groups)
{
	void *ours = global->library;
	__typeof__(&__itt_api_init) initialize;

	global->library = users_collector(); /* which it may look into */
	memcpy(&initialize, &function, sizeof(function));
	initialize(global, groups);
	global->library = ours;
}

/* Functions that the collector has not put there stay away: its own stubs call back. */
static bool chain_collector(struct itt_global *global, int groups)
{
	void *found = cp_forward_symbol(users_collector(), "__itt_api_init");

	if (!found)
		return false;
	call_collector(global, found, groups);
	for (struct itt_function *f = global->functions; f->name; f++) {
		int i = index_of(f->name);

		if (i >= 0 && *f->pointer && *f->pointer != f->null &&
			*f->pointer != f->init && *f->pointer != table[i].ours)
			memcpy(table[i].next, f->pointer, sizeof(void *));
	}
	return true;
}

/* Beside a collector: does it meet what our function would create? */
static bool meets_ours(const char *name)
{
	if (strcmp(name, "__itt_domain_create") == 0)
		return !next.domain_create;
	if (strcmp(name, "__itt_string_handle_create") == 0)
		return !next.string_handle_create;
	return strcmp(name, "__itt_event_create") == 0 && !next.event_create &&
	       (next.event_start || next.event_end);
}

/* Functions that we do not have do nothing, unless a collector has them. */
EXPORT void __itt_api_init(struct itt_global *global, int groups)
{
	bool chained;

	if (!global || !global->functions)
		return;
	cp_itt_know(global);
	chained = chain_collector(global, groups);
	for (struct itt_function *f = global->functions; f->name; f++) {
		int i = index_of(f->name);

		if (i >= 0 && !(chained && meets_ours(f->name)))
			*f->pointer = table[i].ours;
		else if (!chained)
			*f->pointer = f->null;
	}
}

EXPORT void __itt_api_fini(struct itt_global *global)
{
	void *found = cp_forward_symbol(users_collector(), "__itt_api_fini");

	if (!global)
		return;
	cp_itt_forget(global);
	if (found)
		call_collector(global, found, 0);
	for (struct itt_function *f = global->functions; f && f->name; f++)
		*f->pointer = f->null;
}
