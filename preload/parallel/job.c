/* SPDX-License-Identifier: MIT
 *
 * The ranks' sums go up a binomial tree to rank 0.  All messages have a limit of
 * time, and are sent in MPI_COMM_WORLD: after the meeting every rank is here, or
 * was, so that none of them is in the program's own receives.  Whoever does not
 * get through is missing in the report, and in the record of nobody.
 */
#include "preload/parallel/job.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/once.h"
#include "output/report/job_pack.h"
#include "output/sink.h"
#include "preload/life.h"
#include "preload/markers/markers.h"
#include "preload/parallel/mpi.h"
#include "preload/libc/real.h"
#include "preload/runtime.h"
#include "preload/run.h"
#include "preload/self.h"
#include "preload/process.h"
#include "preload/report_write.h"
#include "base/counters/options.h"

#define LARGEST ((uint64_t)4 << 30) /* of a message */

static struct {
	struct cp_mpi mpi;
	double seconds;
	/* Never given back where a message may still be under way. */
	struct cp_arena arena;
	const void *place; /* in the MPI */
	bool sent;         /* our part is in somebody else's */
} job;

/* ---- this rank ---- */

static struct cp_job *own_job(void)
{
	const char *const *paths;
	size_t npaths = cp_report_own_records(&job.arena, &paths);
	struct cp_job *own = cp_job_new(&job.arena);
	int local = cp_run.rank.local;
	char error[256];

	own->place = local < 0    ? CP_HOST_UNKNOWN
		     : local == 0 ? CP_HOST_FIRST
				  : CP_HOST_LATER;
	own->live = true;
	if (cp_job_add(own, paths, npaths, error, sizeof(error)))
		return own;
	cp_say("rank %d is not in the report of the job: %s", job.mpi.rank, error);
	return NULL;
}

/* ---- up the tree ---- */

static bool send_up(struct cp_job *own, int to)
{
	size_t length = 0;
	const void *bytes = cp_job_pack(own, &length);
	static uint64_t size;

	size = length;
	return cp_mpi_send(to, &size, sizeof(size), job.seconds) &&
	       cp_mpi_send(to, bytes, length, job.seconds);
}

static void receive_from(struct cp_job *own, int from)
{
	static uint64_t size;
	void *bytes;

	if (!cp_mpi_receive(from, &size, sizeof(size), job.seconds) || size > LARGEST)
		return;
	bytes = cp_arena_alloc(&job.arena, size);
	if (cp_mpi_receive(from, bytes, size, job.seconds))
		cp_job_unpack(own, bytes, size);
}

/* Rank r sends to r without its lowest bit, after it has heard all below. */
static bool gather_records(struct cp_job *own)
{
	for (int bit = 1; bit < job.mpi.size; bit <<= 1) {
		if (job.mpi.rank & bit)
			return send_up(own, job.mpi.rank - bit);
		if (job.mpi.rank + bit < job.mpi.size)
			receive_from(own, job.mpi.rank + bit);
	}
	return true;
}

static void write_report(struct cp_job *own)
{
	const struct cp_report *report = cp_job_finish(own);
	int lock = cp_job_lock(cp_run.directory, cp_run.job);

	if (report)
		cp_report_write(&job.arena, report);
	cp_job_unlock(lock);
}

static void run_job(void)
{
	struct cp_job *own = own_job();

	if (!own)
		return;
	own->wanted = job.mpi.size;
	job.sent = gather_records(own);
	if (job.mpi.rank == 0)
		write_report(own);
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
