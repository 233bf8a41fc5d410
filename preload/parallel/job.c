/* SPDX-License-Identifier: MIT
 *
 * The ranks send their records to rank 0.  All messages have a limit of time, and are
 * sent in MPI_COMM_WORLD: after the meeting every rank is here, or was, so that none of
 * them is in the program's own receives.  Whoever does not get through is missing in the
 * report, and in the record of nobody.
 */
#include "preload/parallel/job.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/format.h"
#include "base/log.h"
#include "base/once.h"
#include "base/syscall.h"
#include "preload/markers/markers.h"
#include "preload/parallel/mpi.h"
#include "preload/report.h"
#include "preload/runtime.h"
#include "preload/run.h"
#include "preload/self.h"
#include "preload/process.h"
#include "regions/job_records.h"
#include "regions/order.h"
#include "regions/parcel.h"
#include "base/counters/options.h"

static struct {
	struct cp_mpi mpi;
	double seconds;
	/* Never given back where a message may still be under way. */
	struct cp_arena arena;
	const void *place; /* in the MPI */
	bool sent;         /* our part is in somebody else's */
} job;

/* ---- this rank ---- */

/* The records of this process and its children, as far as they can be told from others'.
 */
static size_t own_records(const char *const **paths)
{
	const struct cp_record_header *header = cp_runtime.record.header;
	const struct cp_job_id none = {0, 0};
	const char **list;
	char *path;

	if (cp_run.job.number)
		return cp_jobs_paths(&job.arena, cp_run.directory, cp_run.job,
			cp_run.rank.number, paths);
	if (!cp_run.shared)
		return cp_jobs_paths(&job.arena, cp_run.directory, none, -1, paths);
	path = cp_arena_alloc(&job.arena, CP_RUNDIR_SIZE + 40);
	list = cp_arena_alloc(&job.arena, sizeof(*list));
	cp_format(path, CP_RUNDIR_SIZE + 40, "%s/%d-%u.rec", cp_run.directory,
		header->pid, header->image);
	list[0] = path;
	*paths = list;
	return 1;
}

static const struct cp_parcel *own_parcel(void)
{
	int local = cp_run.rank.local;
	const struct cp_parcel *parcel;
	const char *const *paths;
	size_t count = own_records(&paths);
	char error[CP_PARCEL_ERROR];

	parcel = cp_parcel_read(&job.arena, paths, count, job.mpi.rank,
		local < 0    ? CP_HOST_UNKNOWN
		: local == 0 ? CP_HOST_FIRST
			     : CP_HOST_LATER,
		error);
	if (!parcel)
		cp_say("rank %d is not in the report of the job: %s", job.mpi.rank,
			error);
	return parcel;
}

/* ---- to rank 0 ---- */

static bool send_parcel(const struct cp_parcel *parcel)
{
	static uint64_t size;

	size = parcel->size;
	return cp_mpi_send(0, &size, sizeof(size), job.seconds) &&
	       cp_mpi_send(0, parcel, size, job.seconds);
}

/* Memory that a message was received into whole is used again. */
static const struct cp_parcel *receive_from(int from, struct cp_parcel **room)
{
	static uint64_t size, most;

	if (!cp_mpi_receive(from, &size, sizeof(size), job.seconds) ||
		size < sizeof(struct cp_parcel) || size > CP_PARCEL_MOST)
		return NULL;
	if (!*room || size > most) {
		*room = cp_arena_alloc(&job.arena, size);
		most = size;
	}
	if (!cp_mpi_receive(from, *room, size, job.seconds)) {
		*room = NULL;
		return NULL;
	}
	return (*room)->size == size ? *room : NULL;
}

static int open_parcels(const char *path)
{
	int fd;

	cp_syscall(SYS_unlinkat, AT_FDCWD, path, 0);
	fd = (int)cp_syscall(SYS_openat, AT_FDCWD, path,
		O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return fd;
}

/* 0 or -errno. */
static int keep_parcel(int fd, const struct cp_parcel *parcel)
{
	const char *at = (const char *)parcel, *end = at + parcel->size;

	while (at < end) {
		long done = cp_syscall(SYS_write, fd, at, end - at);

		if (done < 0 && done != -EINTR)
			return (int)done;
		at += done > 0 ? done : 0;
	}
	return 0;
}

static int gather_parcels(int fd, const struct cp_parcel *own)
{
	struct cp_parcel *room = NULL;
	int error = keep_parcel(fd, own);

	for (int rank = 1; rank < job.mpi.size; rank++) {
		const struct cp_parcel *parcel = receive_from(rank, &room);

		if (parcel && !error)
			error = keep_parcel(fd, parcel);
	}
	return error;
}

static void report_all(const struct cp_parcel *own)
{
	char path[CP_PARCELS_PATH];
	int fd, error;

	cp_order_parcels(cp_run.directory, (int)cp_runtime.pid, path);
	fd = open_parcels(path);
	error = fd < 0 ? fd : gather_parcels(fd, own);
	if (fd >= 0)
		cp_fd_close(fd);
	if (error)
		cp_say("no report of the whole job: %s: %s; `cachepeek merge` makes one "
		       "from the records",
			path, cp_error_text(error));
	else
		cp_report_gathered(job.mpi.size);
	cp_syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

static void run_job(void)
{
	const struct cp_parcel *own = own_parcel();

	if (!own)
		return;
	job.sent = job.mpi.rank == 0 || send_parcel(own);
	if (job.mpi.rank == 0)
		report_all(own);
}

static void run_with_memory(void)
{
	struct cp_escape out_of_memory;

	if (CP_ESCAPE_SET(out_of_memory) == 0) {
		job.arena.out_of_memory = &out_of_memory;
		run_job();
	} else {
		cp_say("rank %d is not in the report of the job: no memory",
			job.mpi.rank);
	}
	job.arena.out_of_memory = NULL;
}

static void sum_up_job(void)
{
	const char *why;

	if (!cp_mpi_find(&job.mpi, job.place, &why)) {
		cp_say("no report of the whole job from this MPI: %s; `cachepeek merge` "
		       "makes one from the records",
			why);
		return;
	}
	/* Started by a launcher that this MPI does not know, all are rank 0 of 1. */
	if (job.mpi.size == 1 && cp_runtime.record.header->nranks > 1)
		return;
	cp_runtime.record.header->rank = job.mpi.rank;
	cp_runtime.record.header->nranks = job.mpi.size;
	if (job.mpi.size == 1)
		return;
	if (!cp_mpi_meet(job.seconds)) {
		if (job.mpi.rank == 0)
			cp_say("no report of the whole job: "
			       "not all ranks came to MPI_Finalize in %g s; "
			       "`cachepeek merge` makes one from the records",
				job.seconds);
		return;
	}
	run_with_memory();
	if (job.sent)
		cp_runtime.record.header->flags |= CP_RECORD_IN_JOB;
}

void cp_job_report(const void *place)
{
	static struct cp_once done;
	int saved = errno, state;

	if (!cp_counting() || cp_confined() || !cp_is_this_process() || cp_run.gathered ||
		!cp_once(&done))
		return;
	cp_marker_flush();
	if (!cp_enter_slowly(&state))
		return;
	job.place = place;
	job.seconds = cp_options.mpi_timeout;
	if (cp_options.mpi_timeout)
		sum_up_job();
	cp_leave_slowly(state);
	errno = saved;
}

void cp_job_aborts(int code)
{
	int saved = errno;

	if (!cp_counting() || cp_confined() || !cp_is_this_process())
		return;
	cp_run.aborted = true;
	cp_process_end(CP_HOW_EXIT, code & 0xff);
	errno = saved;
}
