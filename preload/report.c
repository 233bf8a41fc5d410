/* SPDX-License-Identifier: MIT
 *
 * The report at the end of the root process, made from the run directory as
 * `cachepeek report` would make it.
 */
#include "preload/report.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "output/sink.h"
#include "preload/env.h"
#include "preload/reexec.h"
#include "preload/runtime.h"

static void complain(void *context, const char *line)
{
	(void)context;
	cp_say("%s", line);
}

/* The program's; ours cannot be closed. */
static int if_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0 ? fd : -1;
}

static struct stat directory;

void cp_report_start(void)
{
	if (stat(cp_runtime.directory, &directory) < 0)
		directory.st_ino = 0;
}

/* A program that has changed its root directory or its user sees other files
 * than it did, or none: a report there would be somebody else's. */
static bool directory_is_there(void)
{
	struct stat now;

	return stat(cp_runtime.directory, &now) == 0 && now.st_dev == directory.st_dev &&
	       now.st_ino == directory.st_ino &&
	       faccessat(AT_FDCWD, cp_runtime.directory, R_OK | X_OK, AT_EACCESS) == 0;
}

void cp_report_write(struct cp_arena *arena, const struct cp_report *report)
{
	struct cp_sink_context context = {
		.stderr_fd = cp_log_fd,
		.stdout_fd = if_open(STDOUT_FILENO),
		.exe = cp_own_executable(),
		.pid = cp_runtime.pid,
		.rank = cp_runtime.record.header->rank,
		.no_colour = cp_env_get("NO_COLOR") != NULL,
		.complain = complain,
	};

	cp_sinks_write(arena, report, cp_runtime.options.output, &context);
}

static void write_report(void)
{
	const char *paths[] = {cp_runtime.directory};
	const struct cp_report *report;
	struct cp_arena arena = {0};
	char error[256];

	report = cp_report_build(&arena, paths, 1, error, sizeof(error));
	if (!report)
		cp_say("no report: %s: `cachepeek report %s` writes it", error,
			cp_runtime.directory);
	else if (!report->in_job)
		cp_report_write(&arena, report);
	cp_arena_free(&arena);
}

void cp_report_at_exit(void)
{
	if (cp_runtime.record.header->flags & CP_RECORD_IN_JOB)
		return;
	if (cp_confined())
		cp_say("no report: the program forbids the system calls that it takes "
		       "(seccomp): `cachepeek report %s` writes it",
			cp_runtime.directory);
	else if (directory_is_there())
		write_report();
	else
		cp_say("no report: the program changed its root directory or its user, "
		       "and "
		       "cannot read %s any more: `cachepeek report %s` writes it",
			cp_runtime.directory, cp_runtime.directory);
}
