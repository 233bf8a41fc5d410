/* SPDX-License-Identifier: MIT
 * A library with the ABI of MPI 5: what it is asked for it asks of MPICH, whose
 * handles are ints.
 */
#include "mpi.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* MPICH's. */
enum {
	WORLD = 0x44000000,
	NULL_REQUEST = 0x2c000000,
	INT_TYPE = 0x4c000405,
	BYTE_TYPE = 0x4c00010d,
	SUM = 0x58000003,
};
struct status {
	int count[2], source, tag, error;
};

static void *behind(const char *name)
{
	static void *library;
	void *found;

	if (!library)
		library = dlopen("libmpich.so.12", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
	found = library ? dlsym(library, name) : NULL;
	if (!found) {
		fprintf(stderr, "%s: %s\n", name, dlerror());
		abort();
	}
	return found;
}
#define BEHIND(name, ...) ((int (*)(__VA_ARGS__))(uintptr_t)behind("PMPI_" #name))

/* A handle that is not of the ABI is not passed on. */
static int known(const void *handle, uintptr_t abi, int mpich)
{
	if ((uintptr_t)handle == abi)
		return mpich;
	fprintf(stderr, "handle %p is not of the ABI\n", handle);
	abort();
}
#define COMM(comm) known(comm, 0x101, WORLD)
#define TYPE(type)                                                                       \
	known(type, (uintptr_t)(type) == 0x247 ? 0x247 : 0x209,                          \
		(uintptr_t)(type) == 0x247 ? BYTE_TYPE : INT_TYPE)

static void give(MPI_Request *request, int theirs)
{
	*request = theirs == NULL_REQUEST ? MPI_REQUEST_NULL
					  : (MPI_Request)(uintptr_t)(uint32_t)theirs;
}

int PMPI_Init(int *argc, char ***argv)
{
	return BEHIND(Init, int *, char ***)(argc, argv);
}

int PMPI_Initialized(int *flag)
{
	return BEHIND(Initialized, int *)(flag);
}

int PMPI_Finalized(int *flag)
{
	return BEHIND(Finalized, int *)(flag);
}

int PMPI_Finalize(void)
{
	return BEHIND(Finalize, void)();
}

int PMPI_Abort(MPI_Comm comm, int code)
{
	return BEHIND(Abort, int, int)(COMM(comm), code);
}

int PMPI_Abi_get_version(int *major, int *minor)
{
	*major = 1;
	*minor = 0;
	return MPI_SUCCESS;
}

int PMPI_Comm_rank(MPI_Comm comm, int *rank)
{
	return BEHIND(Comm_rank, int, int *)(COMM(comm), rank);
}

int PMPI_Comm_size(MPI_Comm comm, int *size)
{
	return BEHIND(Comm_size, int, int *)(COMM(comm), size);
}

int PMPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op,
	MPI_Comm comm)
{
	return BEHIND(Allreduce, const void *, void *, int, int, int, int)(
		from, to, count, TYPE(type), known(op, 0x21, SUM), COMM(comm));
}

int PMPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
	int theirs = NULL_REQUEST, result;

	result = BEHIND(Ibarrier, int, int *)(COMM(comm), &theirs);
	give(request, theirs);
	return result;
}

int PMPI_Isend(const void *from, int count, MPI_Datatype type, int to, int tag,
	MPI_Comm comm, MPI_Request *request)
{
	int theirs = NULL_REQUEST, result;

	result = BEHIND(Isend, const void *, int, int, int, int, int, int *)(
		from, count, TYPE(type), to, tag, COMM(comm), &theirs);
	give(request, theirs);
	return result;
}

int PMPI_Irecv(void *to, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
	MPI_Request *request)
{
	int theirs = NULL_REQUEST, result;

	result = BEHIND(Irecv, void *, int, int, int, int, int, int *)(
		to, count, TYPE(type), from, tag, COMM(comm), &theirs);
	give(request, theirs);
	return result;
}

int PMPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
	int theirs = *request == MPI_REQUEST_NULL ? NULL_REQUEST
						  : (int)(uint32_t)(uintptr_t)*request;
	struct status got = {{0, 0}, 0, 0, 0};
	int result = BEHIND(Test, int *, int *, struct status *)(&theirs, flag, &got);

	give(request, theirs);
	if (*flag && status)
		*status = (MPI_Status){got.source, got.tag, got.error, {0}};
	return result;
}

#define ALIAS(name, parameters)                                                          \
	int MPI_##name parameters __attribute__((weak, alias("PMPI_" #name)));
FUNCTIONS(ALIAS)
