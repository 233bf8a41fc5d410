/* SPDX-License-Identifier: MIT */
#include "preload/life.h"

#include "base/fd.h"
#include "preload/calibrate.h"
#include "preload/compared.h"
#include "preload/ended.h"
#include "preload/follow.h"
#include "preload/markers/functions.h"
#include "preload/golang.h"
#include "preload/markers/handles.h"
#include "preload/helper.h"
#include "preload/interval.h"
#include "preload/markers/markers.h"
#include "preload/parallel/mpi_time.h"
#include "preload/runtime.h"
#include "preload/sampling/sampling.h"
#include "preload/markers/symbols.h"
#include "preload/threads.h"

/* ---- steps of more than one call ---- */

static void finish_threads(void)
{
	cp_threads_adopt();
	cp_runtime.record.header->cpu_ns = cp_process_cpu() - cp_runtime.cpu_base;
	cp_threads_finish();
}

static void flush_threads(void)
{
	cp_threads_adopt();
	cp_threads_flush();
	cp_thread_before_exec();
}

static void close_record(void)
{
	cp_record_close(&cp_runtime.record);
}

static void detach_record(void)
{
	if (cp_record_detach(&cp_runtime.record) < 0)
		cp_runtime.record.header = NULL;
}

static void bind_record(void)
{
	if (cp_engine->bind_process) {
		cp_engine->bind_process(cp_runtime.record.header->process);
		cp_compared_bind();
	}
	cp_runtime.cpu_base = cp_process_cpu();
}

static void describe_symbols(void)
{
	cp_symbol_describe(&cp_runtime.record);
}

static void touch_record(void)
{
	cp_record_touch_ahead(&cp_runtime.record);
}

/* ---- all of them ---- */

/*
 * The order matters where a comment says so.  Locks, latches (base/once.h: they stay)
 * and helper threads are on lists of their own, so that a part that has nothing else
 * needs no row.
 */
static const struct cp_life parts[] = {
	/* forked_inside: before anything is mapped where a ring was.  finish and
	 * before_exec: before the rows and samples that want the last readings. */
	{
		.name = "threads",
		.after_fork = cp_threads_after_fork,
		.forked_inside = cp_threads_forked_inside,
		.before_exec = flush_threads,
		.finish = finish_threads,
	},
	/* Gives threads back. */
	{.name = "ended threads", .after_fork = cp_ended_after_fork},
	/* Before any descriptor is opened: the limit may be the raised one. */
	{
		.name = "descriptors",
		.after_fork = cp_fd_after_fork,
		.forked_inside = cp_fd_after_fork,
	},
	{.name = "children", .after_fork = cp_follow_after_fork},
	/* finish: before the last row, while all threads may still be told. */
	{
		.name = "helper threads",
		.after_fork = cp_helpers_after_fork,
		.forked_inside = cp_helpers_after_fork,
		.finish = cp_helpers_dismiss,
	},
	/* after_fork: before what is opened for the child. */
	{
		.name = "record",
		.after_fork = close_record,
		.prepare = bind_record,
		.forked_inside = detach_record,
	},
	/* Where it adds up is in the record. */
	{
		.name = "time in MPI",
		.after_fork = cp_mpi_time_after_fork,
		.prepare = cp_mpi_time_prepare,
		.forked_inside = cp_mpi_time_after_fork,
	},
	{.name = "names", .after_fork = cp_names_after_fork},
	{.name = "ranges", .after_fork = cp_ranges_after_fork},
	{.name = "handles", .after_fork = cp_handles_after_fork},
	{
		.name = "symbols",
		.after_fork = cp_symbols_after_fork,
		.prepare = describe_symbols,
	},
	{
		.name = "the cost of a region",
		.after_fork = cp_calibrate_after_fork,
		.prepare = cp_calibrate_describe,
	},
	{
		.name = "time series",
		.prepare = cp_interval_prepare,
		.start = cp_interval_start,
		.finish = cp_interval_finish,
	},
	/* start: after the time series, which has readings, too. */
	/* Last of those that describe: what is touched first in a region of the program's
	 * is counted there. */
	{.name = "space for regions", .prepare = touch_record},
	{.name = "Go programs", .start = cp_golang_start},
	{
		.name = "samples",
		.after_fork = cp_sampling_after_fork,
		.prepare = cp_sampling_prepare,
		.start = cp_sampling_start,
		.forked_inside = cp_sampling_detach,
		.before_exec = cp_sampling_flush,
	},
	{.name = "regions of lines", .finish = cp_lines_check},
};

void cp_life_do(size_t step)
{
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		void (*function)(void) =
			*(void (*const *)(void))((const char *)&parts[i] + step);

		if (function)
			function();
	}
}
