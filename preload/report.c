/* SPDX-License-Identifier: MIT
 *
 * The report at the end of the root process, made from the run directory as
 * `cachepeek report` would make it.
 */
#include "preload/report.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/format.h"
#include "base/log.h"
#include "output/report/jobs.h"
#include "base/env.h"
#include "preload/reexec.h"
#include "preload/parallel/report_job.h"
#include "preload/runtime.h"
#include "preload/run.h"
#include "base/counters/options.h"

static void complain(void *context, const char *line)
{
	(void)context;
	cp_say("%s", line);
}

/* The program's; ours cannot be closed. */
static int if_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0 ? fd : -1;
}

static struct stat directory;

void cp_report_start(void)
{
	if (stat(cp_run.directory, &directory) < 0)
		directory.st_ino = 0;
}

/* A program that has changed its root directory or its user sees other files
 * than it did, or none: a report there would be somebody else's. */
static bool directory_is_there(void)
{
	struct stat now;

	return stat(cp_run.directory, &now) == 0 && now.st_dev == directory.st_dev &&
	       now.st_ino == directory.st_ino &&
	       faccessat(AT_FDCWD, cp_run.directory, R_OK | X_OK, AT_EACCESS) == 0;
}

/* ---- writing ---- */

/* How many outputs could not be written. */
static int write_numbered(struct cp_arena *arena, const struct cp_report *report,
	enum cp_sink_kind kind, unsigned number)
{
	struct cp_job_id id = {cp_run.job.scope, number};
	struct cp_sink_context context = {
		.stderr_fd = cp_log_target(),
		.stdout_fd = if_open(STDOUT_FILENO),
		.exe = cp_own_executable(),
		.pid = cp_runtime.pid,
		.rank = cp_runtime.record.header->rank,
		.colour = cp_colour_of(cp_env_get),
		.whole = cp_options.verbose > 0,
		.kind = kind,
		.number = number,
		.complain = complain,
	};

	context.tell_number = number > 1 && kind != CP_SINKS_OWN &&
			      cp_job_tells(cp_run.directory, id, CP_JOB_NUMBERED);
	return cp_sinks_write(arena, report, cp_options.output, &context);
}

void cp_report_write(
	struct cp_arena *arena, const struct cp_report *report, enum cp_sink_kind kind)
{
	write_numbered(arena, report, kind, cp_run.job.number);
}

void cp_report_none(const char *error)
{
	cp_say("no report: %s: `cachepeek report %s` writes it", error, cp_run.directory);
}

/* ---- the run, without the jobs in it ---- */

static size_t run_paths(struct cp_arena *arena, const char *const **paths)
{
	static const char *whole[1];
	const struct cp_job_id none = {0, 0};
	struct cp_job_id *jobs;

	whole[0] = cp_run.directory;
	*paths = whole;
	if (!cp_jobs_in(arena, cp_run.directory, 0, &jobs))
		return 1;
	return cp_jobs_paths(arena, cp_run.directory, none, -1, paths);
}

/* ---- a rank and its children ---- */

static size_t own_record(struct cp_arena *arena, const char *const **paths)
{
	const struct cp_record_header *header = cp_runtime.record.header;
	char *path = cp_arena_alloc(arena, CP_RUNDIR_SIZE + 40);
	const char **list = cp_arena_alloc(arena, sizeof(*list));

	cp_format(path, CP_RUNDIR_SIZE + 40, "%s/%d-%u.rec", cp_run.directory,
		header->pid, header->image);
	list[0] = path;
	*paths = list;
	return 1;
}

size_t cp_report_own_records(struct cp_arena *arena, const char *const **paths)
{
	if (cp_run.job.number)
		return cp_jobs_paths(
			arena, cp_run.directory, cp_run.job, cp_run.rank.number, paths);
	return cp_run.shared ? own_record(arena, paths) : run_paths(arena, paths);
}

void cp_report_of_own(struct cp_arena *arena, enum cp_sink_kind kind)
{
	const struct cp_report *report;
	const char *const *paths;
	size_t npaths = cp_report_own_records(arena, &paths);
	char error[256];

	report = cp_report_build(arena, paths, npaths, error, sizeof(error));
	if (!report)
		cp_report_none(error);
	else if (!report->in_job)
		cp_report_write(arena, report, kind);
}

/* ---- the run ---- */

static void of_run(struct cp_arena *arena)
{
	const struct cp_report *report;
	const char *const *paths;
	size_t npaths = run_paths(arena, &paths);
	char error[256];

	report = cp_report_build(arena, paths, npaths, error, sizeof(error));
	if (!report)
		cp_report_none(error);
	else if (!report->in_job &&
		 write_numbered(arena, report, CP_SINKS_ALL, cp_run.job.number) == 0 &&
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
		write_numbered(arena, report, CP_SINKS_ALL,
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

void cp_report_at_exit(void)
{
	if (cp_runtime.record.header->flags & CP_RECORD_IN_JOB)
		return;
	if (cp_confined())
		cp_say("no report: the program forbids the system calls that it takes "
		       "(seccomp): `cachepeek report %s` writes it",
			cp_run.directory);
	else if (directory_is_there())
		write_report();
	else
		cp_say("no report: the program changed its root directory or its user, "
		       "and cannot read %s any more: `cachepeek report %s` writes it",
			cp_run.directory, cp_run.directory);
}
