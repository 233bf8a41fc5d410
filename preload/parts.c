/* SPDX-License-Identifier: MIT
 *
 * The table of the parts of the library that have state (life.h).
 */
#include "preload/life.h"

#include "base/fd_limit.h"
#include "base/log.h"
#include "base/map.h"
#include "preload/calibrate.h"
#include "preload/compared.h"
#include "preload/threads/ended.h"
#include "base/engine/rusage.h"
#include "preload/program/fatal.h"
#include "preload/follow.h"
#include "preload/markers/functions.h"
#include "preload/threads/golang.h"
#include "preload/markers/handles.h"
#include "preload/helper.h"
#include "preload/threads/interval.h"
#include "preload/markers/injection.h"
#include "preload/markers/markers.h"
#include "preload/parallel/mpi_time.h"
#include "preload/program/jump.h"
#include "preload/program/level.h"
#include "preload/program/pinned.h"
#include "preload/program/reporter.h"
#include "preload/run.h"
#include "preload/runtime.h"
#include "preload/sampling/sampling.h"
#include "preload/markers/symbols.h"
#include "preload/threads/threads.h"
#include "preload/process.h"
#include "base/counters/options.h"

/* ---- steps of more than one call ---- */

/* 0, which is unknown, in a process that may not ask (seccomp.h). */
static void note_process_cpu(void)
{
	uint64_t now = cp_process_cpu();

	cp_runtime.record.header->cpu_ns =
		now > cp_runtime.cpu_base ? now - cp_runtime.cpu_base : 0;
}

static void finish_threads(void)
{
	cp_threads_adopt();
	note_process_cpu();
	__atomic_fetch_add(&cp_runtime.record.header->seen_cpu_ns,
		cp_helpers_cpu(cp_thread_cpu), __ATOMIC_RELAXED);
	cp_helpers_finish(); /* they read what threads give back */
	cp_threads_finish();
}

static void start_threads(void)
{
	cp_threads_start(cp_thread_left);
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
	/* In this order: no moment is the process's and not the thread's. */
	cp_runtime.main_cpu_base = cp_thread_cpu(0);
	cp_runtime.cpu_base = cp_process_cpu();
}

static void seal_record(void)
{
	cp_runtime.record.sealed = true;
}

static void describe_symbols(void)
{
	cp_symbol_describe(&cp_runtime.record);
}

static void touch_record(void)
{
	cp_record_touch_ahead(&cp_runtime.record);
}

static void follow_run(void)
{
	cp_follow_run(cp_run_entries());
}

static void hook_process(void)
{
	cp_hooks_start(cp_is_reexecuted() ? NULL : cp_run_entries());
}

static void watch_functions(void)
{
	if (cp_is_reexecuted())
		cp_functions_watch(cp_options.regions);
}

static void patch_functions(void)
{
	if (!cp_is_reexecuted())
		cp_functions_patch(cp_options.regions);
}

static void write_only(void)
{
	cp_log_only_write = true;
}

/* ---- all of them ---- */

/*
 * The order matters where a comment says so.  Locks, pools, latches (base/once.h: they
 * stay) and helper threads are on lists of their own, so that a part that has nothing
 * else needs no row.
 */
const struct cp_life cp_parts[] = {
	/* forked_inside: before anything is mapped where a ring was.  finish and
	 * before_exec: before the rows and samples that want the last readings. */
	{
		.name = "threads",
		.files = "preload/threads/threads.c preload/threads/thread_record.c",
		.kept = "the live ones are given back "
			"by cp_threads_of_child, the key stays",
		.begin = start_threads,
		.after_fork = cp_threads_after_fork,
		.forked_inside = cp_threads_forked_inside,
		.before_exec = flush_threads,
		.exec_failed = cp_thread_exec_failed,
		.finish = finish_threads,
	},
	/* Gives threads back. */
	{
		.name = "ended threads",
		.files = "preload/threads/ended.c",
		.after_fork = cp_ended_after_fork,
	},
	/* Before any descriptor is opened: the limit may be the raised one. */
	{
		.name = "descriptors",
		.files = "base/fd.c base/fd_limit.c",
		.kept = "a child inherits the numbers, and the limits",
		.in_child = cp_fd_after_fork,
		.forked_inside = cp_fd_after_fork,
		.confined = cp_fd_limits_stop,
	},
	/* after_fork: until then a child takes itself for a copy. */
	{
		.name = "children",
		.files = "preload/follow.c",
		.kept = "the settings are those of the run",
		.begin = follow_run,
		.after_fork = cp_follow_after_fork,
	},
	{
		.name = "the process",
		.files = "preload/process.c preload/hooks_process.c",
		.kept = "an end has not begun where a child is counted",
		.begin = hook_process,
		.after_fork = cp_process_after_fork,
	},
	{
		.name = "walks through the loaded objects",
		.files = "preload/walk.c",
		.kept = "the handler of fork begins anew in each child",
	},
	{
		.name = "other tools' collectors",
		.files = "preload/markers/hooks_getenv.c preload/markers/hooks_itt.c "
			 "preload/markers/hooks_kokkos.c "
			 "preload/markers/hooks_nvtx.c preload/parallel/hooks_ompt.c",
		.kept = "whoever is called in the parent is called in the child",
		.begin = cp_injection_start,
	},
	{
		.name = "functions",
		.files = "preload/markers/hooks_functions.c",
		.kept = "names of addresses, which are the child's as well",
		.begin = cp_functions_start,
	},
	{
		.name = "jumps",
		.files = "preload/program/hooks_jump.c",
		.kept = "the C library is the child's, too",
		.begin = cp_jump_start,
	},
	/* begun: the constructor's own signals are not the program's. */
	{
		.name = "fatal signals",
		.files = "preload/program/fatal.c preload/threads/signal_stack.c",
		.kept = "a child inherits handlers and stacks",
		.begun = cp_fatal_start,
	},
	{
		.name = "helper threads",
		.after_fork = cp_helpers_after_fork,
		.forked_inside = cp_helpers_after_fork,
		.before_confined = cp_helpers_stop, /* they make system calls */
	},
	{
		.name = "reporter",
		.after_fork = cp_reporter_after_fork,
		.forked_inside = cp_reporter_after_fork,
	},
	/* after_fork: before what is opened for the child. */
	{
		.name = "record",
		.files = "preload/runtime.c preload/warn.c preload/describe.c",
		.kept = "what is to be counted is the run's",
		.after_fork = close_record,
		.prepare = bind_record,
		.forked_inside = detach_record,
		.confined = seal_record,
	},
	/* Where it adds up is in the record. */
	{
		.name = "time in MPI",
		.after_fork = cp_mpi_time_after_fork,
		.prepare = cp_mpi_time_prepare,
		.forked_inside = cp_mpi_time_after_fork,
	},
	{
		.name = "files of processors",
		.files = "preload/data.c",
		.kept = "they are the parent's, and mapped in the child, too",
	},
	{
		.name = "names",
		.files = "regions/names.c",
		.kept = "the filter is the run's",
		.after_fork = cp_names_after_fork,
	},
	{
		.name = "ranges",
		.files = "preload/markers/ranges.c",
		.kept = "what is open is the parent's, and its ids are not used again",
		.after_fork = cp_ranges_after_fork,
	},
	{
		.name = "handles",
		.files = "preload/markers/handles.c",
		.kept = "the program has them",
		.after_fork = cp_handles_after_fork,
	},
	{
		.name = "symbols",
		.files = "preload/markers/symbols.c",
		.kept = "files are mapped in the child, too",
		.after_fork = cp_symbols_after_fork,
		.prepare = describe_symbols,
	},
	{
		.name = "the cost of a region",
		.files = "preload/calibrate.c",
		.kept = "it is the same in a child once it is known",
		.after_fork = cp_calibrate_after_fork,
		.prepare = cp_calibrate_describe,
	},
	{
		.name = "time series",
		.files = "preload/threads/interval.c",
		.kept = "prepare begins it anew",
		.prepare = cp_interval_prepare,
		.start = cp_interval_start,
		.finish = cp_interval_finish,
	},
	/* Last of those that describe: what is touched first in a region of the program's
	 * is counted there. */
	{.name = "space for regions", .prepare = touch_record},
	/* start: after the time series, which has readings, too. */
	{.name = "Go programs", .start = cp_golang_start},
	{
		.name = "samples",
		.files = "preload/sampling/sampling.c "
			 "preload/sampling/blocks.c",
		.kept = "what is sampled is the run's",
		.after_fork = cp_sampling_after_fork,
		.prepare = cp_sampling_prepare,
		.start = cp_sampling_start,
		.forked_inside = cp_sampling_detach,
		.before_exec = cp_sampling_flush,
		.before_confined = cp_sampling_flush,
	},
	{.name = "regions of lines, simulated", .finish = cp_watched_check},
	{.name = "the processor that it is shown", .prepare = cp_level_note},
	{
		.name = "what is pinned",
		.files = "preload/program/pinned.c",
		.kept = "a child's environment and pins are its parent's",
		.prepare = cp_pinned_note,
		.before_exec = cp_pinned_end,
		.finish = cp_pinned_end,
	},

	/* -- what a child has as its parent had it -- */
	{
		.name = "counters",
		.files = "base/engine/engine.c base/engine/perf.c "
			 "base/engine/perf_groups.c base/engine/perf_probe.c "
			 "base/engine/proof.c base/engine/rusage.c base/engine/sim.c "
			 "base/counters/cores.c base/counters/encode.c "
			 "base/counters/events_perf.c "
			 "preload/decide.c preload/planned.c",
		.kept = "what the machine has, and which events were chosen",
		.begun = cp_perf_probe_done,
		.confined = cp_rusage_stop,
	},
	/* begin and begun: last, since the others call functions that may be chosen. */
	{
		.name = "functions that are patched",
		.files = "preload/markers/functions_patch.c",
		.kept = "the child's code is patched, too",
		.begin = patch_functions,
		.begun = cp_functions_begun,
		.start = cp_functions_start_child,
		.after_fork = cp_functions_after_fork,
		.before_confined = cp_functions_before_confined,
		.finish = cp_functions_check,
	},
	/* The same. */
	{
		.name = "functions that the simulated PMU sees",
		.files = "preload/markers/functions_sim.c preload/cases/cases.c",
		.kept = "their numbers are the tool's, whose memory is forked, too",
		.begun = watch_functions,
	},
	{
		.name = "the clock",
		.files = "base/counters/clock.c base/machine/clock.c preload/libc/vdso.c",
		.kept = "it is the machine's",
	},
	{
		.name = "messages",
		.files = "base/log.c",
		.kept = "stderr is the parent's",
		.confined = write_only,
	},
	{
		.name = "memory",
		.files = "base/map.c regions/tree_memory.c",
		.kept = "what is mapped is the child's; "
			"tree_memory.c begins anew if torn",
		.confined = cp_map_stop,
	},
	{
		.name = "locks",
		.files = "base/lock.c",
		.kept = "the list only grows, and cp_locks_after_fork frees all",
	},
	{
		.name = "what was given",
		.files = "base/env.c preload/given.c preload/program/layout.c "
			 "preload/reexec.c preload/run.c regions/rundir.c",
		.kept = "copies of the arguments, the variables, and what they say",
	},
	{
		.name = "real functions",
		.files = "preload/libc/real.c preload/program/hooks_open.c "
			 "preload/markers/loaded.c",
		.kept = "addresses are the child's as well",
	},
	{
		.name = "the program's allocators",
		.files = "preload/sampling/allocators.c",
		.kept = "the simulated PMU's memory is forked, too",
	},
	{
		.name = "markers",
		.files = "preload/markers/hooks_unseen.c "
			 "preload/markers/itt.c preload/markers/markers.c",
		.kept = "domains and strings are the program's; what was said was said",
	},
	{
		.name = "OpenMP",
		.files = "preload/parallel/openmp.c",
		.kept = "names of addresses, which are the child's as well",
	},
	{
		.name = "MPI",
		.files = "preload/parallel/hooks_mpi_calls.c preload/parallel/job.c "
			 "preload/parallel/mpi.c",
		.kept = "the job is the parent's to report; names of functions",
	},
	{
		.name = "reports",
		.files = "preload/writer.c "
			 "regions/fold/fold_records.c",
		.kept = "used by the process that ends, and by a root before its records",
	},
};

const size_t cp_nparts = sizeof(cp_parts) / sizeof(cp_parts[0]);
