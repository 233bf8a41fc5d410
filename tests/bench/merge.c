/* SPDX-License-Identifier: MIT
 *	merge RANKS REGIONS
 * Merges the records of so many ranks, and then the sums of two halves of the job,
 * as ranks send them to each other: prints seconds, how many of them it waited for a
 * processor, bytes of a message, and milliseconds of a step.
 */
#include <time.h>

#include "output/report/job_pack.h"
#include "tests/unit/output_ranks.h"

static struct make make;

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* What others took away; 0 where the kernel does not say. */
static double waited(void)
{
	unsigned long long on_cpu, waiting = 0;
	FILE *file = fopen("/proc/self/schedstat", "r");

	if (file && fscanf(file, "%llu %llu", &on_cpu, &waiting) != 2)
		waiting = 0;
	if (file)
		fclose(file);
	return (double)waiting / 1e9;
}

static void add(struct cp_job *job, int rank, int ranks, int regions)
{
	char error[200];

	make_rank(&make, rank, ranks, regions);
	if (cp_job_add_record(job, &make, make_header(&make)->tail, error, sizeof(error)))
		return;
	fprintf(stderr, "%s\n", error);
	exit(1);
}

int main(int argc, char **argv)
{
	static struct cp_arena arena = {.give_up = abort};
	struct cp_escape out_of_memory;
	int ranks = argc > 1 ? atoi(argv[1]) : 64,
	    regions = argc > 2 ? atoi(argv[2]) : 200;
	double begin = seconds(), merged, others, step;
	struct cp_job *job, *other;
	const void *bytes;
	size_t size;

	if (CP_ESCAPE_SET(out_of_memory))
		return 1;
	arena.out_of_memory = &out_of_memory;
	job = cp_job_new(&arena);
	other = cp_job_new(&arena);
	for (int rank = 0; rank < ranks; rank++)
		add(rank < ranks / 2 ? job : other, rank, ranks, regions);
	merged = seconds() - begin;
	others = waited();
	begin = seconds();
	bytes = cp_job_pack(other, &size);
	if (!cp_job_unpack(job, bytes, size))
		return 1;
	step = seconds() - begin;
	cp_job_finish(job);
	printf("%.2f %.2f %zu %.2f\n", merged, others, size, step * 1e3);
	return (int)job->nranks == ranks ? 0 : 1;
}
