/* SPDX-License-Identifier: MIT
 *
 * Our requests to MPI, whichever one there is: its functions are looked up while the
 * program runs, and its handles are known by implementation, not from mpi.h.
 */
#ifndef CACHEPEEK_PRELOAD_PARALLEL_MPI_H
#define CACHEPEEK_PRELOAD_PARALLEL_MPI_H

#include <stdbool.h>
#include <stddef.h>

struct cp_mpi {
	int rank, size; /* of MPI_COMM_WORLD */
};

/* The MPI that has the function at `place`, if it is initialised and not finalized.
 * false, with the reason: none that is known. */
bool cp_mpi_find(struct cp_mpi *mpi, const void *place, const char **why);

/* The program has begun to use an MPI, whichever it is, and not ended that: its launcher
 * may take the end of one rank for the failure of all. */
bool cp_mpi_is_open(void);

/* Waits until all ranks have called it, but not longer than so many seconds. */
bool cp_mpi_meet(double seconds);

/* A message to or from a rank; false: it did not get through in that time.  What
 * is sent or received into must then stay as it is. */
bool cp_mpi_send(int to, const void *bytes, size_t size, double seconds);
bool cp_mpi_receive(int from, void *bytes, size_t size, double seconds);

#endif
