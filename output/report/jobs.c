/* SPDX-License-Identifier: MIT */
#include "output/report/jobs.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/format.h"
#include "base/files/trusted.h"
#include "output/report/job.h"
#include "output/report/report_parts.h"

/* ---- their reports ---- */

/* The paths of a rank follow each other. */
static size_t paths_of_rank(const char *const *paths, size_t count)
{
	size_t same = 1;

	while (same < count && cp_jobs_rank(paths[same]) == cp_jobs_rank(paths[0]))
		same++;
	return same;
}

static void add_ranks(struct cp_job *job, const char *const *paths, size_t count,
	char *error, size_t error_size)
{
	for (size_t i = 0, n; i < count; i += n) {
		n = paths_of_rank(paths + i, count - i);
		if (!cp_job_add(job, paths + i, n, error, error_size))
			cp_report_warn(&job->report, "rank %d: %s",
				cp_jobs_rank(paths[i]), error);
	}
}

static const struct cp_report *build_report(struct cp_arena *arena, const char *directory,
	struct cp_job_id id, struct cp_job_state *state, char *error, size_t error_size)
{
	struct cp_job *job = cp_job_new(arena);
	const struct cp_report *report;
	const char *const *paths;
	size_t count = cp_jobs_paths(arena, directory, id, -1, &paths);

	cp_format(error, error_size, "%s holds no records of this job", directory);
	add_ranks(job, paths, count, error, error_size);
	*state = (struct cp_job_state){job->wanted, job->nranks, job->running,
		job->nreported, job->nreported == job->nranks};
	report = cp_job_finish(job);
	if (!report || job->nranks > 1 || job->wanted > 1)
		return report;
	return cp_report_build(arena, paths, count, error, error_size);
}

const struct cp_report *cp_jobs_report(struct cp_arena *arena, const char *directory,
	struct cp_job_id id, struct cp_job_state *state, char *error, size_t error_size)
{
	struct cp_escape *outer = arena->out_of_memory, out_of_memory;
	const struct cp_report *volatile report = NULL;

	memset(state, 0, sizeof(*state));
	if (CP_ESCAPE_SET(out_of_memory) == 0) {
		arena->out_of_memory = &out_of_memory;
		report = build_report(arena, directory, id, state, error, error_size);
	} else {
		cp_format(error, error_size, "out of memory for the report");
	}
	arena->out_of_memory = outer;
	return report;
}

/* ---- the rest ---- */

/* It started a launcher, and is none that MPI knows. */
static bool only_starts(
	const struct cp_process *process, const char *directory, uint64_t scope)
{
	return process->rank < 0 && cp_job_is_above(directory, scope, process->pid);
}

static bool has_root(const char *path, int32_t root)
{
	char why[160];
	int fd = cp_trusted_open(AT_FDCWD, path, CP_FOUND, UINT64_MAX, why, sizeof(why));
	struct cp_record_header header;
	bool has = fd >= 0 && pread(fd, &header, sizeof(header), 0) == sizeof(header) &&
		   header.root_pid == root;

	if (fd >= 0)
		cp_fd_close(fd);
	return has;
}

/* Others may have used the directory before. */
static size_t keep_of_root(
	struct cp_arena *arena, const char *const **paths, size_t count, int32_t root)
{
	const char **kept = cp_arena_alloc(arena, (count + 1) * sizeof(*kept));
	size_t nkept = 0;

	for (size_t i = 0; i < count; i++)
		if (has_root((*paths)[i], root))
			kept[nkept++] = (*paths)[i];
	*paths = kept;
	return nkept;
}

const struct cp_report *cp_jobs_outside(
	struct cp_arena *arena, const char *directory, uint64_t scope, int32_t root)
{
	const struct cp_report *report;
	const char *const *paths;
	char error[256];
	size_t count =
		cp_jobs_paths(arena, directory, (struct cp_job_id){0, 0}, -1, &paths);

	if (root)
		count = keep_of_root(arena, &paths, count, root);
	report = cp_report_build(arena, paths, count, error, sizeof(error));
	for (size_t i = 0; report && i < report->nprocesses; i++)
		if (!only_starts(&report->processes[i], directory, scope))
			return report;
	return NULL;
}
