/* SPDX-License-Identifier: MIT
 *
 * How long the process is in functions of MPI that communicate or wait: who waits for
 * whom, also without a region for each call.
 */
#ifndef CACHEPEEK_PRELOAD_PARALLEL_MPI_TIME_H
#define CACHEPEEK_PRELOAD_PARALLEL_MPI_TIME_H

#include <stdint.h>

/* When a call begins; 0: nobody wants to know.  Takes no lock. */
uint64_t cp_mpi_time_begin(void);
void cp_mpi_time_end(uint64_t began);

/* For preload/parts.c. */
void cp_mpi_time_prepare(void);
void cp_mpi_time_after_fork(void);

#endif
