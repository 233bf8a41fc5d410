/* SPDX-License-Identifier: MIT
 *
 * From the items of one record to a process, its threads and their regions.
 */
#include <string.h>

#include "base/search.h"
#include "output/report/report_parts.h"
#include "regions/process_state.h"

struct cp_region *cp_region_new(
	struct cp_report *report, struct cp_region *parent, struct cp_slice name)
{
	struct cp_region *region = cp_arena_alloc(report->arena, sizeof(*region));

	region->name = name;
	region->parent = parent;
	region->seconds_error = -1;
	region->counts = cp_arena_alloc(
		report->arena, report->nquantities * sizeof(*region->counts));
	region->metrics = cp_arena_alloc(
		report->arena, report->nmetrics * sizeof(*region->metrics));
	if (!parent)
		return region;
	region->depth = parent->depth + 1;
	if (parent->last_child)
		parent->last_child->next = region;
	else
		parent->child = region;
	parent->last_child = region;
	return region;
}

const struct cp_region *cp_region_next(
	const struct cp_region *root, const struct cp_region *region)
{
	if (region->child)
		return region->child;
	while (region != root && !region->next)
		region = region->parent;
	return region == root ? NULL : region->next;
}

unsigned cp_region_path(
	const struct cp_region *region, const struct cp_slice *names[CP_MAX_DEPTH])
{
	unsigned depth = region->depth;

	for (unsigned i = depth; i > 0; i--, region = region->parent)
		names[i - 1] = &region->name;
	return depth;
}

static struct cp_slice region_name(struct cp_report *report,
	const struct cp_record *record, const struct cp_region_item *item)
{
	const struct cp_string_item *string = cp_record_string(record, item->name);

	if (!string)
		return cp_slice_of("?");
	return cp_region_name(report, record,
		(struct cp_slice){string->text, string->text + string->length});
}

static size_t index_of(const struct cp_record *record, const struct cp_region_item *item)
{
	return CP_IN_FRONT(record->nregions, i, record->regions[i] < item);
}

static struct cp_region *root_of(struct cp_report *report, const struct cp_record *record,
	const struct cp_thread_item *thread, const struct cp_region_item *item,
	struct cp_process *process)
{
	for (size_t i = 0; i < record->nthreads; i++) {
		if (record->threads[i] != thread)
			continue;
		if (thread->root != cp_item_offset(record, item) ||
			process->threads[i].root)
			return NULL;
		return process->threads[i].root =
			       cp_region_new(report, NULL, (struct cp_slice){"", ""});
	}
	return NULL;
}

/* A record's items and what became of them. */
struct placing {
	struct cp_report *report;
	const struct cp_source *source;
	struct cp_process *process;
	struct cp_region **made; /* by the item's index; NULL: not yet, or no place */
};

static struct cp_region *place_region(
	struct placing *placing, size_t index, unsigned depth);

/* Space in the file is used again, so that a parent may stand behind its
 * children; those who say to be each other's parents are told by the depth. */
static struct cp_region *place_below(
	struct placing *placing, const struct cp_region_item *item, unsigned depth)
{
	const struct cp_record *record = &placing->source->record;
	const struct cp_region_item *item_above = cp_record_region(record, item->parent);
	struct cp_region *parent;

	if (!item_above || item_above->thread != item->thread || depth > CP_MAX_DEPTH)
		return NULL;
	parent = place_region(placing, index_of(record, item_above), depth + 1);
	if (!parent || parent->depth >= CP_MAX_DEPTH)
		return NULL;
	return cp_region_new(
		placing->report, parent, region_name(placing->report, record, item));
}

/* The region of an item, hung into its thread's tree; NULL if it has no place. */
static struct cp_region *place_region(
	struct placing *placing, size_t index, unsigned depth)
{
	const struct cp_record *record = &placing->source->record;
	const struct cp_region_item *item = record->regions[index];
	const struct cp_thread_item *thread = cp_record_thread(record, item->thread);
	struct cp_region *region = placing->made[index];

	if (region || !thread)
		return region;
	if (item->parent)
		region = place_below(placing, item, depth);
	else
		region = root_of(placing->report, record, thread, item, placing->process);
	placing->made[index] = region;
	if (region)
		cp_count_region(placing->report, placing->source, item, thread,
			placing->process->how, region);
	return region;
}

/* The regions by their items' index. */
static struct cp_region **fill_regions(struct cp_report *report,
	const struct cp_source *source, struct cp_process *process)
{
	struct placing placing = {report, source, process,
		cp_arena_alloc(report->arena,
			source->record.nregions * sizeof(struct cp_region *))};

	for (size_t i = 0; i < source->record.nregions; i++)
		place_region(&placing, i, 0);
	return placing.made;
}

/* A thread without a root was lost before anything of it could be recorded. */
static void give_root(struct cp_report *report, struct cp_thread *thread)
{
	const char *reason =
		thread->reason ? thread->reason : "nothing was recorded of the thread";

	thread->root = cp_region_new(report, NULL, (struct cp_slice){"", ""});
	thread->root->nthreads = thread->threads;
	thread->root->folded = thread->state & CP_THREAD_FOLDS;
	thread->root->seconds = cp_unavailable(reason);
	cp_counts_unavailable(report, thread->root->counts, reason);
}

static void fill_threads(struct cp_report *report, const struct cp_record *record,
	struct cp_process *process)
{
	process->nthreads = record->nthreads;
	process->threads = cp_arena_alloc(
		report->arena, record->nthreads * sizeof(*process->threads));
	for (size_t i = 0; i < record->nthreads; i++) {
		const struct cp_thread_item *item = record->threads[i];
		const struct cp_string_item *reason =
			cp_record_string(record, item->reason);
		struct cp_thread *thread = &process->threads[i];

		thread->tid = item->tid;
		thread->state = item->state;
		thread->threads = item->state & CP_THREAD_FOLDS ? item->base[0] : 1;
		thread->name = cp_arena_copy(report->arena, item->name,
			strnlen(item->name, sizeof(item->name)));
		if (item->state & CP_THREAD_LOST)
			thread->reason = reason ? reason->text
						: "its counters could not be opened";
	}
}

/* Is it only there as a part of another one? */
static bool is_folded(const struct cp_thread *thread)
{
	const struct cp_region *root = thread->root;

	if (thread->state & CP_THREAD_FOLDS)
		return root ? !root->calls && !root->nthreads : thread->threads == 0;
	return (thread->state & CP_THREAD_FOLDED) && (!root || root->calls == 0);
}

static void drop_folded_threads(struct cp_report *report, struct cp_process *process)
{
	size_t left = 0;

	for (size_t i = 0; i < process->nthreads; i++) {
		struct cp_thread *thread = &process->threads[i];

		if (is_folded(thread))
			continue;
		if (!thread->root)
			give_root(report, thread);
		else if (thread->state & CP_THREAD_FOLDS)
			thread->threads = thread->root->nthreads;
		process->threads[left++] = *thread;
	}
	process->nthreads = left;
}

uint64_t cp_process_threads(const struct cp_process *process)
{
	uint64_t count = 0;

	for (size_t i = 0; i < process->nthreads; i++)
		count += process->threads[i].threads;
	return count;
}

static const char *how_of(const struct cp_record *record)
{
	const struct cp_record_header *header = record->header;

	switch (header->how) {
	case CP_HOW_EXIT:
		return "exit";
	case CP_HOW_EXEC:
		return "exec";
	case CP_HOW_SIGNAL:
		return "signal";
	case CP_HOW_KILLED: /* folded: of processes whose end was not seen, too */
		return header->folded ? "unknown" : "killed";
	case CP_HOW_FOLDED:
		return "folded";
	default:
		return cp_process_state(header->pid, header->realtime_ns,
			cp_record_meta(record, "host", NULL));
	}
}

static const char *meta_or(
	const struct cp_record *record, const char *key, const char *otherwise)
{
	const char *value = cp_record_meta(record, key, NULL);

	return value ? value : otherwise;
}

static void fill_header(const struct cp_record *record, struct cp_process *process)
{
	const struct cp_record_header *header = record->header;

	process->pid = header->pid;
	process->ppid = header->ppid;
	process->rank = header->rank;
	process->image = header->image;
	process->host = meta_or(record, "host", "");
	process->exe = meta_or(record, "exe", "");
	process->how = how_of(record);
	process->code = header->code;
	process->unseen = header->how == CP_HOW_KILLED ||
			  strcmp(process->how, "unknown") == 0 ||
			  cp_record_meta(record, "unseen_exit", NULL);
	process->illegal = cp_record_meta(record, "illegal", NULL);
	process->cpu = cp_record_meta(record, "cpu", NULL);
	process->shown_host = cp_record_meta(record, "shown", NULL);
	process->counted_from = header->flags & CP_RECORD_FORKED ? "fork" : "constructor";
	process->root = header->flags & CP_RECORD_ROOT;
	process->jumped = header->flags & CP_RECORD_JUMPED;
	process->start_ns = header->start_ns;
	process->end_ns = header->end_ns;
	process->realtime_ns = header->realtime_ns;
	process->overhead_ns = header->overhead_ns;
	process->pair_ns = header->pair_ns;
	process->cpu_ns = header->cpu_ns;
	process->unrecorded = header->unrecorded;
	process->folded = header->folded;
	process->ends = header->ends;
	process->mpi = record->mpi;
	if (header->engine == CP_ENGINE_SIM) {
		process->huge_pages = header->process[CP_MIRROR_HUGE_PAGES];
		process->x87 = header->process[CP_MIRROR_X87] != 0;
	}
	if (header->cpu_ns > header->seen_cpu_ns)
		process->unattributed_ns = header->cpu_ns - header->seen_cpu_ns;
}

static void merge_threads(struct cp_report *report, const struct cp_source *source,
	struct cp_process *process)
{
	bool sparse = source->record.header->flags & CP_RECORD_SPARSE;

	process->total = cp_region_new(report, NULL, (struct cp_slice){"", ""});
	for (size_t i = 0; i < process->nthreads; i++) {
		struct cp_thread *thread = &process->threads[i];
		struct cp_place at = {process->rank, process->pid, thread->tid};

		if (sparse)
			cp_sampled_tree(report, thread->root);
		cp_metrics_of_tree(report, thread->root);
		cp_merge_tree(report, process->total, thread->root, at);
		cp_merge_tree(report, report->total, thread->root, at);
		if (cp_time_forget(report, thread->root))
			cp_metrics_of_tree(report, thread->root);
	}
	cp_merge_finish(report, process->total);
	cp_time_forget(report, process->total);
	cp_metrics_of_tree(report, process->total);
}

void cp_process_fill(struct cp_report *report, const struct cp_source *source,
	struct cp_process *process)
{
	struct cp_region **regions;

	fill_header(&source->record, process);
	fill_threads(report, &source->record, process);
	regions = fill_regions(report, source, process);
	drop_folded_threads(report, process);
	process->whole = cp_arena_alloc(
		report->arena, report->nquantities * sizeof(*process->whole));
	cp_count_process(report, source, process->whole);
	process->unattributed = cp_arena_alloc(
		report->arena, report->nquantities * sizeof(*process->unattributed));
	cp_count_unattributed(report, source, process->unattributed);
	merge_threads(report, source, process);
	if (source->record.series)
		process->course = cp_course_of(report, source, process, regions);
}
