/* SPDX-License-Identifier: MIT */
#include "preload/report_job.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/format.h"
#include "base/log.h"
#include "output/jobs.h"
#include "preload/report.h"
#include "preload/runtime.h"

#define LATE_TRIES 250 /* of 4 ms */

static bool aborted;

void cp_report_aborted(void)
{
	aborted = true;
}

/* Launchers end the whole job then. */
static bool has_failed(void)
{
	const struct cp_record_header *header = cp_runtime.record.header;

	return aborted || header->how != CP_HOW_EXIT || header->code != 0;
}

/* ---- who has ended ---- */

/* A rank that has ended, and is in no report of an earlier writer. */
static bool has_news(int fd, struct cp_record_header *header)
{
	return pread(fd, header, sizeof(*header), 0) == sizeof(*header) &&
	       (header->flags & CP_RECORD_ROOT) && header->how != CP_HOW_RUNNING &&
	       !(header->flags & CP_RECORD_HEARD);
}

/* Leaves in paths only those. */
static size_t keep_ended(const char **paths, size_t count)
{
	struct cp_record_header header;
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		int fd = open(paths[i], O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);

		if (fd < 0)
			continue;
		if (has_news(fd, &header))
			paths[kept++] = paths[i];
		cp_fd_close(fd);
	}
	return kept;
}

/* They need not write again what is written now. */
static void set_heard(const char *const *paths, size_t count)
{
	struct cp_record_header header;

	for (size_t i = 0; i < count; i++) {
		int fd = open(paths[i], O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);

		if (fd < 0)
			continue;
		if (has_news(fd, &header)) {
			header.flags |= CP_RECORD_HEARD;
			pwrite(fd, &header.flags, sizeof(header.flags),
				offsetof(struct cp_record_header, flags));
		}
		cp_fd_close(fd);
	}
}

/* Ranks that begin later than others end would make two reports of one. */
static void wait_for_late_ranks(struct cp_arena *arena)
{
	const struct timespec pause = {0, 4000000};
	const char *const *paths;

	for (int tries = 0; tries < LATE_TRIES; tries++) {
		if (cp_jobs_paths(arena, cp_runtime.directory, cp_runtime.job, -1,
			    &paths) >= (size_t)cp_runtime.rank.of)
			return;
		nanosleep(&pause, NULL);
	}
}

/* ---- writing ---- */

static void tell_failure(void)
{
	const struct cp_record_header *header = cp_runtime.record.header;
	const char *how = header->how == CP_HOW_EXIT ? "exit status" : "signal";

	if (cp_job_tells(cp_runtime.directory, cp_runtime.job, CP_JOB_FAILED))
		cp_say("rank %d has ended, with %s %d, while others ran: `cachepeek "
		       "report %s` shows what was counted of all",
			header->rank, how, header->code, cp_runtime.directory);
}

static void write_streams(struct cp_arena *arena, const struct cp_report *report,
	const struct cp_job_state *state)
{
	if (!cp_sinks_have(cp_runtime.options.output, CP_SINKS_STREAMS))
		return;
	if (state->running == 0 &&
		cp_job_is_told(cp_runtime.directory, cp_runtime.job, CP_JOB_FAILED))
		return;
	if (state->running == 0)
		cp_report_write(arena, report, CP_SINKS_STREAMS);
	else if (has_failed())
		tell_failure();
}

static void write_all(struct cp_arena *arena)
{
	const struct cp_report *report;
	struct cp_job_state state;
	const char *const *paths;
	const char **ended;
	char error[256];
	size_t count =
		cp_jobs_paths(arena, cp_runtime.directory, cp_runtime.job, -1, &paths);

	ended = (const char **)(uintptr_t)paths;
	count = keep_ended(ended, count);
	report = cp_jobs_report(arena, cp_runtime.directory, cp_runtime.job, &state,
		error, sizeof(error));
	if (!report) {
		cp_report_none(error);
		return;
	}
	cp_report_write(arena, report, CP_SINKS_FILES);
	write_streams(arena, report, &state);
	set_heard(ended, count);
}

void cp_report_of_job(struct cp_arena *arena)
{
	const char *list = cp_runtime.options.output;
	int lock;

	if (cp_sinks_have(list, CP_SINKS_OWN))
		cp_report_of_own(arena, CP_SINKS_OWN);
	if (!cp_sinks_have(list, CP_SINKS_FILES) &&
		!cp_sinks_have(list, CP_SINKS_STREAMS))
		return;
	if (cp_sinks_have(list, CP_SINKS_STREAMS) && !has_failed())
		wait_for_late_ranks(arena);
	lock = cp_job_lock(cp_runtime.directory, cp_runtime.job);
	if (!(cp_runtime.record.header->flags & CP_RECORD_HEARD))
		write_all(arena);
	cp_job_unlock(lock);
}
