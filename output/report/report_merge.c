/* SPDX-License-Identifier: MIT
 *
 * The sum of trees of regions: by path, over threads and processes.
 */
#include <string.h>

#include "base/format.h"
#include "base/hash.h"
#include "output/report/job.h"
#include "output/report/report_parts.h"
#include "output/report/report_raw.h"

/* The squares of the deviations of two sets lack this of those of both: how far
 * their means are apart. */
static double squares_between(double sum, double n, double other, double m)
{
	double apart = sum / n - other / m;

	return apart * apart * n * (m / (n + m));
}

static void extend_range(struct cp_extent *extent, double value, struct cp_place at)
{
	if (!extent->nthreads || value < extent->min) {
		extent->min = value;
		extent->min_at = at;
	}
	if (!extent->nthreads || value > extent->max) {
		extent->max = value;
		extent->max_at = at;
	}
	if (extent->nthreads)
		extent->squares +=
			squares_between(extent->sum, (double)extent->nthreads, value, 1);
	extent->sum += value;
	extent->nthreads++;
}

double cp_extent_stddev(const struct cp_extent *extent)
{
	return extent->nthreads > 1
		       ? __builtin_sqrt(extent->squares / (double)(extent->nthreads - 1))
		       : 0;
}

/* A text of what is added. */
static const char *keep_text(struct cp_report *report, const char *text)
{
	return text && report->copies ? cp_arena_copy(report->arena, text, strlen(text))
				      : text;
}

/* Adds squared deviations, from which the common standard deviation is computed. */
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

static void add_hosts(struct cp_hosts *to, const struct cp_hosts *from)
{
	to->count += from->count;
	to->value += from->value;
	to->exclusive += from->exclusive;
	to->squares += from->squares;
	if (from->status > to->status)
		to->status = from->status;
}

/* Adds the socket counts that the first rank of a host has read. */
static void add_host(struct cp_report *report, struct cp_count *to,
	const struct cp_count *from, struct cp_place at)
{
	struct cp_hosts host = {1, from->value, from->exclusive, 0, from->of_socket};

	if (!report->job || !report->job->first_on_host ||
		from->of_socket == CP_UNAVAILABLE)
		return;
	if (from->error > 0)
		host.squares = from->error * from->error;
	add_hosts(&to->hosts, &host);
	extend_range(&to->over, (double)from->value, at);
}

/* One thread has read it for all: no sum, and nobody's share. */
static void take_socket(
	struct cp_report *report, struct cp_count *to, const struct cp_count *from)
{
	struct cp_extent over = to->over;
	struct cp_hosts hosts = to->hosts;

	if (!to->reason)
		to->reason = keep_text(report, from->reason);
	if (!to->socket)
		to->of_socket = CP_UNAVAILABLE;
	to->socket = true;
	if (from->of_socket == CP_UNAVAILABLE || to->counted)
		return;
	*to = *from;
	to->status = from->of_socket;
	to->reason = NULL;
	to->error = from->error > 0 ? from->error * from->error : 0;
	to->calls_known = false;
	to->counted = 1;
	to->over = over;
	to->hosts = hosts;
}

static void add_values(
	struct cp_report *report, struct cp_count *to, const struct cp_count *from)
{
	add_calls(to, from);
	if (__builtin_add_overflow(to->value, from->value, &to->value))
		to->value = UINT64_MAX;
	if (__builtin_add_overflow(to->exclusive, from->exclusive, &to->exclusive))
		to->exclusive = UINT64_MAX;
	if (from->status > to->status) {
		to->status = from->status;
		to->reason = keep_text(report, from->reason);
	}
	if (from->exclusive_status > to->exclusive_status)
		to->exclusive_status = from->exclusive_status;
	to->covered += from->covered;
	to->wanted += from->wanted;
}

static void miss_count(struct cp_report *report, struct cp_count *to,
	const struct cp_count *from, size_t nthreads)
{
	if (from->shared)
		to->shared++;
	else
		to->missing += nthreads;
	if (!to->reason)
		to->reason = keep_text(report, from->reason);
}

/* common: of what all ranks count, here. */
static void add_count(struct cp_report *report, struct cp_count *to,
	const struct cp_count *from, const struct cp_region *region, double common,
	struct cp_place at)
{
	if (from->socket) {
		take_socket(report, to, from);
		add_host(report, to, from, at);
		return;
	}
	if (from->pools) {
		cp_count_pool(report, to, from);
	} else if (from->status == CP_UNAVAILABLE) {
		miss_count(report, to, from, region->nthreads);
		return;
	} else {
		add_values(report, to, from);
		if (from->error > 0) /* independent: squares add */
			to->error += from->error * from->error;
	}
	to->counted += region->nthreads;
	to->sample_calls += region->calls;
	to->sample_instructions += common;
	if (!region->folded && from->status != CP_UNAVAILABLE)
		extend_range(&to->over, (double)from->value, at);
}

static void add_seconds(
	struct cp_report *report, struct cp_region *to, const struct cp_region *from)
{
	bool first = to->nthreads == 0;

	if (from->seconds.status == CP_UNAVAILABLE) {
		if (first)
			to->seconds = from->seconds;
		if (first)
			to->seconds.reason = keep_text(report, from->seconds.reason);
		return;
	}
	if (first || to->seconds.status == CP_UNAVAILABLE) {
		to->seconds = from->seconds;
		to->seconds.reason = keep_text(report, from->seconds.reason);
		return;
	}
	to->seconds.value += from->seconds.value;
	if (from->seconds.status > to->seconds.status)
		to->seconds.status = from->seconds.status;
}

/* Adds the fields that do not depend on the place. */
static void add_rest(
	struct cp_report *report, struct cp_region *to, const struct cp_region *from)
{
	add_seconds(report, to, from);
	to->calls += from->calls;
	to->flags |= from->flags;
	to->time_ns += from->time_ns;
	to->children_ns += from->children_ns;
	if (from->longest_ns > to->longest_ns)
		to->longest_ns = from->longest_ns;
	to->nthreads += from->nthreads;
}

static double common_of(const struct cp_report *report, const struct cp_region *region)
{
	int index = cp_common_quantity(report);

	return index < 0 || region->counts[index].status == CP_UNAVAILABLE
		       ? 0
		       : (double)region->counts[index].value;
}

static void enter_rank(struct cp_region *region, int32_t rank)
{
	if (region->nranks < CP_FEW_RANKS)
		region->entered[region->nranks] = rank;
	region->nranks++;
}

static void add_region(struct cp_report *report, struct cp_region *to,
	const struct cp_region *from, struct cp_place at)
{
	double common = common_of(report, from);

	for (size_t i = 0; i < report->nquantities; i++)
		add_count(report, &to->counts[i], &from->counts[i], from, common, at);
	for (size_t i = 0; i < report->nmetrics; i++)
		if (!from->folded && from->metrics[i].value.status != CP_UNAVAILABLE)
			extend_range(
				&to->metrics[i].over, from->metrics[i].value.value, at);
	add_rest(report, to, from);
	enter_rank(to, at.rank);
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

static size_t hash_region(const struct cp_region *region)
{
	return cp_hash(region->flags & CP_REGION_OVERLAPPING, region->name.at,
		cp_slice_length(region->name));
}

static void file_child(struct cp_region *parent, struct cp_region *child)
{
	struct cp_region **bucket =
		&parent->buckets[hash_region(child) & (parent->nbuckets - 1)];

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

struct cp_region *cp_region_child_like(
	const struct cp_region *parent, const struct cp_region *like)
{
	struct cp_region *child = parent->child;

	if (parent->nbuckets) {
		child = parent->buckets[hash_region(like) & (parent->nbuckets - 1)];
		while (child && !same_region(child, like))
			child = child->same_bucket;
		return child;
	}
	while (child && !same_region(child, like))
		child = child->next;
	return child;
}

static struct cp_region *add_child(
	struct cp_report *report, struct cp_region *parent, const struct cp_region *like)
{
	struct cp_slice name = like->name;
	struct cp_region *child;

	if (report->copies) {
		size_t length = cp_slice_length(name);

		name.at = cp_arena_copy(report->arena, name.at, length);
		name.end = name.at + length;
	}
	child = cp_region_new(report, parent, name);

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
	child = cp_region_child_like(parent, like);
	return child ? child : add_child(report, parent, like);
}

void cp_merge_tree(struct cp_report *report, struct cp_region *into,
	const struct cp_region *root, struct cp_place at)
{
	struct cp_region *stack[CP_MAX_DEPTH + 2] = {into},
					       *last[CP_MAX_DEPTH + 2] = {NULL};

	for (const struct cp_region *from = root; from;
		from = cp_region_next(root, from)) {
		struct cp_region *parent = from->depth ? stack[from->depth - 1] : NULL,
				 *before = last[from->depth], *to = into;

		if (before && before->parent != parent)
			before = NULL;
		if (parent)
			to = child_like(report, parent, before, from);
		add_region(report, to, from, at);
		stack[from->depth] = last[from->depth] = to;
	}
}

static const char *missing_threads(
	struct cp_report *report, const struct cp_count *count, size_t nthreads)
{
	char text[400];
	size_t length = cp_format(text, sizeof(text),
		"without %zu of %zu threads: %.300s", count->missing, nthreads,
		count->reason ? count->reason : "not counted");

	return cp_arena_copy(report->arena, text, length);
}

static void finish_error(struct cp_count *count)
{
	count->coverage = count->wanted > 0 ? count->covered / count->wanted : 1;
	if (count->coverage > 1)
		count->coverage = 1;
	if (count->error > 0 || count->status == CP_SCALED)
		count->error = __builtin_sqrt(count->error);
	else
		count->error = -1;
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
	if (count->pools)
		cp_count_conclude(count);
	else
		finish_error(count);
	if (count->missing && count->status != CP_UNAVAILABLE) {
		count->reason = missing_threads(report, count, region->nthreads);
		count->status = CP_ESTIMATED;
	}
	cp_count_finish_calls(count, count->shared ? count->executions : region->calls);
}

void cp_merge_finish(struct cp_report *report, struct cp_region *root)
{
	struct cp_region *region = root;

	do {
		for (size_t i = 0; i < report->nquantities; i++)
			finish_count(report, &region->counts[i], region);
		for (size_t i = 0; i < report->nquantities; i++)
			cp_shared_finish(report, region, &region->counts[i]);
		region = (struct cp_region *)(uintptr_t)cp_region_next(root, region);
	} while (region);
}
