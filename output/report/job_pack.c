/* SPDX-License-Identifier: MIT */
#include "output/report/job_pack.h"

#include <string.h>

#include "output/report/report_parts.h"

#define NO_TEXT UINT32_MAX
#define MOST 1000000u /* of anything but regions */

static const char magic[] = "cpeekjob";

/* Begins what is sent; the sizes stand for the layout of all that follows. */
struct head {
	char magic[8], version[16];
	uint32_t count_size, region_size;
	uint32_t nquantities, ngroups, nwarnings, narguments, nregions;
	uint32_t engine;
	int32_t wanted;
	uint32_t several_hosts;
	uint64_t there, nprocesses, nhosts, nlisted;
	double line;
};

/* The fixed part of a region, without texts and counts. */
struct fixed {
	uint32_t depth, flags;
	uint64_t calls, time_ns, children_ns, longest_ns, nthreads, nranks;
	double seconds;
	uint32_t seconds_status, pad;
	int32_t entered[CP_FEW_RANKS];
};

/* ---- packing ---- */

struct writer {
	struct cp_arena *arena;
	char *bytes;
	size_t size, room;
};

static void put_raw(struct writer *writer, const void *bytes, size_t size)
{
	if (writer->size + size > writer->room) {
		char *more;

		writer->room = 2 * (writer->size + size) + 4096;
		more = cp_arena_alloc(writer->arena, writer->room);
		if (writer->size)
			memcpy(more, writer->bytes, writer->size);
		writer->bytes = more;
	}
	if (size)
		memcpy(writer->bytes + writer->size, bytes, size);
	writer->size += size;
}

static void put_bytes(struct writer *writer, const char *text, size_t size)
{
	uint32_t length = (uint32_t)size;

	put_raw(writer, &length, sizeof(length));
	put_raw(writer, text, size);
	put_raw(writer, "", 1);
}

static void put_text(struct writer *writer, const char *text)
{
	uint32_t none = NO_TEXT;

	if (text)
		put_bytes(writer, text, strlen(text));
	else
		put_raw(writer, &none, sizeof(none));
}

static struct head head_of(const struct cp_job *job)
{
	const struct cp_report *report = &job->report;
	struct head head = {.version = CP_VERSION,
		.count_size = sizeof(struct cp_count),
		.region_size = sizeof(struct fixed),
		.nquantities = (uint32_t)report->nquantities,
		.ngroups = (uint32_t)report->ngroups,
		.nwarnings = (uint32_t)report->nwarnings,
		.narguments = (uint32_t)report->narguments,
		.engine = report->engine,
		.wanted = job->wanted,
		.several_hosts = job->several_hosts,
		.there = job->room,
		.nprocesses = job->nprocesses,
		.nhosts = job->nhosts,
		.nlisted = job->nlisted,
		.line = report->line};

	memcpy(head.magic, magic, sizeof(head.magic));
	for (const struct cp_region *r = report->total; r;
		r = cp_region_next(report->total, r))
		head.nregions++;
	return head;
}

static void put_texts(struct writer *writer, const struct cp_report *report)
{
	char weights[CP_WEIGHTS_TEXT], spreads[CP_SPREADS_TEXT];

	put_text(writer, report->version);
	put_text(writer, report->why);
	put_text(writer, report->domain);
	put_text(writer, report->machine);
	put_text(writer, report->host);
	put_text(writer, report->sweep);
	put_text(writer, report->windows);
	put_text(writer, report->sample);
	cp_weights_print(&report->weights, weights, sizeof(weights));
	put_text(writer, weights);
	cp_spreads_print(&report->spreads, spreads, sizeof(spreads));
	put_text(writer, spreads);
	for (size_t i = 0; i < report->narguments; i++)
		put_text(writer, report->command[i]);
	for (size_t i = 0; i < report->nquantities; i++)
		put_text(writer, report->quantities[i]);
	for (size_t i = 0; i < report->ngroups; i++)
		put_text(writer, report->groups[i]->text);
	for (size_t i = 0; i < report->nwarnings; i++)
		put_text(writer, report->warnings[i]);
}

static void put_region(struct writer *writer, const struct cp_report *report,
	const struct cp_region *region)
{
	struct fixed fixed = {region->depth, region->flags, region->calls,
		region->time_ns, region->children_ns, region->longest_ns,
		region->nthreads, region->nranks, region->seconds.value,
		region->seconds.status, 0, {0}};

	memcpy(fixed.entered, region->entered, sizeof(fixed.entered));
	put_raw(writer, &fixed, sizeof(fixed));
	put_bytes(writer, region->name.at, cp_slice_length(region->name));
	put_text(writer, region->seconds.reason);
	for (size_t i = 0; i < report->nquantities; i++) {
		put_raw(writer, &region->counts[i], sizeof(region->counts[i]));
		put_text(writer, region->counts[i].reason);
		if (region->counts[i].pools)
			put_raw(writer, region->counts[i].pools,
				sizeof(*region->counts[i].pools));
	}
	for (size_t i = 0; i < report->nmetrics; i++)
		put_raw(writer, &region->metrics[i].over,
			sizeof(region->metrics[i].over));
}

const void *cp_job_pack(struct cp_job *job, size_t *size)
{
	const struct cp_report *report = &job->report;
	struct writer writer = {.arena = job->arena};
	struct head head = head_of(job);

	cp_arena_free(&job->scratch);
	put_raw(&writer, &head, sizeof(head));
	if (report->total)
		put_texts(&writer, report);
	put_raw(&writer, job->there, job->room);
	put_raw(&writer, job->ranks, job->nlisted * sizeof(*job->ranks));
	for (const struct cp_region *r = report->total; r;
		r = cp_region_next(report->total, r))
		put_region(&writer, report, r);
	*size = writer.size;
	return writer.bytes;
}

/* ---- unpacking ---- */

/* Fails once, and for good, where something does not fit. */
struct reader {
	const char *at, *end;
	bool failed;
};

static const char *take_bytes(struct reader *reader, uint64_t size)
{
	const char *begin = reader->at;

	if (size > (uint64_t)(reader->end - reader->at))
		reader->failed = true;
	if (reader->failed)
		return NULL;
	reader->at += size;
	return begin;
}

static void take_into(struct reader *reader, void *to, size_t size)
{
	const char *from = take_bytes(reader, size);

	memset(to, 0, size);
	if (from)
		memcpy(to, from, size);
}

static struct cp_slice take_slice(struct reader *reader)
{
	uint32_t length;
	const char *text;

	take_into(reader, &length, sizeof(length));
	if (length == NO_TEXT || reader->failed)
		return (struct cp_slice){NULL, NULL};
	text = take_bytes(reader, (uint64_t)length + 1);
	if (!text || text[length] != '\0') {
		reader->failed = true;
		return (struct cp_slice){NULL, NULL};
	}
	return (struct cp_slice){text, text + length};
}

static const char *take_text(struct reader *reader)
{
	return take_slice(reader).at;
}

static const char *take_some_text(struct reader *reader)
{
	const char *text = take_text(reader);

	reader->failed |= !text;
	return text ? text : "";
}

/* A report that was sent, with its own numbers and with those of the job. */
struct unpacking {
	struct reader reader;
	struct head head;
	struct cp_job *job;
	struct cp_arena arena;
	struct cp_escape out_of_memory;
	struct cp_report theirs, both;
	size_t *quantity, *metric; /* theirs -> both */
	const char **warnings;
	const unsigned char *there;
	const char *listed;
};

static bool take_head(struct unpacking *it)
{
	struct head *head = &it->head, want = {.version = CP_VERSION,
					       .count_size = sizeof(struct cp_count),
					       .region_size = sizeof(struct fixed)};

	take_into(&it->reader, head, sizeof(*head));
	return !it->reader.failed &&
	       memcmp(head->magic, magic, sizeof(head->magic)) == 0 &&
	       memcmp(head->version, want.version, sizeof(want.version)) == 0 &&
	       head->count_size == want.count_size &&
	       head->region_size == want.region_size && head->nquantities < MOST &&
	       head->ngroups <= CP_MAX_GROUPS && head->nwarnings < MOST &&
	       head->narguments < MOST && head->nregions > 0 &&
	       head->engine <= CP_ENGINE_SIM;
}

static const char **take_list(struct unpacking *it, uint32_t count)
{
	const char **list = cp_arena_alloc(&it->arena, (count + 1) * sizeof(*list));

	for (uint32_t i = 0; i < count && !it->reader.failed; i++)
		list[i] = take_some_text(&it->reader);
	return list;
}

static void number_quantities(struct unpacking *it)
{
	const char **names;
	size_t known = it->job->report.nquantities, mine = it->theirs.nquantities;

	names = cp_arena_alloc(&it->arena, (known + mine + 1) * sizeof(*names));
	if (known)
		memcpy(names, it->job->report.quantities, known * sizeof(*names));
	it->both.quantities = names;
	it->both.nquantities = known;
	it->quantity = cp_arena_alloc(&it->arena, (mine + 1) * sizeof(*it->quantity));
	for (size_t i = 0; i < mine; i++) {
		int index = cp_report_quantity(&it->both, it->theirs.quantities[i]);

		if (index < 0) {
			names[it->both.nquantities] = it->theirs.quantities[i];
			index = (int)it->both.nquantities++;
		}
		it->quantity[i] = (size_t)index;
	}
}

static bool has_group(const struct cp_report *report, const char *text)
{
	for (size_t i = 0; i < report->ngroups; i++)
		if (strcmp(report->groups[i]->text, text) == 0)
			return true;
	return false;
}

static void number_metrics(struct unpacking *it, const char *const *texts)
{
	const struct cp_group **theirs = cp_arena_alloc(
				      &it->arena, CP_MAX_GROUPS * sizeof(*theirs)),
			      **both = cp_arena_alloc(
				      &it->arena, 2 * CP_MAX_GROUPS * sizeof(*both));
	size_t known = it->job->report.ngroups;
	char error[200];

	if (known)
		memcpy(both, it->job->report.groups, known * sizeof(*both));
	it->theirs.groups = theirs;
	it->both.groups = both;
	it->both.ngroups = known;
	for (uint32_t i = 0; i < it->head.ngroups; i++) {
		const struct cp_group *group = cp_group_parse(
			&it->arena, "group of a rank", texts[i], error, sizeof(error));

		if (!group) {
			it->reader.failed = true;
			return;
		}
		theirs[it->theirs.ngroups++] = group;
		if (!has_group(&it->both, texts[i]) && it->both.ngroups < CP_MAX_GROUPS)
			both[it->both.ngroups++] = group;
	}
	cp_report_metrics(&it->theirs);
	cp_report_metrics(&it->both);
	it->metric = cp_arena_alloc(
		&it->arena, (it->theirs.nmetrics + 1) * sizeof(*it->metric));
	for (size_t i = 0; i < it->theirs.nmetrics; i++)
		it->metric[i] =
			(size_t)cp_report_metric(&it->both, it->theirs.metrics[i]->name);
}

static void take_description(struct unpacking *it)
{
	struct cp_report *both = &it->both;
	const char **groups;

	it->theirs.arena = both->arena = &it->arena;
	both->version = take_some_text(&it->reader);
	both->why = take_some_text(&it->reader);
	both->domain = take_some_text(&it->reader);
	both->machine = take_some_text(&it->reader);
	both->host = take_some_text(&it->reader);
	both->sweep = take_some_text(&it->reader);
	both->windows = take_some_text(&it->reader);
	both->sample = take_some_text(&it->reader);
	both->weights = cp_weights_read(take_some_text(&it->reader));
	both->spreads = cp_spreads_read(take_some_text(&it->reader));
	both->command = take_list(it, it->head.narguments);
	both->narguments = it->head.narguments;
	both->engine = (enum cp_engine_id)it->head.engine;
	both->line = it->head.line;
	it->theirs.quantities = take_list(it, it->head.nquantities);
	it->theirs.nquantities = it->head.nquantities;
	groups = take_list(it, it->head.ngroups);
	it->warnings = take_list(it, it->head.nwarnings);
	it->there = (const unsigned char *)take_bytes(&it->reader, it->head.there);
	if (it->head.nlisted < SIZE_MAX / sizeof(struct cp_job_rank))
		it->listed = take_bytes(
			&it->reader, it->head.nlisted * sizeof(struct cp_job_rank));
	it->reader.failed |= it->head.nlisted && !it->listed;
	if (it->reader.failed)
		return;
	number_quantities(it);
	number_metrics(it, groups);
}

static bool is_bool(const bool *sent)
{
	unsigned char byte;

	memcpy(&byte, sent, sizeof(byte));
	return byte <= 1;
}

static bool is_sound_pool(const struct cp_pool *pool)
{
	return pool->nsets <= CP_SAMPLE_GROUPS && is_bool(&pool->in_bursts) &&
	       is_bool(&pool->in_sets) && is_bool(&pool->differs);
}

/* A pointer of another process says no more than that there is something. */
static void take_pools(struct unpacking *it, struct cp_count *count)
{
	if (!count->pools)
		return;
	count->pools = cp_arena_alloc(&it->arena, sizeof(*count->pools));
	take_into(&it->reader, count->pools, sizeof(*count->pools));
	it->reader.failed |=
		!is_sound_pool(&count->pools->all) || !is_sound_pool(&count->pools->own);
}

static void take_counts(struct unpacking *it, struct cp_region *region)
{
	for (size_t i = 0; i < it->both.nquantities; i++) {
		region->counts[i].missing = region->nthreads;
		region->counts[i].reason = "not asked for in this process";
	}
	for (size_t i = 0; i < it->theirs.nquantities; i++) {
		struct cp_count *count = &region->counts[it->quantity[i]];

		take_into(&it->reader, count, sizeof(*count));
		count->reason = take_text(&it->reader);
		take_pools(it, count);
		it->reader.failed |= count->status > CP_UNAVAILABLE ||
				     count->exclusive_status > CP_UNAVAILABLE ||
				     count->of_socket > CP_UNAVAILABLE ||
				     count->hosts.status > CP_UNAVAILABLE ||
				     !is_bool(&count->calls_known) ||
				     !is_bool(&count->socket);
	}
	for (size_t i = 0; i < it->theirs.nmetrics; i++) {
		struct cp_extent over;

		take_into(&it->reader, &over, sizeof(over));
		if (it->metric[i] < it->both.nmetrics)
			region->metrics[it->metric[i]].over = over;
	}
}

/* The next region in preorder, below what was read last. */
static struct cp_region *take_region(struct unpacking *it, struct cp_region *last)
{
	struct cp_region *region, *parent = last;
	struct fixed fixed;
	struct cp_slice name;

	take_into(&it->reader, &fixed, sizeof(fixed));
	name = take_slice(&it->reader);
	while (parent && parent->depth >= fixed.depth)
		parent = parent->parent;
	it->reader.failed |= !name.at || (last != NULL) != (fixed.depth > 0) ||
			     fixed.depth > CP_MAX_DEPTH ||
			     fixed.seconds_status > CP_UNAVAILABLE ||
			     (parent && parent->depth + 1 != fixed.depth);
	if (it->reader.failed)
		return NULL;
	region = cp_region_new(&it->both, parent, name);
	region->flags = fixed.flags;
	region->calls = fixed.calls;
	region->time_ns = fixed.time_ns;
	region->children_ns = fixed.children_ns;
	region->longest_ns = fixed.longest_ns;
	region->nthreads = fixed.nthreads;
	region->nranks = fixed.nranks;
	memcpy(region->entered, fixed.entered, sizeof(region->entered));
	region->seconds = (struct cp_value){
		.value = fixed.seconds, .status = (enum cp_status)fixed.seconds_status};
	region->seconds.reason = take_text(&it->reader);
	take_counts(it, region);
	return region;
}

static void list_ranks(struct unpacking *it)
{
	for (uint64_t i = 0; i < it->head.nlisted; i++) {
		struct cp_job_rank rank;

		memcpy(&rank, it->listed + i * sizeof(rank), sizeof(rank));
		cp_job_list(it->job, &rank);
	}
}

static bool unpack_report(struct unpacking *it)
{
	struct cp_region *last = NULL;

	if (!take_head(it))
		return false;
	take_description(it);
	for (uint32_t i = 0; i < it->head.nregions && !it->reader.failed; i++) {
		last = take_region(it, last);
		if (i == 0)
			it->both.total = last;
	}
	if (it->reader.failed)
		return false;
	it->both.warnings = it->warnings;
	it->both.nwarnings = it->head.nwarnings;
	cp_job_add_sums(it->job, &it->both, it->there, it->head.there);
	list_ranks(it);
	it->job->several_hosts |= it->head.several_hosts ||
				  strcmp(it->job->report.host, it->both.host) != 0;
	it->job->nprocesses += it->head.nprocesses;
	it->job->nhosts += it->head.nhosts;
	if (it->head.wanted > it->job->wanted)
		it->job->wanted = it->head.wanted;
	return true;
}

bool cp_job_unpack(struct cp_job *job, const void *bytes, size_t size)
{
	struct unpacking it = {
		.job = job, .reader = {.at = bytes, .end = (const char *)bytes + size}};
	volatile bool done = false;

	if (CP_ESCAPE_SET(it.out_of_memory) == 0) {
		it.arena.out_of_memory = &it.out_of_memory;
		done = unpack_report(&it);
	}
	cp_arena_free(&it.arena);
	return done;
}
