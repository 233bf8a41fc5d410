/* SPDX-License-Identifier: MIT
 *
 * A rank's records become a report in memory of its own, with the job's numbers of
 * quantities and groups; the sum over its threads and processes is what is added.
 */
#include "output/report/job.h"

#include <string.h>

#include "base/format.h"
#include "output/report/report_parts.h"

/* uthash's memory is the job's. */
#define uthash_malloc(size) cp_arena_alloc(job->arena, size)
#define uthash_free(memory, size) ((void)(memory))
#define HASH_NONFATAL_OOM 1 /* the arena has given up before that */
#include <uthash.h>

#define MAX_WARNINGS 40

struct cp_job_host {
	const char *name;
	UT_hash_handle hh;
};

struct cp_job *cp_job_new(struct cp_arena *arena)
{
	struct cp_job *job = cp_arena_alloc(arena, sizeof(*job));

	job->arena = job->report.arena = arena;
	job->report.copies = true;
	job->report.job = job;
	return job;
}

/* ---- which ranks ---- */

/* Was this rank added? */
static bool has_rank(const struct cp_job *job, int32_t rank)
{
	return rank >= 0 && (size_t)rank / 8 < job->room &&
	       job->there[rank / 8] & 1u << rank % 8;
}

static void make_room(struct cp_job *job, size_t bytes)
{
	unsigned char *more;

	if (bytes <= job->room)
		return;
	bytes = bytes * 2 > 64 ? bytes * 2 : 64;
	more = cp_arena_alloc(job->arena, bytes);
	if (job->room)
		memcpy(more, job->there, job->room);
	job->there = more;
	job->room = bytes;
}

static void note_rank(struct cp_job *job, int32_t rank)
{
	if (rank < 0 || has_rank(job, rank))
		return;
	make_room(job, (size_t)rank / 8 + 1);
	job->there[rank / 8] |= (unsigned char)(1u << rank % 8);
	job->nranks++;
}

int32_t cp_job_missing(const struct cp_job *job, int32_t rank)
{
	while (rank < job->wanted && has_rank(job, rank))
		rank++;
	return rank < job->wanted ? rank : -1;
}

/* ---- what the job's report has ---- */

static const char *keep_text(struct cp_job *job, const char *text)
{
	return text ? cp_arena_copy(job->arena, text, strlen(text)) : NULL;
}

/* The first rank speaks for all. */
static void describe_job(struct cp_job *job, const struct cp_report *from)
{
	struct cp_report *report = &job->report;
	const char **command =
		cp_arena_alloc(job->arena, (from->narguments + 1) * sizeof(*command));

	for (size_t i = 0; i < from->narguments; i++)
		command[i] = keep_text(job, from->command[i]);
	report->command = command;
	report->narguments = from->narguments;
	report->version = keep_text(job, from->version);
	report->engine = from->engine;
	report->why = keep_text(job, from->why);
	report->domain = keep_text(job, from->domain);
	report->machine = keep_text(job, from->machine);
	report->host = keep_text(job, from->host);
	report->sweep = keep_text(job, from->sweep);
	report->windows = keep_text(job, from->windows);
	report->sample = keep_text(job, from->sample);
	report->line = from->line;
	report->weights = from->weights;
	report->spreads = from->spreads;
	report->total = cp_region_new(report, NULL, (struct cp_slice){"", ""});
}

/* Quantities that were not known until now were not counted until now. */
static void grow_region(struct cp_report *report, struct cp_region *region,
	size_t nquantities, size_t nmetrics)
{
	struct cp_count *counts =
		cp_arena_alloc(report->arena, report->nquantities * sizeof(*counts));
	struct cp_result *metrics =
		cp_arena_alloc(report->arena, report->nmetrics * sizeof(*metrics));

	if (nquantities)
		memcpy(counts, region->counts, nquantities * sizeof(*counts));
	if (nmetrics)
		memcpy(metrics, region->metrics, nmetrics * sizeof(*metrics));
	for (size_t i = nquantities; region->nthreads && i < report->nquantities; i++) {
		counts[i].missing = region->nthreads;
		counts[i].reason = "not asked for in this process";
	}
	region->counts = counts;
	region->metrics = metrics;
}

static void adopt_groups(struct cp_job *job, const struct cp_report *from)
{
	struct cp_report *report = &job->report;
	const struct cp_group **groups;
	char error[256];

	if (from->ngroups <= report->ngroups)
		return;
	groups = cp_arena_alloc(job->arena, CP_MAX_GROUPS * sizeof(*groups));
	if (report->ngroups)
		memcpy(groups, report->groups, report->ngroups * sizeof(*groups));
	report->groups = groups;
	while (report->ngroups < from->ngroups) {
		const char *text = keep_text(job, from->groups[report->ngroups]->text);
		const struct cp_group *group = cp_group_parse(
			job->arena, "group of the run", text, error, sizeof(error));

		if (!group)
			return; /* it could be parsed a moment ago */
		groups[report->ngroups++] = group;
	}
	report->nmetrics = 0;
	cp_report_metrics(report);
}

static void adopt_quantities(struct cp_job *job, const struct cp_report *from)
{
	struct cp_report *report = &job->report;
	const char **names;

	if (from->nquantities <= report->nquantities)
		return;
	names = cp_arena_alloc(job->arena, from->nquantities * sizeof(*names));
	for (size_t i = 0; i < from->nquantities; i++)
		names[i] = i < report->nquantities ? report->quantities[i]
						   : keep_text(job, from->quantities[i]);
	report->quantities = names;
	report->nquantities = from->nquantities;
}

/* from begins with what the job has. */
static void adopt_settings(struct cp_job *job, const struct cp_report *from)
{
	struct cp_report *report = &job->report;
	size_t nquantities = report->nquantities, nmetrics = report->nmetrics;

	adopt_quantities(job, from);
	adopt_groups(job, from);
	if (!report->total)
		describe_job(job, from);
	if (nquantities == report->nquantities && nmetrics == report->nmetrics)
		return;
	for (const struct cp_region *r = report->total; r;
		r = cp_region_next(report->total, r))
		grow_region(
			report, (struct cp_region *)(uintptr_t)r, nquantities, nmetrics);
}

/* ---- hosts ---- */

static bool is_new_host(struct cp_job *job, const char *name)
{
	struct cp_job_host *host;

	HASH_FIND_STR(job->hosts, name, host);
	if (host)
		return false;
	host = cp_arena_alloc(job->arena, sizeof(*host));
	host->name = keep_text(job, name);
	HASH_ADD_KEYPTR(hh, job->hosts, host->name, strlen(host->name), host);
	return true;
}

static void note_host(struct cp_job *job, const char *host)
{
	job->several_hosts |= strcmp(job->report.host, host) != 0;
	job->first_on_host = job->place == CP_HOST_FIRST ||
			     (job->place == CP_HOST_BY_NAME && is_new_host(job, host));
	job->nhosts += job->first_on_host;
}

/* ---- each rank ---- */

static void list(struct cp_job *job, const struct cp_job_rank *rank)
{
	if (job->nlisted == job->ranks_room) {
		struct cp_job_rank *more;

		job->ranks_room = job->ranks_room ? 2 * job->ranks_room : 16;
		more = cp_arena_alloc(job->arena, job->ranks_room * sizeof(*more));
		if (job->nlisted)
			memcpy(more, job->ranks, job->nlisted * sizeof(*more));
		job->ranks = more;
	}
	job->ranks[job->nlisted++] = *rank;
}

const char *cp_job_no_mpi_time(const struct cp_report *report)
{
	return report->engine == CP_ENGINE_SIM
		       ? "wall time is simulator time"
		       : "the launcher did not say that it is a rank";
}

const char *const cp_rank_counts[CP_RANK_COUNTS] = {
	"instructions", "l1d_misses", "llc_misses"};

static void count_rank(struct cp_job_rank *rank, const struct cp_report *from)
{
	for (size_t i = 0; i < CP_RANK_COUNTS; i++) {
		int at = cp_report_quantity(from, cp_rank_counts[i]);

		rank->counts[i].status = CP_UNAVAILABLE;
		if (at < 0)
			continue;
		rank->counts[i].value = from->total->counts[at].value;
		rank->counts[i].status = from->total->counts[at].status;
	}
}

static void list_rank(struct cp_job *job, const struct cp_report *from)
{
	struct cp_job_rank rank = {.rank = from->processes[0].rank,
		.pid = from->processes[0].pid,
		.threads = from->total->nthreads,
		.time_ns = from->total->longest_ns,
		.timed = from->total->seconds.status != CP_UNAVAILABLE};

	for (size_t i = 0; i < from->nprocesses; i++) {
		const struct cp_process *process = &from->processes[i];

		rank.processes += process->image == 0;
		if (!process->mpi)
			continue;
		rank.mpi_known = true;
		rank.mpi_ns += __atomic_load_n(&process->mpi->ns, __ATOMIC_RELAXED);
		rank.mpi_calls += __atomic_load_n(&process->mpi->calls, __ATOMIC_RELAXED);
	}
	count_rank(&rank, from);
	list(job, &rank);
}

/* Shell sort, because qsort(3) may use malloc. */
static void sort_ranks(struct cp_job *job)
{
	size_t gap = 1;

	while (gap < job->nlisted)
		gap = 3 * gap + 1;
	for (; gap; gap /= 3)
		for (size_t i = gap; i < job->nlisted; i++) {
			struct cp_job_rank rank = job->ranks[i];
			size_t at = i;

			for (; at >= gap && job->ranks[at - gap].rank > rank.rank;
				at -= gap)
				job->ranks[at] = job->ranks[at - gap];
			job->ranks[at] = rank;
		}
}

/* ---- adding ---- */

static void add_warnings(struct cp_job *job, const struct cp_report *from)
{
	for (size_t i = 0; i < from->nwarnings; i++)
		if (job->report.nwarnings < MAX_WARNINGS)
			cp_report_warn(&job->report, "%s", from->warnings[i]);
}

static bool is_running(const struct cp_process *process)
{
	return strcmp(process->how, "running") == 0;
}

static bool ended_well(const struct cp_job *job, const struct cp_process *process)
{
	return strcmp(process->how, "exit") == 0 || strcmp(process->how, "exec") == 0 ||
	       (job->live && is_running(process));
}

/* Warns of a rank that did not exit by itself. */
static void note_end(struct cp_job *job, const struct cp_process *process)
{
	job->running += is_running(process);
	job->ncut += !ended_well(job, process) && !is_running(process);
	if (ended_well(job, process) || job->report.nwarnings >= MAX_WARNINGS)
		return;
	if (strcmp(process->how, "signal") == 0)
		cp_report_warn(&job->report, "rank %d ended by signal %d", process->rank,
			process->code);
	else if (is_running(process))
		cp_report_warn(&job->report,
			"rank %d has not ended yet: "
			"its counts are up to its last region's end",
			process->rank);
	else
		cp_report_warn(&job->report,
			"rank %d was %s: its counts are up to its last region's end",
			process->rank,
			strcmp(process->how, "killed") == 0 ? "killed"
							    : "not seen to end");
}

/* Measured times and predicted ones have no sum: those of the first engine have. */
static void keep_times_apart(struct cp_job *job, const struct cp_report *rank)
{
	if (rank->engine == job->report.engine) {
		if (rank->engine == CP_ENGINE_SIM &&
			strcmp(rank->machine, job->report.machine) != 0)
			cp_report_warn(&job->report, "ranks were simulated on different "
						     "machines: costs are by the "
						     "latencies of the first one's");
		return;
	}
	cp_report_warn(&job->report,
		"ranks were counted by different engines: times are of those that were "
		"counted as the first was, and each count is of those that have it");
	for (const struct cp_region *r = rank->total; r;
		r = cp_region_next(rank->total, r))
		((struct cp_region *)(uintptr_t)r)->seconds =
			cp_unavailable("counted by another engine");
}

/* The ranks have no clock in common, and begin at different times. */
static void note_series(struct cp_job *job, const struct cp_report *rank)
{
	for (size_t i = 0; i < rank->nprocesses; i++)
		if (rank->processes[i].course) {
			cp_report_warn(&job->report,
				"the time series of ranks are not added up, "
				"for they have no clock in common: keep the records "
				"(CACHEPEEK_DIR), and `cachepeek report` "
				"shows those of a rank");
			return;
		}
}

static void add_report(struct cp_job *job, const struct cp_report *rank, int32_t wanted)
{
	const struct cp_process *process = &rank->processes[0];
	struct cp_place at = {process->rank, process->pid, process->pid};

	adopt_settings(job, rank);
	add_warnings(job, rank);
	note_series(job, rank);
	for (size_t i = 0; i < rank->nprocesses; i++) {
		note_rank(job, rank->processes[i].rank);
		job->nprocesses +=
			rank->processes[i].image == 0; /* a process, not an image */
		if (rank->processes[i].root)
			note_end(job, &rank->processes[i]);
	}
	list_rank(job, rank);
	keep_times_apart(job, rank);
	job->nreported += rank->in_job;
	if (wanted > job->wanted)
		job->wanted = wanted;
	note_host(job, rank->host);
	cp_merge_tree(&job->report, job->report.total, rank->total, at);
}

/* The memory and the options that a rank's report is built with. */
struct adding {
	struct cp_arena *arena;
	struct cp_report report;
	struct cp_source_list list;
	struct cp_escape out_of_memory;
};

static void begin_rank(struct adding *adding, struct cp_job *job)
{
	adding->arena = adding->report.arena = &job->scratch;
	adding->arena->out_of_memory = &adding->out_of_memory;
	adding->report.quantities = job->report.quantities;
	adding->report.nquantities = job->report.nquantities;
	adding->report.groups = job->report.groups;
	adding->report.ngroups = job->report.ngroups;
}

static bool finish_rank(
	struct adding *adding, struct cp_job *job, char *error, size_t size)
{
	int32_t wanted = 0;

	for (size_t i = 0; i < adding->list.count; i++)
		if (adding->list.items[i]->record.header->nranks > wanted)
			wanted = adding->list.items[i]->record.header->nranks;
	cp_report_of_sources(&adding->report, &adding->list);
	if (adding->report.nprocesses) {
		add_report(job, &adding->report, wanted);
		return true;
	}
	cp_format(error, size, "%s",
		adding->report.nwarnings ? adding->report.warnings[0] : "no records");
	return false;
}

/* Frees what the rank took for the next one; there is nobody to escape to any more. */
static void forget_rank(struct cp_job *job)
{
	cp_arena_reuse(&job->scratch);
	job->scratch.out_of_memory = NULL;
}

bool cp_job_add(struct cp_job *job, const char *const *paths, size_t npaths, char *error,
	size_t size)
{
	struct adding adding = {0};
	volatile bool done = false;

	if (CP_ESCAPE_SET(adding.out_of_memory) == 0) {
		begin_rank(&adding, job);
		for (size_t i = 0; i < npaths; i++)
			cp_sources_add_path(&adding.report, &adding.list, paths[i]);
		done = finish_rank(&adding, job, error, size);
	} else {
		cp_format(error, size, "out of memory for a rank's records");
	}
	forget_rank(job);
	return done;
}

/* Adds the rank's records: what its root's says of it holds for all of its processes. */
static void add_records(struct adding *adding, const struct cp_parcel *parcel)
{
	struct cp_record_bytes bytes;
	struct cp_record record;
	char why[256];

	for (uint64_t at = sizeof(*parcel); cp_parcel_next(parcel, &at, &bytes);)
		if (cp_record_parse(adding->arena, bytes.at, bytes.size, &record, why,
			    sizeof(why)) == 0)
			cp_sources_add(&adding->report, &adding->list, &record);
		else
			cp_report_warn(&adding->report, "rank %d: %s", parcel->rank, why);
}

bool cp_job_add_parcel(
	struct cp_job *job, const struct cp_parcel *parcel, char *error, size_t size)
{
	struct adding adding = {0};
	volatile bool done = false;

	job->place = (enum cp_host_place)parcel->place;
	if (CP_ESCAPE_SET(adding.out_of_memory) == 0) {
		begin_rank(&adding, job);
		add_records(&adding, parcel);
		done = finish_rank(&adding, job, error, size);
	} else {
		cp_format(error, size, "out of memory for a rank's records");
	}
	forget_rank(job);
	return done;
}

/* ---- the whole ---- */

static void warn_of_missing(struct cp_job *job)
{
	char list[200] = "";
	size_t length = 0, count = 0;

	for (int32_t rank = cp_job_missing(job, 0); rank >= 0;
		rank = cp_job_missing(job, rank + 1))
		if (count++ < CP_JOB_NAMED)
			length += cp_format(list + length, sizeof(list) - length, "%s%d",
				length ? ", " : "", rank);
	if (!count)
		return;
	cp_report_warn(&job->report,
		"nothing is recorded of %zu of %d ranks (%s%s): "
		"the sums are without them",
		count, job->wanted, list, count > CP_JOB_NAMED ? ", …" : "");
}

static void warn_of_shared(struct cp_report *report)
{
	size_t shared = 0;

	for (size_t i = 0; i < report->nquantities; i++)
		shared += report->total->counts[i].shared > 0;
	if (shared)
		cp_report_warn(report,
			"the ranks shared the events: "
			"%zu of %zu counts were taken on some ranks, and stand for all",
			shared, report->nquantities);
}

static void take_hosts(const struct cp_job *job, struct cp_count *count)
{
	const struct cp_hosts *hosts = &count->hosts;
	char text[80];
	size_t length;

	count->value = hosts->value;
	count->exclusive = hosts->exclusive;
	count->status = count->of_socket = hosts->status;
	count->error = hosts->squares > 0 ? __builtin_sqrt(hosts->squares) : -1;
	count->reason = NULL;
	if (hosts->count == job->nhosts)
		return;
	length = cp_format(text, sizeof(text), "without %zu of %zu hosts",
		job->nhosts - hosts->count, job->nhosts);
	count->status = count->of_socket = CP_ESTIMATED;
	count->error = -1;
	count->reason = cp_arena_copy(job->arena, text, length);
}

/* One rank's value is in the sums: that of all ranks on its host. */
static void finish_socket(const struct cp_job *job, struct cp_count *count)
{
	if (!job->several_hosts)
		count->over = (struct cp_extent){.nthreads = 0};
	if (!job->several_hosts || !count->counted)
		return;
	if (count->hosts.count) {
		take_hosts(job, count);
		return;
	}
	count->status = CP_UNAVAILABLE;
	count->error = -1;
	count->reason = "it counts whole sockets, "
			"and no rank that is known to be "
			"the first on its host has a value";
}

static void finish_sockets(struct cp_job *job)
{
	struct cp_report *report = &job->report;

	for (const struct cp_region *r = report->total; r;
		r = cp_region_next(report->total, r))
		for (size_t i = 0; i < report->nquantities; i++)
			if (r->counts[i].socket)
				finish_socket(job, &r->counts[i]);
}

const struct cp_report *cp_job_finish(struct cp_job *job)
{
	struct cp_report *report = &job->report;

	cp_arena_free(&job->scratch);
	if (!report->total)
		return NULL;
	cp_merge_finish(report, report->total);
	finish_sockets(job);
	sort_ranks(job);
	cp_time_forget(report, report->total);
	cp_metrics_of_tree(report, report->total);
	cp_metrics_errors(report, report->total);
	cp_metrics_check(report);
	warn_of_missing(job);
	warn_of_shared(report);
	return report;
}
