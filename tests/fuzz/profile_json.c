/* SPDX-License-Identifier: MIT
 *
 * The JSON of profiles, as `cachepeek annotate -i` reads it.
 */

#include "tests/fuzz/json_tree.h"
#include "tests/fuzz/profile_view.h"

static void annotate(struct cp_arena *arena)
{
	const char *measurement = "";
	char error[512] = "";
	struct cp_profile *profile = cp_profile_read_json(
		arena, fuzz_file.path, &measurement, error, sizeof(error));

	fuzz_count_run(profile);
	fuzz_read(error);
	if (profile) {
		fuzz_read(measurement);
		fuzz_write_profile(profile, measurement);
		cp_profile_close(profile);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cp_arena arena = {0};
	struct cp_escape out_of_memory;

	fuzz_file_write("profile.json", data, size);
	arena.out_of_memory = &out_of_memory;
	if (CP_ESCAPE_SET(out_of_memory) == 0)
		annotate(&arena);
	cp_arena_free(&arena);
	return 0;
}
