/* SPDX-License-Identifier: MIT
 *
 * /tmp/perf-PID.map, in which compilers at run time say what they made.
 */
#include "tools/profile/model/jit.c"

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct cp_profile profile = {.arena = &(struct cp_arena){.give_up = abort}};
	struct cp_place_in_code at = {.address = size * 0x10, .function = ""};

	map.pid = 1;
	read_lines(profile.arena, text);
	for (size_t i = 0; i < map.n; i++) {
		at.address = map.functions[i].start + i;
		cp_jit_find(&profile, 1, &at);
		fuzz_read(at.function);
	}
	cp_jit_forget();
	cp_arena_free(profile.arena);
	free(text);
	return 0;
}
