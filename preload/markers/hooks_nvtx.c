/* SPDX-License-Identifier: MIT
 *
 * Exports: InitializeInjectionNvtx2;
 * and InitializeInjectionNvtxExtension, where the user's tool has it.
 *
 * NVTX, whose header asks the library that an environment variable names
 * (hooks_getenv.c), once in each library of the program that has NVTX inside, to
 * fill its tables.  Push and pop nest per thread and domain; start and end are
 * ranges, which any thread may end.  A tool that the user has named, or linked with
 * the program, fills the tables first and gets every call.  What it leaves empty and
 * would meet again, such as the handle of a domain, is what it is without us: nothing.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <wchar.h>

#include "base/export.h"
#include "base/once.h"
#include "preload/markers/forward.h"
#include "preload/markers/handles.h"
#include "preload/markers/injection.h"
#include "preload/markers/markers.h"
#include "preload/markers/markers_text.h"
#include "preload/warn.h"

static CP_MARKER_TOOL(this_tool, " of NVTX");

/* ---- the ABI ---- */

#define NO_TRACKING (-2) /* NVTX_NO_PUSH_POP_TRACKING: what no tool returns */
enum { MESSAGE_ASCII = 1, MESSAGE_WIDE = 2, MESSAGE_REGISTERED = 3 };
enum { TABLE_CALLBACKS = 1, MODULE_CORE = 1, MODULE_CORE2 = 5, MODULE_SYNC = 6 };

struct attributes {
	uint16_t version, size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, reserved;
	uint64_t payload;
	int32_t message_type;
	const void *message;
};

typedef void slot_function(void);

struct callbacks {
	size_t size;
	int (*table)(int module, slot_function ****table, unsigned *size);
};

int InitializeInjectionNvtx2(const void *(*get)(uint32_t table));

/* ---- names ---- */

#define STRINGS cp_marker_tag(&this_tool, 1)
#define RANGES cp_marker_tag(&this_tool, 2)

static uint64_t stack_of(const void *domain)
{
	return cp_marker_tag(&this_tool, 8 + (uint64_t)(uintptr_t)domain);
}

static struct cp_name *name_of_wide(const wchar_t *text)
{
	char utf8[CP_MAX_REGION_NAME + 1];

	return text ? cp_marker_name_of(utf8, cp_utf8_of_wide(text, utf8, sizeof(utf8)))
		    : NULL;
}

static struct cp_name *name_of(const struct attributes *attributes)
{
	if (!attributes || attributes->size < sizeof(*attributes) || !attributes->message)
		return cp_marker_name("(no message)");
	switch (attributes->message_type) {
	case MESSAGE_ASCII:
		return cp_marker_name(attributes->message);
	case MESSAGE_WIDE:
		return name_of_wide(attributes->message);
	case MESSAGE_REGISTERED:
		return cp_handle_name(STRINGS, (uint64_t)(uintptr_t)attributes->message);
	default:
		return cp_marker_name("(no message)");
	}
}

/* ---- what stood in the slots before ours ---- */

enum slot {
	RANGE_START_EX,
	RANGE_START_A,
	RANGE_START_W,
	RANGE_END,
	PUSH_EX,
	PUSH_A,
	PUSH_W,
	POP,
	DOMAIN_RANGE_START,
	DOMAIN_RANGE_END,
	DOMAIN_PUSH,
	DOMAIN_POP,
	REGISTER_A,
	REGISTER_W,
	DOMAIN_CREATE_A,
	DOMAIN_CREATE_W,
	NSLOTS
};

#define NEXT(slot, type, ...) ((type(*)(__VA_ARGS__))(uintptr_t)user_tool.next[slot])

/* The user's own tool. */
static struct {
	slot_function *next[NSLOTS];
	/* Does the user's tool see domains, and names that were registered? */
	bool sees_domains, sees_strings;
} user_tool;

/* ---- push and pop ---- */

static int push_range(struct cp_name *name, const void *domain, int level)
{
	cp_marker_begin(name, stack_of(domain));
	return level;
}

static int push_ex(const struct attributes *attributes)
{
	int level = user_tool.next[PUSH_EX] ? NEXT(PUSH_EX, int, const void *)(attributes)
					    : NO_TRACKING;

	return push_range(name_of(attributes), NULL, level);
}

static int push_a(const char *text)
{
	int level = user_tool.next[PUSH_A] ? NEXT(PUSH_A, int, const char *)(text)
					   : NO_TRACKING;

	return push_range(cp_marker_name(text), NULL, level);
}

static int push_w(const wchar_t *text)
{
	int level = user_tool.next[PUSH_W] ? NEXT(PUSH_W, int, const wchar_t *)(text)
					   : NO_TRACKING;

	return push_range(name_of_wide(text), NULL, level);
}

static int pop_range(void)
{
	cp_marker_end(NULL, stack_of(NULL), CP_END_ALONE);
	return user_tool.next[POP] ? NEXT(POP, int, void)() : NO_TRACKING;
}

static int domain_push(const void *domain, const struct attributes *attributes)
{
	int level = user_tool.next[DOMAIN_PUSH]
			    ? NEXT(DOMAIN_PUSH, int, const void *, const void *)(
				      domain, attributes)
			    : NO_TRACKING;

	return push_range(name_of(attributes), domain, level);
}

static int domain_pop(const void *domain)
{
	cp_marker_end(NULL, stack_of(domain), CP_END_ALONE);
	return user_tool.next[DOMAIN_POP] ? NEXT(DOMAIN_POP, int, const void *)(domain)
					  : NO_TRACKING;
}

/* ---- ranges ---- */

/* The other tool may see ends of ranges that it has not started. */
static uint64_t new_id(enum slot end)
{
	static uint64_t last;

	return user_tool.next[end] ? 0 : __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

static uint64_t start_range(struct cp_name *name, const void *domain, uint64_t id)
{
	struct cp_range_key key = {RANGES, {id, (uint64_t)(uintptr_t)domain, 0, 0}};

	cp_range_begin(name, &key);
	return id;
}

static void end_range(const void *domain, uint64_t id)
{
	struct cp_range_key key = {RANGES, {id, (uint64_t)(uintptr_t)domain, 0, 0}};

	cp_range_end(&key);
}

static uint64_t start_ex(const struct attributes *attributes)
{
	uint64_t id = user_tool.next[RANGE_START_EX]
			      ? NEXT(RANGE_START_EX, uint64_t, const void *)(attributes)
			      : new_id(RANGE_END);

	return start_range(name_of(attributes), NULL, id);
}

static uint64_t start_a(const char *text)
{
	uint64_t id = user_tool.next[RANGE_START_A]
			      ? NEXT(RANGE_START_A, uint64_t, const char *)(text)
			      : new_id(RANGE_END);

	return start_range(cp_marker_name(text), NULL, id);
}

static uint64_t start_w(const wchar_t *text)
{
	uint64_t id = user_tool.next[RANGE_START_W]
			      ? NEXT(RANGE_START_W, uint64_t, const wchar_t *)(text)
			      : new_id(RANGE_END);

	return start_range(name_of_wide(text), NULL, id);
}

static void range_end(uint64_t id)
{
	end_range(NULL, id);
	if (user_tool.next[RANGE_END])
		NEXT(RANGE_END, void, uint64_t)(id);
}

static uint64_t domain_start(const void *domain, const struct attributes *attributes)
{
	uint64_t id = user_tool.next[DOMAIN_RANGE_START]
			      ? NEXT(DOMAIN_RANGE_START, uint64_t, const void *,
					const void *)(domain, attributes)
			      : new_id(DOMAIN_RANGE_END);

	return start_range(name_of(attributes), domain, id);
}

static void domain_end(const void *domain, uint64_t id)
{
	end_range(domain, id);
	if (user_tool.next[DOMAIN_RANGE_END])
		NEXT(DOMAIN_RANGE_END, void, const void *, uint64_t)(domain, id);
}

/* ---- handles: another tool's, or ours ---- */

static const void *name_theirs(const void *handle, struct cp_name *name)
{
	if (handle)
		cp_handle_set(STRINGS, (uint64_t)(uintptr_t)handle, name);
	return handle;
}

static const void *new_handle(struct cp_name *name)
{
	static const char nothing; /* a domain must not be NULL */
	const struct cp_handle *handle = cp_handle_set(STRINGS, 0, name);

	return handle ? (const void *)(uintptr_t)handle->value : &nothing;
}

static const void *new_string(struct cp_name *name)
{
	static struct cp_once said;

	if (!user_tool.sees_strings)
		return new_handle(name);
	if (cp_once(&said))
		cp_warn("NVTX: ranges with registered names are called \"(no message)\": "
			"the tool that gets them registers no names");
	return NULL;
}

static const void *new_domain(struct cp_name *name)
{
	return user_tool.sees_domains ? NULL : new_handle(name);
}

static const void *register_a(const void *domain, const char *text)
{
	struct cp_name *name = cp_marker_name(text);

	return user_tool.next[REGISTER_A]
		       ? name_theirs(NEXT(REGISTER_A, const void *, const void *,
					     const char *)(domain, text),
				 name)
		       : new_string(name);
}

static const void *register_w(const void *domain, const wchar_t *text)
{
	struct cp_name *name = name_of_wide(text);

	return user_tool.next[REGISTER_W]
		       ? name_theirs(NEXT(REGISTER_W, const void *, const void *,
					     const wchar_t *)(domain, text),
				 name)
		       : new_string(name);
}

static const void *create_a(const char *text)
{
	struct cp_name *name = cp_marker_name(text);

	return user_tool.next[DOMAIN_CREATE_A]
		       ? name_theirs(
				 NEXT(DOMAIN_CREATE_A, const void *, const char *)(text),
				 name)
		       : new_domain(name);
}

static const void *create_w(const wchar_t *text)
{
	struct cp_name *name = name_of_wide(text);

	return user_tool.next[DOMAIN_CREATE_W]
		       ? name_theirs(NEXT(DOMAIN_CREATE_W, const void *, const wchar_t *)(
					     text),
				 name)
		       : new_domain(name);
}

/* ---- the tables ---- */

static const struct entry {
	int module;
	unsigned index;
	enum slot slot;
	slot_function *ours;
} entries[] = {
#define ENTRY(module, index, slot, function)                                             \
	{                                                                                \
		module, index, slot, (slot_function *)(uintptr_t)(function)              \
	}
	ENTRY(MODULE_CORE, 4, RANGE_START_EX, start_ex),
	ENTRY(MODULE_CORE, 5, RANGE_START_A, start_a),
	ENTRY(MODULE_CORE, 6, RANGE_START_W, start_w),
	ENTRY(MODULE_CORE, 7, RANGE_END, range_end),
	ENTRY(MODULE_CORE, 8, PUSH_EX, push_ex),
	ENTRY(MODULE_CORE, 9, PUSH_A, push_a),
	ENTRY(MODULE_CORE, 10, PUSH_W, push_w),
	ENTRY(MODULE_CORE, 11, POP, pop_range),
	ENTRY(MODULE_CORE2, 2, DOMAIN_RANGE_START, domain_start),
	ENTRY(MODULE_CORE2, 3, DOMAIN_RANGE_END, domain_end),
	ENTRY(MODULE_CORE2, 4, DOMAIN_PUSH, domain_push),
	ENTRY(MODULE_CORE2, 5, DOMAIN_POP, domain_pop),
	ENTRY(MODULE_CORE2, 10, REGISTER_A, register_a),
	ENTRY(MODULE_CORE2, 11, REGISTER_W, register_w),
	ENTRY(MODULE_CORE2, 12, DOMAIN_CREATE_A, create_a),
	ENTRY(MODULE_CORE2, 13, DOMAIN_CREATE_W, create_w),
};
#define NENTRIES (sizeof(entries) / sizeof(entries[0]))

/* Where the pointer of a function stands; NULL: not in this version. */
static slot_function **place_of(
	const struct callbacks *callbacks, int module, unsigned index)
{
	slot_function ***table = NULL;
	unsigned size = 0;

	if (!callbacks->table(module, &table, &size) || !table || index >= size)
		return NULL;
	return table[index];
}

/* ---- the user's tool ---- */

/* More than there are; the first of each is none. */
enum { MODULES = 8, INDICES = 24 };

struct all_slots {
	slot_function *function[MODULES][INDICES];
};

static void save_slots(const struct callbacks *callbacks, struct all_slots *to)
{
	for (int module = 1; module < MODULES; module++)
		for (unsigned i = 1; i < INDICES; i++) {
			slot_function **place = place_of(callbacks, module, i);

			to->function[module][i] = place ? *place : NULL;
		}
}

static void restore_slots(const struct callbacks *callbacks, const struct all_slots *from)
{
	for (int module = 1; module < MODULES; module++)
		for (unsigned i = 1; i < INDICES; i++) {
			slot_function **place = place_of(callbacks, module, i);

			if (place)
				*place = from->function[module][i];
		}
}

/* A bit for each function of a module that the tool has put there. */
static unsigned count_filled(
	const struct callbacks *callbacks, const struct all_slots *before, int module)
{
	unsigned bits = 0;

	for (unsigned i = 1; i < INDICES; i++) {
		slot_function **place = place_of(callbacks, module, i);

		if (place && *place != before->function[module][i])
			bits |= 1u << i;
	}
	return bits;
}

/* A slot that the tool has left as it was has no next. */
static void take_over(const struct callbacks *callbacks, const struct all_slots *before)
{
	const unsigned core_events = 1u << 1 | 1u << 4 | 1u << 8,
		       core2_events = 1u << 1 | 1u << 2 | 1u << 4,
		       no_domains = 1u << 12 | 1u << 13 | 1u << 15;
	unsigned core = count_filled(callbacks, before, MODULE_CORE),
		 core2 = count_filled(callbacks, before, MODULE_CORE2);

	user_tool.sees_strings |= (core & core_events) || (core2 & core2_events);
	user_tool.sees_domains |=
		(core2 & ~no_domains) || count_filled(callbacks, before, MODULE_SYNC);
	for (size_t i = 0; i < NENTRIES; i++) {
		slot_function **place =
			place_of(callbacks, entries[i].module, entries[i].index);

		if (place && *place != entries[i].ours &&
			*place != before->function[entries[i].module][entries[i].index])
			user_tool.next[entries[i].slot] = *place;
	}
}

/* Where no library is named, the program may have a tool inside: a pointer to its
 * function then has this name, and can be found if the program exports it. */
static void *users_function(void **library, const char *entry, const char *pointer)
{
	const char *path = cp_injection_of_user("NVTX_INJECTION64_PATH");
	void **inside;

	*library = cp_forward_open(path, RTLD_LAZY);
	if (path)
		return cp_forward_symbol(*library, entry);
	inside = dlsym(RTLD_DEFAULT, pointer);
	return inside ? *inside : NULL;
}

/* One that fails, or is none, is closed as NVTX does. */
static void chain_tool(const void *(*get)(uint32_t), const struct callbacks *callbacks)
{
	int (*initialize)(const void *(*)(uint32_t));
	void *library, *found = users_function(&library, "InitializeInjectionNvtx2",
			       "InitializeInjectionNvtx2_fnptr");
	struct all_slots before;

	memcpy(&initialize, &found, sizeof(found));
	save_slots(callbacks, &before);
	if (initialize && initialize(get)) {
		take_over(callbacks, &before);
		return;
	}
	if (initialize)
		restore_slots(callbacks, &before);
	if (library)
		dlclose(library);
}

EXPORT int InitializeInjectionNvtx2(const void *(*get)(uint32_t table))
{
	const struct callbacks *callbacks = get(TABLE_CALLBACKS);
	slot_function **place;

	if (!callbacks || callbacks->size < sizeof(*callbacks))
		return 0;
	chain_tool(get, callbacks);
	for (size_t i = 0; i < NENTRIES; i++)
		if ((place = place_of(callbacks, entries[i].module, entries[i].index)))
			*place = entries[i].ours;
	return 1;
}

/* Extensions have tables of their own, which are the tool's alone: dlsym asks this
 * function what it is to find (IFUNC), as in hooks_kokkos.c. */
int InitializeInjectionNvtxExtension(void *module);

__attribute__((used)) static __typeof__(InitializeInjectionNvtxExtension) *find_extension(
	void)
{
	void *library,
		*found = users_function(&library, "InitializeInjectionNvtxExtension",
			"InitializeInjectionNvtxExtension_fnptr");
	__typeof__(&InitializeInjectionNvtxExtension) function;

	if (!found && library)
		dlclose(library);
	memcpy(&function, &found, sizeof(found));
	return function;
}

EXPORT int InitializeInjectionNvtxExtension(void *module)
	__attribute__((ifunc("find_extension")));
