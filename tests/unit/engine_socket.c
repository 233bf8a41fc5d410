/* SPDX-License-Identifier: MIT
 *
 * Events of whole sockets: four memory controllers on two sockets.  They are the
 * sum of all, are read by one thread, and are no thread's.
 */
#include "tests/unit/events_here.h"

#include "output/report/report.h"
#include "regions/rundir.h"
#include "tests/unit/engine_record.h"

enum { UNITS = 8, READS = 0xf04 % WORLD_CONFIGS }; /* config of imc_reads */

static struct cp_recording record;
static struct cp_layout layout;

static void test_events(void)
{
	world_reset();
	core_pmu = "icx";
	resolve("imc_reads,instructions,sysfs:uncore_imc_2/event=4,umask=0x30/,"
		"perf::PAGE-FAULTS");
	is_u64(set.nparts, UNITS + 2, "each controller, on a CPU of each socket");
	for (unsigned i = 0; i < set.nparts; i++)
		ok(set.counters[set.parts[i].counter].socket &&
				!set.parts[i].attr.exclude_kernel,
			"part %u: of a socket, and of all that it does", i);
	is_u64(set.parts[0].attr.type, 18, "the first");
	is_int(set.parts[1].cpu, 8, "on the other socket");
	is_u64(set.parts[UNITS].attr.type, 20, "an event by its name in sysfs");
	is_u64(set.parts[UNITS].attr.config, 0x3004, "as it was asked for");
	ok(!set.counters[0].socket && set.counters[set.ncounters - 1].socket,
		"they come last");
	world.cpu_error = -EACCES;
	resolve("imc_reads,perf::PAGE-FAULTS");
	ok(strstr(terms_of("imc_reads"), "CAP_PERFMON") != NULL, "not permitted: %s",
		terms_of("imc_reads"));
	is_u64(set.nparts, 0, "and nothing is opened");
	is_u64(set.ncounters, 1, "nor left over");
	world_reset();
	resolve("llc_accesses");
	ok(strstr(terms_of("llc_accesses"), "icx") || *terms_of("llc_accesses"),
		"what sockets do not have: %s", terms_of("llc_accesses"));
	is_u64(set.nparts, 0, "is not theirs");
}

/* A thread with the sockets' counters and one without, which execute "part" at
 * the same time. */
static const struct cp_report *run(const char *directory)
{
	static const uint64_t happened[WORLD_CONFIGS] = {[READS] = 1000};
	struct cp_thread_counters counters[2] = {{.sockets = true}, {.sockets = false}};
	struct cp_name *name = cp_name_intern("part", 4);
	struct cp_tree tree[2];
	struct cp_reading reading;
	const struct cp_report *report;

	layout = engine_create(&record, directory, &set);
	for (int i = 0; i < 2; i++)
		engine_start(&tree[i], &counters[i], &record, &layout, 10 + i);
	world_advance(1000000, happened);
	for (int i = 0; i < 2; i++)
		cp_engine_perf.read(
			&counters[i], true, cp_tree_begin_tagged(&tree[i], name, 0));
	world_advance(1000000, happened);
	for (int i = 0; i < 2; i++) {
		cp_engine_perf.read(&counters[i], true, &reading);
		cp_tree_end_tagged(&tree[i], name, 0, &reading, 0);
	}
	for (int i = 0; i < 2; i++)
		engine_finish(&tree[i], &counters[i], 0);
	report = engine_report(&arena, &record, directory);
	cp_run_remove(directory);
	return report;
}

static void test_report(void)
{
	char directory[] = "/tmp/engine_socket_run_XXXXXX";
	const struct cp_report *report;
	const struct cp_count *count;
	bool said = false;

	world_reset();
	resolve("perf::PAGE-FAULTS,imc_reads");
	cp_engine_perf.configure(&set);
	if (!mkdtemp(directory))
		bail("no /tmp");
	report = run(directory);
	for (size_t i = 0; i < report->processes[0].nthreads; i++) {
		count = &report->processes[0].threads[i].root->child->counts[1];
		is_int(count->status, CP_UNAVAILABLE, "thread %zu has none", i);
		ok(strstr(count->reason, "socket") != NULL, "because %s", count->reason);
	}
	count = &report->total->child->counts[1];
	is_int(count->status, CP_EXACT, "the region of both has");
	is_u64(count->value, UNITS * 1000, "what all controllers counted, once");
	is_u64(report->total->counts[1].value, UNITS * 2000, "and the whole run, too");
	ok(count->socket && !report->total->counts[0].socket, "labelled as a socket's");
	is_u64(count->over.nthreads, 0, "without least and most of threads");
	for (size_t i = 0; i < report->nwarnings; i++)
		said |= strstr(report->warnings[i], "other programs included") != NULL;
	ok(said, "and it is said whose they are");
}

int main(void)
{
	plan_lazy();
	if (!mkdtemp(fake))
		bail("no /tmp");
	tree_file(fake, "cpu", "type", "4");
	tree_uncore(fake);
	test_events();
	test_report();
	tree_remove(fake);
	cp_arena_free(&arena);
	world_reset();
	return 0;
}
