/* SPDX-License-Identifier: MIT
 *
 * What a record says about its process before anything is counted.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/format.h"
#include "base/counters/encode.h"
#include "preload/given.h"
#include "preload/reexec.h"
#include "preload/describe.h"
#include "base/log.h"
#include "regions/fold/fold_records.h"
#include "preload/runtime.h"
#include "base/machine/spreads.h"
#include "base/machine/weights.h"
#include "base/counters/windows.h"
#include "preload/run.h"
#include "base/counters/options.h"
#include "preload/planned.h"

static void put_meta(const char *key, const char *value)
{
	cp_record_put_meta(&cp_runtime.record, key, value, strlen(value));
}

static void meta_command(void)
{
	size_t size;
	const char *words = cp_given_command(&size);

	cp_record_put_meta(&cp_runtime.record, "command", words, size);
}

/* The weights of this run, whatever is asked of the record later. */
static void meta_weights(void)
{
	char text[CP_WEIGHTS_TEXT];

	cp_weights_print(&cp_plan.weights, text, sizeof(text));
	put_meta("weights", text);
}

/* How far predicted time may be off. */
static void meta_spreads(const struct cp_machine *machine)
{
	struct cp_spreads spreads = cp_spreads_of(machine);
	char text[CP_SPREADS_TEXT];

	cp_spreads_print(&spreads, text, sizeof(text));
	if (machine->timed)
		put_meta("spreads", text);
}

static void meta_clock(const struct cp_machine *machine)
{
	char text[32];

	cp_format(text, sizeof(text), "%llu",
		(unsigned long long)machine->clock_mhz * 1000000);
	if (machine->timed)
		put_meta("clock", text);
}

static void meta_sample(void)
{
	char text[CP_SAMPLE_OPTION];

	if (!cp_plan.sample.sets)
		return;
	cp_sample_describe(&cp_plan.sample, text, sizeof(text));
	put_meta("sample", text);
}

static void meta_sweep(const struct cp_machine *machine)
{
	char text[160];

	if (!cp_plan.sweep.npoints)
		return;
	cp_sweep_describe(&cp_plan.sweep, machine, text, sizeof(text));
	put_meta("sweep", text);
}

static void meta_windows(const struct cp_machine *machine)
{
	char text[160];

	if (!cp_plan.window)
		return;
	cp_windows_describe(cp_plan.window, machine, text, sizeof(text));
	put_meta("windows", text);
}

static void meta_machine(void)
{
	const struct cp_machine *machine = cp_plan_machine(&cp_plan);
	char text[640];

	if (machine) {
		cp_machine_describe(machine, text, sizeof(text));
		put_meta("machine", text);
		meta_clock(machine);
		meta_spreads(machine);
		meta_sample();
		meta_sweep(machine);
		meta_windows(machine);
	}
	meta_weights();
	cp_format(text, sizeof(text), "%u",
		machine ? machine->level[CP_L1D].line : cp_machine_host_line());
	put_meta("line", text);
}

static void put_metas(void)
{
	struct utsname host;
	const char *text;

	put_meta("tool", CP_VERSION);
	put_meta("exe", cp_own_executable());
	meta_command();
	if (uname(&host) == 0)
		put_meta("host", host.nodename);
	put_meta("why", cp_run.why);
	meta_machine();
	for (size_t at = 0; (text = cp_plan_next_text(&cp_plan, CP_PLAN_GROUP, &at));)
		put_meta("group", text);
}

static int counter_item(const struct cp_counter *counter, unsigned part)
{
	size_t length = strlen(counter->name);
	struct cp_counter_item *item =
		cp_record_reserve(&cp_runtime.record, sizeof(*item) + length + 1);

	if (!item)
		return -ENOSPC;
	item->perf_group = counter->group;
	item->mirror =
		counter->mirror == CP_NO_MIRROR ? CP_NO_MIRROR : counter->mirror + part;
	memcpy(item->name, counter->name, length);
	cp_item_publish(item, CP_ITEM_COUNTER);
	return 0;
}

/* The first of its parts among the counters of a reading. */
static unsigned in_reading(unsigned counter)
{
	unsigned at = 0;

	for (unsigned i = 0; i < counter; i++)
		at += cp_plan.set.counters[i].sampled ? CP_SAMPLE_PARTS : 1;
	return at;
}

static int counter_items(const struct cp_counter *counter)
{
	for (unsigned p = 0; p < (counter->sampled ? CP_SAMPLE_PARTS : 1); p++)
		if (counter_item(counter, p) < 0)
			return -ENOSPC;
	return 0;
}

static struct cp_quantity_item *quantity_item(const struct cp_quantity *quantity)
{
	size_t name = strlen(quantity->name), reason = strlen(quantity->why.text);
	struct cp_quantity_item *item;

	if (quantity->available && !quantity->unproven && !quantity->modelled)
		reason = 0;
	item = cp_record_reserve(&cp_runtime.record, sizeof(*item) + name + reason + 2);
	if (!item)
		return NULL;
	item->available = !quantity->available ? CP_QUANTITY_UNAVAILABLE
			  : quantity->unproven ? CP_QUANTITY_UNPROVEN
			  : quantity->modelled ? CP_QUANTITY_ESTIMATED
					       : CP_QUANTITY_AVAILABLE;
	item->nterms = quantity->nterms;
	for (unsigned i = 0; i < quantity->nterms; i++) {
		item->terms[i].counter = in_reading(quantity->terms[i].counter);
		item->terms[i].sign = quantity->terms[i].sign;
	}
	item->name_length = (uint32_t)name;
	item->reason_length = (uint32_t)reason;
	memcpy(item->text, quantity->name, name);
	memcpy(item->text + name + 1, quantity->why.text, reason);
	cp_item_publish(item, CP_ITEM_QUANTITY);
	return item;
}

/* The layout's terms point into the record's items: written once, read by both. */
static int put_items(void)
{
	static struct cp_quantity_terms terms[CP_MAX_QUANTITIES];
	static uint32_t group_of[CP_MAX_COUNTERS];
	const struct cp_event_set *set = &cp_plan.set;
	const struct cp_record_header *header = cp_runtime.record.header;

	for (unsigned i = 0; i < set->ncounters; i++) {
		if (counter_items(&set->counters[i]) < 0)
			return -ENOSPC;
		group_of[i] = set->counters[i].group;
	}
	for (unsigned i = 0; i < set->nquantities; i++) {
		const struct cp_quantity_item *item = quantity_item(&set->quantities[i]);

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

static uint64_t realtime_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
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

	header->ncounters = in_reading(cp_plan.set.ncounters);
	header->sample_sets = cp_plan.sample.sets;
	header->sample_groups = cp_plan.sample.groups;
	header->nquantities = cp_plan.set.nquantities;
	header->nperf_groups = cp_plan.set.ngroups;
	header->pass = cp_plan.set.pass;
	header->npasses = cp_plan.set.npasses;
	memcpy(header->reference, cp_plan.set.reference, sizeof(header->reference));
	for (unsigned i = 0; i < cp_plan.set.ncounters; i++)
		header->socket[cp_plan.set.counters[i].group] =
			cp_plan.set.counters[i].socket;
	header->nrotated = cp_plan.set.nrotated;
	header->engine = cp_engine == &cp_engine_sim ? CP_ENGINE_SIM : CP_ENGINE_PERF;
	header->ppid = getppid();
	header->root_pid = cp_run.root_pid;
	header->rank = cp_run.rank.number;
	header->nranks = cp_run.rank.of;
	header->realtime_ns = realtime_ns();
	header->start_ns = cp_now_ns();
	if (cp_runtime.pid == cp_run.root_pid)
		header->flags |= CP_RECORD_ROOT;
	if (cp_runtime.forked)
		header->flags |= CP_RECORD_FORKED;
	if (counts_kernel(&cp_plan.set))
		header->flags |= CP_RECORD_KERNEL;
	if (cp_options.sparse && cp_engine->counts_readings && !cp_plan.set.nrotated)
		header->flags |= CP_RECORD_SPARSE;
	if (cp_plan.set.time_sampled)
		header->flags |= CP_RECORD_CORRECTED;
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
