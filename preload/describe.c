/* SPDX-License-Identifier: MIT
 *
 * Describes the process in its record before anything is counted.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/format.h"
#include "base/counters/clock.h"
#include "base/counters/described.h"
#include "base/counters/encode.h"
#include "preload/given.h"
#include "preload/reexec.h"
#include "preload/describe.h"
#include "base/log.h"
#include "regions/fold/fold_records.h"
#include "preload/runtime.h"
#include "preload/run.h"
#include "base/counters/options.h"
#include "preload/planned.h"

static void meta_command(void)
{
	size_t size;
	const char *words = cp_given_command(&size);

	cp_record_put_meta(&cp_runtime.record, "command", words, size);
}

static void put_metas(void)
{
	struct utsname host;

	cp_describe_text(&cp_runtime.record, "tool", CP_VERSION);
	cp_describe_text(&cp_runtime.record, "exe", cp_own_executable());
	meta_command();
	if (uname(&host) == 0)
		cp_describe_text(&cp_runtime.record, "host", host.nodename);
	cp_describe_text(&cp_runtime.record, "why", cp_run.why);
	cp_describe_plan(&cp_runtime.record, &cp_plan);
}

/* The layout's terms point into the record's items: written once, read by both. */
static int put_items(void)
{
	static struct cp_quantity_terms terms[CP_MAX_QUANTITIES];
	static uint32_t group_of[CP_MAX_COUNTERS];
	const struct cp_event_set *set = &cp_plan.set;
	const struct cp_record_header *header = cp_runtime.record.header;

	if (cp_describe_counters(&cp_runtime.record, set) < 0)
		return -ENOSPC;
	for (unsigned i = 0; i < set->ncounters; i++)
		group_of[i] = set->counters[i].group;
	for (unsigned i = 0; i < set->nquantities; i++) {
		const struct cp_quantity_item *item = cp_describe_quantity(
			&cp_runtime.record, set, &set->quantities[i]);

		if (!item)
			return -ENOSPC;
		terms[i] = (struct cp_quantity_terms){item->nterms, item->terms};
	}
	cp_runtime.layout = (struct cp_layout){
		.ncounters = header->ncounters,
		.nquantities = set->nquantities,
		.ngroups = set->ngroups,
		.quantities = terms,
		.sparse = header->flags & CP_RECORD_SPARSE,
		.corrected = header->flags & CP_RECORD_CORRECTED,
		.nrotated = set->nrotated,
		.group_of = group_of,
	};
	return 0;
}

static bool counts_kernel(const struct cp_event_set *set)
{
	for (unsigned i = 0; i < set->ncounters; i++)
		if (set->counters[i].mirror == CP_NO_MIRROR &&
			!set->counters[i].attr.exclude_kernel &&
			!cp_counts_only_in_kernel(&set->counters[i].attr))
			return true;
	return false;
}

static int describe_process(void)
{
	struct cp_record_header *header = cp_runtime.record.header;
	int result;

	cp_describe_header(header, &cp_plan);
	header->engine = cp_engine == &cp_engine_sim ? CP_ENGINE_SIM : CP_ENGINE_PERF;
	header->ppid = getppid();
	header->root_pid = cp_run.root_pid;
	header->rank = cp_run.rank.number;
	header->nranks = cp_run.rank.of;
	header->realtime_ns = cp_clock_realtime();
	header->start_ns = cp_now_ns();
	if (cp_runtime.pid == cp_run.root_pid)
		header->flags |= CP_RECORD_ROOT;
	if (cp_runtime.forked)
		header->flags |= CP_RECORD_FORKED;
	if (counts_kernel(&cp_plan.set))
		header->flags |= CP_RECORD_KERNEL;
	if (cp_options.sparse && cp_engine->counts_readings && !cp_plan.set.nrotated)
		header->flags |= CP_RECORD_SPARSE;
	put_metas();
	result = put_items();
	if (result == 0)
		__atomic_or_fetch(&header->flags, CP_RECORD_BEGUN, __ATOMIC_RELEASE);
	return result;
}

/* ---- the record ---- */

static void fold_records(void *bytes)
{
	*(int64_t *)bytes = cp_records_fold(cp_run.directory);
}

/* The root may start any number of processes. */
static bool is_refused(void)
{
	int64_t bytes = 0;

	if (cp_is_root())
		return false;
	cp_call_aside(fold_records, &bytes);
	if (bytes < 0 || (uint64_t)bytes < cp_options.limit)
		return false;
	cp_records_refuse(cp_run.directory);
	return true;
}

static int create_record(void)
{
	char ending[CP_JOB_ENDING];

	if (!cp_run.job.number)
		return cp_record_create(
			&cp_runtime.record, cp_run.directory, cp_runtime.pid);
	cp_job_ending(cp_run.job, cp_run.rank.number, ending);
	return cp_record_create_as(&cp_runtime.record, cp_run.directory, cp_runtime.pid,
		ending, CP_RECORD_MAGIC, CP_RECORD_VERSION);
}

static bool is_gone(void)
{
	return faccessat(AT_FDCWD, cp_run.directory, F_OK, 0) < 0 && errno == ENOENT;
}

/* A daemon's children would all say the same. */
static bool was_said;

void cp_start_child(void)
{
	struct cp_record_header *header = cp_runtime.record.header;

	was_said = cp_record_is_removed(&cp_runtime.record) && is_gone() &&
		   __atomic_fetch_or(&header->flags, CP_RECORD_GONE, __ATOMIC_RELAXED) &
			   CP_RECORD_GONE;
}

static void say_none(int error)
{
	char line[CP_RUNDIR_SIZE + 128];

	if (error != ENOENT || !is_gone())
		cp_format(line, sizeof(line),
			"no run record in %s (errno %d): process %d is not counted",
			cp_run.directory, error, (int)cp_runtime.pid);
	else
		cp_format(line, sizeof(line),
			"%s was removed while processes of the run go on: process %d "
			"is not counted, nor are those that come after it",
			cp_run.directory, (int)cp_runtime.pid);
	/* In a child, too: there is no record to keep the line in. */
	cp_say("%s", line);
}

int cp_start_record(void)
{
	int result;

	if (is_refused())
		return -EDQUOT; /* the report says so */
	result = create_record();
	if (result == 0)
		result = describe_process();
	if (result == 0)
		return 0;
	if (!was_said)
		say_none(-result);
	return result;
}
