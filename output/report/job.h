/* SPDX-License-Identifier: MIT
 *
 * The report of a whole job: the sums over its ranks by path, and for each value
 * the least, the most, the mean, the deviation, and which rank.  Ranks are added
 * one by one, and what is kept grows with the distinct paths, not with ranks.
 *
 * All functions need arena->out_of_memory.
 */
#ifndef CACHEPEEK_OUTPUT_REPORT_JOB_H
#define CACHEPEEK_OUTPUT_REPORT_JOB_H

#include "output/report/report.h"
#include "regions/parcel.h"
#include "regions/record_read.h"

#define CP_JOB_NAMED 8 /* ranks that are named, of those that are unlike the rest */

/* The counts that are kept of each rank by itself. */
#define CP_RANK_COUNTS 3
extern const char *const cp_rank_counts[CP_RANK_COUNTS];

struct cp_job {
	struct cp_arena *arena;
	struct cp_report report;
	size_t nranks;  /* that were added */
	int32_t wanted; /* of the whole job; 0: not known */
	/* Bits of the ranks that are there. */
	unsigned char *there;
	size_t room;
	size_t nprocesses;
	/* One for each that was added. */
	struct cp_job_rank {
		int32_t rank, pid;
		uint64_t processes, threads;
		uint64_t time_ns; /* of its longest thread */
		uint64_t mpi_ns, mpi_calls;
		uint32_t timed, mpi_known; /* bools */
		/* Sums over all its threads, by cp_rank_counts. */
		struct cp_rank_count {
			uint64_t value;
			uint64_t status; /* enum cp_status */
		} counts[CP_RANK_COUNTS];
	} * ranks;
	size_t nlisted, ranks_room;
	/* Ranks that were added from their records: those that have not ended, and
	 * those that are in a report already. */
	size_t running, nreported;
	size_t ncut; /* ranks that did not exit by themselves */
	bool live;   /* all of them go on: nothing to say of that */
	bool several_hosts;
	/* Sockets are read by the first rank on each host, of which there are nhosts:
	 * the first that is added, or as place says of the rank. */
	enum cp_host_place place;
	bool first_on_host; /* the rank that is being added */
	size_t nhosts;
	struct cp_job_host *hosts; /* by name, where that counts */
	struct cp_arena scratch;   /* for one rank after the other */
};

struct cp_job *cp_job_new(struct cp_arena *arena);

/*
 * One rank more: what its records say (paths as of cp_report_build).  Returns
 * false, with one line in error, if there was nothing.  Works in memory of its
 * own, which it gives back.
 */
bool cp_job_add(struct cp_job *job, const char *const *paths, size_t npaths, char *error,
	size_t size);

/* Why no time in MPI is known of the ranks. */
const char *cp_job_no_mpi_time(const struct cp_report *report);

/* The same for records in memory. */
bool cp_job_add_parcel(
	struct cp_job *job, const struct cp_parcel *parcel, char *error, size_t size);

/* The first rank from `rank` on that is not there; -1: none is missing. */
int32_t cp_job_missing(const struct cp_job *job, int32_t rank);

/* The report, after which nothing can be added. */
const struct cp_report *cp_job_finish(struct cp_job *job);

#endif
