/* SPDX-License-Identifier: MIT
 *
 * The report of a job whose ranks have not met in MPI_Finalize: ranks without MPI,
 * jobs that failed.  Each rank that ends writes what all have so far, so that the
 * last one's file has everything.
 */
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
#include "tools/reporter/reporter.h"

#define LATE_MS 1000
/* A launcher on a busy machine takes longer over starting its ranks. */
#define BEGIN_MS 3000
#define LONGEST_MS 200

/* Launchers end the whole job then. */
static bool has_failed(const struct cp_order *order)
{
	return order->flags & CP_ORDER_ABORTED || order->how != CP_HOW_EXIT ||
	       order->code != 0;
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

static size_t job_records(const struct cp_writing *writing, const char *const **paths)
{
	return cp_jobs_paths(
		writing->arena, writing->order->directory, writing->job, -1, paths);
}

/* The paths of a rank follow each other. */
static bool all_have_begun(const struct cp_writing *writing)
{
	const char *const *paths;
	size_t count = job_records(writing, &paths);
	int ranks = 0, last = -1;

	for (size_t i = 0; i < count; i++) {
		int rank = rank_begun(paths[i]);

		ranks += rank >= 0 && rank != last;
		if (rank >= 0)
			last = rank;
	}
	return ranks >= (int64_t)writing->order->nranks;
}

static bool is_ready(const char *path)
{
	struct cp_record_header header;

	return !read_header_of(path, &header) || header.how == CP_HOW_EXEC ||
	       !(header.flags & CP_RECORD_ROOT) ||
	       (header.flags & (CP_RECORD_READY | CP_RECORD_IN_JOB));
}

static bool all_are_ready(const struct cp_writing *writing)
{
	const char *const *paths;
	size_t count = job_records(writing, &paths);

	for (size_t i = 0; i < count; i++)
		if (!is_ready(paths[i]))
			return false;
	return true;
}

/* Jobs of many ranks look less often. */
static void wait_until(bool (*is)(const struct cp_writing *),
	const struct cp_writing *writing, long most_ms)
{
	const long ms = 4 + (int64_t)writing->order->nranks / 8;
	const struct timespec pause = {0, (ms < LONGEST_MS ? ms : LONGEST_MS) * 1000000};

	for (long waited = 0; waited < most_ms && !is(writing); waited += ms)
		nanosleep(&pause, NULL);
}

/* Ranks that begin later than others end would make two reports of one.  And whoever
 * ends without MPI_Finalize may be the end of the others: if they are about to end, too,
 * they have the time for it. */
static void wait_for_others(const struct cp_writing *writing)
{
	if (cp_sinks_have(writing->order->outputs, CP_SINKS_STREAMS))
		wait_until(all_have_begun, writing, BEGIN_MS);
	if (writing->order->flags & CP_ORDER_OPEN)
		wait_until(all_are_ready, writing, LATE_MS);
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

static bool nobody_will_write(const struct cp_writing *writing)
{
	const char *const *paths;
	size_t count = job_records(writing, &paths);

	for (size_t i = 0; i < count; i++)
		if (will_write(paths[i]))
			return false;
	return true;
}

/* ---- writing ---- */

static void tell_failure(const struct cp_writing *writing)
{
	const struct cp_order *order = writing->order;
	char how[40] = "without MPI_Finalize";

	if (order->how != CP_HOW_EXIT)
		cp_format(how, sizeof(how), "by signal %d", (int)order->code);
	else if (order->flags & CP_ORDER_ABORTED)
		cp_format(how, sizeof(how), "by MPI_Abort");
	else if (order->code)
		cp_format(how, sizeof(how), "with exit status %d", (int)order->code);
	if (cp_job_tells(order->directory, writing->job, CP_JOB_FAILED))
		cp_say("rank %d ended %s while others ran: `cachepeek report %s` "
		       "shows what was counted of all",
			(int)order->rank, how, order->directory);
}

/* One report or one line tells of a job that failed: whoever writes it says so before,
 * since the launcher, which looks for that, may be the end of the writer. */
static bool is_told(const struct cp_writing *writing)
{
	const struct cp_order *order = writing->order;

	return has_failed(order)
		       ? !cp_job_tells(order->directory, writing->job, CP_JOB_FAILED)
		       : cp_job_is_told(order->directory, writing->job, CP_JOB_FAILED);
}

static void write_streams(const struct cp_writing *writing,
	const struct cp_report *report, const struct cp_job_state *state)
{
	if (!cp_sinks_have(writing->order->outputs, CP_SINKS_STREAMS))
		return;
	if (state->running == 0 && is_told(writing))
		return;
	if (state->running == 0)
		cp_write_outputs(writing, report, CP_SINKS_STREAMS);
	else if (has_failed(writing->order) || writing->order->flags & CP_ORDER_OPEN)
		tell_failure(writing);
}

/* Ranks that have ended, and are to be told that they are in the report. */
static size_t find_ended(const struct cp_writing *writing, const char ***ended)
{
	const char *const *paths;
	size_t count = job_records(writing, &paths);

	*ended = (const char **)(uintptr_t)paths;
	return keep_ended(*ended, count);
}

/* Does the report have the end of a rank that came after those were found?  It would
 * write another report. */
static bool misses_an_end(const struct cp_writing *writing, size_t count)
{
	const char **ended;

	if (!nobody_will_write(writing))
		wait_until(nobody_will_write, writing, LATE_MS);
	return find_ended(writing, &ended) != count;
}

static void write_all(const struct cp_writing *writing)
{
	const struct cp_report *report;
	struct cp_job_state state;
	const char **ended;
	char error[256];
	size_t count;

	do {
		count = find_ended(writing, &ended);
		report = cp_jobs_report(writing->arena, writing->order->directory,
			writing->job, &state, error, sizeof(error));
	} while (report && state.running == 0 && !has_failed(writing->order) &&
		 misses_an_end(writing, count));
	if (!report) {
		cp_write_none(writing, error);
		return;
	}
	cp_write_outputs(writing, report, CP_SINKS_FILES);
	write_streams(writing, report, &state);
	set_heard(ended, count);
}

void cp_write_job(const struct cp_writing *writing)
{
	const char *list = writing->order->outputs;
	struct cp_record_header own;
	int lock;

	if (cp_sinks_have(list, CP_SINKS_OWN))
		cp_write_own(writing, CP_SINKS_OWN);
	if (!has_failed(writing->order))
		wait_for_others(writing);
	if (!cp_sinks_have(list, CP_SINKS_FILES) &&
		!cp_sinks_have(list, CP_SINKS_STREAMS))
		return;
	lock = cp_job_lock(writing->order->directory, writing->job);
	if (!read_header_of(writing->record, &own) || !(own.flags & CP_RECORD_HEARD))
		write_all(writing);
	cp_job_unlock(lock);
}
