/* SPDX-License-Identifier: MIT
 *
 * JSON reports of one or of several runs, as `cachepeek diff` reads them: compared
 * with a sound one and with themselves, and the differences written.
 */

#include "tests/fuzz/file.h"
#include "tests/fuzz/json_tree.h"
#include "tools/diff/diff.h"

static const char *const sound = "tests/fuzz/seeds/report_json/sim";

static void write_all(struct cp_diff *diff)
{
	struct cp_out out;
	json_t *made;

	cp_out_open(&out, fuzz_file.sink);
	cp_diff_text(diff, &out, false);
	cp_diff_csv(diff, &out);
	made = cp_diff_json(diff);
	if (made)
		free(json_dumps(made, 0));
	json_decref(made);
	cp_out_flush(&out);
}

/* The command ends with them. */
static void forget(const struct cp_values *values)
{
	for (size_t i = 0; i < values->nspots; i++)
		json_decref(values->spots[i]->names);
}

static void compare(struct cp_arena *arena, const char *before, const char *after)
{
	struct cp_diff diff = {.arena = arena, .all = true};
	char error[1024] = "";

	diff.values = cp_values_new(arena);
	diff.values->sides[0].label = diff.values->sides[1].label = "side";
	if (!cp_values_add(diff.values, 0, before, error, sizeof(error)) ||
		!cp_values_add(diff.values, 1, after, error, sizeof(error))) {
		fuzz_read(error);
		fuzz_count_run(false);
	} else {
		fuzz_count_run(true);
		if (cp_diff_compare(&diff) == 0)
			write_all(&diff);
	}
	forget(diff.values);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cp_arena arena = {0};
	struct cp_escape out_of_memory;

	fuzz_file_write("report.json", data, size);
	arena.out_of_memory = &out_of_memory;
	if (CP_ESCAPE_SET(out_of_memory) == 0)
		compare(&arena, access(sound, R_OK) == 0 ? sound : fuzz_file.path,
			fuzz_file.path);
	cp_arena_free(&arena);
	return 0;
}
