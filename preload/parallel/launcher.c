/* SPDX-License-Identifier: MIT */
#include "preload/parallel/launcher.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/format.h"
#include "base/log.h"
#include "regions/ancestors.h"
#include "regions/job_records.h"
#include "regions/process_state.h"
#include "regions/record_read.h"
#include "base/env.h"
#include "preload/libc/real.h"
#include "preload/reexec.h"
#include "preload/runtime.h"
#include "regions/rundir.h"
#include "preload/run.h"
#include "base/counters/options.h"

/* Finds the run of this launcher's jobs as their ranks do (rank.c, run.c). */
static bool find_run(void)
{
	struct cp_ancestor self;

	if (cp_run.job.scope)
		return cp_run.directory[0];
	if (!cp_ancestor_read(cp_runtime.pid, &self))
		return false;
	cp_run.job.scope = cp_ancestor_key(&self);
	if (!cp_options.dir)
		return cp_run_find_shared(cp_env_get, cp_run.job.scope, cp_run.directory,
			sizeof(cp_run.directory));
	cp_format(cp_run.directory, sizeof(cp_run.directory), "%s", cp_options.dir);
	return true;
}

/* Nobody has it in a report, and nobody will. */
static bool is_dead(struct cp_arena *arena, const char *path)
{
	struct cp_record record;
	char why[256];

	if (cp_record_read(arena, AT_FDCWD, path, &record, why, sizeof(why)) < 0)
		return true;
	if (record.header->flags & CP_RECORD_IN_JOB)
		return false;
	return !(record.header->flags & CP_RECORD_ROOT) ||
	       record.header->how != CP_HOW_RUNNING ||
	       strcmp(cp_process_state(record.header->pid, record.header->realtime_ns,
			      cp_record_meta(&record, "host", NULL)),
		       "running") != 0;
}

static bool is_lost(struct cp_arena *arena, struct cp_job_id job)
{
	const char *const *paths;
	size_t count = cp_jobs_paths(arena, cp_run.directory, job, -1, &paths);

	for (size_t i = 0; i < count; i++)
		if (!is_dead(arena, paths[i]))
			return false;
	return count && cp_job_tells(cp_run.directory, job, CP_JOB_FAILED);
}

static void look_for_lost(struct cp_arena *arena)
{
	struct cp_job_id *jobs;
	size_t count = cp_jobs_in(arena, cp_run.directory, cp_run.job.scope, &jobs);

	for (size_t i = 0; i < count; i++)
		if (is_lost(arena, jobs[i]))
			cp_say("no rank lived to write the report: `cachepeek report %s` "
			       "shows what was counted of all",
				cp_run.directory);
}

static void at_exit(int status, void *unused)
{
	struct cp_arena arena = {0};
	struct cp_escape out_of_memory;

	(void)unused;
	if (status == 0 || getpid() != cp_runtime.pid || !find_run())
		return;
	if (CP_ESCAPE_SET(out_of_memory) == 0) {
		arena.out_of_memory = &out_of_memory;
		look_for_lost(&arena);
	}
	arena.out_of_memory = NULL;
	cp_arena_free(&arena);
}

static void watch_end(void)
{
	struct cp_launchers above;

	cp_launchers_above(&above);
	/* The command sees the end of the outermost one itself. */
	if (!above.found && !cp_run.launched)
		CP_REAL(on_exit)(at_exit, NULL);
}

static void set_above(void *unused, pid_t pid)
{
	(void)unused;
	cp_job_set_above(cp_run.directory, cp_run.job.scope, pid);
}

bool cp_launcher_is_here(void)
{
	if (!cp_is_launcher(cp_own_executable()))
		return cp_run.rank.number < 0 && cp_is_launchers_helper();
	if (cp_run.shared)
		cp_ancestors_visit(cp_run.root_pid, set_above, NULL);
	watch_end();
	return true;
}
