/* SPDX-License-Identifier: MIT
 *
 * Overrides: MPI_Finalize, PMPI_Finalize, mpi_finalize, mpi_finalize_,
 * mpi_finalize__, MPI_FINALIZE, mpi_finalize_f08_, pmpi_finalize_,
 * pmpi_finalize_f08_; MPI_Abort, PMPI_Abort, mpi_abort, mpi_abort_, mpi_abort__,
 * MPI_ABORT, mpi_abort_f08_, pmpi_abort_, pmpi_abort_f08_.
 *
 * Which of these a program's call arrives at depends on its language and its MPI;
 * some call each other, and other tools call the PMPI ones.  The first is ours to
 * act upon.  Where there is no such function, somebody has found ours by a weak
 * reference, and there is no MPI.  After MPI_Abort the launcher may kill the rank before
 * it comes to its end.
 */
#include <stdint.h>

#include "base/export.h"
#include "preload/markers/forward.h"
#include "preload/parallel/job.h"

#define FINALIZE(function)                                                               \
	EXPORT int function(void)                                                        \
	{                                                                                \
		__typeof__(&function) real = CP_FORWARD(function);                       \
                                                                                         \
		if (!real)                                                               \
			return 0;                                                        \
		cp_job_report((const void *)(uintptr_t)real);                            \
		return real();                                                           \
	}
FINALIZE(MPI_Finalize)
FINALIZE(PMPI_Finalize)

/* Fortran's argument, where there is one, is passed on as it is. */
#define FORTRAN(function)                                                                \
	EXPORT void function(int *error)                                                 \
	{                                                                                \
		__typeof__(&function) real = CP_FORWARD(function);                       \
                                                                                         \
		if (!real)                                                               \
			return;                                                          \
		cp_job_report((const void *)(uintptr_t)real);                            \
		real(error);                                                             \
	}
FORTRAN(mpi_finalize)
FORTRAN(mpi_finalize_)
FORTRAN(mpi_finalize__)
FORTRAN(MPI_FINALIZE)
FORTRAN(mpi_finalize_f08_)
FORTRAN(pmpi_finalize_)
FORTRAN(pmpi_finalize_f08_)

/* ---- MPI_Abort ---- */

/* A communicator is a pointer or an int: handed on as it came, in its register. */
#define ABORT(function)                                                                  \
	EXPORT int function(uintptr_t communicator, int code)                            \
	{                                                                                \
		__typeof__(&function) real = CP_FORWARD(function);                       \
                                                                                         \
		if (!real)                                                               \
			return 0;                                                        \
		cp_job_aborts(code);                                                     \
		return real(communicator, code);                                         \
	}
ABORT(MPI_Abort)
ABORT(PMPI_Abort)

#define FORTRAN_ABORT(function)                                                          \
	EXPORT void function(void *communicator, const int *code, int *error)            \
	{                                                                                \
		__typeof__(&function) real = CP_FORWARD(function);                       \
                                                                                         \
		if (!real)                                                               \
			return;                                                          \
		cp_job_aborts(code ? *code : 0);                                         \
		real(communicator, code, error);                                         \
	}
FORTRAN_ABORT(mpi_abort)
FORTRAN_ABORT(mpi_abort_)
FORTRAN_ABORT(mpi_abort__)
FORTRAN_ABORT(MPI_ABORT)
FORTRAN_ABORT(mpi_abort_f08_)
FORTRAN_ABORT(pmpi_abort_)
FORTRAN_ABORT(pmpi_abort_f08_)
