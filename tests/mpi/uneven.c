/* SPDX-License-Identifier: MIT
 *
 * A rank, number 2, that the others wait for, and two regions that not all enter.
 */
#include <mpi.h>
#include <pthread.h>
#include <unistd.h>

#include "cachepeek.h"

static void *idle(void *argument)
{
	return argument;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 1 && pthread_create(&thread, NULL, idle, NULL) == 0)
		pthread_join(thread, NULL);
	CACHEPEEK_BEGIN("all");
	if (rank == 2) {
		CACHEPEEK_BEGIN("late");
		usleep(1500000);
		CACHEPEEK_END("late");
	}
	if (rank != 2) {
		CACHEPEEK_BEGIN("early");
		CACHEPEEK_END("early");
	}
	CACHEPEEK_END("all");
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
