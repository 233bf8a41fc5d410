/* SPDX-License-Identifier: MIT */
#include "preload/report_write.h"

#include <fcntl.h>
#include <stddef.h>
#include <unistd.h>

#include "base/format.h"
#include "base/log.h"
#include "output/report/jobs.h"
#include "base/env.h"
#include "preload/reexec.h"
#include "preload/runtime.h"
#include "preload/run.h"
#include "base/counters/options.h"

static void complain_of_report(void *context, const char *line)
{
	(void)context;
	cp_say("%s", line);
}

/* The program's; ours cannot be closed. */
static int if_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0 ? fd : -1;
}

void cp_report_write(struct cp_arena *arena, const struct cp_report *report)
{
	struct cp_sink_context context = {
		.stderr_fd = cp_log_target(),
		.stdout_fd = if_open(STDOUT_FILENO),
		.exe = cp_own_executable(),
		.pid = cp_runtime.pid,
		.rank = cp_runtime.record.header->rank,
		.colour = cp_colour_of(cp_env_get),
		.whole = cp_options.verbose > 0,
		.kind = CP_SINKS_ALL,
		.number = cp_run.job.number,
		.complain = complain_of_report,
	};

	context.tell_number = context.number > 1 &&
			      cp_job_tells(cp_run.directory, cp_run.job, CP_JOB_NUMBERED);
	cp_sinks_write(arena, report, cp_options.output, &context);
}

void cp_report_none(const char *error)
{
	cp_say("no report: %s: `cachepeek report %s` writes it", error, cp_run.directory);
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
	return cp_run.shared ? own_record(arena, paths)
			     : cp_jobs_rest(arena, cp_run.directory, paths);
}
