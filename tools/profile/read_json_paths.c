/* SPDX-License-Identifier: MIT
 *
 * The call paths of a profile from its own JSON: those of all threads together.
 */
#include "base/text/table.h"
#include "tools/profile/read_json_paths.h"
#include "tools/shared/json_file.h"

/* The root is outside of all calls: it has no function. */
static void read_path(struct cp_profile *profile, const json_t *in, size_t i)
{
	struct cp_profiled_module *module =
		cp_arena_alloc(profile->arena, sizeof(*module));
	struct cp_profile_path *path = cp_arena_alloc(profile->arena, sizeof(*path));
	const json_t *counts = json_object_get(in, "exclusive");
	uint64_t parent = cp_json_count(in, "parent");

	module->path = module->name = cp_json_shown(profile->arena, in, "module");
	path->function = i > 0;
	path->calls = cp_json_count(in, "calls");
	path->folded = cp_json_count(in, "folded");
	for (unsigned c = 0; c < CP_SIM_NCOUNTERS; c++)
		path->count[c] = cp_json_count(counts, cp_profile_counters[c].name);
	profile->paths[i] = (struct cp_profiled_path){
		.thread = profile->threads,
		.parent = parent < i ? parent : 0,
		.at = {.module = module,
			.function = cp_json_shown(profile->arena, in, "function"),
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
