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
#include "base/format.h"
#include "base/log.h"
#include "base/text/colour.h"
#include "preload/parallel/mpi.h"
#include "preload/program/reporter.h"
#include "preload/reexec.h"
#include "preload/run.h"
#include "preload/runtime.h"
#include "preload/self.h"
#include "preload/writer.h"

void cp_report_start(void)
{
	if (stat(cp_run.directory, &cp_run.made) < 0)
		cp_run.made.st_ino = 0;
	if (cp_is_root() || cp_run.rank.number >= 0)
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

static uint64_t text_flags(void)
{
	return cp_options.verbose > 0 ? CP_ORDER_WHOLE : 0;
}

static bool is_one_of_many(void)
{
	return cp_run.job.number && cp_run.rank.of > 1;
}

/* Other tools see it if MPI is asked: for those only whose report depends on it. */
static uint64_t order_flags(void)
{
	return text_flags() | (cp_run.shared ? CP_ORDER_SHARED : 0) |
	       (cp_run.aborted ? CP_ORDER_ABORTED : 0) |
	       (is_one_of_many() && cp_mpi_is_open() ? CP_ORDER_OPEN : 0);
}

static int order_report(uint64_t flags, uint64_t nranks)
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
		.flags = flags,
		.colour = cp_colour_of(cp_env_get),
		.how = header->how,
		.code = (uint64_t)header->code,
		.scope = cp_run.job.scope,
		.job = cp_run.job.number,
		.nranks = nranks,
		.job_rank = (uint64_t)cp_run.rank.number,
		.rank = (uint64_t)header->rank,
	};

	return cp_writer_run(&order);
}

/* False: there is one, or what kept it from being written was said. */
static bool why_none(int end, char *why, size_t size)
{
	if (end == CP_ORDER_UNKNOWN)
		cp_format(why, size, "what writes it is of another version of cachepeek");
	else if (end == -ECHILD)
		cp_format(why, size, "what writes it was killed");
	else if (end < 0)
		cp_format(why, size, "what writes it cannot be started (%s)",
			cp_error_text(-end));
	return end < 0 || end == CP_ORDER_UNKNOWN;
}

static void write_report(void)
{
	char why[160];
	int end;

	/* The job's report is all that this rank still has to write. */
	if (is_one_of_many())
		__atomic_or_fetch(&cp_runtime.record.header->flags, CP_RECORD_READY,
			__ATOMIC_RELEASE);
	end = order_report(order_flags(), (uint64_t)cp_run.rank.of);
	if (end == CP_ORDER_DONE && !cp_options.dir)
		cp_run_remove_temporary(cp_run.directory);
	else if (why_none(end, why, sizeof(why)))
		cp_say("no report: %s: `cachepeek report %s` writes it", why,
			cp_run.directory);
}

void cp_report_gathered(int ranks)
{
	char why[160];

	if (why_none(order_report(CP_ORDER_GATHERED | text_flags(), (uint64_t)ranks), why,
		    sizeof(why)))
		cp_say("no report of the whole job: %s; `cachepeek merge` makes one from "
		       "the records",
			why);
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
