/* SPDX-License-Identifier: MIT
 *
 * Carries out the order of a program that ends.  All that it says stands on stderr, which
 * is where the program's own lines go.
 */
#include "tools/shared/demangle.h"
#include "tools/reporter/reporter.h"

#include <stddef.h>

#include "base/format.h"
#include "output/report/jobs.h"
#include "tools/shared/source_at.h"

/* The run, without the jobs in it. */
static enum cp_order_end write_run(const struct cp_writing *writing)
{
	const struct cp_order *order = writing->order;
	const struct cp_report *report;
	const char *const *paths;
	size_t npaths = cp_jobs_rest(writing->arena, order->directory, &paths);
	char error[256];

	report = cp_report_build(writing->arena, paths, npaths, error, sizeof(error));
	if (!report)
		cp_write_none(writing, error);
	else if (report->in_job)
		return CP_ORDER_PART;
	else if (cp_write_outputs(writing, report, CP_SINKS_ALL) == 0)
		return CP_ORDER_DONE;
	return CP_ORDER_FAILED;
}

/* The jobs' reports are their ranks' affair, and may have our files' names. */
static void write_beside_jobs(struct cp_writing *writing)
{
	const struct cp_order *order = writing->order;
	const struct cp_report *report = cp_jobs_outside(
		writing->arena, order->directory, order->scope, (int32_t)order->root_pid);

	if (!report || report->in_job)
		return;
	writing->number = cp_job_claim(
		order->directory, order->scope, (unsigned)order->pass, CP_JOB_OUTSIDE);
	cp_write_outputs(writing, report, CP_SINKS_ALL);
}

static enum cp_order_end write_report(struct cp_writing *writing)
{
	const struct cp_order *order = writing->order;
	struct cp_job_id *jobs;

	if (order->flags & CP_ORDER_GATHERED)
		return cp_write_gathered(writing);
	if (order->job && (int64_t)order->nranks > 1)
		cp_write_job(writing);
	else if (order->job)
		cp_write_own(writing, CP_SINKS_ALL);
	else if (order->scope &&
		 cp_jobs_in(writing->arena, order->directory, order->scope, &jobs))
		write_beside_jobs(writing);
	else
		return write_run(writing);
	return CP_ORDER_PART;
}

static void name_record(struct cp_writing *writing)
{
	const struct cp_order *order = writing->order;
	char ending[CP_JOB_ENDING] = "rec";

	if (order->job)
		cp_job_ending(writing->job, (int)order->job_rank, ending);
	cp_format(writing->record, sizeof(writing->record), "%s/%d-%u.%s",
		order->directory, (int)order->pid, (unsigned)order->image, ending);
}

int main(int argc, char **argv)
{
	struct cp_order order;
	struct cp_arena arena = {0};
	struct cp_writing writing = {.order = &order, .arena = &arena};
	struct cp_escape out_of_memory;

	if (cp_demangle_start)
		cp_demangle_start();
	if (cp_source_at_start)
		cp_source_at_start();
	if (!cp_order_read(&order, argc, argv))
		return CP_ORDER_UNKNOWN;
	writing.job = (struct cp_job_id){order.scope, (unsigned)order.job};
	writing.number = writing.job.number;
	name_record(&writing);
	if (CP_ESCAPE_SET(out_of_memory) == 0) {
		arena.out_of_memory = &out_of_memory;
		return (int)write_report(&writing);
	}
	cp_write_none(&writing, "out of memory");
	return CP_ORDER_FAILED;
}
