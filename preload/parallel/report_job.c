/* SPDX-License-Identifier: MIT */
#include "preload/parallel/report_job.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

#include "base/syscall.h"
#include "base/fd.h"
#include "base/format.h"
#include "base/log.h"
#include "base/files/trusted.h"
#include "output/report/jobs.h"
#include "preload/parallel/mpi.h"
#include "preload/runtime.h"
#include "preload/run.h"
#include "preload/report_write.h"
#include "base/counters/options.h"

#define LATE_MS 1000
/* A launcher on a busy machine takes longer over starting its ranks. */
#define BEGIN_MS 3000
#define LONGEST_MS 200

void cp_report_aborted(void)
{
	cp_run.aborted = true;
}

/* Launchers end the whole job then. */
static bool has_failed(void)
{
	const struct cp_record_header *header = cp_runtime.record.header;

	return cp_run.aborted || header->how != CP_HOW_EXIT || header->code != 0;
}

/* ---- who has ended ---- */

static bool read_header(int fd, struct cp_record_header *header)
{
	return pread(fd, header, sizeof(*header), 0) == sizeof(*header);
}

static bool read_header_of(const char *path, struct cp_record_header *header)
{
	char why[160];
	int fd = cp_trusted_open(AT_FDCWD, path, CP_FOUND, UINT64_MAX, why, sizeof(why));
	bool is;

	if (fd < 0)
		return false;
	is = read_header(fd, header);
	cp_fd_close(fd);
	return is;
}

/* A rank that has ended, changes nothing in its record any more, and is in no report of
 * an earlier writer. */
static bool has_news(const struct cp_record_header *header)
{
	return (header->flags & CP_RECORD_READY) && !(header->flags & CP_RECORD_HEARD);
}

/* Leaves in paths only those. */
static size_t keep_ended(const char **paths, size_t count)
{
	struct cp_record_header header;
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (read_header_of(paths[i], &header) && has_news(&header))
			paths[kept++] = paths[i];
	return kept;
}

/* They need not write again what is written now. */
static void set_heard(const char *const *paths, size_t count)
{
	struct cp_record_header header;

	for (size_t i = 0; i < count; i++) {
		int fd = open(paths[i], O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
		char why[160];

		if (fd < 0)
			continue;
		if (cp_trusted_check_found(fd, AT_FDCWD, paths[i], why, sizeof(why)) ==
				0 &&
			read_header(fd, &header) && has_news(&header)) {
			header.flags |= CP_RECORD_HEARD;
			cp_syscall(SYS_pwrite64, fd, &header.flags, sizeof(header.flags),
				offsetof(struct cp_record_header, flags));
		}
		cp_fd_close(fd);
	}
}

/* ---- the others ---- */

/* The rank of a record that a report can be made of; -1: it has its name only, yet. */
static int rank_begun(const char *path)
{
	struct cp_record_header header;

	if (!read_header_of(path, &header) || !(header.flags & CP_RECORD_BEGUN))
		return -1;
	return header.rank;
}

/* The paths of a rank follow each other. */
static bool all_have_begun(struct cp_arena *arena)
{
	const char *const *paths;
	size_t count = cp_jobs_paths(arena, cp_run.directory, cp_run.job, -1, &paths);
	int ranks = 0, last = -1;

	for (size_t i = 0; i < count; i++) {
		int rank = rank_begun(paths[i]);

		ranks += rank >= 0 && rank != last;
		if (rank >= 0)
			last = rank;
	}
	return ranks >= cp_run.rank.of;
}

static bool is_ready(const char *path)
{
	struct cp_record_header header;

	return !read_header_of(path, &header) || header.how == CP_HOW_EXEC ||
	       !(header.flags & CP_RECORD_ROOT) ||
	       (header.flags & (CP_RECORD_READY | CP_RECORD_IN_JOB));
}

static bool all_are_ready(struct cp_arena *arena)
{
	const char *const *paths;
	size_t count = cp_jobs_paths(arena, cp_run.directory, cp_run.job, -1, &paths);

	for (size_t i = 0; i < count; i++)
		if (!is_ready(paths[i]))
			return false;
	return true;
}

/* Jobs of many ranks look less often. */
static void wait_until(
	bool (*is)(struct cp_arena *), struct cp_arena *arena, long most_ms)
{
	const long ms = 4 + cp_run.rank.of / 8;
	const struct timespec pause = {0, (ms < LONGEST_MS ? ms : LONGEST_MS) * 1000000};

	for (long waited = 0; waited < most_ms && !is(arena); waited += ms)
		nanosleep(&pause, NULL);
}

/* Ranks that begin later than others end would make two reports of one.  And whoever
 * ends without MPI_Finalize may be the end of the others: if they are about to end, too,
 * they have the time for it. */
static void wait_for_others(struct cp_arena *arena)
{
	if (cp_sinks_have(cp_options.output, CP_SINKS_STREAMS))
		wait_until(all_have_begun, arena, BEGIN_MS);
	if (cp_mpi_is_open())
		wait_until(all_are_ready, arena, LATE_MS);
}

/* Its counts are final, and it is about to look whether they are in a report. */
static bool will_write(const char *path)
{
	struct cp_record_header header;

	return read_header_of(path, &header) &&
	       (header.how == CP_HOW_EXIT || header.how == CP_HOW_SIGNAL) &&
	       (header.flags & CP_RECORD_ROOT) &&
	       !(header.flags & (CP_RECORD_READY | CP_RECORD_IN_JOB)) &&
	       kill(header.pid, 0) == 0;
}

static bool nobody_will_write(struct cp_arena *arena)
{
	const char *const *paths;
	size_t count = cp_jobs_paths(arena, cp_run.directory, cp_run.job, -1, &paths);

	for (size_t i = 0; i < count; i++)
		if (will_write(paths[i]))
			return false;
	return true;
}

/* ---- writing ---- */

static void tell_failure(void)
{
	const struct cp_record_header *header = cp_runtime.record.header;
	char how[40] = "without MPI_Finalize";

	if (header->how != CP_HOW_EXIT)
		cp_format(how, sizeof(how), "by signal %d", header->code);
	else if (cp_run.aborted)
		cp_format(how, sizeof(how), "by MPI_Abort");
	else if (header->code)
		cp_format(how, sizeof(how), "with exit status %d", header->code);
	if (cp_job_tells(cp_run.directory, cp_run.job, CP_JOB_FAILED))
		cp_say("rank %d ended %s while others ran: `cachepeek report %s` "
		       "shows what was counted of all",
			header->rank, how, cp_run.directory);
}

/* One report or one line tells of a job that failed: whoever writes it says so before,
 * since the launcher, which looks for that, may be the end of the writer. */
static bool is_told(void)
{
	return has_failed() ? !cp_job_tells(cp_run.directory, cp_run.job, CP_JOB_FAILED)
			    : cp_job_is_told(cp_run.directory, cp_run.job, CP_JOB_FAILED);
}

static void write_streams(struct cp_arena *arena, const struct cp_report *report,
	const struct cp_job_state *state)
{
	if (!cp_sinks_have(cp_options.output, CP_SINKS_STREAMS))
		return;
	if (state->running == 0 && is_told())
		return;
	if (state->running == 0)
		cp_report_write(arena, report, CP_SINKS_STREAMS);
	else if (has_failed() || cp_mpi_is_open())
		tell_failure();
}

/* Ranks that have ended, and are to be told that they are in the report. */
static size_t find_ended(struct cp_arena *arena, const char ***ended)
{
	const char *const *paths;
	size_t count = cp_jobs_paths(arena, cp_run.directory, cp_run.job, -1, &paths);

	*ended = (const char **)(uintptr_t)paths;
	return keep_ended(*ended, count);
}

/* Does the report have the end of a rank that came after those were found?  It would
 * write another report. */
static bool misses_an_end(struct cp_arena *arena, size_t count)
{
	const char **ended;

	if (!nobody_will_write(arena))
		wait_until(nobody_will_write, arena, LATE_MS);
	return find_ended(arena, &ended) != count;
}

static void write_all(struct cp_arena *arena)
{
	const struct cp_report *report;
	struct cp_job_state state;
	const char **ended;
	char error[256];
	size_t count;

	do {
		count = find_ended(arena, &ended);
		report = cp_jobs_report(arena, cp_run.directory, cp_run.job, &state,
			error, sizeof(error));
	} while (report && state.running == 0 && !has_failed() &&
		 misses_an_end(arena, count));
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
	const char *list = cp_options.output;
	int lock;

	if (cp_sinks_have(list, CP_SINKS_OWN))
		cp_report_of_own(arena, CP_SINKS_OWN);
	__atomic_or_fetch(
		&cp_runtime.record.header->flags, CP_RECORD_READY, __ATOMIC_RELEASE);
	if (!has_failed())
		wait_for_others(arena);
	if (!cp_sinks_have(list, CP_SINKS_FILES) &&
		!cp_sinks_have(list, CP_SINKS_STREAMS))
		return;
	lock = cp_job_lock(cp_run.directory, cp_run.job);
	if (!(cp_runtime.record.header->flags & CP_RECORD_HEARD))
		write_all(arena);
	cp_job_unlock(lock);
}
