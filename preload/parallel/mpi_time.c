/* SPDX-License-Identifier: MIT */
#include "preload/parallel/mpi_time.h"

#include <stddef.h>

#include "base/counters/clock.h"
#include "preload/runtime.h"
#include "preload/run.h"

void cp_mpi_time_prepare(void)
{
	struct cp_mpi_item *made;

	if (cp_run.rank.number < 0 || !cp_engine->has_time)
		return;
	made = cp_record_reserve(&cp_runtime.record, sizeof(*made));
	if (!made)
		return;
	cp_item_publish(made, CP_ITEM_MPI);
	__atomic_store_n(&cp_runtime.mpi, made, __ATOMIC_RELEASE);
}

/* The record that it is in is the parent's. */
void cp_mpi_time_after_fork(void)
{
	__atomic_store_n(&cp_runtime.mpi, NULL, __ATOMIC_RELEASE);
}

uint64_t cp_mpi_time_begin(void)
{
	return __atomic_load_n(&cp_runtime.mpi, __ATOMIC_ACQUIRE) ? cp_clock_ns() : 0;
}

void cp_mpi_time_end(uint64_t began)
{
	struct cp_mpi_item *into = __atomic_load_n(&cp_runtime.mpi, __ATOMIC_ACQUIRE);
	uint64_t now = began && into ? cp_clock_ns() : 0;

	if (now <= began)
		return;
	__atomic_fetch_add(&into->ns, now - began, __ATOMIC_RELAXED);
	__atomic_fetch_add(&into->calls, 1, __ATOMIC_RELAXED);
}
