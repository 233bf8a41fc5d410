/* SPDX-License-Identifier: MIT
 *
 * The call paths of a profile from its own JSON: those of all threads together.
 */
#include "base/text/table.h"
#include "tools/profile/read_json_paths.h"

static const char *text_of(struct cp_profile *profile, const json_t *in, const char *name)
{
	const char *value = json_string_value(json_object_get(in, name));

	return cp_text_safe(profile->arena, cp_slice_of(value ? value : ""));
}

static uint64_t number_of(const json_t *in, const char *name)
{
	json_int_t value = json_integer_value(json_object_get(in, name));

	return value > 0 ? (uint64_t)value : 0;
}

/* The root is outside of all calls: it has no function. */
static void read_path(struct cp_profile *profile, const json_t *in, size_t i)
{
	struct cp_profiled_module *module =
		cp_arena_alloc(profile->arena, sizeof(*module));
	struct cp_profile_path *path = cp_arena_alloc(profile->arena, sizeof(*path));
	const json_t *counts = json_object_get(in, "exclusive");
	uint64_t parent = number_of(in, "parent");

	module->path = module->name = text_of(profile, in, "module");
	path->function = i > 0;
	path->calls = number_of(in, "calls");
	path->folded = number_of(in, "folded");
	for (unsigned c = 0; c < CP_SIM_NCOUNTERS; c++)
		path->count[c] = number_of(counts, cp_profile_counters[c].name);
	profile->paths[i] = (struct cp_profiled_path){
		.thread = profile->threads,
		.parent = parent < i ? parent : 0,
		.at = {.module = module,
			.function = text_of(profile, in, "function"),
			.file = ""},
		.in = path,
	};
}

void cp_profile_read_json_paths(struct cp_profile *profile, const json_t *document)
{
	const json_t *paths =
		json_object_get(json_object_get(document, "call_paths"), "paths");
	size_t n = json_array_size(paths);

	profile->paths =
		cp_arena_alloc(profile->arena, (n + 1) * sizeof(*profile->paths));
	for (size_t i = 0; i < n; i++)
		read_path(profile, json_array_get(paths, i), i);
	profile->npaths = n;
}
