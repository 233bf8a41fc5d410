/* SPDX-License-Identifier: MIT
 * The part of the ABI of MPI 5.0 (chapter 20 of the standard) that the tests use:
 * handles are pointers to incomplete types, predefined ones small numbers.
 */
#ifndef CACHEPEEK_TESTS_MPI_ABI_H
#define CACHEPEEK_TESTS_MPI_ABI_H

typedef struct MPI_ABI_Comm *MPI_Comm;
typedef struct MPI_ABI_Datatype *MPI_Datatype;
typedef struct MPI_ABI_Op *MPI_Op;
typedef struct MPI_ABI_Request *MPI_Request;
typedef struct {
	int MPI_SOURCE, MPI_TAG, MPI_ERROR, MPI_internal[5];
} MPI_Status;

#define MPI_SUCCESS 0
#define MPI_COMM_WORLD ((MPI_Comm)0x101)
#define MPI_REQUEST_NULL ((MPI_Request)0x180)
#define MPI_INT ((MPI_Datatype)0x209)
#define MPI_BYTE ((MPI_Datatype)0x247)
#define MPI_SUM ((MPI_Op)0x21)

#define FUNCTIONS(X)                                                                     \
	X(Init, (int *argc, char ***argv))                                               \
	X(Initialized, (int *flag))                                                      \
	X(Finalized, (int *flag))                                                        \
	X(Finalize, (void))                                                              \
	X(Abort, (MPI_Comm comm, int code))                                              \
	X(Abi_get_version, (int *major, int *minor))                                     \
	X(Comm_rank, (MPI_Comm comm, int *rank))                                         \
	X(Comm_size, (MPI_Comm comm, int *size))                                         \
	X(Allreduce, (const void *from, void *to, int count, MPI_Datatype type,          \
			     MPI_Op op, MPI_Comm comm))                                  \
	X(Ibarrier, (MPI_Comm comm, MPI_Request * request))                              \
	X(Isend, (const void *from, int count, MPI_Datatype type, int to, int tag,       \
			 MPI_Comm comm, MPI_Request *request))                           \
	X(Irecv, (void *to, int count, MPI_Datatype type, int from, int tag,             \
			 MPI_Comm comm, MPI_Request *request))                           \
	X(Test, (MPI_Request * request, int *flag, MPI_Status *status))

#define DECLARE(name, parameters)                                                        \
	int MPI_##name parameters;                                                       \
	int PMPI_##name parameters;
FUNCTIONS(DECLARE)

#endif
