/* SPDX-License-Identifier: MIT
 * Another tool, whose barrier is 7 pages that it touches; a sum it leaves to MPI.
 */
#include <mpi.h>

#include "../openmp/touch.h"

int MPI_Barrier(MPI_Comm comm)
{
	(void)comm;
	touch(7);
	return MPI_SUCCESS;
}

int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op,
	MPI_Comm comm)
{
	return PMPI_Allreduce(from, to, count, type, op, comm);
}
