/* SPDX-License-Identifier: MIT
 * Eight threads, each with a tree of its own in one record, against a plain
 * model: a million begins and ends of three kinds, nested, recursive, crossed
 * and misplaced, ranges that overlap with them, and pauses.  Built with
 * -fsanitize=thread it is the same test (make tsan).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "regions/rundir.h"
#include "regions/tree.h"
#include "tests/tap/tap.h"

enum {
	THREADS = 8,
	STEPS = 125000,
	NAMES = 6,
	DEPTH = 7,
	RANGES = 4,
	PATHS = 1 << 15,
	PATH_SIZE = 2 * DEPTH + 4
};

static struct cp_recording record;
static const struct cp_term terms[] = {{0, 1}, {1, 1}};
static const struct cp_quantity_terms quantities[] = {{2, terms}};
static const struct cp_layout layout = {
	.ncounters = 2, .nquantities = 1, .ngroups = 1, .quantities = quantities};
static struct cp_name *names[NAMES];

/* ---- the model ---- */

struct path {
	char name[PATH_SIZE];
	uint64_t calls, sum[2], children[2], min, max;
};

struct open {
	unsigned name, path;
	uint64_t tag, start[2];
};

struct model {
	struct path paths[PATHS]; /* by hash of the name */
	unsigned npaths;
	struct open stack[DEPTH + 1], ranges[RANGES];
	unsigned depth; /* stack[0] is the root */
	bool running[RANGES];
	uint64_t now[2], paused_for[2];
	unsigned pauses;
};

struct thread {
	pthread_t id;
	unsigned number, disagreements;
	uint64_t random, item;
	struct model *model;
	struct cp_tree tree;
};

static unsigned path_of(struct model *model, const char *name)
{
	unsigned at = 5381;

	for (const char *c = name; *c; c++)
		at = at * 33 + (unsigned char)*c;
	for (at %= PATHS; model->paths[at].name[0]; at = (at + 1) % PATHS)
		if (strcmp(model->paths[at].name, name) == 0)
			return at;
	snprintf(model->paths[at].name, PATH_SIZE, "%s", name);
	model->paths[at].min = UINT64_MAX;
	model->npaths++;
	return at;
}

static void seen(const struct model *model, uint64_t to[2])
{
	for (int i = 0; i < 2; i++)
		to[i] = model->now[i] - model->paused_for[i];
}

static void push(struct model *model, unsigned name, uint64_t tag)
{
	struct open *open = &model->stack[++model->depth];
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "%.*s%c", PATH_SIZE - 2,
		model->paths[model->stack[model->depth - 1].path].name,
		(char)('a' + name));
	open->name = name;
	open->tag = tag;
	open->path = path_of(model, path);
	seen(model, open->start);
}

static void add(struct model *model, const struct open *open, struct path *parent)
{
	struct path *path = &model->paths[open->path];
	uint64_t now[2], whole = 0;

	seen(model, now);
	for (int i = 0; i < 2; i++) {
		uint64_t delta = now[i] - open->start[i];

		path->sum[i] += delta;
		if (parent)
			parent->children[i] += delta;
		whole += delta;
	}
	path->calls++;
	path->min = whole < path->min ? whole : path->min;
	path->max = whole > path->max ? whole : path->max;
}

static void pop(struct model *model)
{
	add(model, &model->stack[model->depth],
		&model->paths[model->stack[model->depth - 1].path]);
	model->depth--;
}

static unsigned find(const struct model *model, unsigned name, uint64_t tag)
{
	unsigned at = model->depth;

	while (at > 0 && (model->stack[at].name != name || model->stack[at].tag != tag))
		at--;
	return at;
}

/* Everything above `at` ends; what goes on begins again, outermost first. */
static void end_at(struct model *model, unsigned at, bool own)
{
	struct open above[DEPTH + 1];
	unsigned count = 0;

	for (unsigned i = at + 1; i <= model->depth; i++)
		if (!own || model->stack[i].tag != model->stack[at].tag)
			above[count++] = model->stack[i];
	while (model->depth >= at)
		pop(model);
	for (unsigned i = 0; i < count; i++)
		push(model, above[i].name, above[i].tag);
}

/* ---- one step, in both ---- */

static unsigned draw(struct thread *thread, unsigned below)
{
	thread->random = thread->random * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(thread->random >> 33) % below;
}

static struct cp_reading reading_of(const struct thread *thread)
{
	struct cp_reading reading = {.group = {{1, 1}}};
	uint64_t unused;
	const struct cp_reading *frozen = cp_tree_frozen(&thread->tree, &unused);

	if (frozen)
		return *frozen;
	memcpy(reading.counter, thread->model->now, sizeof(thread->model->now));
	return reading;
}

static void begin(struct thread *thread, unsigned name, uint64_t tag)
{
	struct cp_reading *start = cp_tree_begin_tagged(&thread->tree, names[name], tag);

	if (!start)
		bail("no memory");
	*start = reading_of(thread);
	cp_tree_begin_time(&thread->tree, 0);
	push(thread->model, name, tag);
}

static void end(struct thread *thread, unsigned name, uint64_t tag)
{
	struct cp_reading reading = reading_of(thread);
	unsigned at = find(thread->model, name, tag);
	enum cp_misuse misuse;

	/* Kind 0 ends like our API, 1 like LIKWID, 2 like strict callers. */
	if (tag == 2)
		misuse = cp_tree_end_tagged(&thread->tree, names[name], tag, &reading, 0);
	else
		misuse = cp_tree_end_loosely(
			&thread->tree, names[name], tag, tag == 0, &reading, 0);
	thread->disagreements += (misuse != CP_MISUSE_NO_BEGIN) != (at > 0);
	if (at == 0)
		return;
	if (tag == 2)
		while (thread->model->depth >= at)
			pop(thread->model);
	else
		end_at(thread->model, at, tag == 0);
}

static void toggle_range(struct thread *thread, unsigned range)
{
	struct model *model = thread->model;
	struct cp_reading reading = reading_of(thread), *start;
	char path[3] = {'~', (char)('a' + range), '\0'};

	model->running[range] = !model->running[range];
	if (!model->running[range]) {
		cp_tree_range_end(&thread->tree, 100 + range, &reading, 0);
		add(model, &model->ranges[range], NULL);
		return;
	}
	start = cp_tree_range_begin(&thread->tree, names[range], 100 + range);
	*start = reading;
	cp_tree_range_time(&thread->tree, 0);
	model->ranges[range].path = path_of(model, path);
	seen(model, model->ranges[range].start);
}

static void pause_or_resume(struct thread *thread)
{
	struct model *model = thread->model;
	struct cp_reading reading = {.group = {{1, 1}}};

	memcpy(reading.counter, model->now, sizeof(model->now));
	if (draw(thread, 2)) {
		cp_tree_pause(&thread->tree, &reading, 0);
		model->pauses++;
	} else {
		cp_tree_resume(&thread->tree, &reading, 0);
		model->pauses -= model->pauses > 0;
	}
}

static void advance(struct thread *thread)
{
	uint64_t by[2] = {draw(thread, 1000), draw(thread, 3)};

	for (int i = 0; i < 2; i++) {
		thread->model->now[i] += by[i];
		if (thread->model->pauses)
			thread->model->paused_for[i] += by[i];
	}
}

static void step(struct thread *thread)
{
	unsigned kind = draw(thread, 100), name = draw(thread, NAMES);
	uint64_t tag = draw(thread, 3);

	advance(thread);
	if (kind < 2)
		pause_or_resume(thread);
	else if (kind < 6)
		toggle_range(thread, draw(thread, RANGES));
	else if (kind < 52 && thread->model->depth < DEPTH)
		begin(thread, name, tag);
	else
		end(thread, name, tag);
}

static void finish(struct thread *thread)
{
	struct model *model = thread->model;
	struct cp_reading reading = {.group = {{1, 1}}};

	memcpy(reading.counter, model->now, sizeof(model->now));
	while (model->pauses) {
		cp_tree_resume(&thread->tree, &reading, 0);
		model->pauses--;
	}
	while (model->depth > 0)
		pop(model);
	for (unsigned i = 0; i < RANGES; i++)
		if (model->running[i])
			add(model, &model->ranges[i], NULL);
	cp_tree_finish(&thread->tree, &reading, 0, true);
}

static void *run(void *argument)
{
	struct thread *thread = argument;

	for (unsigned i = tap_repeats(STEPS); i > 0; i--)
		step(thread);
	finish(thread);
	return NULL;
}

/* ---- the comparison, on what the record says ---- */

static const void *item_at(uint64_t offset)
{
	for (unsigned i = 0; i < record.nchunks; i++)
		if (offset >= record.chunks[i].offset &&
			offset < record.chunks[i].offset + record.chunks[i].size)
			return record.chunks[i].base + offset - record.chunks[i].offset;
	return NULL;
}

static void full_name(const struct cp_region_item *item, char *to)
{
	const struct cp_string_item *name;
	char parent[PATH_SIZE] = "";

	snprintf(to, PATH_SIZE, "/");
	if (!item->parent)
		return;
	full_name(item_at(item->parent), parent);
	name = item_at(item->name);
	if (item->flags & CP_REGION_OVERLAPPING)
		snprintf(to, PATH_SIZE, "~%s", name->text);
	else
		snprintf(to, PATH_SIZE, "%.*s%s", PATH_SIZE - 2, parent, name->text);
}

static unsigned compare_item(struct model *model, const struct cp_region_item *item)
{
	const struct cp_sum *sums = cp_region_sums(item);
	const struct cp_spread *spread = cp_region_spreads(item, layout.ncounters);
	char name[PATH_SIZE];
	const struct path *path;
	unsigned wrong = 0;

	full_name(item, name);
	path = &model->paths[path_of(model, name)];
	for (int i = 0; i < 2; i++) {
		uint64_t whole = item->parent ? path->sum[i] : model->now[i];

		wrong += sums[i].inclusive != whole;
		wrong += sums[i].children != path->children[i];
		wrong += sums[i].children > sums[i].inclusive;
	}
	if (item->parent)
		wrong += item->calls != path->calls ||
			 (path->calls &&
				 (spread->min != path->min || spread->max != path->max));
	if (wrong)
		diag("path %s: %u differences", name, wrong);
	return wrong;
}

static void compare(struct thread *threads)
{
	unsigned wrong = 0, regions = 0, paths = 0;

	for (uint64_t at = CP_RECORD_HEADER_SIZE; at < record.header->tail;) {
		const struct cp_item *item = item_at(at);
		const struct cp_region_item *region = (const void *)item;

		at += item->size;
		if (item->type != CP_ITEM_REGION)
			continue;
		regions++;
		for (unsigned i = 0; i < THREADS; i++)
			if (region->thread == threads[i].item)
				wrong += compare_item(threads[i].model, region);
	}
	for (unsigned i = 0; i < THREADS; i++)
		paths += threads[i].model->npaths;
	is_u64(wrong, 0, "every region of every thread is as the model has it");
	is_u64(regions, paths, "and there are as many");
	ok(regions > 1000 * THREADS, "%u of them", regions);
}

static void start(struct thread *thread, unsigned number)
{
	struct cp_reading now = {.group = {{1, 1}}};

	thread->number = number;
	thread->random = 20 + number;
	thread->item = 8 * (uint64_t)(number + 1); /* anything that tells them apart */
	thread->model = calloc(1, sizeof(*thread->model));
	if (!thread->model ||
		cp_tree_start(&thread->tree, &layout, &record, thread->item, &now, 0) < 0)
		bail("no memory");
	thread->model->stack[0].path = path_of(thread->model, "/");
}

int main(void)
{
	static struct thread threads[THREADS];
	char directory[] = "/tmp/regions-threads-XXXXXX";
	unsigned disagreements = 0, left_open = 0;

	plan_lazy();
	if (!mkdtemp(directory) ||
		cp_record_create(&record, directory, (int)getpid()) < 0)
		bail("no record in %s", directory);
	for (unsigned i = 0; i < NAMES; i++) {
		char letter = (char)('a' + i);

		names[i] = cp_name_intern(&letter, 1);
	}
	for (unsigned i = 0; i < THREADS; i++)
		start(&threads[i], i);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_create(&threads[i].id, NULL, run, &threads[i]);
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(threads[i].id, NULL);
		disagreements += threads[i].disagreements;
		left_open += threads[i].tree.depth;
	}
	is_u64(disagreements, 0, "misplaced ends are told as the models tell them");
	is_u64(left_open, 0, "nothing is left open");
	compare(threads);
	for (unsigned i = 0; i < THREADS; i++) {
		cp_tree_drop(&threads[i].tree);
		free(threads[i].model);
	}
	cp_record_close(&record);
	cp_run_remove(directory);
	return 0;
}
