/* SPDX-License-Identifier: MIT
 * How counts vary from one execution to the next, also where they are large and
 * vary little: as a computation in two passes over all of them has it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "regions/record_read.h"
#include "regions/rundir.h"
#include "regions/tree.h"
#include "tests/tap/tap.h"

enum { THREADS = 3, CALLS = 1000 };

static const struct cp_term terms[] = {{0, 1}};
static const struct cp_quantity_terms quantities[] = {{1, terms}};
static const struct cp_layout layout = {
	.ncounters = 1, .nquantities = 1, .ngroups = 1, .quantities = quantities};
static struct cp_recording record;
static uint64_t counts[THREADS * CALLS];

static uint64_t count_of(uint64_t base, int i)
{
	return base + (uint64_t)(i * 37 % 11) + (i < CALLS ? 0 : 3);
}

static void run_thread(struct cp_tree *tree, uint64_t base, int first)
{
	static struct cp_reading now;
	struct cp_name *name = cp_name_intern("r", 1);

	now.counter[0] = 0;
	if (cp_tree_start(tree, &layout, &record, 16, &now, 0) < 0)
		bail("no tree");
	for (int i = first; i < first + CALLS; i++) {
		*cp_tree_begin_tagged(tree, name, 0) = now;
		cp_tree_begin_time(tree, 0);
		now.counter[0] += counts[i] = count_of(base, i);
		cp_tree_end_tagged(tree, name, 0, &now, 0);
	}
	cp_tree_finish(tree, &now, 0, true);
}

/* The spread of the one region of that many executions. */
static const struct cp_spread *spread_of(uint64_t calls)
{
	uint64_t at = CP_RECORD_HEADER_SIZE;

	while (at < record.header->tail) {
		const struct cp_region_item *item =
			(const void *)(record.chunks[0].base + at);

		if (item->item.type == CP_ITEM_REGION && item->name &&
			item->calls == calls)
			return cp_region_spreads(item, 1);
		at += item->item.size;
	}
	bail("no region of %lu executions", (unsigned long)calls);
}

static void compare(int executions, const char *what)
{
	const struct cp_spread *spread = spread_of((uint64_t)executions);
	double above = 0, squares = 0;

	for (int i = 0; i < executions; i++)
		above += (double)(counts[i] - counts[0]) / executions;
	for (int i = 0; i < executions; i++) {
		double d = (double)(counts[i] - counts[0]) - above;

		squares += d * d;
	}
	is_double_near(spread->squares, squares, 1e-6 * squares, "%s: squares", what);
}

static void test_base(uint64_t base)
{
	static struct cp_tree sum, tree[THREADS];
	char directory[] = "/tmp/regions-spread-XXXXXX", what[60];

	if (!mkdtemp(directory) ||
		cp_record_create(&record, directory, (int)getpid()) < 0 ||
		cp_tree_start_folded(&sum, &layout, &record, 8) < 0)
		bail("no record in %s", directory);
	snprintf(what, sizeof(what), "%lu and a little", (unsigned long)base);
	run_thread(&tree[0], base, 0);
	compare(CALLS, what);
	for (int i = 1; i < THREADS; i++)
		run_thread(&tree[i], base, i * CALLS);
	for (int i = 0; i < THREADS; i++) {
		ok(cp_tree_fold(&sum, &tree[i]), "%s: folded", what);
		cp_tree_drop(&tree[i]);
	}
	snprintf(what, sizeof(what), "%lu and a little, folded", (unsigned long)base);
	compare(THREADS * CALLS, what);
	cp_tree_drop(&sum);
	cp_record_close(&record);
	cp_run_remove(directory);
}

int main(void)
{
	plan_lazy();
	test_base(0);
	test_base(1000000000);
	test_base(1000000000000000);
	return 0;
}
