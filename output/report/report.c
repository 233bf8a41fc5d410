/* SPDX-License-Identifier: MIT
 *
 * Building a report: finding the records, what they share, and the order.
 */
#include "output/report/report.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/sort.h"
#include "base/files/directory.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/format.h"
#include "base/text.h"
#include "output/report/report_parts.h"

#define MAX_QUANTITIES 512 /* of all records together */

void cp_sources_add(struct cp_report *report, struct cp_source_list *list,
	const struct cp_record *record)
{
	struct cp_source *source = cp_arena_alloc(report->arena, sizeof(*source));

	source->record = *record;
	source->name = "";
	if (list->count == list->room) {
		struct cp_source **more;

		list->room = list->room ? list->room * 2 : 16;
		more = cp_arena_alloc(report->arena, list->room * sizeof(*more));
		if (list->count)
			memcpy(more, list->items, list->count * sizeof(*more));
		list->items = more;
	}
	list->items[list->count++] = source;
}

static void add_source(struct cp_report *report, struct cp_source_list *list, int dirfd,
	const char *name)
{
	struct cp_record record;
	char error[512];

	if (cp_record_read(report->arena, dirfd, name, &record, error, sizeof(error)) <
		0) {
		cp_report_warn(report, "%s", error);
		return;
	}
	list->folded |= record.header->folded > 0;
	if (record.damaged)
		cp_report_warn(report,
			"%s: damaged in places: what could be read is shown", name);
	cp_sources_add(report, list, &record);
	list->items[list->count - 1]->name =
		cp_arena_copy(report->arena, name, strlen(name));
}

struct adding {
	struct cp_report *report;
	struct cp_source_list *list;
};

static bool add_entry(void *context, int fd, const char *name)
{
	const struct adding *adding = context;

	if (cp_ends_with(name, ".rec"))
		add_source(adding->report, adding->list, fd, name);
	return false;
}

/* Records that were folded, and are still there: regions/fold/fold_records.c. */
static bool is_folded(
	const struct cp_source_list *list, size_t from, const struct cp_source *source)
{
	for (size_t i = from; i < list->count; i++)
		if (list->items[i]->record.header->folded &&
			cp_record_has_folded(
				&list->items[i]->record, source->name, &source->record))
			return true;
	return false;
}

static void drop_folded(struct cp_source_list *list, size_t from)
{
	for (size_t i = from; list->folded && i < list->count;)
		if (is_folded(list, from, list->items[i]))
			list->items[i] = list->items[--list->count];
		else
			i++;
}

static void tell_refused(struct cp_report *report, int fd)
{
	struct stat status;

	if (fstatat(fd, CP_RECORDS_REFUSED, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
		S_ISREG(status.st_mode) && status.st_size > 0)
		cp_report_warn(report,
			"%llu process%s not recorded: "
			"the run's records had reached CACHEPEEK_LIMIT. Raise it, "
			"or leave children alone (CACHEPEEK_CHILDREN=ignore)",
			(unsigned long long)status.st_size,
			status.st_size == 1 ? " was" : "es were");
}

/* Whoever folds records is waited for; not for long, in case it was stopped. */
static void lock_record(int fd)
{
	const struct timespec pause = {0, 10000000};

	for (int i = 0; i < 200 && flock(fd, LOCK_SH | LOCK_NB) < 0; i++)
		nanosleep(&pause, NULL);
}

static void add_directory(struct cp_report *report, struct cp_source_list *list, int fd)
{
	struct adding adding = {report, list};
	size_t from = list->count;
	int result;

	lock_record(fd);
	result = cp_directory_any(fd, add_entry, &adding);
	flock(fd, LOCK_UN);
	if (result < 0)
		cp_report_warn(report, "the run directory: %s", cp_error_text(-result));
	drop_folded(list, from);
	tell_refused(report, fd);
}

void cp_sources_add_path(
	struct cp_report *report, struct cp_source_list *list, const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0) {
		add_directory(report, list, fd);
		cp_fd_close(fd);
	} else if (errno == ENOTDIR) {
		add_source(report, list, AT_FDCWD, path);
	} else {
		cp_report_warn(report,
			"%s: %s: name a run's directory (-d), or records (*.rec)", path,
			cp_error_text(errno));
	}
}

static int compare_sources(const void *one, const void *other)
{
	const struct cp_source *const *a = one, *const *b = other;
	const struct cp_record_header *x = (*a)->record.header, *y = (*b)->record.header;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->realtime_ns != y->realtime_ns)
		return x->realtime_ns < y->realtime_ns ? -1 : 1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->image > y->image) - (x->image < y->image);
}

/* The index of name among the report's quantities; it is added if need be and there
 * is room. */
static uint32_t number_name(
	struct cp_report *report, const char **names, const char *name)
{
	int index = cp_report_quantity(report, name);

	if (index >= 0)
		return (uint32_t)index;
	if (report->nquantities >= MAX_QUANTITIES) {
		cp_report_warn(report,
			"the records have more than %d quantities: "
			"the others are left out. "
			"Report fewer runs at a time to see them",
			MAX_QUANTITIES);
		return CP_NOT_NUMBERED;
	}
	names[report->nquantities] = name;
	return (uint32_t)report->nquantities++;
}

static void number_quantities(struct cp_report *report, const struct cp_source_list *list)
{
	/* A report that begins with a job has the job's quantities, too, which may be
	 * more. */
	size_t room = MAX_QUANTITIES + report->nquantities;
	const char **names = cp_arena_alloc(report->arena, room * sizeof(*names));

	if (report->nquantities)
		memcpy(names, report->quantities, report->nquantities * sizeof(*names));
	report->quantities = names;
	for (size_t i = 0; i < list->count; i++) {
		struct cp_source *source = list->items[i];

		for (uint32_t q = 0; q < source->record.header->nquantities; q++)
			source->quantity[q] = number_name(
				report, names, source->record.quantities[q]->text);
	}
}

/* Did every term of a quantity move in some thread? */
static bool has_moved(const struct cp_record *record, uint32_t index)
{
	const struct cp_quantity_item *quantity = record->quantities[index];

	for (size_t i = 0; i < record->nregions; i++) {
		const struct cp_sum *sums = cp_region_sums(record->regions[i]);
		uint32_t moved = 0;

		for (uint32_t t = 0; t < quantity->nterms; t++)
			moved += sums[quantity->terms[t].counter].inclusive > 0;
		if (moved == quantity->nterms)
			return true;
	}
	return false;
}

/* Where it moved in one process, a 0 of another is a 0. */
static void find_silent(struct cp_report *report, const struct cp_source_list *list)
{
	bool *moved = cp_arena_alloc(report->arena, report->nquantities + 1);

	for (size_t i = 0; i < list->count; i++) {
		const struct cp_source *source = list->items[i];

		for (uint32_t q = 0; q < source->record.header->nquantities; q++)
			if (source->quantity[q] != CP_NOT_NUMBERED)
				moved[source->quantity[q]] |=
					has_moved(&source->record, q);
	}
	for (size_t i = 0; i < list->count; i++) {
		struct cp_source *source = list->items[i];

		for (uint32_t q = 0; q < source->record.header->nquantities; q++)
			source->silent[q] = source->record.quantities[q]->available ==
						    CP_QUANTITY_UNPROVEN &&
					    source->quantity[q] != CP_NOT_NUMBERED &&
					    !moved[source->quantity[q]];
	}
}

static bool has_group(const struct cp_report *report,
	const struct cp_group *const *groups, const char *text)
{
	for (size_t i = 0; i < report->ngroups; i++)
		if (strcmp(groups[i]->text, text) == 0)
			return true;
	return false;
}

static void add_group(
	struct cp_report *report, const struct cp_group **groups, const char *text)
{
	const struct cp_group *group;
	char error[512];

	if (report->ngroups == CP_MAX_GROUPS || has_group(report, groups, text))
		return;
	group = cp_group_parse(
		report->arena, "group of the run", text, error, sizeof(error));
	if (group)
		groups[report->ngroups++] = group;
	else
		cp_report_warn(report, "%s", error);
}

/* The total of this name, which is 0 if it is new; NULL: there is no room. */
static struct cp_launcher_total *find_total(
	struct cp_report *report, const char *name, size_t length)
{
	struct cp_launcher_total *total = report->totals;

	for (; total < report->totals + report->ntotals; total++)
		if (strlen(total->name) == length &&
			memcmp(total->name, name, length) == 0)
			return total;
	if (report->ntotals == CP_MAX_TOTALS)
		return NULL;
	report->ntotals++;
	total->name = cp_arena_copy(report->arena, name, length);
	total->value = 0;
	return total;
}

/* Several runs have one of each: what is in all of them is their sum. */
static void add_total(struct cp_report *report, const char *text)
{
	const char *blank = strchr(text, ' ');
	struct cp_launcher_total *total;
	uint64_t value;

	if (!blank || cp_parse_u64(blank + 1, &value) < 0)
		return;
	total = find_total(report, text, (size_t)(blank - text));
	if (total)
		total->value += value;
}

static void collect_metas(struct cp_report *report, const struct cp_source_list *list)
{
	const struct cp_group **groups =
		cp_arena_alloc(report->arena, CP_MAX_GROUPS * sizeof(*groups));

	if (report->ngroups)
		memcpy(groups, report->groups, report->ngroups * sizeof(*groups));
	report->groups = groups;
	for (size_t i = 0; i < list->count; i++) {
		const struct cp_record *record = &list->items[i]->record;

		for (size_t j = 0; j < record->nmetas; j++) {
			if (cp_meta_is(record->metas[j], "group"))
				add_group(
					report, groups, cp_meta_value(record->metas[j]));
			else if (cp_meta_is(record->metas[j], "launcher_total"))
				add_total(report, cp_meta_value(record->metas[j]));
			else if (cp_meta_is(record->metas[j], "warning"))
				cp_report_warn(
					report, "%s", cp_meta_value(record->metas[j]));
		}
	}
}

void cp_report_metrics(struct cp_report *report)
{
	report->metrics = cp_arena_alloc(report->arena,
		report->ngroups * CP_GROUP_MAX_METRICS * sizeof(*report->metrics));
	for (size_t i = 0; i < report->ngroups; i++)
		for (size_t j = 0; j < report->groups[i]->nmetrics; j++)
			if (cp_report_metric(report, report->groups[i]->metrics[j].name) <
				0)
				report->metrics[report->nmetrics++] =
					&report->groups[i]->metrics[j];
}

/* The record that speaks for the run: the root's, else the first. */
static const struct cp_record *record_of_run(const struct cp_source_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i]->record.header->flags & CP_RECORD_ROOT)
			return &list->items[i]->record;
	return &list->items[0]->record;
}

static void split_command(struct cp_report *report, const struct cp_record *record)
{
	size_t length = 0, count = 0;
	const char *text = cp_record_meta(record, "command", &length), **command;

	if (!text)
		length = 0;
	for (size_t at = 0; at < length; at += strlen(text + at) + 1)
		count++;
	command = cp_arena_alloc(report->arena, (count + 1) * sizeof(*command));
	report->command = command;
	for (size_t at = 0; at < length; at += strlen(text + at) + 1)
		command[report->narguments++] = text + at;
}

static const char *domain_of(const struct cp_record_header *header)
{
	if (!(header->flags & CP_RECORD_KERNEL))
		return "u";
	return header->flags & CP_RECORD_NOT_USER ? "k" : "uk";
}

static double line_size(const char *text)
{
	double value = 0;

	for (; text && *text >= '0' && *text <= '9' && value < 1e6; text++)
		value = value * 10 + (*text - '0');
	return value;
}

static const char *meta_or_empty(const struct cp_record *record, const char *key)
{
	const char *value = cp_record_meta(record, key, NULL);

	return value ? value : "";
}

static void describe_report(struct cp_report *report, const struct cp_record *record)
{
	report->engine = (enum cp_engine_id)record->header->engine;
	report->version = meta_or_empty(record, "tool");
	report->why = meta_or_empty(record, "why");
	report->machine = meta_or_empty(record, "machine");
	report->host = meta_or_empty(record, "host");
	report->sweep = meta_or_empty(record, "sweep");
	report->windows = meta_or_empty(record, "windows");
	report->sample = meta_or_empty(record, "sample");
	report->weights = cp_weights_read(cp_record_meta(record, "weights", NULL));
	report->spreads = cp_spreads_read(cp_record_meta(record, "spreads", NULL));
	report->domain = domain_of(record->header);
	report->line = line_size(cp_record_meta(record, "line", NULL));
	split_command(report, record);
}

/* All records belong to one run. */
static void build_run(struct cp_report *report, struct cp_source_list *list)
{
	cp_sort_by(list->items, list->count, sizeof(*list->items), compare_sources);
	for (size_t i = 0; i < list->count; i++)
		report->in_job |= list->items[i]->record.header->flags & CP_RECORD_IN_JOB;
	describe_report(report, record_of_run(list));
	cp_report_pinned(report, list, record_of_run(list));
	number_quantities(report, list);
	find_silent(report, list);
	collect_metas(report, list);
	cp_report_lines(report, list);
	cp_report_metrics(report);
	cp_report_unfollowed(report, list->items, list->count);
	report->total = cp_region_new(report, NULL, (struct cp_slice){"", ""});
	report->processes =
		cp_arena_alloc(report->arena, list->count * sizeof(*report->processes));
	for (; report->nprocesses < list->count; report->nprocesses++)
		cp_process_fill(report, list->items[report->nprocesses],
			&report->processes[report->nprocesses]);
	cp_merge_finish(report, report->total);
}

static void compute_metrics(struct cp_report *report)
{
	cp_time_forget(report, report->total);
	cp_metrics_of_tree(report, report->total);
	cp_metrics_errors(report, report->total);
	cp_report_check(report);
}

/* The lowest pass that is higher than that one; UINT32_MAX: none. */
static uint32_t pass_after(const struct cp_source_list *list, int64_t before)
{
	uint32_t next = UINT32_MAX;

	for (size_t i = 0; i < list->count; i++) {
		uint32_t pass = list->items[i]->record.header->pass;

		if ((int64_t)pass > before && pass < next)
			next = pass;
	}
	return next;
}

static struct cp_source_list of_pass(
	struct cp_report *report, const struct cp_source_list *all, uint32_t pass)
{
	struct cp_source_list list = {
		.items = cp_arena_alloc(report->arena, all->count * sizeof(*list.items))};

	for (size_t i = 0; i < all->count; i++)
		if (all->items[i]->record.header->pass == pass)
			list.items[list.count++] = all->items[i];
	return list;
}

static void add_pass(
	struct cp_report *report, const struct cp_source_list *all, uint32_t pass)
{
	struct cp_report *other = cp_arena_alloc(report->arena, sizeof(*other));
	struct cp_source_list list = of_pass(report, all, pass);

	other->arena = report->arena;
	build_run(other, &list);
	compute_metrics(other);
	cp_report_add_pass(report, other, pass);
}

static const char *shared_by(struct cp_report *report, uint32_t npasses)
{
	char text[1024];
	size_t length =
		cp_format(text, sizeof(text), "%s%sthe events were shared by %u runs",
			report->why, *report->why ? "; " : "", npasses);

	return cp_arena_copy(report->arena, text, length);
}

void cp_report_of_sources(struct cp_report *report, const struct cp_source_list *all)
{
	struct cp_source_list first;
	uint32_t pass, npasses = 1;

	if (!all->count)
		return;
	pass = pass_after(all, -1);
	first = of_pass(report, all, pass);
	build_run(report, &first);
	for (; (pass = pass_after(all, pass)) != UINT32_MAX; npasses++)
		add_pass(report, all, pass);
	if (npasses > 1)
		report->why = shared_by(report, npasses);
	compute_metrics(report);
}

static void build_report(
	struct cp_report *report, const char *const *paths, size_t npaths)
{
	struct cp_source_list all = {0};

	for (size_t i = 0; i < npaths; i++)
		cp_sources_add_path(report, &all, paths[i]);
	cp_report_of_sources(report, &all);
}

static const struct cp_report *build_or_explain(struct cp_arena *arena,
	const char *const *paths, size_t npaths, char *error, size_t error_size)
{
	struct cp_report *report = cp_arena_alloc(arena, sizeof(*report));

	report->arena = arena;
	build_report(report, paths, npaths);
	if (report->nprocesses)
		return report;
	if (report->nwarnings)
		cp_format(error, error_size, "%s", report->warnings[0]);
	else
		cp_format(error, error_size,
			"%s holds no run records (*.rec): name a directory that -d named",
			npaths ? paths[0] : "nothing");
	return NULL;
}

const struct cp_report *cp_report_build(struct cp_arena *arena, const char *const *paths,
	size_t npaths, char *error, size_t error_size)
{
	struct cp_escape *outer = arena->out_of_memory, out_of_memory;
	const struct cp_report *volatile report = NULL;

	if (CP_ESCAPE_SET(out_of_memory) == 0) {
		arena->out_of_memory = &out_of_memory;
		report = build_or_explain(arena, paths, npaths, error, error_size);
	} else {
		cp_format(error, error_size, "out of memory for the report");
	}
	arena->out_of_memory = outer;
	return report;
}
