/* SPDX-License-Identifier: MIT */
#include "preload/report.h"

#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/counters/options.h"
#include "base/fd_limit.h"
#include "base/log.h"
#include "output/report/jobs.h"
#include "preload/parallel/report_job.h"
#include "preload/program/reporter.h"
#include "preload/report_write.h"
#include "preload/run.h"
#include "preload/runtime.h"
#include "preload/self.h"

void cp_report_start(void)
{
	if (stat(cp_run.directory, &cp_run.made) < 0)
		cp_run.made.st_ino = 0;
}

/* A program that has changed its root directory or its user sees other files
 * than it did, or none: a report there would be somebody else's. */
static bool directory_is_there(void)
{
	struct stat now;

	return stat(cp_run.directory, &now) == 0 && now.st_dev == cp_run.made.st_dev &&
	       now.st_ino == cp_run.made.st_ino &&
	       faccessat(AT_FDCWD, cp_run.directory, R_OK | X_OK, AT_EACCESS) == 0;
}

/* ---- the run ---- */

static void of_run(struct cp_arena *arena)
{
	const struct cp_report *report;
	const char *const *paths;
	size_t npaths = cp_report_run_records(arena, &paths);
	char error[256];

	report = cp_report_build(arena, paths, npaths, error, sizeof(error));
	if (!report)
		cp_report_none(error);
	else if (!report->in_job &&
		 cp_report_write_numbered(
			 arena, report, CP_SINKS_ALL, cp_run.job.number) == 0 &&
		 !cp_options.dir)
		cp_run_remove_temporary(cp_run.directory);
}

/* The jobs' reports are their ranks' affair, and may have our files' names. */
static void beside_jobs(struct cp_arena *arena)
{
	uint64_t scope = cp_run.job.scope;
	const struct cp_report *report =
		cp_jobs_outside(arena, cp_run.directory, scope, cp_run.root_pid);

	if (report && !report->in_job)
		cp_report_write_numbered(arena, report, CP_SINKS_ALL,
			cp_job_claim(cp_run.directory, scope, (unsigned)cp_options.pass,
				CP_JOB_OUTSIDE));
}

static void write_some(struct cp_arena *arena)
{
	struct cp_job_id *jobs;

	if (cp_run.job.number && cp_run.rank.of > 1)
		cp_report_of_job(arena);
	else if (cp_run.job.number)
		cp_report_of_own(arena, CP_SINKS_ALL);
	else if (cp_run.job.scope &&
		 cp_jobs_in(arena, cp_run.directory, cp_run.job.scope, &jobs))
		beside_jobs(arena);
	else
		of_run(arena);
}

static void write_report(void)
{
	struct cp_arena arena = {0};
	struct cp_escape out_of_memory;

	if (CP_ESCAPE_SET(out_of_memory) == 0) {
		arena.out_of_memory = &out_of_memory;
		write_some(&arena);
	} else {
		cp_report_none("out of memory");
	}
	arena.out_of_memory = NULL;
	cp_arena_free(&arena);
}

static void write_for_another(void *unused)
{
	(void)unused;
	cp_fd_widen(RLIM_INFINITY);
	write_report();
}

void cp_report_before_confined(void)
{
	int state;

	if (!cp_counting() || !cp_is_root() || cp_run.launched || cp_confined() ||
		!cp_is_this_process() || !cp_enter_slowly(&state))
		return;
	cp_reporter_start(write_for_another);
	cp_leave_slowly(state);
}

void cp_report_at_exit(void)
{
	if (cp_runtime.record.header->flags & CP_RECORD_IN_JOB)
		return;
	if (cp_reporter_writes())
		return;
	if (cp_confined())
		cp_say("no report: the program forbids the system calls that it takes "
		       "(seccomp): `cachepeek report %s` writes it",
			cp_run.directory);
	else if (directory_is_there())
		write_report();
	else if (cp_record_is_removed(&cp_runtime.record))
		cp_say("no report: %s was removed before the program ended",
			cp_run.directory);
	else
		cp_say("no report: the program changed its root directory or its user, "
		       "and cannot read %s any more: `cachepeek report %s` writes it",
			cp_run.directory, cp_run.directory);
}
