/* SPDX-License-Identifier: MIT
 *
 * Overrides: MPI_Finalize, PMPI_Finalize, mpi_finalize, mpi_finalize_,
 * mpi_finalize__, MPI_FINALIZE, mpi_finalize_f08_, pmpi_finalize_,
 * pmpi_finalize_f08_.
 *
 * Which of these a program's call arrives at depends on its language and its MPI;
 * some call each other, and other tools call the PMPI ones.  The first is ours to
 * act upon.
 */
#include <stdbool.h>

#include "preload/forward.h"
#include "preload/job.h"

#define EXPORT __attribute__((visibility("default")))

#define FINALIZE(function)                                                               \
	EXPORT int function(void);                                                       \
	EXPORT int function(void)                                                        \
	{                                                                                \
		__typeof__(&function) real = CP_FORWARD(function);                       \
                                                                                         \
		cp_job_report(__builtin_return_address(0));                              \
		return real ? real() : 0;                                                \
	}
FINALIZE(MPI_Finalize)
FINALIZE(PMPI_Finalize)

/* Fortran's argument, where there is one, is passed on as it is. */
#define FORTRAN(function)                                                                \
	EXPORT void function(int *error);                                                \
	EXPORT void function(int *error)                                                 \
	{                                                                                \
		__typeof__(&function) real = CP_FORWARD(function);                       \
                                                                                         \
		cp_job_report(__builtin_return_address(0));                              \
		if (real)                                                                \
			real(error);                                                     \
	}
FORTRAN(mpi_finalize)
FORTRAN(mpi_finalize_)
FORTRAN(mpi_finalize__)
FORTRAN(MPI_FINALIZE)
FORTRAN(mpi_finalize_f08_)
FORTRAN(pmpi_finalize_)
FORTRAN(pmpi_finalize_f08_)
