/* SPDX-License-Identifier: MIT
 *
 * Exports: kokkosp_init_library, kokkosp_finalize_library,
 *   kokkosp_begin_parallel_for, kokkosp_end_parallel_for,
 *   kokkosp_begin_parallel_reduce, kokkosp_end_parallel_reduce,
 *   kokkosp_begin_parallel_scan, kokkosp_end_parallel_scan,
 *   kokkosp_push_profile_region, kokkosp_pop_profile_region,
 *   kokkosp_create_profile_section, kokkosp_start_profile_section,
 *   kokkosp_stop_profile_section, kokkosp_destroy_profile_section,
 *   kokkosp_begin_deep_copy, kokkosp_end_deep_copy, kokkosp_request_tool_settings;
 * and those of OTHERS below, where the user's tool has them.
 *
 * The callbacks of a Kokkos tool, which Kokkos finds by an environment variable
 * (hooks_getenv.c).  Kernels, regions and deep copies nest; sections may overlap
 * with anything.  A tool that the user has named gets every call.  There are no
 * fence callbacks: asking for them makes Kokkos wait after each kernel.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

#include "base/export.h"
#include "preload/markers/forward.h"
#include "preload/markers/handles.h"
#include "preload/markers/injection.h"
#include "preload/markers/markers.h"

static CP_MARKER_TOOL(this_tool, " of Kokkos");

#define REGIONS cp_marker_tag(&this_tool, 0)
#define KERNELS cp_marker_tag(&this_tool, 1)
#define COPIES cp_marker_tag(&this_tool, 2)
#define SECTIONS cp_marker_tag(&this_tool, 3)

struct kokkos_space {
	char name[64];
};

struct kokkos_settings {
	bool requires_global_fencing;
	bool padding[255];
};

void kokkosp_init_library(
	int sequence, uint64_t version, uint32_t ndevices, void *devices);
void kokkosp_finalize_library(void);
void kokkosp_push_profile_region(const char *name);
void kokkosp_pop_profile_region(void);
void kokkosp_create_profile_section(const char *name, uint32_t *id);
void kokkosp_start_profile_section(uint32_t id);
void kokkosp_stop_profile_section(uint32_t id);
void kokkosp_destroy_profile_section(uint32_t id);
void kokkosp_begin_deep_copy(struct kokkos_space to, const char *to_name,
	const void *to_at, struct kokkos_space from, const char *from_name,
	const void *from_at, uint64_t size);
void kokkosp_end_deep_copy(void);
void kokkosp_request_tool_settings(uint32_t count, struct kokkos_settings *settings);

/* ---- the user's own tool, and its callbacks ---- */

#define KERNEL_KINDS(X) X(parallel_for) X(parallel_reduce) X(parallel_scan)

static struct {
#define X(kind)                                                                          \
	void (*begin_##kind)(const char *name, uint32_t device, uint64_t *id);           \
	void (*end_##kind)(uint64_t id);
	KERNEL_KINDS(X)
#undef X
#define NEXT(name) __typeof__(&kokkosp_##name) name
	NEXT(init_library);
	NEXT(finalize_library);
	NEXT(push_profile_region);
	NEXT(pop_profile_region);
	NEXT(create_profile_section);
	NEXT(start_profile_section);
	NEXT(stop_profile_section);
	NEXT(destroy_profile_section);
	NEXT(begin_deep_copy);
	NEXT(end_deep_copy);
	NEXT(request_tool_settings);
#undef NEXT
} next;

static void find_callbacks(void *tool)
{
#define FIND(name)                                                                       \
	{                                                                                \
		void *found = cp_forward_symbol(tool, "kokkosp_" #name);                 \
                                                                                         \
		memcpy(&next.name, &found, sizeof(found));                               \
	}
#define X(kind) FIND(begin_##kind) FIND(end_##kind)
	KERNEL_KINDS(X)
#undef X
	FIND(init_library)
	FIND(finalize_library)
	FIND(push_profile_region)
	FIND(pop_profile_region)
	FIND(create_profile_section)
	FIND(start_profile_section)
	FIND(stop_profile_section)
	FIND(destroy_profile_section)
	FIND(begin_deep_copy)
	FIND(end_deep_copy)
	FIND(request_tool_settings)
#undef FIND
}

static void *open_users_tool(void)
{
	const char *path = cp_injection_of_user("KOKKOS_TOOLS_LIBS");
	char first[4096];
	size_t length;

	if (!path)
		path = cp_injection_of_user("KOKKOS_PROFILE_LIBRARY");
	length = path ? strcspn(path, ";") : 0;
	if (length == 0 || length >= sizeof(first))
		return NULL;
	memcpy(first, path, length);
	first[length] = '\0';
	return cp_forward_open(first, RTLD_NOW | RTLD_GLOBAL);
}

/* Opened where Kokkos would: it is looking for callbacks. */
static void *users_tool(void)
{
	static bool asked;
	static void *tool;

	if (!asked) {
		asked = true;
		tool = open_users_tool();
		find_callbacks(tool);
	}
	return tool;
}

/*
 * Callbacks that are not ours: Kokkos finds those of the user's tool, and no others,
 * since some make a difference by being there.  dlsym asks these functions what it is
 * to find (IFUNC); nothing is linked with the names.
 */
#define OTHERS(X)                                                                        \
	X(allocate_data)                                                                 \
	X(deallocate_data)                                                               \
	X(begin_fence)                                                                   \
	X(end_fence)                                                                     \
	X(profile_event)                                                                 \
	X(dual_view_sync)                                                                \
	X(dual_view_modify)                                                              \
	X(declare_metadata)                                                              \
	X(parse_args)                                                                    \
	X(print_help)                                                                    \
	X(provide_tool_programming_interface)                                            \
	X(declare_input_type)                                                            \
	X(declare_output_type)                                                           \
	X(declare_optimization_goal)                                                     \
	X(request_values)                                                                \
	X(begin_context)                                                                 \
	X(end_context)

typedef void callback(void);

#define X(name)                                                                          \
	void kokkosp_##name(void);                                                       \
	__attribute__((used)) static callback *find_##name(void)                         \
	{                                                                                \
		void *found = cp_forward_symbol(users_tool(), "kokkosp_" #name);         \
		callback *function;                                                      \
                                                                                         \
		memcpy(&function, &found, sizeof(found));                                \
		return function;                                                         \
	}                                                                                \
	EXPORT void kokkosp_##name(void) __attribute__((ifunc("find_" #name)));
OTHERS(X)
#undef X

EXPORT void kokkosp_init_library(
	int sequence, uint64_t version, uint32_t ndevices, void *devices)
{
	(void)users_tool();
	if (next.init_library)
		next.init_library(sequence, version, ndevices, devices);
}

EXPORT void kokkosp_finalize_library(void)
{
	if (next.finalize_library)
		next.finalize_library();
}

/* Whether this is there decides on fences: without it Kokkos waits always. */
EXPORT void kokkosp_request_tool_settings(
	uint32_t count, struct kokkos_settings *settings)
{
	if (next.request_tool_settings)
		next.request_tool_settings(count, settings);
	else if (!users_tool()) /* or as if it were alone */
		settings->requires_global_fencing = false;
}

/* ---- kernels ---- */

static uint64_t new_id(void)
{
	static uint64_t last;

	return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

#define X(kind)                                                                          \
	void kokkosp_begin_##kind(const char *name, uint32_t device, uint64_t *id);      \
	EXPORT void kokkosp_begin_##kind(                                                \
		const char *name, uint32_t device, uint64_t *id)                         \
	{                                                                                \
		if (!users_tool())                                                       \
			*id = new_id();                                                  \
		else if (next.begin_##kind)                                              \
			next.begin_##kind(name, device, id);                             \
		cp_marker_begin(cp_marker_name(name), KERNELS);                          \
	}                                                                                \
	EXPORT void kokkosp_end_##kind(uint64_t id)                                      \
	{                                                                                \
		cp_marker_end(NULL, KERNELS, CP_END_OWN);                                \
		if (next.end_##kind)                                                     \
			next.end_##kind(id);                                             \
	}
KERNEL_KINDS(X)
#undef X

EXPORT void kokkosp_begin_deep_copy(struct kokkos_space to, const char *to_name,
	const void *to_at, struct kokkos_space from, const char *from_name,
	const void *from_at, uint64_t size)
{
	if (next.begin_deep_copy)
		next.begin_deep_copy(to, to_name, to_at, from, from_name, from_at, size);
	cp_marker_begin(cp_marker_name("deep_copy"), COPIES);
}

EXPORT void kokkosp_end_deep_copy(void)
{
	cp_marker_end(NULL, COPIES, CP_END_OWN);
	if (next.end_deep_copy)
		next.end_deep_copy();
}

/* ---- regions and sections ---- */

EXPORT void kokkosp_push_profile_region(const char *name)
{
	if (next.push_profile_region)
		next.push_profile_region(name);
	cp_marker_begin(cp_marker_name(name), REGIONS);
}

EXPORT void kokkosp_pop_profile_region(void)
{
	cp_marker_end(NULL, REGIONS, CP_END_OWN);
	if (next.pop_profile_region)
		next.pop_profile_region();
}

EXPORT void kokkosp_create_profile_section(const char *name, uint32_t *id)
{
	if (next.create_profile_section)
		next.create_profile_section(name, id);
	else if (next.start_profile_section || next.stop_profile_section ||
		 next.destroy_profile_section)
		return; /* and so the tool meets no number of ours */
	else
		*id = (uint32_t)new_id();
	cp_handle_set(SECTIONS, (uint64_t)*id + 1, cp_marker_name(name));
}

EXPORT void kokkosp_start_profile_section(uint32_t id)
{
	struct cp_range_key key = {SECTIONS, {id, 0, 0, 0}};

	if (next.start_profile_section)
		next.start_profile_section(id);
	cp_range_begin(cp_handle_name(SECTIONS, (uint64_t)id + 1), &key);
}

EXPORT void kokkosp_stop_profile_section(uint32_t id)
{
	struct cp_range_key key = {SECTIONS, {id, 0, 0, 0}};

	cp_range_end(&key);
	if (next.stop_profile_section)
		next.stop_profile_section(id);
}

EXPORT void kokkosp_destroy_profile_section(uint32_t id)
{
	if (next.destroy_profile_section)
		next.destroy_profile_section(id);
}
