/* SPDX-License-Identifier: MIT
 *
 * Twelve events on a PMU with four counters, whose groups take turns: of many
 * kinds of work, does the truth lie within the bars that the report has?  The
 * kernel is a fake one that knows it; the engine, the region tree, the record
 * and the report are the real ones.
 */
#include <math.h>
#include <stdio.h>

#include "output/report/report.h"
#include "base/engine/engine.h"
#include "regions/rundir.h"
#include "regions/tree.h"
#include "tests/tap/tap.h"
#include "tests/unit/engine_record.h"
#include "tests/unit/engine_world.h"

#define SEEDS tap_repeats(100)
#define EVENTS 12
#define INNER 5 /* executions of the inner region in one of the outer */

static struct cp_event_set set;
static struct cp_thread_counters counters;
static struct cp_recording record;
static struct cp_tree tree;
static struct cp_layout layout;
static uint64_t clock_ns;

/* ---- work ---- */

static double uniform(void)
{
	return ((double)random() + 1) / ((double)RAND_MAX + 2);
}

static double steady(unsigned i)
{
	(void)i;
	return 1 + 0.002 * (uniform() - 0.5);
}

static double cold_first(unsigned i)
{
	return i == 0 ? 20 : 1 + 0.01 * (uniform() - 0.5);
}

static double period_2(unsigned i)
{
	return i % 2 ? 1 : 20;
}

static double period_3(unsigned i)
{
	return i % 3 ? 1 : 20;
}

static double period_4(unsigned i)
{
	return i % 4 ? 1 : 20;
}

static double ramp(unsigned i)
{
	return 0.1 + i;
}

/* Pareto: no variance. */
static double heavy_tailed(unsigned i)
{
	(void)i;
	return pow(uniform(), -1 / 1.5);
}

/* One is as much as all others, and takes longer still: two groups of three have
 * not counted it, but its time. */
static double one_large(unsigned i)
{
	return i == 40 ? 100 : 1 + 0.01 * uniform();
}

/* A few of each event, now and then. */
static double rare(unsigned i)
{
	(void)i;
	return 0;
}

/* The first four events of three follow the work; the second have the same, but
 * at another moment; the third happen evenly. */
static void one_execution(double (*work)(unsigned), unsigned i, uint64_t truth[])
{
	double of_all = work(i), of_one;
	bool by_time = work == one_large;
	uint64_t happened[WORLD_CONFIGS] = {0};

	for (unsigned e = 0; e < EVENTS; e++) {
		of_one = e % 3 == 0 || by_time ? of_all : e % 3 == 1 ? work(i) : 1;
		happened[e] = (uint64_t)(1000 * (e + 1) * of_one);
		if (work == rare)
			happened[e] = uniform() < 0.02;
		truth[e] += happened[e];
	}
	/* How long it takes does not always say how much it is. */
	world_advance(by_time ? (uint64_t)(20000 * pow(of_all, 1.1))
			      : 20000 + (uint64_t)(of_all * 500),
		happened);
	clock_ns += 20000;
}

/* ---- as the markers do it ---- */

static void begin(struct cp_name *name)
{
	struct cp_reading *start = cp_tree_begin_tagged(&tree, name, 0);
	int group = cp_tree_turn(&tree);

	if (group >= 0)
		cp_engine_perf.turn(&counters, (unsigned)group);
	cp_engine_perf.read(&counters, true, start);
	cp_tree_begin_time(&tree, clock_ns);
}

static void end(struct cp_name *name)
{
	struct cp_reading reading;

	cp_engine_perf.read(&counters, true, &reading);
	cp_tree_end_tagged(&tree, name, 0, &reading, clock_ns);
}

static void start(const char *directory, uint64_t seed)
{
	layout = engine_create(&record, directory, &set);
	memset(&counters, 0, sizeof(counters));
	counters.turn = (unsigned)(seed % set.nrotated);
	engine_start(&tree, &counters, &record, &layout, getpid());
	cp_tree_rotate_from(&tree, counters.turn, seed);
	clock_ns = 0;
}

static void make_set(void)
{
	memset(&set, 0, sizeof(set));
	set.ncounters = EVENTS;
	for (unsigned i = 0; i < EVENTS; i++) {
		set.counters[i].attr.type = PERF_TYPE_RAW;
		set.counters[i].attr.config = i;
	}
	cp_perf_arrange(&set);
	cp_perf_rotate(&set);
	cp_engine_perf.configure(&set);
}

/* ---- the report against the truth ---- */

static struct tally {
	unsigned right, shown, near; /* of all seeds, per event; near: 1 % */
} tallies[2][EVENTS];

static unsigned seed_now, loose;

static void judge(struct tally *tally, const struct cp_count *count, uint64_t truth)
{
	double off = fabs((double)count->value - (double)truth);

	switch (count->status) {
	case CP_SCALED:
		tally->shown++;
		tally->right += count->error >= 0 && off <= count->error;
		tally->near += off <= 0.01 * (double)truth;
		break;
	case CP_UNAVAILABLE:
		tally->right += count->reason != NULL;
		break;
	default:
		if (loose++ == 0)
			diag("seed %u: %s (%s)", seed_now, cp_status_name(count->status),
				count->reason ? count->reason : "-");
	}
}

static void compare(const char *directory, uint64_t truth[])
{
	struct cp_arena arena = {.give_up = tap_no_memory};
	const struct cp_region *region =
		engine_report(&arena, &record, directory)->total->child;

	for (unsigned kind = 0; region; kind++, region = region->child)
		for (unsigned e = 0; e < EVENTS; e++)
			judge(&tallies[kind][e], &region->counts[e], truth[e]);
	cp_arena_free(&arena);
}

static void run(double (*work)(unsigned), bool nested, const char *directory)
{
	struct cp_name *outer = cp_name_intern("outer", 5),
		       *inner = cp_name_intern("inner", 5);
	unsigned executions = 60 + world_random(120);
	uint64_t truth[EVENTS] = {0};

	start(directory, (uint64_t)random());
	for (unsigned i = 0; i < executions; i++) {
		begin(outer);
		for (unsigned n = 0; n < (nested ? INNER : 1); n++) {
			if (nested)
				begin(inner);
			one_execution(work, i, truth);
			if (nested)
				end(inner);
		}
		end(outer);
	}
	engine_finish(&tree, &counters, clock_ns);
	compare(directory, truth);
}

/* shown, near: at least so many of a hundred, of each event. */
static void test_work(const char *what, double (*work)(unsigned), bool nested,
	unsigned shown, unsigned near)
{
	unsigned right[2] = {SEEDS, SEEDS}, least_shown = SEEDS, least_near = SEEDS;

	memset(tallies, 0, sizeof(tallies));
	loose = 0;
	for (seed_now = 0; seed_now < SEEDS; seed_now++) {
		char directory[] = "/tmp/engine-rotation-XXXXXX";

		srandom(seed_now);
		world_reset();
		make_set();
		if (!mkdtemp(directory))
			bail("no /tmp");
		run(work, nested, directory);
		cp_run_remove(directory);
	}
	for (unsigned kind = 0; kind < (nested ? 2 : 1); kind++)
		for (unsigned e = 0; e < EVENTS; e++) {
			const struct tally *tally = &tallies[kind][e];

			if (tally->right < right[kind])
				right[kind] = tally->right;
			if (tally->shown < least_shown)
				least_shown = tally->shown;
			if (tally->near < least_near)
				least_near = tally->near;
		}
	is_u64(set.nrotated, 3, "%s: twelve events, three groups", what);
	ok(right[0] * 10 >= SEEDS * 9,
		"%s: of each event right or withheld in %u of %u runs", what, right[0],
		SEEDS);
	if (nested)
		ok(right[1] * 10 >= SEEDS * 9, "%s: and of the inner region in %u", what,
			right[1]);
	ok(least_shown * 100 >= shown * SEEDS, "%s: and there is a value in at least %u",
		what, least_shown);
	ok(least_near * 100 >= near * SEEDS, "%s: which is within 1 %% in %u", what,
		least_near);
	is_u64(loose, 0, "%s: never without a bar", what);
}

int main(void)
{
	plan_lazy();
	test_work("steady", steady, false, 100, 100);
	test_work("cold first", cold_first, false, 100, 0);
	test_work("period 2", period_2, false, 80, 0);
	test_work("period 3", period_3, false, 80, 0);
	test_work("period 4", period_4, false, 80, 0);
	test_work("ramp", ramp, false, 100, 0);
	test_work("heavy-tailed", heavy_tailed, false, 0, 0);
	test_work("one large", one_large, false, 0, 0);
	test_work("rare", rare, false, 0, 0);
	test_work("nested, period 3", period_3, true, 70, 0);
	test_work("nested, steady", steady, true, 100, 100);
	return 0;
}
