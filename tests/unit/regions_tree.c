/* SPDX-License-Identifier: MIT
 * The tree of regions against a plain model: random begins and ends, right and
 * wrong ones, on counters that advance by random steps.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "regions/rundir.h"
#include "regions/tree.h"
#include "tests/tap/tap.h"

#define NAMES 5
#define DEPTH 12
#define STEPS 200000
#define NODES 200000

static struct cp_recording record;
static const struct cp_term terms[] = {{0, 1}, {1, 1}};
static const struct cp_quantity_terms quantities[] = {{2, terms}};
static const struct cp_layout layout = {
	.ncounters = 2, .nquantities = 1, .ngroups = 1, .quantities = quantities};

/* ---- the model: paths as strings, executions as they are ---- */

struct path {
	char name[DEPTH * 2 + 2];
	uint64_t calls, sum[2], children[2], min, max;
};

static struct path paths[NODES];
static unsigned npaths;

static struct {
	unsigned name, path;
	uint64_t start[2];
} stack[DEPTH + 1];
static unsigned depth; /* stack[0] is the root */

static unsigned path_of(const char *name)
{
	for (unsigned i = 0; i < npaths; i++)
		if (strcmp(paths[i].name, name) == 0)
			return i;
	snprintf(paths[npaths].name, sizeof(paths[0].name), "%s", name);
	paths[npaths].min = UINT64_MAX;
	return npaths++;
}

static void model_begin(unsigned name, const uint64_t now[2])
{
	char child[DEPTH * 2 + 2];

	snprintf(child, sizeof(child), "%.*s/%c", DEPTH * 2 - 2,
		paths[stack[depth].path].name, (char)('a' + name));
	depth++;
	stack[depth].name = name;
	stack[depth].path = path_of(child);
	memcpy(stack[depth].start, now, sizeof(stack[depth].start));
}

static void model_pop(const uint64_t now[2])
{
	struct path *path = &paths[stack[depth].path],
		    *parent = &paths[stack[depth - 1].path];
	uint64_t whole = 0;

	for (int i = 0; i < 2; i++) {
		uint64_t delta = now[i] - stack[depth].start[i];

		path->sum[i] += delta;
		parent->children[i] += delta;
		whole += delta;
	}
	path->calls++;
	path->min = whole < path->min ? whole : path->min;
	path->max = whole > path->max ? whole : path->max;
	depth--;
}

static bool model_end(unsigned name, const uint64_t now[2])
{
	unsigned at = depth;

	while (at > 0 && stack[at].name != name)
		at--;
	if (at == 0)
		return false;
	while (depth >= at)
		model_pop(now);
	return true;
}

/* ---- the comparison, on what the record says ---- */

static const struct cp_region_item *item_at(uint64_t offset)
{
	for (unsigned i = 0; i < record.nchunks; i++)
		if (offset >= record.chunks[i].offset &&
			offset < record.chunks[i].offset + record.chunks[i].size)
			return (const void *)(record.chunks[i].base + offset -
					      record.chunks[i].offset);
	return NULL;
}

static void full_name(const struct cp_region_item *item, char *to, size_t size)
{
	char parent[DEPTH * 2 + 2] = "";
	const struct cp_string_item *name;

	to[0] = '\0';
	if (!item->parent)
		return;
	full_name(item_at(item->parent), parent, sizeof(parent));
	name = (const void *)item_at(item->name);
	snprintf(to, size, "%.*s/%s", DEPTH * 2 - 2, parent, name->text);
}

static unsigned compare_item(const struct cp_region_item *item)
{
	char name[DEPTH * 2 + 2];
	const struct cp_sum *sums = cp_region_sums(item);
	const struct cp_spread *spread = cp_region_spreads(item, layout.ncounters);
	const struct path *path;
	unsigned wrong = 0;

	full_name(item, name, sizeof(name));
	path = &paths[path_of(name)];
	wrong += item->parent && item->calls != path->calls;
	for (int i = 0; i < 2; i++) {
		wrong += item->parent && sums[i].inclusive != path->sum[i];
		wrong += sums[i].children != path->children[i];
	}
	wrong += item->parent && path->calls &&
		 (spread->min != path->min || spread->max != path->max);
	if (wrong)
		diag("path %s: %u differences", name, wrong);
	return wrong;
}

static void compare(void)
{
	uint64_t at = CP_RECORD_HEADER_SIZE, regions = 0, wrong = 0;

	while (at < record.header->tail) {
		const struct cp_item *item = (const void *)item_at(at);

		if (item->type == CP_ITEM_REGION) {
			regions++;
			wrong += compare_item((const void *)item);
		}
		at += item->size;
	}
	is_u64(wrong, 0, "every region is as the model has it");
	is_u64(regions, npaths, "and there are as many");
	ok(regions > 100, "%lu of them", (unsigned long)regions);
}

int main(void)
{
	static const char *const letters[NAMES] = {"a", "b", "c", "d", "e"};
	char directory[] = "/tmp/regions-tree-XXXXXX";
	struct cp_name *names[NAMES];
	struct cp_reading now = {.counter = {0}};
	struct cp_tree tree;
	unsigned disagreements = 0;

	plan_lazy();
	srandom(20);
	if (!mkdtemp(directory) ||
		cp_record_create(&record, directory, (int)getpid()) < 0)
		bail("no record in %s", directory);
	for (unsigned i = 0; i < NAMES; i++)
		names[i] = cp_name_intern(letters[i], 1);
	path_of("");
	is_int(cp_tree_start(&tree, &layout, &record, 0, &now, 0), 0, "a tree");
	for (unsigned step = 0; step < STEPS; step++) {
		unsigned name = (unsigned)random() % NAMES;

		now.counter[0] += (unsigned)random() % 1000;
		now.counter[1] += (unsigned)random() % 3;
		if (depth < 5 && random() % 2) {
			*cp_tree_begin_tagged(&tree, names[name], 0) = now;
			cp_tree_begin_time(&tree, step);
			model_begin(name, now.counter);
		} else {
			enum cp_misuse misuse =
				cp_tree_end_tagged(&tree, names[name], 0, &now, step);

			disagreements += (misuse != CP_MISUSE_NO_BEGIN) !=
					 model_end(name, now.counter);
		}
	}
	while (depth > 0)
		model_pop(now.counter);
	cp_tree_finish(&tree, &now, STEPS, true);
	is_u64(disagreements, 0, "misplaced ends are told as the model tells them");
	is_u64(tree.depth, 0, "nothing is left open");
	compare();
	cp_tree_drop(&tree);
	cp_record_close(&record);
	cp_run_remove(directory);
	return 0;
}
