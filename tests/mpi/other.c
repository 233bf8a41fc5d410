/* SPDX-License-Identifier: MIT
 * Another tool that stands between the program and its MPI.
 */
#include <mpi.h>
#include <stdio.h>

int MPI_Finalize(void)
{
	fprintf(stderr, "the other tool\n");
	return PMPI_Finalize();
}
