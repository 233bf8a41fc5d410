/* SPDX-License-Identifier: MIT
 *	merge RANKS REGIONS
 * Merges the records of so many ranks, as they send them to rank 0: prints seconds, how
 * many of them it waited for a processor, and bytes of a message.
 */
#include <time.h>

#include "tests/unit/output_parcels.h"
#include "tests/unit/output_ranks.h"

static struct make make;

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* The time that others took away; 0 where the kernel does not say. */
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

int main(int argc, char **argv)
{
	static struct cp_arena arena = {.give_up = abort}, sent = {.give_up = abort};
	struct cp_escape out_of_memory;
	int ranks = argc > 1 ? atoi(argv[1]) : 64,
	    regions = argc > 2 ? atoi(argv[2]) : 200;
	double begin = seconds();
	const struct cp_parcel *parcel = NULL;
	struct cp_job *job;
	char error[200];

	if (CP_ESCAPE_SET(out_of_memory))
		return 1;
	arena.out_of_memory = sent.out_of_memory = &out_of_memory;
	job = cp_job_new(&arena);
	for (int rank = 0; rank < ranks; rank++) {
		make_rank(&make, rank, ranks, regions);
		cp_arena_reuse(&sent);
		parcel = parcel_of(&sent, &make, CP_HOST_BY_NAME);
		if (!cp_job_add_parcel(job, parcel, error, sizeof(error))) {
			fprintf(stderr, "%s\n", error);
			return 1;
		}
	}
	cp_job_finish(job);
	printf("%.2f %.2f %zu\n", seconds() - begin, waited(),
		parcel ? (size_t)parcel->size : 0);
	return (int)job->nranks == ranks ? 0 : 1;
}
