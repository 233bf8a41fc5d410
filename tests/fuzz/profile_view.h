/* SPDX-License-Identifier: MIT
 *
 * A profile that was read, in all the ways in which it is written.
 */
#ifndef CACHEPEEK_TESTS_FUZZ_PROFILE_VIEW_H
#define CACHEPEEK_TESTS_FUZZ_PROFILE_VIEW_H

#include "tests/fuzz/file.h"
#include "tools/profile/annotate.h"
#include "tools/profile/advice/sharing.h"
#include "tools/profile/model/write.h"

static inline void fuzz_write_shared(struct cp_out *out, struct cp_profile *profile)
{
	const struct cp_sharing *sharing;

	if (!profile->slices)
		return;
	cp_sharing_warn(profile);
	sharing = cp_sharing_find(profile, 1);
	cp_sharing_write_text(out, sharing);
	cp_sharing_write_screen(out, sharing, 0);
	cp_sharing_write_json(out, sharing);
}

static inline void fuzz_write_source(
	struct cp_out *out, const struct cp_profile_view *view)
{
	struct cp_rows *files = cp_rows_of_all(view, CP_ROW_FILE);
	char error[4096];
	const struct cp_row *file =
		cp_annotate_find(view, files, "walk.c", error, sizeof(error));

	if (file)
		cp_annotate_write(out, view, files, file, "walk.c");
}

static inline void fuzz_write_profile(struct cp_profile *profile, const char *name)
{
	static cp_profile_writer *const writers[] = {cp_profile_write_text,
		cp_profile_write_json, cp_profile_write_csv, cp_profile_write_callgrind,
		cp_profile_write_folded, cp_profile_write_speedscope,
		cp_profile_write_pprof};
	char error[512];
	struct cp_profile_view view = {.profile = profile,
		.measurement = cp_measurement_find(profile, name, error, sizeof(error)),
		.cutoff = {.percent = 1, .cumulative = 99, .least = 5},
		.statements = true,
		.instructions = true};
	struct cp_out out;

	if (!view.measurement)
		return;
	cp_out_open(&out, fuzz_file.sink);
	fuzz_write_shared(&out, profile);
	for (size_t i = 0; i < sizeof(writers) / sizeof(writers[0]); i++)
		writers[i](&out, &view);
	fuzz_write_source(&out, &view);
	cp_out_flush(&out);
}

/* One of the measurements in each run: writing takes most of the time. */
static inline void fuzz_read_directory(struct cp_arena *arena, size_t which)
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

/* A run directory with that file. */
static inline void fuzz_run_directory(const char *name, const uint8_t *data, size_t size)
{
	struct cp_arena arena = {0};
	struct cp_escape out_of_memory;

	fuzz_file_write(name, data, size);
	arena.out_of_memory = &out_of_memory;
	if (CP_ESCAPE_SET(out_of_memory) == 0)
		fuzz_read_directory(&arena, size / 8);
	cp_arena_free(&arena);
}

#endif
