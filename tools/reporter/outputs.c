/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <unistd.h>

#include "base/log.h"
#include "output/report/jobs.h"
#include "tools/reporter/reporter.h"

static void complain_of_report(void *context, const char *line)
{
	(void)context;
	cp_say("%s", line);
}

int cp_write_outputs(const struct cp_writing *writing, const struct cp_report *report,
	enum cp_sink_kind kind)
{
	const struct cp_job_id report_of = {writing->order->scope, writing->number};
	const struct cp_order *order = writing->order;
	struct cp_sink_context context = {
		.stderr_fd = STDERR_FILENO,
		.stdout_fd = STDOUT_FILENO,
		.exe = order->exe,
		.pid = (int)order->pid,
		.rank = (int)order->rank,
		.colour = (enum cp_colour)order->colour,
		.whole = order->flags & CP_ORDER_WHOLE,
		.kind = kind,
		.number = writing->number,
		.complain = complain_of_report,
	};

	context.tell_number = context.number > 1 && kind != CP_SINKS_OWN &&
			      cp_job_tells(order->directory, report_of, CP_JOB_NUMBERED);
	return cp_sinks_write(writing->arena, report, order->outputs, &context);
}

void cp_write_none(const struct cp_writing *writing, const char *error)
{
	cp_say("no report: %s: `cachepeek report %s` writes it", error,
		writing->order->directory);
}

static size_t own_records(const struct cp_writing *writing, const char *const **paths)
{
	const struct cp_order *order = writing->order;
	const char **list;

	if (order->job)
		return cp_jobs_paths(writing->arena, order->directory, writing->job,
			(int)order->job_rank, paths);
	if (!(order->flags & CP_ORDER_SHARED))
		return cp_jobs_rest(writing->arena, order->directory, paths);
	list = cp_arena_alloc(writing->arena, sizeof(*list));
	list[0] = writing->record;
	*paths = list;
	return 1;
}

void cp_write_own(const struct cp_writing *writing, enum cp_sink_kind kind)
{
	const struct cp_report *report;
	const char *const *paths;
	size_t npaths = own_records(writing, &paths);
	char error[256];

	report = cp_report_build(writing->arena, paths, npaths, error, sizeof(error));
	if (!report)
		cp_write_none(writing, error);
	else if (!report->in_job)
		cp_write_outputs(writing, report, kind);
}
