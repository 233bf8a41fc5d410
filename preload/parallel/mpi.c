/* SPDX-License-Identifier: MIT */
#include "preload/parallel/mpi.h"

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "base/syscall.h"
#include "preload/markers/scopes.h"

#define TAG 31741         /* every MPI has tags up to 32767 */
#define CHUNK (1u << 28)  /* bytes in one message: counts are ints */
#define STATUS_SIZE 512   /* more than any MPI's */
#define VERSION_SIZE 8192 /* MPI_MAX_LIBRARY_VERSION_STRING is up to 8192 */

/* Wide enough for a pointer (Open MPI, the ABI of MPI 5) or an int (MPICH). */
typedef uintptr_t handle;

/* One that MPI sets, and what the next call is given. */
union slot {
	handle wide;
	int32_t narrow;
};

#define FUNCTIONS(X)                                                                     \
	X(Initialized, int, (int *))                                                     \
	X(Finalized, int, (int *))                                                       \
	X(Comm_rank, int, (handle, int *))                                               \
	X(Comm_size, int, (handle, int *))                                               \
	X(Ibarrier, int, (handle, union slot *))                                         \
	X(Test, int, (union slot *, int *, void *))                                      \
	X(Isend, int, (const void *, int, handle, int, int, handle, union slot *))       \
	X(Irecv, int, (void *, int, handle, int, int, handle, union slot *))

static struct {
#define X(name, result, arguments) result(*name) arguments;
	FUNCTIONS(X)
#undef X
	handle world, byte;
} mpi;

/* ---- which one ---- */

/* All of them from one object: a front end and what is behind it have handles of
 * different kinds. */
static bool find_functions(const void *place)
{
	const void *base = NULL;
	Dl_info info;
	void *found;

#define X(name, result, arguments)                                                       \
	found = cp_scope_find("PMPI_" #name, place);                                     \
	if (!found || !dladdr(found, &info) || (base && info.dli_fbase != base))         \
		return false;                                                            \
	base = info.dli_fbase;                                                           \
	memcpy(&mpi.name, &found, sizeof(found));
	FUNCTIONS(X)
#undef X
	return true;
}

static bool has_standard_abi(const void *place)
{
	void *found = cp_scope_find("PMPI_Abi_get_version", place);
	int (*get)(int *, int *), major = -1, minor = -1;

	if (!found)
		return false;
	memcpy(&get, &found, sizeof(found));
	return get(&major, &minor) == 0 && major >= 1;
}

static bool is_mpich(const void *place)
{
	static const char *const names[] = {
		"MPICH", "Intel(R) MPI", "MVAPICH", "CRAY", "ParaStation"};
	static char version[VERSION_SIZE + 1];
	void *found = cp_scope_find("PMPI_Get_library_version", place);
	int (*get)(char *, int *), length = 0;

	if (!found)
		return false;
	memcpy(&get, &found, sizeof(found));
	if (get(version, &length) != 0)
		return false;
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strstr(version, names[i]))
			return true;
	return false;
}

/* The program's own instance, where it has a copy of the library's. */
static void *find_data(const char *name, const void *place)
{
	void *theirs = cp_scope_find(name, place),
	     *programs = theirs ? dlsym(RTLD_DEFAULT, name) : NULL;

	return programs ? programs : theirs;
}

static bool find_handles(const void *place)
{
	if (has_standard_abi(place)) {
		mpi.world = 0x101;
		mpi.byte = 0x247;
	} else if (find_data("ompi_mpi_comm_world", place)) {
		mpi.world = (handle)find_data("ompi_mpi_comm_world", place);
		mpi.byte = (handle)find_data("ompi_mpi_byte", place);
	} else if (is_mpich(place)) {
		mpi.world = 0x44000000;
		mpi.byte = 0x4c00010d;
	} else {
		return false;
	}
	return mpi.byte != 0;
}

bool cp_mpi_find(struct cp_mpi *it, const void *place, const char **why)
{
	int begun = 0, ended = 0;

	*why = "its functions cannot all be found in one library";
	if (!find_functions(place))
		return false;
	*why = "it is neither Open MPI, nor of the MPICH family, nor of the ABI of MPI 5";
	if (!find_handles(place))
		return false;
	*why = "it is not initialised, or finalized already";
	return mpi.Initialized(&begun) == 0 && begun && mpi.Finalized(&ended) == 0 &&
	       !ended && mpi.Comm_rank(mpi.world, &it->rank) == 0 &&
	       mpi.Comm_size(mpi.world, &it->size) == 0;
}

bool cp_mpi_is_open(void)
{
	struct cp_found all;

	cp_scope_all("PMPI_Initialized", &all);
	for (unsigned i = 0; i < all.n; i++)
		if (cp_scope_has_open_mpi(all.functions[i]))
			return true;
	return false;
}

/* ---- messages, with a limit of time ---- */

static double now_seconds(void)
{
	struct timespec at;

	cp_syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &at);
	return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static bool wait_for(union slot *request, double seconds)
{
	static _Alignas(16) char status[STATUS_SIZE];
	const struct timespec pause = {0, 200000};
	double until = now_seconds() + seconds;
	int done = 0;

	for (unsigned tries = 0;; tries++) {
		if (mpi.Test(request, &done, status) != 0)
			return false;
		if (done || now_seconds() > until)
			return done;
		if (tries > 100)
			cp_syscall(SYS_nanosleep, &pause, NULL);
	}
}

bool cp_mpi_meet(double seconds)
{
	static union slot request;

	return mpi.Ibarrier(mpi.world, &request) == 0 && wait_for(&request, seconds);
}

bool cp_mpi_send(int to, const void *bytes, size_t size, double seconds)
{
	for (const char *at = bytes; size > 0;) {
		int part = (int)(size < CHUNK ? size : CHUNK);
		union slot request = {0};

		if (mpi.Isend(at, part, mpi.byte, to, TAG, mpi.world, &request) != 0 ||
			!wait_for(&request, seconds))
			return false;
		at += part;
		size -= (size_t)part;
	}
	return true;
}

bool cp_mpi_receive(int from, void *bytes, size_t size, double seconds)
{
	for (char *at = bytes; size > 0;) {
		int part = (int)(size < CHUNK ? size : CHUNK);
		union slot request = {0};

		if (mpi.Irecv(at, part, mpi.byte, from, TAG, mpi.world, &request) != 0 ||
			!wait_for(&request, seconds))
			return false;
		at += part;
		size -= (size_t)part;
	}
	return true;
}
