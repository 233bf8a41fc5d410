/* SPDX-License-Identifier: MIT */
#include "tools/runs/profile_run.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "regions/rundir.h"
#include "tools/shared/check.h"
#include "tools/shared/cmd.h"
#include "tools/runs/alone_record.h"
#include "tools/runs/launch.h"
#include "tools/runs/preloading.h"
#include "tools/shared/output.h"
#include "tools/shared/place.h"
#include "tools/runs/watch.h"

int cp_profile_show_with(cp_profile_write *write, const char *directory,
	const void *context, bool debuginfod)
{
	struct cp_arena arena = {0};
	struct cp_escape out_of_memory;
	volatile int status = 1;

	arena.out_of_memory = &out_of_memory;
	/* libdw would ask servers for what is not on this disk. */
	if (!debuginfod)
		unsetenv("DEBUGINFOD_URLS");
	if (CP_ESCAPE_SET(out_of_memory) == 0) {
		status = write(&arena, directory, context);
	} else {
		cp_output_abandon();
		fprintf(stderr, "cachepeek: no memory for the profile%s%s\n",
			directory ? " in " : "", directory ? directory : "");
	}
	arena.out_of_memory = NULL;
	cp_arena_free(&arena);
	return status;
}

/* ---- the run ---- */

static int show_last(const struct cp_profile_source *from, cp_profile_write *write,
	const void *context)
{
	char base[PATH_MAX], path[PATH_MAX + 8];

	if (from->directory)
		return cp_profile_show_with(
			write, from->directory, context, from->debuginfod);
	if (!cp_run_base(cp_cmd_getenv, base, sizeof(base))) {
		fprintf(stderr, "cachepeek: neither HOME nor XDG_CACHE_HOME is set: "
				"name the run's directory (-d)\n");
		return 1;
	}
	snprintf(path, sizeof(path), "%s/last", base);
	return cp_profile_show_with(write, path, context, from->debuginfod);
}

static int make_directory(
	const struct cp_profile_source *from, char *directory, size_t size)
{
	int result = cp_launch_make_run(from->directory, directory, size);

	if (result < 0)
		fprintf(stderr, "cachepeek: no place for the run's records (%s: %s)\n",
			directory, strerror(-result));
	return result;
}

#define NVARIABLES 6

struct variable {
	const char *name, *value; /* NULL: as it is set elsewhere */
};

static void list_variables(
	const struct cp_profile_source *from, struct variable list[NVARIABLES])
{
	const struct variable all[NVARIABLES] = {{"CACHEPEEK_PROFILE", from->name},
		{"CACHEPEEK_ENGINE", from->engine ? from->engine : "sim"},
		{"CACHEPEEK_MACHINE", from->machine},
		{"CACHEPEEK_CALL_PATHS", from->call_paths ? "1" : NULL},
		{"CACHEPEEK_LINE_USE", from->line_use ? "1" : NULL},
		{"CACHEPEEK_REPRODUCIBLE", from->reproducible}};

	memcpy(list, all, sizeof(all));
}

/* Settings for other commands do not count here. */
static int prepare_directory(
	const struct cp_profile_source *from, char *directory, size_t size)
{
	static char *const nothing[] = {NULL};
	struct variable list[NVARIABLES];

	list_variables(from, list);
	for (size_t i = 0; i < NVARIABLES; i++)
		if (list[i].value)
			setenv(list[i].name, list[i].value, 1);
	unsetenv("CACHEPEEK_OUTPUT");
	if (cp_prepare_preload(nothing) < 0)
		return -ENOENT;
	if (from->engine && strcmp(from->engine, "perf") == 0)
		cp_preload_allocator_watch();
	if (make_directory(from, directory, size) < 0)
		return -ENOENT;
	setenv("CACHEPEEK__LAUNCHER", directory, 1);
	unsetenv("CACHEPEEK__SCOPE"); /* no report but ours */
	return 0;
}

static int preload_and_run(const struct cp_profile_source *from, char **argv,
	char *directory, struct cp_launch *launch)
{
	struct cp_watch watch;
	int result;

	if (prepare_directory(from, directory, CP_RUNDIR_SIZE) < 0)
		return 0;
	cp_watch_start(&watch, directory, "");
	result = cp_launch(launch, argv, &watch);
	if (result == 0)
		cp_launch_note(launch, directory);
	return result < 0 ? result : 1;
}

/* The program itself does not get the variables. */
static int run_alone(const struct cp_profile_source *from, char **argv, char *directory,
	struct cp_launch *launch)
{
	char *added[NVARIABLES + 1] = {NULL};
	struct variable list[NVARIABLES];
	size_t n = 0;
	int result;

	if (make_directory(from, directory, CP_RUNDIR_SIZE) < 0)
		return 0;
	list_variables(from, list);
	for (size_t i = 0; i < NVARIABLES; i++)
		if (list[i].value &&
			asprintf(&added[n], "%s=%s", list[i].name, list[i].value) >= 0)
			n++;
	result = cp_alone_record(argv, added, directory, launch);
	while (n)
		free(added[--n]);
	return result < 0 ? result : 1;
}

/* Nothing is preloaded into a static program: the simulator alone tells where it misses.
 */
static bool runs_alone(const struct cp_profile_source *from, const char *program)
{
	struct cp_why why;

	if ((from->engine && strcmp(from->engine, "sim") != 0) ||
		cp_can_be_preloaded(program) != CP_STATIC)
		return false;
	if (cp_alone_possible(program, &why))
		return true;
	fprintf(stderr, "cachepeek: %s is statically linked, and runs uncounted (%s)\n",
		program, why.text);
	return false;
}

static int run_program(const struct cp_profile_source *from, char **argv,
	cp_profile_write *write, const void *context)
{
	char directory[CP_RUNDIR_SIZE] = "";
	struct cp_launch launch = {0};
	int result = runs_alone(from, argv[0])
			     ? run_alone(from, argv, directory, &launch)
			     : preload_and_run(from, argv, directory, &launch);

	if (!result)
		return 127;
	if (result < 0) {
		if (!from->directory)
			cp_run_remove(directory);
		return cp_cannot_run(argv[0], -result);
	}
	cp_profile_show_with(write, directory, context, from->debuginfod);
	return cp_end_like(launch.status);
}

int cp_profile_of(const struct cp_profile_source *from, char **argv,
	cp_profile_write *write, const void *context)
{
	const struct cp_wanted wanted = {
		.machine = from->machine, .directory = from->directory};

	if (!*argv)
		return show_last(from, write, context);
	return cp_check_wanted(&wanted) ? run_program(from, argv, write, context) : 2;
}
