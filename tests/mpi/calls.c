/* SPDX-License-Identifier: MIT
 * Calls of MPI, in the region "work" and after it, and what is none: rank i touches
 * (i + 1) * 10 pages in "compute".
 */
#include <mpi.h>

#include "work.h"

static void ring(int rank, int ranks)
{
	int mine = rank, other, after = (rank + 1) % ranks,
	    before = (rank + ranks - 1) % ranks;
	MPI_Request requests[2];

	for (int i = 0; i < 3; i++)
		MPI_Sendrecv(&mine, 1, MPI_INT, after, 1, &other, 1, MPI_INT, before, 1,
			MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Isend(&mine, 1, MPI_INT, after, 2, MPI_COMM_WORLD, &requests[0]);
	MPI_Irecv(&other, 1, MPI_INT, before, 2, MPI_COMM_WORLD, &requests[1]);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void compute(int rank)
{
	CACHEPEEK_BEGIN("compute");
	touch(10 * (rank + 1));
	CACHEPEEK_END("compute");
}

int main(int argc, char **argv)
{
	int rank, ranks, sum;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	touch(0);
	CACHEPEEK_BEGIN("work");
	ring(rank, ranks);
	compute(rank);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < 2; i++)
		MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	CACHEPEEK_END("work");
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
