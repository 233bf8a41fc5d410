/* SPDX-License-Identifier: MIT */
#include "regions/fold/fold_sum.h"

#include <string.h>

#include "base/format.h"
#include "base/hash.h"
#include "regions/fold/fold_file.h"
#include "regions/tree_parts.h"

#define MAX_NOTES 512
#define MAX_PIDS ((size_t)1 << 18)
#define MAX_DEPTH (CP_TREE_DEPTH + 8)

struct cp_sum_node {
	struct cp_sum_node *next, *same; /* same: in the bucket */
	struct cp_sum_node *parent;
	const char *name; /* NULL: the root's */
	size_t length;
	unsigned thread;
	bool range;
	uint64_t offset; /* in the file that is made */
	struct cp_region_item *item;
	struct cp_folded *folded; /* behind it */
};

struct cp_sum_note {
	const char *key, *value;
	size_t length;
};

/* ---- kinds ---- */

/* Reports treat counts by the way in which a process ended: see output/. */
static enum cp_how class_of(const struct cp_record_header *header)
{
	switch (header->how) {
	case CP_HOW_EXEC:
		return CP_HOW_EXEC;
	case CP_HOW_RUNNING:
	case CP_HOW_KILLED:
		return CP_HOW_KILLED;
	default:
		return CP_HOW_FOLDED;
	}
}

static bool same_meta(
	const struct cp_record *a, const struct cp_record *b, const char *key)
{
	const char *one = cp_record_meta(a, key, NULL),
		   *other = cp_record_meta(b, key, NULL);

	return one && other && strcmp(one, other) == 0;
}

static bool same_item(const void *a, const void *b)
{
	const struct cp_item *one = a, *other = b;

	return one->size == other->size && memcmp(a, b, one->size) == 0;
}

static bool same_events(const struct cp_record *a, const struct cp_record *b)
{
	const struct cp_record_header *x = a->header, *y = b->header;

	if (x->engine != y->engine || x->ncounters != y->ncounters ||
		x->nquantities != y->nquantities || x->nperf_groups != y->nperf_groups ||
		x->nrotated != y->nrotated || x->pass != y->pass ||
		x->npasses != y->npasses ||
		memcmp(x->reference, y->reference, sizeof(x->reference)) != 0 ||
		memcmp(x->socket, y->socket, sizeof(x->socket)) != 0)
		return false;
	for (uint32_t i = 0; i < x->ncounters; i++)
		if (!same_item(a->counters[i], b->counters[i]))
			return false;
	for (uint32_t i = 0; i < x->nquantities; i++)
		if (!same_item(a->quantities[i], b->quantities[i]))
			return false;
	return true;
}

bool cp_sum_is_like(const struct cp_sum_of *sum, const struct cp_record *record)
{
	const struct cp_record_header *a = &sum->header, *b = record->header;

	return class_of(a) == class_of(b) && a->flags == b->flags && a->rank == b->rank &&
	       same_events(&sum->first, record) &&
	       same_meta(&sum->first, record, "exe") &&
	       same_meta(&sum->first, record, "host");
}

/* ---- notes ---- */

void cp_sum_note(struct cp_sum_of *sum, const struct cp_meta_item *meta)
{
	struct cp_sum_note note = {meta->text, cp_meta_value(meta), meta->length};

	for (size_t i = 0; i < sum->nnotes; i++)
		if (strcmp(sum->notes[i].key, note.key) == 0 &&
			sum->notes[i].length == note.length &&
			memcmp(sum->notes[i].value, note.value, note.length) == 0)
			return;
	if (sum->nnotes < MAX_NOTES)
		sum->notes[sum->nnotes++] = note;
}

/* Notes that say what was done last time are made anew. */
static void first_notes(struct cp_sum_of *sum, bool single)
{
	for (size_t i = 0; i < sum->first.nmetas; i++) {
		const struct cp_meta_item *meta = sum->first.metas[i];

		if (!cp_meta_is(meta, "folded") && !cp_meta_is(meta, "folding") &&
			!(single && cp_meta_is(meta, "program")))
			cp_sum_note(sum, meta);
	}
}

static void add_pids(struct cp_sum_of *sum, const int32_t *pids, size_t count)
{
	int32_t *more;

	if (!count || sum->npids + count > MAX_PIDS)
		return;
	if (sum->npids + count > sum->room) {
		sum->room = 2 * (sum->npids + count);
		more = cp_arena_alloc(sum->arena, sum->room * sizeof(*more));
		if (sum->npids)
			memcpy(more, sum->pids, sum->npids * sizeof(*more));
		sum->pids = more;
	}
	memcpy(sum->pids + sum->npids, pids, count * sizeof(*pids));
	sum->npids += count;
}

static void pids_of(struct cp_sum_of *sum, const struct cp_record *record)
{
	size_t length = 0;
	const char *pids = cp_record_meta(record, "folded", &length);

	if (!record->header->folded)
		add_pids(sum, &record->header->pid, 1);
	else if (pids) {
		int32_t *aligned = cp_arena_alloc(sum->arena, length);

		memcpy(aligned, pids, length);
		add_pids(sum, aligned, length / sizeof(*aligned));
	}
}

/* ---- the header ---- */

static void add_end(struct cp_record_header *header, struct cp_ends end)
{
	struct cp_ends *last = &header->ends[CP_MAX_ENDS - 1];

	for (struct cp_ends *at = header->ends; at < last; at++) {
		if (at->processes && (at->how != end.how || at->code != end.code))
			continue;
		end.processes += at->processes;
		*at = end;
		return;
	}
	*last = (struct cp_ends){CP_HOW_FOLDED, 0, last->processes + end.processes};
}

static void add_ends(struct cp_record_header *header, const struct cp_record_header *more)
{
	if (!more->folded)
		add_end(header, (struct cp_ends){more->how, more->code, 1});
	for (unsigned i = 0; more->folded && i < CP_MAX_ENDS; i++)
		if (more->ends[i].processes)
			add_end(header, more->ends[i]);
}

static void add_header(
	struct cp_record_header *header, const struct cp_record_header *more)
{
	header->folded += more->folded ? more->folded : 1;
	add_ends(header, more);
	for (unsigned i = 0; i < CP_MIRROR_SIZE; i++)
		header->process[i] += more->process[i];
	for (unsigned i = 0; i < CP_UNRECORDED_KINDS; i++)
		header->unrecorded[i] += more->unrecorded[i];
	header->cpu_ns += more->cpu_ns;
	header->seen_cpu_ns += more->seen_cpu_ns;
	header->overhead_ns += more->overhead_ns;
	if (more->pair_ns > header->pair_ns)
		header->pair_ns = more->pair_ns;
	if (more->start_ns < header->start_ns)
		header->start_ns = more->start_ns;
	if (more->end_ns > header->end_ns)
		header->end_ns = more->end_ns;
	if (more->realtime_ns < header->realtime_ns)
		header->realtime_ns = more->realtime_ns;
}

static void clear_header(struct cp_record_header *header)
{
	header->how = class_of(header);
	header->code = 0;
	header->folded = 0;
	memset(header->ends, 0, sizeof(header->ends));
	memset(header->process, 0, sizeof(header->process));
	memset(header->unrecorded, 0, sizeof(header->unrecorded));
	header->cpu_ns = header->seen_cpu_ns = header->overhead_ns = 0;
}

static void add_machine(struct cp_machine_item *to, const struct cp_machine_item *from)
{
	for (unsigned c = 0; c < CP_MIRROR_SIZE; c++)
		to->process[c] += from->process[c];
	for (unsigned p = 0; p < to->parts && to->parts == from->parts; p++)
		((uint64_t *)(to + 1))[p] += cp_machine_parts(from)[p];
}

static void add_machines(struct cp_sum_of *sum, const struct cp_record *record)
{
	for (size_t i = 0; i < record->nmachines; i++)
		for (size_t j = 0; j < sum->nmachines; j++)
			if (sum->machines[j]->number == record->machines[i]->number)
				add_machine(sum->machines[j], record->machines[i]);
}

static void start_machine(struct cp_sum_of *sum, const struct cp_machine_item *first)
{
	sum->machines[sum->nmachines] = cp_arena_alloc(sum->arena, first->item.size);
	memcpy(sum->machines[sum->nmachines++], first,
		offsetof(struct cp_machine_item, process));
}

/* ---- threads and regions ---- */

static unsigned thread_of(struct cp_sum_of *sum, const struct cp_thread_item *thread)
{
	uint32_t state =
		CP_THREAD_FOLDS | (thread->state & (CP_THREAD_RUNNING | CP_THREAD_ENDED |
							   CP_THREAD_ADOPTED));
	unsigned i = 0;
	struct cp_thread_item *item;

	while (i + 1 < CP_SUM_THREADS && i < sum->nthreads &&
		sum->threads[i].item.state != state)
		i++;
	item = &sum->threads[i].item;
	if (i == sum->nthreads) {
		sum->nthreads++;
		*item = *thread;
		item->tid = 0;
		item->state = state;
		memset(item->base, 0, sizeof(item->base));
		memset(item->mirror, 0, sizeof(item->mirror));
	}
	if (thread->start_ns < item->start_ns)
		item->start_ns = thread->start_ns;
	if (thread->end_ns > item->end_ns)
		item->end_ns = thread->end_ns;
	return i;
}

static unsigned bucket_of(const struct cp_sum_node *node)
{
	uint64_t place = (uint64_t)(uintptr_t)node->parent ^ node->thread;

	return cp_hash(place, node->name, node->length) % CP_SUM_BUCKETS;
}

static bool is_same(const struct cp_sum_node *a, const struct cp_sum_node *b)
{
	return a->parent == b->parent && a->thread == b->thread && a->range == b->range &&
	       a->length == b->length && !a->name == !b->name &&
	       (!a->name || memcmp(a->name, b->name, a->length) == 0);
}

static struct cp_sum_node *new_node(struct cp_sum_of *sum, const struct cp_sum_node *key)
{
	struct cp_sum_node *node = cp_arena_alloc(sum->arena, sizeof(*node));
	uint64_t size = cp_region_size(&sum->layout);
	struct cp_spread *spreads;

	*node = *key;
	node->item = cp_arena_alloc(sum->arena, size + sizeof(struct cp_folded));
	node->item->item.size = (uint32_t)(size + sizeof(struct cp_folded));
	node->item->flags = key->range ? CP_REGION_OVERLAPPING : 0;
	node->folded = (void *)((char *)node->item + size);
	spreads = cp_region_spreads(node->item, sum->layout.ncounters);
	for (uint32_t i = 0; i < sum->layout.nquantities; i++)
		spreads[i].min = UINT64_MAX;
	*sum->end = node;
	sum->end = &node->next;
	return node;
}

static struct cp_sum_node *find_node(struct cp_sum_of *sum, const struct cp_sum_node *key)
{
	struct cp_sum_node **bucket = &sum->buckets[bucket_of(key)], *node = *bucket;

	while (node && !is_same(node, key))
		node = node->same;
	if (node)
		return node;
	node = new_node(sum, key);
	node->same = *bucket;
	*bucket = node;
	if (!node->parent)
		sum->threads[node->thread].root = node;
	return node;
}

/* Where a region's counts belong; NULL: its place is damaged. */
static struct cp_sum_node *node_of(struct cp_sum_of *sum, const struct cp_record *record,
	const struct cp_region_item *region, unsigned depth)
{
	const struct cp_thread_item *thread = cp_record_thread(record, region->thread);
	struct cp_sum_node key = {.range = region->flags & CP_REGION_OVERLAPPING};

	if (!thread || depth > MAX_DEPTH)
		return NULL;
	key.thread = thread_of(sum, thread);
	if (region->parent) {
		const struct cp_region_item *above =
			cp_record_region(record, region->parent);
		const struct cp_string_item *name =
			cp_record_string(record, region->name);

		key.parent = above && above->thread == region->thread
				     ? node_of(sum, record, above, depth + 1)
				     : NULL;
		if (!key.parent || !name)
			return NULL;
		key.name = name->text;
		key.length = name->length;
	}
	return find_node(sum, &key);
}

/* The simulated PMU counts a thread to its very end, past our last reading. */
static void take_mirror(const struct cp_record *record,
	const struct cp_thread_item *thread, struct cp_region_item *root)
{
	struct cp_sum *sums = cp_region_sums(root);

	for (uint32_t i = 0; i < record->header->ncounters; i++) {
		uint32_t m = record->counters[i]->mirror;
		uint64_t counted =
			cp_thread_mirror(thread, m) - cp_thread_base(thread, m);

		if (!cp_thread_is_written(record->header, thread, m))
			continue;
		sums[i].inclusive = (int64_t)(counted - sums[i].children) > 0
					    ? counted
					    : sums[i].children;
	}
}

/* Adds what threads counted before their roots began, which the process has counted. */
static void add_before(struct cp_sum_of *sum, unsigned at, const struct cp_record *record,
	const struct cp_thread_item *thread)
{
	const uint64_t *before =
		thread->state & CP_THREAD_FOLDS ? thread->mirror : thread->base;

	for (unsigned m = 0;
		record->header->engine == CP_ENGINE_SIM && m < CP_MIRROR_SIZE; m++)
		sum->threads[at].item.mirror[m] += before[m];
}

static void add_region(struct cp_sum_of *sum, const struct cp_record *record,
	const struct cp_region_item *region)
{
	const struct cp_thread_item *thread = cp_record_thread(record, region->thread);
	struct cp_region_item *item = (struct cp_region_item *)(uintptr_t)region;
	uint64_t size = cp_region_size(&sum->layout);
	struct cp_folded more = {1, region->time_ns};
	struct cp_sum_node *node;

	if (!thread || (thread->state & CP_THREAD_FOLDED && !region->calls))
		return;
	node = node_of(sum, record, region, 0);
	if (!node)
		return;
	if (thread->state & CP_THREAD_FOLDS) {
		if (region->item.size < size + sizeof(more))
			return;
		memcpy(&more, (const char *)region + size, sizeof(more));
	} else if (record->header->engine == CP_ENGINE_SIM && !region->parent) {
		take_mirror(record, thread, item);
	}
	if (!region->parent)
		add_before(sum, node->thread, record, thread);
	cp_region_move(&sum->layout, node->item, node->folded, item, &more);
}

static void add_contents(struct cp_sum_of *sum, const struct cp_record *record)
{
	add_header(&sum->header, record->header);
	add_machines(sum, record);
	pids_of(sum, record);
	for (size_t i = 0; i < record->nregions; i++)
		add_region(sum, record, record->regions[i]);
}

void cp_sum_add(struct cp_sum_of *sum, const struct cp_record *record, const char *name)
{
	char *text = cp_arena_alloc(sum->arena, 80);
	struct cp_sum_taken *taken = cp_arena_alloc(sum->arena, sizeof(*taken));

	cp_format(text, 80, "%s %llu", name,
		(unsigned long long)record->header->realtime_ns);
	taken->text = text;
	taken->next = sum->taken;
	sum->taken = taken;
	add_contents(sum, record);
}

static void find_layout(struct cp_sum_of *sum)
{
	const struct cp_record_header *header = sum->first.header;
	struct cp_quantity_terms *terms =
		cp_arena_alloc(sum->arena, header->nquantities * sizeof(*terms));
	uint32_t *group_of =
		cp_arena_alloc(sum->arena, header->ncounters * sizeof(*group_of));

	for (uint32_t i = 0; i < header->nquantities; i++)
		terms[i] = (struct cp_quantity_terms){sum->first.quantities[i]->nterms,
			sum->first.quantities[i]->terms};
	for (uint32_t i = 0; i < header->ncounters; i++)
		group_of[i] = sum->first.counters[i]->perf_group;
	sum->layout = (struct cp_layout){
		.ncounters = header->ncounters,
		.nquantities = header->nquantities,
		.ngroups = header->nperf_groups,
		.quantities = terms,
		.sparse = header->flags & CP_RECORD_SPARSE,
		.corrected = header->flags & CP_RECORD_CORRECTED,
		.nrotated = (uint32_t)header->nrotated,
		.group_of = group_of,
	};
}

void cp_sum_start(
	struct cp_sum_of *sum, struct cp_arena *arena, const struct cp_record *record)
{
	memset(sum, 0, sizeof(*sum));
	sum->arena = arena;
	sum->first = *record;
	sum->header = *record->header;
	sum->end = &sum->nodes;
	sum->notes = cp_arena_alloc(arena, MAX_NOTES * sizeof(*sum->notes));
	sum->machines = cp_arena_alloc(arena, record->nmachines * sizeof(*sum->machines));
	for (size_t i = 0; i < record->nmachines; i++)
		start_machine(sum, record->machines[i]);
	find_layout(sum);
	clear_header(&sum->header);
	first_notes(sum, !record->header->folded);
	if (record->header->folded)
		add_contents(sum, record);
}

/* ---- the file ---- */

static void put_notes(struct cp_fold_file *file, const struct cp_sum_of *sum)
{
	for (size_t i = 0; i < sum->nnotes; i++)
		cp_fold_put_meta(file, sum->notes[i].key, sum->notes[i].value,
			sum->notes[i].length);
	for (const struct cp_sum_taken *at = sum->taken; at; at = at->next)
		cp_fold_put_meta(file, "folding", at->text, strlen(at->text));
	cp_fold_put_meta(file, "folded", sum->pids, sum->npids * sizeof(*sum->pids));
	for (uint32_t i = 0; i < sum->layout.ncounters; i++)
		cp_fold_put_copy(file, sum->first.counters[i]);
	for (uint32_t i = 0; i < sum->layout.nquantities; i++)
		cp_fold_put_copy(file, sum->first.quantities[i]);
	for (size_t i = 0; i < sum->nmachines; i++)
		cp_fold_put_copy(file, sum->machines[i]);
}

static void put_region(
	struct cp_fold_file *file, struct cp_sum_node *node, const uint64_t threads[])
{
	uint64_t name =
		node->name ? cp_fold_put_string(file, node->name, node->length) : 0;
	struct cp_region_item *item;

	item = cp_fold_put(file, CP_ITEM_REGION, node->item->item.size, &node->offset);
	if (!item)
		return;
	memcpy(&item->thread, &node->item->thread,
		node->item->item.size - sizeof(item->item));
	item->thread = threads[node->thread];
	item->parent = node->parent ? node->parent->offset : 0;
	item->name = name;
}

static void put_all(struct cp_fold_file *file, struct cp_sum_of *sum)
{
	uint64_t threads[CP_SUM_THREADS];

	file->size = CP_RECORD_HEADER_SIZE;
	put_notes(file, sum);
	for (unsigned i = 0; i < sum->nthreads; i++) {
		struct cp_thread_item *item =
			cp_fold_put(file, CP_ITEM_THREAD, sizeof(*item), &threads[i]);

		if (!item)
			continue;
		memcpy(&item->tid, &sum->threads[i].item.tid,
			sizeof(*item) - sizeof(item->item));
		item->base[0] =
			sum->threads[i].root ? sum->threads[i].root->folded->threads : 0;
		/* Its place is known from the round before. */
		item->root = sum->threads[i].root ? sum->threads[i].root->offset : 0;
	}
	for (struct cp_sum_node *node = sum->nodes; node; node = node->next)
		put_region(file, node, threads);
}

const char *cp_sum_bytes(struct cp_sum_of *sum, size_t *size)
{
	struct cp_fold_file file = {NULL, 0};

	put_all(&file, sum);
	*size = file.size;
	file.bytes = cp_arena_alloc(sum->arena, file.size);
	put_all(&file, sum);
	sum->header.tail = file.size;
	memcpy(file.bytes, &sum->header, sizeof(sum->header));
	return file.bytes;
}
