/* SPDX-License-Identifier: MIT
 *
 * The sum of trees of regions: by path, over threads and processes.
 */
#include <string.h>

#include "base/format.h"
#include "output/report_parts.h"

static void extend(struct cp_extent *extent, double value, struct cp_place at)
{
	if (!extent->nthreads || value < extent->min) {
		extent->min = value;
		extent->min_at = at;
	}
	if (!extent->nthreads || value > extent->max) {
		extent->max = value;
		extent->max_at = at;
	}
	extent->sum += value;
	extent->nthreads++;
}

/* What a standard deviation over all needs: squares of the deviations. */
static void add_calls(struct cp_count *to, const struct cp_count *from)
{
	if (!from->calls_known) {
		to->squares = __builtin_nan(""); /* unknown, then, of all together */
		return;
	}
	if (!to->calls_known || from->call_min < to->call_min)
		to->call_min = from->call_min;
	if (!to->calls_known || from->call_max > to->call_max)
		to->call_max = from->call_max;
	to->squares += from->squares;
	if (to->executions && from->executions)
		to->squares += cp_squares_between(
			to->value, to->executions, from->value, from->executions);
	to->executions += from->executions;
	to->calls_known = true;
}

/* One thread has read it for all: no sum, and nobody's share. */
static void take_socket(struct cp_count *to, const struct cp_count *from)
{
	if (!to->reason)
		to->reason = from->reason;
	if (from->of_socket == CP_UNAVAILABLE || to->counted)
		return;
	*to = *from;
	to->status = from->of_socket;
	to->reason = NULL;
	to->error = from->error > 0 ? from->error * from->error : 0;
	to->calls_known = false;
	to->counted = 1;
}

static void add_count(struct cp_count *to, const struct cp_count *from,
	const struct cp_region *region, struct cp_place at)
{
	if (from->socket) {
		take_socket(to, from);
		return;
	}
	if (from->status == CP_UNAVAILABLE) {
		to->missing += region->nthreads;
		if (!to->reason)
			to->reason = from->reason;
		return;
	}
	add_calls(to, from);
	if (__builtin_add_overflow(to->value, from->value, &to->value))
		to->value = UINT64_MAX;
	if (__builtin_add_overflow(to->exclusive, from->exclusive, &to->exclusive))
		to->exclusive = UINT64_MAX;
	if (from->status > to->status) {
		to->status = from->status;
		to->reason = from->reason;
	}
	if (from->exclusive_status > to->exclusive_status)
		to->exclusive_status = from->exclusive_status;
	if (from->error > 0)
		to->error += from->error * from->error; /* independent: squares add */
	to->covered += from->covered;
	to->wanted += from->wanted;
	to->counted += region->nthreads;
	if (!region->folded)
		extend(&to->over, (double)from->value, at);
}

static void add_seconds(struct cp_region *to, const struct cp_region *from)
{
	bool first = to->nthreads == 0;

	if (from->seconds.status == CP_UNAVAILABLE) {
		if (first)
			to->seconds = from->seconds;
		return;
	}
	if (first || to->seconds.status == CP_UNAVAILABLE) {
		to->seconds = from->seconds;
		return;
	}
	to->seconds.value += from->seconds.value;
	if (from->seconds.status > to->seconds.status)
		to->seconds.status = from->seconds.status;
}

static void add_region(struct cp_report *report, struct cp_region *to,
	const struct cp_region *from, struct cp_place at)
{
	for (size_t i = 0; i < report->nquantities; i++)
		add_count(&to->counts[i], &from->counts[i], from, at);
	for (size_t i = 0; i < report->nmetrics; i++)
		if (!from->folded && from->metrics[i].value.status != CP_UNAVAILABLE)
			extend(&to->metrics[i].over, from->metrics[i].value.value, at);
	add_seconds(to, from);
	to->calls += from->calls;
	to->flags |= from->flags;
	to->time_ns += from->time_ns;
	to->children_ns += from->children_ns;
	if (from->longest_ns > to->longest_ns)
		to->longest_ns = from->longest_ns;
	to->nthreads += from->nthreads;
}

/* A range and a region are not the same, whatever their names. */
static bool same_region(const struct cp_region *a, const struct cp_region *b)
{
	size_t length = cp_slice_length(a->name);

	return length == cp_slice_length(b->name) &&
	       !((a->flags ^ b->flags) & CP_REGION_OVERLAPPING) &&
	       memcmp(a->name.at, b->name.at, length) == 0;
}

/* ---- the children of a region by name, where there are many ---- */

#define FEW 8

static size_t hash_of(const struct cp_region *region)
{
	uint64_t hash = region->flags & CP_REGION_OVERLAPPING;

	for (const char *at = region->name.at; at < region->name.end; at++)
		hash = (hash ^ (unsigned char)*at) * 0x100000001b3u;
	return (size_t)(hash ^ hash >> 32);
}

static void file_child(struct cp_region *parent, struct cp_region *child)
{
	struct cp_region **bucket =
		&parent->buckets[hash_of(child) & (parent->nbuckets - 1)];

	child->same_bucket = *bucket;
	*bucket = child;
}

static void grow_buckets(struct cp_report *report, struct cp_region *parent)
{
	parent->nbuckets = parent->nbuckets ? 4 * parent->nbuckets : 8 * FEW;
	parent->buckets = cp_arena_alloc(
		report->arena, parent->nbuckets * sizeof(*parent->buckets));
	for (struct cp_region *child = parent->child; child; child = child->next)
		file_child(parent, child);
}

static struct cp_region *find_child(
	const struct cp_region *parent, const struct cp_region *like)
{
	struct cp_region *child = parent->child;

	if (parent->nbuckets) {
		child = parent->buckets[hash_of(like) & (parent->nbuckets - 1)];
		while (child && !same_region(child, like))
			child = child->same_bucket;
		return child;
	}
	while (child && !same_region(child, like))
		child = child->next;
	return child;
}

const struct cp_region *cp_region_child_like(
	const struct cp_region *parent, const struct cp_region *like)
{
	return find_child(parent, like);
}

static struct cp_region *add_child(
	struct cp_report *report, struct cp_region *parent, const struct cp_region *like)
{
	struct cp_region *child = cp_region_new(report, parent, like->name);

	child->flags = like->flags & CP_REGION_OVERLAPPING;
	parent->nchildren++;
	if (parent->nchildren > FEW && parent->nchildren > parent->nbuckets)
		grow_buckets(report, parent);
	else if (parent->nbuckets)
		file_child(parent, child);
	return child;
}

/* The child like that one.  Threads mostly do the same things in the same
 * order, so the one after the last that was found is tried first. */
static struct cp_region *child_like(struct cp_report *report, struct cp_region *parent,
	const struct cp_region *last, const struct cp_region *like)
{
	struct cp_region *child;

	if (last && last->next && same_region(last->next, like))
		return last->next;
	child = find_child(parent, like);
	return child ? child : add_child(report, parent, like);
}

void cp_merge_tree(struct cp_report *report, struct cp_region *into,
	const struct cp_region *root, struct cp_place at)
{
	struct cp_region *stack[CP_MAX_DEPTH + 2] = {into},
					       *last[CP_MAX_DEPTH + 2] = {NULL};

	add_region(report, into, root, at);
	for (const struct cp_region *from = cp_region_next(root, root); from;
		from = cp_region_next(root, from)) {
		struct cp_region *parent = stack[from->depth - 1],
				 *before = last[from->depth], *to;

		if (before && before->parent != parent)
			before = NULL;
		to = child_like(report, parent, before, from);
		add_region(report, to, from, at);
		stack[from->depth] = last[from->depth] = to;
	}
}

static const char *partly(
	struct cp_report *report, const struct cp_count *count, size_t nthreads)
{
	char text[400];
	size_t length = cp_format(text, sizeof(text),
		"without %zu of %zu threads: %.300s", count->missing, nthreads,
		count->reason ? count->reason : "not counted");

	return cp_arena_copy(report->arena, text, length);
}

static void finish_count(
	struct cp_report *report, struct cp_count *count, struct cp_region *region)
{
	if (!count->counted) {
		count->status = CP_UNAVAILABLE;
		count->error = -1;
		if (!count->reason)
			count->reason = "no thread was recorded";
		return;
	}
	count->coverage = count->wanted > 0 ? count->covered / count->wanted : 1;
	if (count->coverage > 1)
		count->coverage = 1;
	if (count->error > 0 || count->status == CP_SCALED)
		count->error = __builtin_sqrt(count->error);
	else
		count->error = -1;
	if (count->missing) {
		count->reason = partly(report, count, region->nthreads);
		count->status = CP_ESTIMATED;
	}
	cp_count_finish_calls(count, region->calls);
}

void cp_merge_finish(struct cp_report *report, struct cp_region *root)
{
	struct cp_region *region = root;

	do {
		for (size_t i = 0; i < report->nquantities; i++)
			finish_count(report, &region->counts[i], region);
		region = (struct cp_region *)(uintptr_t)cp_region_next(root, region);
	} while (region);
}
