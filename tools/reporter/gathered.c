/* SPDX-License-Identifier: MIT
 *
 * The report of a job whose ranks have sent their records to rank 0, which has put them
 * into a file.
 */
#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/files/trusted.h"
#include "base/log.h"
#include "output/report/job.h"
#include "tools/reporter/reporter.h"

/* The next of the file; NULL: there is none.  Memory is used again as far as it goes. */
static const struct cp_parcel *next_parcel(
	const struct cp_writing *writing, int fd, struct cp_parcel **room)
{
	struct cp_parcel parcel;

	if (read(fd, &parcel, sizeof(parcel)) != sizeof(parcel) ||
		parcel.size < sizeof(parcel) || parcel.size > CP_PARCEL_MOST)
		return NULL;
	if (!*room || (*room)->size < parcel.size)
		*room = cp_arena_alloc(writing->arena, parcel.size);
	**room = parcel;
	for (uint64_t got = sizeof(parcel); got < parcel.size;) {
		ssize_t more = read(fd, (char *)*room + got, parcel.size - got);

		if (more <= 0)
			return NULL;
		got += (uint64_t)more;
	}
	return *room;
}

static void add_all(const struct cp_writing *writing, int fd, struct cp_job *job)
{
	const struct cp_parcel *parcel;
	struct cp_parcel *room = NULL;
	char error[256];

	while ((parcel = next_parcel(writing, fd, &room)))
		if (!cp_job_add_parcel(job, parcel, error, sizeof(error)))
			cp_say("rank %d is not in the report of the job: %s",
				parcel->rank, error);
}

enum cp_order_end cp_write_gathered(const struct cp_writing *writing)
{
	const char *directory = writing->order->directory;
	struct cp_job *job = cp_job_new(writing->arena);
	const struct cp_report *report;
	char path[CP_PARCELS_PATH], why[160];
	int fd, lock;

	cp_order_parcels(directory, (int)writing->order->pid, path);
	fd = cp_trusted_open(AT_FDCWD, path, CP_FOUND, UINT64_MAX, why, sizeof(why));
	if (fd < 0) {
		cp_say("no report of the whole job: %s: %s", path, why);
		return CP_ORDER_FAILED;
	}
	job->live = true;
	job->wanted = (int32_t)writing->order->nranks;
	add_all(writing, fd, job);
	cp_fd_close(fd);
	report = cp_job_finish(job);
	lock = cp_job_lock(directory, writing->job);
	if (report)
		cp_write_outputs(writing, report, CP_SINKS_ALL);
	cp_job_unlock(lock);
	return CP_ORDER_PART;
}
