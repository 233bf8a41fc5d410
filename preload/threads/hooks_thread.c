/* SPDX-License-Identifier: MIT
 *
 * Overrides: pthread_create, thrd_create.
 *
 * Each new thread starts in a function of ours, which opens its counters and
 * then calls the program's.  Its end is seen by a TSD destructor (threads.c).
 */
#include <errno.h>
#include <pthread.h>
#include <threads.h>

#include "base/export.h"
#include "base/pool.h"
#include "base/engine/simclient.h"
#include "preload/libc/real.h"
#include "preload/runtime.h"
#include "preload/threads/threads.h"
#include "preload/self.h"

/* The function that the new thread is to run. */
struct parcel {
	union {
		void *(*pthread)(void *);
		thrd_start_t thrd;
	} function;
	void *argument;
	struct cp_stack_bounds bounds;
	bool begins_paused; /* by the simulated PMU */
};

CP_POOL(parcels, struct parcel);

static void give_back(void *parcel)
{
	cp_self.depth++; /* also where a signal handler creates a thread */
	cp_pool_give(&parcels, parcel);
	cp_leave();
}

/* Takes the parcel's content and gives it back before the program's function
 * runs, which may never return. */
static struct parcel unpack_parcel(void *memory)
{
	struct parcel parcel;
	int saved = errno, state;

	cp_own_work_begin(&state);
	parcel = *(struct parcel *)memory;
	give_back(memory);
	cp_self.bounds = parcel.bounds;
	cp_thread_begin();
	cp_thread_started();
	cp_own_work_end(state);
	if (parcel.begins_paused)
		cp_engine_resume();
	errno = saved;
	return parcel;
}

/* The bounds that the program says of its stack, or the default. */
static struct cp_stack_bounds bounds_in(const pthread_attr_t *attributes)
{
	struct cp_stack_bounds bounds = {0, 0};
	pthread_attr_t usual;
	size_t size;
	void *low;

	if (!attributes && pthread_attr_init(&usual) == 0)
		attributes = &usual; /* has nothing to be destroyed */
	if (!attributes || pthread_attr_getstacksize(attributes, &bounds.size) != 0)
		return bounds;
	/* If the program has not made the stack, its end is 0, or from glibc 2.43 on its
	 * size is. */
	if (pthread_attr_getstack(attributes, &low, &size) == 0 && size &&
		(uintptr_t)low + size) {
		bounds = (struct cp_stack_bounds){(uintptr_t)low, size};
		cp_sim_stack(bounds.low, bounds.low + bounds.size);
	}
	return bounds;
}

static struct parcel *pack_parcel(const pthread_attr_t *attributes, void *argument)
{
	struct parcel *parcel = NULL;
	int saved = errno, state;

	if (!cp_counting() || !cp_enter_slowly(&state))
		return NULL;
	parcel = cp_pool_take(&parcels);
	if (parcel) {
		parcel->argument = argument;
		parcel->bounds = bounds_in(attributes);
		parcel->begins_paused = cp_sim_thread_comes(true);
	}
	cp_threads_adopt();
	if (parcel)
		cp_thread_starts();
	cp_leave_slowly(state);
	errno = saved;
	return parcel;
}

/* The thread was not created. */
static void unpack_unused(struct parcel *parcel)
{
	cp_sim_thread_comes(false);
	give_back(parcel);
	cp_thread_started();
}

static void *run_pthread(void *memory)
{
	struct parcel parcel = unpack_parcel(memory);

	return parcel.function.pthread(parcel.argument);
}

static int run_thrd(void *memory)
{
	struct parcel parcel = unpack_parcel(memory);

	return parcel.function.thrd(parcel.argument);
}

EXPORT int pthread_create(pthread_t *restrict thread,
	const pthread_attr_t *restrict attributes, void *(*function)(void *),
	void *restrict argument)
{
	struct parcel *parcel = pack_parcel(attributes, argument);
	int result;

	if (!parcel)
		return CP_REAL(pthread_create)(thread, attributes, function, argument);
	parcel->function.pthread = function;
	result = CP_REAL(pthread_create)(thread, attributes, run_pthread, parcel);
	if (result != 0)
		unpack_unused(parcel);
	return result;
}

EXPORT int thrd_create(thrd_t *thread, thrd_start_t function, void *argument)
{
	struct parcel *parcel = pack_parcel(NULL, argument);
	int result;

	if (!parcel)
		return CP_REAL(thrd_create)(thread, function, argument);
	parcel->function.thrd = function;
	result = CP_REAL(thrd_create)(thread, run_thrd, parcel);
	if (result != thrd_success)
		unpack_unused(parcel);
	return result;
}
