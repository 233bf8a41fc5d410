/* SPDX-License-Identifier: MIT
 *
 * A machine with two kinds of core, each with a PMU of its own: which events a
 * preset becomes, and what is reported of a thread that moves between them.
 */
#include "tests/unit/events_here.h"

#include "output/report/report.h"
#include "regions/rundir.h"
#include "tests/unit/engine_record.h"

enum { CORE = 4, ATOM = 10 }; /* their types */

static void write_cpuinfo(unsigned model)
{
	FILE *out = fopen(cpuinfo, "w");

	fprintf(out, "processor\t: 0\nmodel\t\t: %u\nmodel name\t: 12th Gen\n", model);
	fclose(out);
}

static void test_events(void)
{
	world_reset();
	resolve("l1d_loads,perf::INSTRUCTIONS,dtlb_l2_hits,perf::PAGE-FAULTS");
	is_string(terms_of("l1d_loads"), "10:81d0 4:81d0",
		"a preset: on both kinds of core");
	is_string(terms_of("perf::INSTRUCTIONS"), "0:a00000001 0:400000001",
		"a generic event: on both, too");
	ok(strstr(terms_of("dtlb_l2_hits"), "cpu_atom cores") != NULL,
		"a preset of one kind only: %s", terms_of("dtlb_l2_hits"));
	is_string(terms_of("perf::PAGE-FAULTS"), "1:2", "software is for all cores");
	is_string(terms_of("cpu_core::cycles"), "0:400000000!",
		"each kind has a counter that tells how long it was in use");
	is_string(terms_of("cpu_atom::cycles"), "0:a00000000!", "the other has, too");
	for (unsigned i = 0; i < set.ncounters; i++) {
		unsigned reference = set.reference[set.counters[i].group];

		if (!cp_perf_needs_pmu(&set.counters[i].attr)) {
			is_u64(reference, 0, "software refers to none");
			continue;
		}
		for (unsigned j = 0; j < set.ncounters; j++)
			if (set.counters[j].group + 1 == reference)
				ok(set.counters[j].attr.pinned &&
						set.counters[j].core ==
							set.counters[i].core,
					"%s refers to %s", set.counters[i].name,
					set.counters[j].name);
	}
	write_cpuinfo(1);
	resolve("l1d_loads");
	ok(strstr(terms_of("l1d_loads"), "cpu_atom cores") != NULL,
		"cores that nobody knows: %s", terms_of("l1d_loads"));
	write_cpuinfo(0x97);
}

/* ---- the engine and the report ---- */

static struct cp_thread_counters counters;
static struct cp_recording record;
static struct cp_tree tree;
static struct cp_layout layout;
static const char *quantities[] = {"both", "cpu_atom::cycles", "cpu_core::cycles"};

/* Both: config 1 on either; and three more on cpu_core than fit with it. */
static void make_set(void)
{
	static const uint32_t type[] = {ATOM, CORE, CORE, CORE, CORE, CORE};

	memset(&set, 0, sizeof(set));
	for (unsigned i = 0; i < 8; i++) {
		struct cp_counter *counter = &set.counters[set.ncounters++];

		snprintf(counter->name, sizeof(counter->name), "c%u", i);
		counter->attr.pinned = i >= 6;
		counter->attr.type = i >= 6 ? PERF_TYPE_HARDWARE : type[i];
		counter->attr.config =
			i >= 6 ? (i == 6 ? (uint64_t)ATOM : CORE) << 32 : 1;
		counter->core = counter->attr.type == ATOM || i == 6 ? 1 : 2;
	}
	for (unsigned q = 0; q < 3; q++) {
		struct cp_quantity *quantity = cp_set_quantity(&set, quantities[q]);

		quantity->available = true;
		cp_quantity_add_term(quantity, 1, q ? q + 5 : 0);
		if (!q)
			cp_quantity_add_term(quantity, 1, 1);
	}
	cp_perf_arrange(&set);
	find_references(&set);
	cp_engine_perf.configure(&set);
}

static void work(uint32_t core, unsigned times)
{
	static const uint64_t happened[WORLD_CONFIGS] = {1000, 7};

	world.core = core;
	for (unsigned i = 0; i < times; i++) {
		world_schedule();
		world_advance(1000000, happened);
	}
}

static void region(const char *name, unsigned on_atom, unsigned on_core)
{
	struct cp_name *interned = cp_name_intern(name, strlen(name));
	struct cp_reading *start = cp_tree_begin_tagged(&tree, interned, 0), end;

	world.core = on_atom ? ATOM : CORE;
	world_schedule();
	cp_engine_perf.read(&counters, true, start);
	cp_tree_begin_time(&tree, 0);
	work(ATOM, on_atom);
	work(CORE, on_core);
	cp_engine_perf.read(&counters, true, &end);
	cp_tree_end_tagged(&tree, interned, 0, &end, 0);
}

static const struct cp_report *run(const char *directory)
{
	const struct cp_report *report;

	layout = engine_create(&record, directory, &set);
	memset(&counters, 0, sizeof(counters));
	engine_start(&tree, &counters, &record, &layout, getpid());
	region("moves", 300, 900);
	region("atom only", 100, 0);
	engine_finish(&tree, &counters, 0);
	report = engine_report(&arena, &record, directory);
	cp_run_remove(directory);
	return report;
}

static void test_moves(void)
{
	char directory[] = "/tmp/engine_hybrid_run_XXXXXX";
	const struct cp_report *report;
	const struct cp_count *moves, *atom;
	const char *said = "";

	world_reset();
	srandom(1);
	make_set();
	if (!mkdtemp(directory))
		bail("no /tmp");
	report = run(directory);
	moves = report->total->child->counts;
	atom = report->total->child->next->counts;
	is_int(moves[0].status, CP_SCALED, "multiplexed on one kind of core: scaled");
	ok(moves[0].value > 1200 * 7 * 9 / 10 && moves[0].value < 1200 * 7 * 11 / 10,
		"by the time on that kind, not by all: %lu of %d",
		(unsigned long)moves[0].value, 1200 * 7);
	is_u64(moves[1].value, 300000, "cycles on the one kind, exactly");
	is_int(moves[1].status, CP_EXACT, "which are not scaled");
	is_double_near(moves[1].coverage, 0.25, 0.01, "a quarter of the time");
	is_u64(moves[2].value, 900000, "cycles on the other");
	is_double_near(moves[2].coverage, 0.75, 0.01, "three quarters");
	is_int(atom[0].status, CP_EXACT, "a region on one kind of core only is exact");
	is_u64(atom[0].value, 700, "and lacks nothing");
	is_u64(atom[2].value, 0, "no cycles on the other");
	is_int(atom[2].status, CP_EXACT, "is a 0 that was counted");
	for (size_t i = 0; i < report->nwarnings; i++)
		if (strstr(report->warnings[i], "kinds of core"))
			said = report->warnings[i];
	ok(strstr(said, "31 % of the time on cpu_atom, 69 % of the time on cpu_core"),
		"it is said: %s", said);
}

/* Whoever holds a counter for good is served before us, even if ours is pinned. */
static void test_pinned(void)
{
	char directory[] = "/tmp/engine_hybrid_run_XXXXXX";
	const struct cp_count *moves;

	world_reset();
	make_set();
	world.no_pinned = true;
	if (!mkdtemp(directory))
		bail("no /tmp");
	moves = run(directory)->total->child->counts;
	is_int(moves[0].status, CP_UNAVAILABLE, "a pinned counter that reads nothing");
	ok(strstr(moves[0].reason, "not known") != NULL, "how long is not known: %s",
		moves[0].reason);
	is_int(moves[1].status, CP_UNAVAILABLE, "and its own count is none");
}

int main(void)
{
	plan_lazy();
	if (!mkdtemp(fake))
		bail("no /tmp");
	snprintf(cpuinfo, sizeof(cpuinfo), "%s.cpuinfo", fake);
	write_cpuinfo(0x97);
	tree_hybrid(fake);
	test_events();
	test_moves();
	test_pinned();
	tree_remove(fake);
	unlink(cpuinfo);
	cp_arena_free(&arena);
	world_reset();
	return 0;
}
