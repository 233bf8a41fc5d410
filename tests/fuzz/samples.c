/* SPDX-License-Identifier: MIT
 *
 * What the kernel's samples are saved in (PID-N.samples), as somebody else may have
 * left it in a run directory: read, resolved, written in each format.
 */

#include "tests/fuzz/profile_view.h"

/* One of the measurements in each run: writing takes most of the time. */
static void read_it(struct cp_arena *arena, size_t which)
{
	static const char *const names[] = {"dcache", "dtlb", "icache"};
	char error[512] = "";
	struct cp_profile *profile =
		cp_profile_read(arena, fuzz_file.directory, error, sizeof(error));

	fuzz_read(error);
	if (!profile)
		return;
	cp_profile_resolve(profile);
	fuzz_write_profile(profile, names[which % (sizeof(names) / sizeof(names[0]))]);
	cp_profile_close(profile);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cp_arena arena = {0};
	struct cp_escape out_of_memory;

	fuzz_file_write("1-0.samples", data, size);
	arena.out_of_memory = &out_of_memory;
	if (CP_ESCAPE_SET(out_of_memory) == 0)
		read_it(&arena, size / 8);
	cp_arena_free(&arena);
	return 0;
}
