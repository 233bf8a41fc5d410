/* SPDX-License-Identifier: MIT
 *
 * Overrides: MPI_name and PMPI_name of all that preload/parallel/mpi_calls.h lists.
 *
 * The time of each call, and if wanted a region, so that waiting is told from computing.
 * Fortran's functions call these, or the PMPI ones, in every MPI that we know; and so do
 * other tools: the outermost call in a thread is the region.
 */
#include <stdbool.h>

#include "base/export.h"
#include "preload/markers/forward.h"
#include "preload/markers/markers.h"
#include "preload/parallel/mpi_calls.h"
#include "preload/parallel/mpi_time.h"
#include "preload/runtime.h"
#include "base/counters/options.h"
#include "preload/self.h"

#define TAG cp_marker_tag_of(CP_MARKER_MPI, 0)
#define NO_FUNCTION 15 /* not MPI_SUCCESS */

/* The outermost call does this beside. */
struct call {
	bool outermost;
	struct cp_name *region; /* NULL: none */
	uint64_t began;
};

/* The region is the same for MPI_name and PMPI_name, which has a letter more. */
struct hook {
	struct cp_forward forward;
	struct cp_name *region; /* atomic */
};

static struct cp_name *begin_region(struct hook *hook)
{
	struct cp_name *name = __atomic_load_n(&hook->region, __ATOMIC_ACQUIRE);

	if (!name) {
		name = cp_marker_name(
			hook->forward.name + (hook->forward.name[0] == 'P'));
		__atomic_store_n(&hook->region, name, __ATOMIC_RELEASE);
	}
	if (name)
		cp_marker_begin(name, TAG);
	return name;
}

static struct call begin_call(struct hook *hook)
{
	struct call call = {false, NULL, 0};

	if (cp_self.within.mpi || !cp_counting())
		return call;
	cp_self.within.mpi = call.outermost = true;
	if (cp_options.mpi_regions)
		call.region = begin_region(hook);
	call.began = cp_mpi_time_begin();
	return call;
}

static void end_call(const struct call *call)
{
	cp_mpi_time_end(call->began);
	if (call->region)
		cp_marker_end(call->region, TAG, CP_END_OWN);
	cp_self.within.mpi = false;
}

/* As many arguments as any has, in the registers and on the stack where they came:
 * what a function does not have, it does not look at. */
#define PARAMETERS                                                                       \
	long a, long b, long c, long d, long e, long f, long g, long h, long i, long j,  \
		long k, long l, long m
#define ARGUMENTS a, b, c, d, e, f, g, h, i, j, k, l, m

typedef int function(PARAMETERS);

/* The hooks are hundreds: what they do is here, once. */
static __attribute__((noinline)) int call_through(
	PARAMETERS, struct hook *hook, const void *returns_to)
{
	function *real =
		(function *)(uintptr_t)cp_forward_from(&hook->forward, returns_to);
	struct call call = begin_call(hook);
	int result = real ? real(ARGUMENTS) : NO_FUNCTION;

	if (call.outermost)
		end_call(&call);
	return result;
}

#define HOOK(name)                                                                       \
	EXPORT int name(PARAMETERS)                                                      \
	{                                                                                \
		static struct hook hook = {{#name, NULL}, NULL};                         \
                                                                                         \
		return call_through(ARGUMENTS, &hook, __builtin_return_address(0));      \
	}
#define BOTH(name) HOOK(MPI_##name) HOOK(PMPI_##name)
#define LARGE(name) BOTH(name##_c)

CP_MPI_CALLS_WITH_COUNTS(BOTH)
CP_MPI_CALLS_WITH_COUNTS(LARGE)
CP_MPI_CALLS(BOTH)
