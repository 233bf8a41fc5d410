/* SPDX-License-Identifier: MIT
 *	pages [how RANK]
 * The work of work.h.  how: in which way one of them ends before MPI_Finalize:
 * abort, kill, exit (without MPI_Finalize), mpi_abort.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "work.h"

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
