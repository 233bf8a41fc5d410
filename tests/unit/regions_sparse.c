/* SPDX-License-Identifier: MIT
 *
 * Regions of which some executions are counted (CACHEPEEK_SPARSE): what really
 * happened lies within the error bars as often as they say, 95 % of the time.
 * Each trial is a thread with a seed of its own, in one record.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output/report/report_parts.h"
#include "regions/rundir.h"
#include "regions/tree.h"
#include "tests/tap/tap.h"

enum { TRIALS = 400, CALLS = 6000, PAIR_NS = 1000, SHORT_NS = 400 };

static const struct cp_term terms[] = {{0, 1}};
static const struct cp_quantity_terms quantities[] = {{1, terms}};
static struct cp_pair_cost cost = {.whole_ns = PAIR_NS};
static const struct cp_layout layout = {.ncounters = 1,
	.nquantities = 1,
	.ngroups = 1,
	.quantities = quantities,
	.cost = &cost,
	.sparse = true};
static struct cp_recording record;
static char directory[] = "/tmp/regions-sparse-XXXXXX";
static double truth[TRIALS];
static unsigned trials; /* of them are made */

/* ---- what an execution counts ---- */

typedef uint64_t counts_of(unsigned i);

static double uniform(void)
{
	return (double)random() / ((double)RAND_MAX + 1);
}

static uint64_t constant(unsigned i)
{
	(void)i;
	return 100;
}

static uint64_t scattered(unsigned i)
{
	(void)i;
	return (uint64_t)(uniform() * 200);
}

static uint64_t periodic(unsigned i)
{
	return i % 4 ? 10 : 400;
}

static uint64_t rising(unsigned i)
{
	return i / 10;
}

static uint64_t skewed(unsigned i)
{
	(void)i;
	return (uint64_t)(-100 * log(1 - uniform()));
}

static uint64_t cold_first(unsigned i)
{
	return i ? (uint64_t)(uniform() * 50) : 1000000;
}

static uint64_t rare(unsigned i)
{
	(void)i;
	return uniform() < 0.05 ? 1000 : 0;
}

static const struct {
	const char *name;
	counts_of *count;
	double rate; /* that the bars have to reach */
} kinds[] = {
	{"constant", constant, 1}, {"scattered", scattered, 0.93},
	{"periodic", periodic, 0.93}, {"rising", rising, 0.93}, {"skewed", skewed, 0.93},
	{"the first unlike the others", cold_first, 0.93},
	{"rare", rare, 0.9}, /* few have all that there is to count */
};

/* ---- a record ---- */

static void put_items(void)
{
	struct cp_record_header *header = record.header;
	struct cp_counter_item *counter =
		cp_record_reserve(&record, sizeof(*counter) + 8);
	struct cp_quantity_item *quantity;

	header->ncounters = header->nquantities = header->nperf_groups = 1;
	header->engine = CP_ENGINE_PERF;
	header->flags = CP_RECORD_ROOT | CP_RECORD_SPARSE;
	header->how = CP_HOW_EXIT;
	header->rank = -1;
	counter->mirror = ~0u;
	memcpy(counter->name, "event", 6);
	cp_item_publish(counter, CP_ITEM_COUNTER);
	quantity = cp_record_reserve(&record, sizeof(*quantity) + 8);
	quantity->available = CP_QUANTITY_AVAILABLE;
	quantity->nterms = 1;
	quantity->terms[0] = terms[0];
	quantity->name_length = 5;
	memcpy(quantity->text, "event", 6);
	cp_item_publish(quantity, CP_ITEM_QUANTITY);
}

static struct cp_thread_item *put_thread(int32_t tid, uint32_t state)
{
	struct cp_thread_item *thread = cp_record_reserve(&record, sizeof(*thread));

	thread->tid = tid;
	thread->state = state;
	cp_item_publish(thread, CP_ITEM_THREAD);
	return thread;
}

static struct cp_reading now;
static uint64_t now_ns;

static void step(uint64_t count, uint64_t ns)
{
	now.counter[0] += count;
	now.group[0].enabled += ns;
	now.group[0].running += ns;
	now_ns += ns;
}

static void begin(struct cp_tree *tree, struct cp_name *name)
{
	struct cp_reading *start = cp_tree_begin_tagged(tree, name, 0);

	if (cp_tree_is_skipping(tree))
		return;
	*start = now;
	cp_tree_begin_time(tree, now_ns);
}

/* "outer", all in one, counts 5 between the executions of "inner". */
static double run_thread(
	struct cp_tree *tree, unsigned trial, counts_of *count, uint64_t ns)
{
	struct cp_thread_item *thread = put_thread((int32_t)trial + 1, CP_THREAD_ENDED);
	struct cp_name *outer = cp_name_intern("outer", 5),
		       *inner = cp_name_intern("inner", 5);
	double sum = 0;

	if (cp_tree_start(tree, &layout, &record, cp_record_offset(&record, thread), &now,
		    now_ns) < 0)
		bail("no tree");
	thread->root = cp_tree_root_offset(tree);
	tree->random = 0xd1342543de82ef95u * (trial + 1);
	begin(tree, outer);
	for (unsigned i = 0; i < CALLS; i++) {
		uint64_t one = count(i);

		step(5, PAIR_NS);
		begin(tree, inner);
		if (cp_tree_is_skipping(tree))
			step(cost.skipped[0], cost.skipped_ns);
		step(one, ns);
		cp_tree_end_tagged(tree, inner, 0, &now, now_ns);
		sum += (double)one;
	}
	cp_tree_end_tagged(tree, outer, 0, &now, now_ns);
	cp_tree_finish(tree, &now, now_ns, true);
	return sum;
}

static const struct cp_report *build(struct cp_arena *arena)
{
	const char *paths[] = {directory};
	char error[200];
	const struct cp_report *report =
		cp_report_build(arena, paths, 1, error, sizeof(error));

	if (!report)
		bail("%s", error);
	return report;
}

static void start_record(void)
{
	memset(&record, 0, sizeof(record));
	if (cp_record_create(&record, directory, (int)getpid()) < 0)
		bail("no record in %s", directory);
	cp_names_after_fork(); /* their strings are in the last one */
	put_items();
}

static void end_record(struct cp_arena *arena)
{
	char path[100];

	cp_arena_free(arena);
	snprintf(path, sizeof(path), "%s/%d-0.rec", directory, (int)getpid());
	cp_record_close(&record);
	unlink(path);
}

/* ---- the property ---- */

static const struct cp_region *inner_of(const struct cp_region *root)
{
	return root->child ? root->child->child : NULL;
}

static bool holds(const struct cp_count *count, double want, double bars)
{
	return fabs((double)count->value - want) <= bars * count->error + 0.5;
}

static void check_threads(const struct cp_process *process, unsigned kind)
{
	const char *name = kinds[kind].name;
	unsigned inside = 0, scaled = 0, adds_up = 0, most = 0, calls = 0;

	for (unsigned i = 0; i < trials; i++) {
		const struct cp_region *inner = inner_of(process->threads[i].root),
				       *outer = inner->parent;
		const struct cp_count *count = &inner->counts[0];

		inside += holds(count, truth[process->threads[i].tid - 1], 1);
		scaled += count->status == CP_SCALED && count->coverage < 0.5 &&
			  inner->seconds.status == CP_SCALED;
		calls += inner->calls == CALLS && outer->calls == 1;
		adds_up += outer->counts[0].status == CP_EXACT &&
			   outer->counts[0].exclusive ==
				   (outer->counts[0].value > count->value
						   ? outer->counts[0].value - count->value
						   : 0) &&
			   outer->counts[0].exclusive_status == CP_SCALED;
		most += inner->time_ns == CALLS * (uint64_t)SHORT_NS;
	}
	/* One more is outside by chance where there are few. */
	ok(inside + (trials < TRIALS) >= kinds[kind].rate * trials,
		"%s: %u of %u within their error bars", name, inside, trials);
	is_u64(scaled, trials, "%s: all are scaled, from less than half", name);
	is_u64(calls, trials, "%s: executions are not estimated", name);
	is_u64(adds_up, trials, "%s: with what is around them they add up", name);
	is_u64(most, trials, "%s: time, always the same, is right", name);
}

static void test_kind(unsigned kind)
{
	struct cp_arena arena = {.give_up = tap_no_memory};
	struct cp_tree tree;
	const struct cp_report *report;
	const struct cp_count *merged;
	double sum = 0;

	start_record();
	for (unsigned i = 0; i < trials; i++) {
		truth[i] = run_thread(&tree, i, kinds[kind].count, SHORT_NS);
		sum += truth[i];
		cp_tree_drop(&tree);
	}
	report = build(&arena);
	check_threads(&report->processes[0], kind);
	merged = &inner_of(report->total)->counts[0];
	ok(merged->status == CP_SCALED && holds(merged, sum, 1.5),
		"%s: all together, too: %lu, %.0f with an error of %.0f",
		kinds[kind].name, (unsigned long)merged->value, sum, merged->error);
	if (kind == 0)
		is_double_near(merged->error, 0, 0, "constant: no error");
	end_record(&arena);
}

/* Ten of 160 were counted, whose counts have a variance of 1. */
static void test_error(void)
{
	const struct cp_chosen chosen = {.sum = 1000, .squares = 144}, none = {0, 0};
	struct cp_sampled sampled = {
		.counted = 26, .chosen = 10, .weight = 160, .squares = 10 * 16 * 15};
	double student = 2.262; /* 97.5 %, 9 degrees of freedom */

	is_double_near(cp_sampled_error(&sampled, 176, &chosen), student * sqrt(2400), 1,
		"the others of each row");
	is_double_near(cp_sampled_error(&sampled, 1176, &chosen), student * sqrt(3400), 1,
		"and those that nothing stands for yet");
	is_double_near(cp_sampled_error(&sampled, 176, &none), 48, 0,
		"where none counted anything: three, each for its row");
	sampled.chosen = 7;
	is_double_near(
		cp_sampled_error(&sampled, 176, &chosen), -1, 0, "too few for an error");
}

/* Long enough to be counted each time. */
static void test_long(void)
{
	struct cp_arena arena = {.give_up = tap_no_memory};
	struct cp_tree tree;
	const struct cp_count *count;
	double sum;

	start_record();
	sum = run_thread(&tree, 0, scattered, 21 * PAIR_NS);
	cp_tree_drop(&tree);
	count = &inner_of(build(&arena)->total)->counts[0];
	is_int(count->status, CP_EXACT, "long: exact");
	is_u64(count->value, (uint64_t)sum, "long: every count");
	end_record(&arena);
}

/* The counts of a skipped execution's markers are not the program's. */
static void test_cost_of_skipped(void)
{
	struct cp_arena arena = {.give_up = tap_no_memory};
	struct cp_tree tree;
	const struct cp_region *outer;
	uint64_t counted;
	double sum;

	cost.skipped[0] = 3;
	cost.skipped_ns = 50;
	start_record();
	sum = run_thread(&tree, 0, constant, SHORT_NS);
	cp_tree_drop(&tree);
	outer = build(&arena)->total->child;
	is_u64(outer->counts[0].value, (uint64_t)sum + CALLS * 5,
		"skipped: what they cost is subtracted around them");
	counted = (uint64_t)(outer->child->counts[0].coverage * CALLS + 0.5);
	is_u64(outer->time_ns, CALLS * (uint64_t)(SHORT_NS + PAIR_NS) - counted * PAIR_NS,
		"skipped: and so is their time");
	cost.skipped[0] = cost.skipped_ns = 0;
	end_record(&arena);
}

/* Threads that are folded into one. */
static void test_folded(void)
{
	enum { THREADS = 50 };
	struct cp_arena arena = {.give_up = tap_no_memory};
	struct cp_tree sum_tree, tree;
	struct cp_thread_item *thread;
	const struct cp_region *inner;
	double sum = 0;

	start_record();
	thread = put_thread(0, CP_THREAD_FOLDS);
	thread->base[0] = THREADS;
	if (cp_tree_start_folded(
		    &sum_tree, &layout, &record, cp_record_offset(&record, thread)) < 0)
		bail("no tree");
	thread->root = cp_tree_root_offset(&sum_tree);
	for (unsigned i = 0; i < THREADS; i++) {
		sum += run_thread(&tree, i, skewed, SHORT_NS);
		ok(cp_tree_fold(&sum_tree, &tree), "folded");
		cp_tree_drop(&tree);
	}
	inner = inner_of(build(&arena)->total);
	is_u64(inner->calls, THREADS * CALLS, "folded: every execution");
	ok(inner->counts[0].status == CP_SCALED && holds(&inner->counts[0], sum, 1.5),
		"folded: %lu, %.0f with an error of %.0f",
		(unsigned long)inner->counts[0].value, sum, inner->counts[0].error);
	ok(inner->counts[0].error < 0.02 * sum, "folded: a bar that says something");
	cp_tree_drop(&sum_tree);
	end_record(&arena);
}

int main(void)
{
	plan_lazy();
	srandom(7);
	trials = tap_repeats(TRIALS);
	if (!mkdtemp(directory))
		bail("no directory");
	for (unsigned kind = 0; kind < sizeof(kinds) / sizeof(kinds[0]); kind++)
		test_kind(kind);
	test_error();
	test_long();
	test_cost_of_skipped();
	test_folded();
	cp_run_remove(directory);
	return 0;
}
