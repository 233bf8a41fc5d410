/* SPDX-License-Identifier: MIT */
#include "tools/paths_diff.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/profile/calls/changes.h"
#include "tools/runs/profile_run.h"

static const struct {
	const char *ending;
	cp_changes_writer *write;
} formats[] = {
	{".txt", cp_changes_write_text},
	{".json", cp_changes_write_json},
	{".html", cp_changes_write_html},
	{".folded", cp_changes_write_folded},
};

static bool is_measurement(const char *name)
{
	if (!name || strcmp(name, "dcache") == 0 || strcmp(name, "dtlb") == 0 ||
		strcmp(name, "icache") == 0)
		return true;
	fprintf(stderr,
		"cachepeek: diff: --call-paths=%s: expected dcache, dtlb or icache\n",
		name);
	return false;
}

/* ---- the two sides ---- */

static bool is_directory(const char *path)
{
	struct stat what;

	return stat(path, &what) == 0 && S_ISDIR(what.st_mode);
}

/* One with call paths; NULL after saying why not. */
static struct cp_profile *read_side(
	struct cp_arena *arena, const char *path, const char **measurement)
{
	char error[4096];
	bool directory = is_directory(path);
	struct cp_profile *profile =
		directory ? cp_profile_read(arena, path, error, sizeof(error))
			  : cp_profile_read_json(
				    arena, path, measurement, error, sizeof(error));

	if (!profile) {
		fprintf(stderr, "cachepeek: diff: %s\n", error);
		return NULL;
	}
	if (directory)
		cp_profile_resolve(profile);
	if (profile->npaths && !profile->sampled)
		return profile;
	fprintf(stderr, "cachepeek: diff: %s has %s\n", path,
		profile->sampled
			? "samples: --call-paths compares simulated runs, which count"
			: "no call paths: it takes --call-paths when the program is run");
	cp_profile_close(profile);
	return NULL;
}

/* The JSON of a side must have the measurement that both are compared by. */
static const char *measurement_of(
	const struct cp_paths_diff *request, const char *const found[2])
{
	const char *name = request->measurement;

	for (unsigned side = 0; side < 2; side++) {
		if (!found[side])
			continue;
		if (name && strcmp(name, found[side]) != 0) {
			fprintf(stderr,
				"cachepeek: diff: %s has what %s counts, not %s\n",
				request->side[side], found[side], name);
			return NULL;
		}
		name = found[side];
	}
	return name ? name : "dcache";
}

/* ---- the result ---- */

static void write_one(struct cp_output *output, int format, const void *changes)
{
	formats[format].write(&output->out, changes);
}

static int compare_paths(const struct cp_paths_diff *request,
	const struct cp_profile *const profile[2], const char *name)
{
	char error[512];
	const struct cp_group *measurement =
		cp_measurement_find(profile[1], name, error, sizeof(error));
	struct cp_changes *changes;

	if (!measurement) {
		fprintf(stderr, "cachepeek: diff: %s\n", error);
		return 1;
	}
	changes = cp_changes_of(profile, request->side, measurement);
	if (request->all)
		changes->percent = 0;
	return cp_output_write_all(
		&request->outputs, CP_ENDINGS(formats), write_one, changes);
}

static int diff_profiles(
	struct cp_arena *arena, const char *directory, const void *context)
{
	const struct cp_paths_diff *request = context;
	const char *found[2] = {NULL, NULL}, *name;
	struct cp_profile *before = read_side(arena, request->side[0], &found[0]),
			  *after = before ? read_side(arena, request->side[1], &found[1])
					  : NULL;
	int status = 1;

	(void)directory;
	name = after ? measurement_of(request, found) : NULL;
	if (name)
		status = compare_paths(
			request, (const struct cp_profile *[]){before, after}, name);
	if (after)
		cp_profile_close(after);
	if (before)
		cp_profile_close(before);
	return status;
}

int cp_paths_diff(struct cp_paths_diff *request)
{
	if (!request->outputs.count)
		request->outputs = (struct cp_output_list){1, {"-"}};
	if (!cp_output_check_all(
		    "diff: --call-paths", &request->outputs, CP_ENDINGS(formats)) ||
		!is_measurement(request->measurement))
		return 2;
	return cp_profile_show_with(diff_profiles, NULL, request, false);
}
