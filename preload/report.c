/* SPDX-License-Identifier: MIT */
#include "preload/report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/counters/options.h"
#include "base/fd_limit.h"
#include "base/env.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text/colour.h"
#include "preload/parallel/mpi.h"
#include "preload/program/reporter.h"
#include "preload/reexec.h"
#include "preload/report_write.h"
#include "preload/run.h"
#include "preload/runtime.h"
#include "preload/self.h"
#include "preload/writer.h"

void cp_report_start(void)
{
	if (stat(cp_run.directory, &cp_run.made) < 0)
		cp_run.made.st_ino = 0;
	if (cp_is_root() && !cp_run.launched)
		cp_writer_find();
}

/* A program that has changed its root directory or its user sees other files
 * than it did, or none: a report there would be somebody else's. */
static bool directory_is_there(void)
{
	struct stat now;

	return stat(cp_run.directory, &now) == 0 && now.st_dev == cp_run.made.st_dev &&
	       now.st_ino == cp_run.made.st_ino &&
	       faccessat(AT_FDCWD, cp_run.directory, R_OK | X_OK, AT_EACCESS) == 0;
}

/* ---- writing it ---- */

static uint64_t order_flags(void)
{
	return (cp_options.verbose > 0 ? CP_ORDER_WHOLE : 0) |
	       (cp_run.shared ? CP_ORDER_SHARED : 0) |
	       (cp_run.aborted ? CP_ORDER_ABORTED : 0) |
	       (cp_mpi_is_open() ? CP_ORDER_OPEN : 0);
}

static int order_report(void)
{
	const struct cp_record_header *header = cp_runtime.record.header;
	const struct cp_order order = {
		.directory = cp_run.directory,
		.outputs = cp_options.output,
		.exe = cp_own_executable(),
		.root_pid = (uint64_t)cp_run.root_pid,
		.pid = (uint64_t)cp_runtime.pid,
		.image = header->image,
		.pass = (uint64_t)cp_options.pass,
		.flags = order_flags(),
		.colour = cp_colour_of(cp_env_get),
		.how = header->how,
		.code = (uint64_t)header->code,
		.scope = cp_run.job.scope,
		.job = cp_run.job.number,
		.nranks = (uint64_t)cp_run.rank.of,
		.job_rank = (uint64_t)cp_run.rank.number,
		.rank = (uint64_t)header->rank,
	};

	return cp_writer_run(&order);
}

static void write_report(void)
{
	int end;

	/* The job's report is all that this rank still has to write. */
	if (cp_run.job.number && cp_run.rank.of > 1)
		__atomic_or_fetch(&cp_runtime.record.header->flags, CP_RECORD_READY,
			__ATOMIC_RELEASE);
	end = order_report();
	if (end == CP_ORDER_DONE && !cp_options.dir)
		cp_run_remove_temporary(cp_run.directory);
	else if (end == CP_ORDER_UNKNOWN)
		cp_report_none("what writes it is of another version of cachepeek");
	else if (end == -ECHILD)
		cp_report_none("what writes it was killed");
	else if (end < 0)
		cp_say("no report: what writes it cannot be started (%s): "
		       "`cachepeek report %s` writes it",
			cp_error_text(-end), cp_run.directory);
}

static void write_for_another(void *unused)
{
	(void)unused;
	cp_fd_widen(RLIM_INFINITY);
	write_report();
}

void cp_report_before_confined(void)
{
	int state;

	if (!cp_counting() || !cp_is_root() || cp_run.launched || cp_confined() ||
		!cp_is_this_process() || !cp_enter_slowly(&state))
		return;
	cp_reporter_start(write_for_another);
	cp_leave_slowly(state);
}

void cp_report_at_exit(void)
{
	if (cp_runtime.record.header->flags & CP_RECORD_IN_JOB)
		return;
	if (cp_reporter_writes())
		return;
	if (cp_confined() || cp_runtime.starts_nothing)
		cp_say("no report: the program forbids the system calls that it takes "
		       "(seccomp): `cachepeek report %s` writes it",
			cp_run.directory);
	else if (directory_is_there())
		write_report();
	else if (cp_record_is_removed(&cp_runtime.record))
		cp_say("no report: %s was removed before the program ended",
			cp_run.directory);
	else
		cp_say("no report: the program changed its root directory or its user, "
		       "and cannot read %s any more: `cachepeek report %s` writes it",
			cp_run.directory, cp_run.directory);
}
