/* SPDX-License-Identifier: MIT
 *	pages [how RANK]
 * Rank i touches (i + 1) * 10 pages in the region "work", and 5 in "odd" or
 * "even".  how: in which way one of them ends before MPI_Finalize: abort, kill,
 * exit (without MPI_Finalize); or late: it waits before it gets there.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../openmp/touch.h"
#include "cachepeek.h"

static void end(const char *how)
{
	if (strcmp(how, "abort") == 0)
		abort();
	if (strcmp(how, "kill") == 0)
		raise(SIGKILL);
	if (strcmp(how, "exit") == 0)
		exit(0);
	if (strcmp(how, "mpi_abort") == 0)
		MPI_Abort(MPI_COMM_WORLD, 3);
}

static void work(int rank)
{
	const char *name = rank % 2 ? "odd" : "even";

	touch(0);
	CACHEPEEK_BEGIN("work");
	touch(10 * (rank + 1));
	cachepeek_begin(cachepeek_region_register(name));
	touch(5);
	cachepeek_end(cachepeek_region_register(name));
	CACHEPEEK_END("work");
}

int main(int argc, char **argv)
{
	int rank, sum = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	work(rank);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (argc > 2 && rank == atoi(argv[2]))
		end(argv[1]);
	if (argc > 2)
		sleep(1); /* until the launcher has seen it */
	MPI_Finalize();
	if (rank == 0)
		printf("%d\n", sum);
	return 0;
}
