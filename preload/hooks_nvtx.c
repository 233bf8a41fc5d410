/* SPDX-License-Identifier: MIT
 *
 * Exports: InitializeInjectionNvtx2.
 *
 * NVTX, whose header asks the library that an environment variable names
 * (hooks_getenv.c), once in each library of the program that has NVTX inside, to
 * fill its tables.  Push and pop nest per thread and domain; start and end are
 * ranges, which any thread may end.  A tool that the user has named fills the
 * tables first and gets every call.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <wchar.h>

#include "preload/forward.h"
#include "preload/handles.h"
#include "preload/injection.h"
#include "preload/markers.h"
#include "preload/markers_text.h"

#define EXPORT __attribute__((visibility("default")))

/* ---- the ABI ---- */

#define NO_TRACKING (-2) /* NVTX_NO_PUSH_POP_TRACKING: what no tool returns */
enum { MESSAGE_ASCII = 1, MESSAGE_WIDE = 2, MESSAGE_REGISTERED = 3 };
enum { TABLE_CALLBACKS = 1, MODULE_CORE = 1, MODULE_CORE2 = 5 };

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

#define STRINGS cp_marker_tag(CP_MARKER_NVTX, 1)
#define RANGES cp_marker_tag(CP_MARKER_NVTX, 2)

static uint64_t stack_of(const void *domain)
{
	return cp_marker_tag(CP_MARKER_NVTX, 8 + (uint64_t)(uintptr_t)domain);
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

static slot_function *next[NSLOTS];

#define NEXT(slot, type, ...) ((type(*)(__VA_ARGS__))(uintptr_t)next[slot])

/* ---- push and pop ---- */

static int push(struct cp_name *name, const void *domain, int level)
{
	cp_marker_begin(name, stack_of(domain));
	return level;
}

static int push_ex(const struct attributes *attributes)
{
	int level = next[PUSH_EX] ? NEXT(PUSH_EX, int, const void *)(attributes)
				  : NO_TRACKING;

	return push(name_of(attributes), NULL, level);
}

static int push_a(const char *text)
{
	int level = next[PUSH_A] ? NEXT(PUSH_A, int, const char *)(text) : NO_TRACKING;

	return push(cp_marker_name(text), NULL, level);
}

static int push_w(const wchar_t *text)
{
	int level = next[PUSH_W] ? NEXT(PUSH_W, int, const wchar_t *)(text) : NO_TRACKING;

	return push(name_of_wide(text), NULL, level);
}

static int pop(void)
{
	cp_marker_end(NULL, stack_of(NULL), CP_END_ALONE);
	return next[POP] ? NEXT(POP, int, void)() : NO_TRACKING;
}

static int domain_push(const void *domain, const struct attributes *attributes)
{
	int level = next[DOMAIN_PUSH] ? NEXT(DOMAIN_PUSH, int, const void *,
						const void *)(domain, attributes)
				      : NO_TRACKING;

	return push(name_of(attributes), domain, level);
}

static int domain_pop(const void *domain)
{
	cp_marker_end(NULL, stack_of(domain), CP_END_ALONE);
	return next[DOMAIN_POP] ? NEXT(DOMAIN_POP, int, const void *)(domain)
				: NO_TRACKING;
}

/* ---- ranges ---- */

static uint64_t new_id(void)
{
	static uint64_t last;

	return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

static uint64_t start(struct cp_name *name, const void *domain, uint64_t id)
{
	struct cp_range_key key = {RANGES, {id, (uint64_t)(uintptr_t)domain, 0, 0}};

	cp_range_begin(name, &key);
	return id;
}

static void end(const void *domain, uint64_t id)
{
	struct cp_range_key key = {RANGES, {id, (uint64_t)(uintptr_t)domain, 0, 0}};

	cp_range_end(&key);
}

static uint64_t start_ex(const struct attributes *attributes)
{
	uint64_t id = next[RANGE_START_EX]
			      ? NEXT(RANGE_START_EX, uint64_t, const void *)(attributes)
			      : new_id();

	return start(name_of(attributes), NULL, id);
}

static uint64_t start_a(const char *text)
{
	uint64_t id = next[RANGE_START_A]
			      ? NEXT(RANGE_START_A, uint64_t, const char *)(text)
			      : new_id();

	return start(cp_marker_name(text), NULL, id);
}

static uint64_t start_w(const wchar_t *text)
{
	uint64_t id = next[RANGE_START_W]
			      ? NEXT(RANGE_START_W, uint64_t, const wchar_t *)(text)
			      : new_id();

	return start(name_of_wide(text), NULL, id);
}

static void range_end(uint64_t id)
{
	end(NULL, id);
	if (next[RANGE_END])
		NEXT(RANGE_END, void, uint64_t)(id);
}

static uint64_t domain_start(const void *domain, const struct attributes *attributes)
{
	uint64_t id = next[DOMAIN_RANGE_START]
			      ? NEXT(DOMAIN_RANGE_START, uint64_t, const void *,
					const void *)(domain, attributes)
			      : new_id();

	return start(name_of(attributes), domain, id);
}

static void domain_end(const void *domain, uint64_t id)
{
	end(domain, id);
	if (next[DOMAIN_RANGE_END])
		NEXT(DOMAIN_RANGE_END, void, const void *, uint64_t)(domain, id);
}

/* ---- handles: another tool's, or ours ---- */

static const void *handle_of(struct cp_name *name, const void *others)
{
	static const char nothing; /* a domain must not be NULL */
	const struct cp_handle *handle =
		cp_handle_set(STRINGS, (uint64_t)(uintptr_t)others, name);

	if (others)
		return others;
	return handle ? (const void *)(uintptr_t)handle->value : &nothing;
}

static const void *register_a(const void *domain, const char *text)
{
	return handle_of(cp_marker_name(text),
		next[REGISTER_A] ? NEXT(REGISTER_A, const void *, const void *,
					   const char *)(domain, text)
				 : NULL);
}

static const void *register_w(const void *domain, const wchar_t *text)
{
	return handle_of(name_of_wide(text),
		next[REGISTER_W] ? NEXT(REGISTER_W, const void *, const void *,
					   const wchar_t *)(domain, text)
				 : NULL);
}

static const void *create_a(const char *text)
{
	return handle_of(cp_marker_name(text),
		next[DOMAIN_CREATE_A]
			? NEXT(DOMAIN_CREATE_A, const void *, const char *)(text)
			: NULL);
}

static const void *create_w(const wchar_t *text)
{
	return handle_of(name_of_wide(text),
		next[DOMAIN_CREATE_W]
			? NEXT(DOMAIN_CREATE_W, const void *, const wchar_t *)(text)
			: NULL);
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
	ENTRY(MODULE_CORE, 11, POP, pop),
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

/* Where the pointer of an entry stands; NULL: not in this version. */
static slot_function **place_of(
	const struct callbacks *callbacks, const struct entry *entry)
{
	slot_function ***table = NULL;
	unsigned size = 0;

	if (!callbacks->table(entry->module, &table, &size) || !table ||
		entry->index >= size)
		return NULL;
	return table[entry->index];
}

/* A slot that the user's tool has left as it was has no next. */
static void chain(const void *(*get)(uint32_t), const struct callbacks *callbacks)
{
	int (*initialize)(const void *(*)(uint32_t));
	slot_function *before[NENTRIES] = {NULL}, **place;
	void *tool = cp_forward_open(cp_injection_of_user("NVTX_INJECTION64_PATH")),
	     *found = cp_forward_symbol(tool, "InitializeInjectionNvtx2");

	if (!found)
		return;
	for (size_t i = 0; i < NENTRIES; i++)
		if ((place = place_of(callbacks, &entries[i])))
			before[i] = *place;
	memcpy(&initialize, &found, sizeof(found));
	if (!initialize(get))
		return;
	for (size_t i = 0; i < NENTRIES; i++) {
		place = place_of(callbacks, &entries[i]);
		if (place && *place != before[i] && *place != entries[i].ours)
			next[entries[i].slot] = *place;
	}
}

EXPORT int InitializeInjectionNvtx2(const void *(*get)(uint32_t table))
{
	const struct callbacks *callbacks = get(TABLE_CALLBACKS);
	slot_function **place;

	if (!callbacks || callbacks->size < sizeof(*callbacks))
		return 0;
	chain(get, callbacks);
	for (size_t i = 0; i < NENTRIES; i++)
		if ((place = place_of(callbacks, &entries[i])))
			*place = entries[i].ours;
	return 1;
}
