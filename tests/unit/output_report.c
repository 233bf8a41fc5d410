/* SPDX-License-Identifier: MIT
 *
 * The report model: sums, provenance, and what is said instead of a number.
 */
#include <sys/wait.h>

#include "output/report/report.h"
#include "output/report/report_parts.h"
#include "tests/tap/tap.h"
#include "tests/unit/output_records.h"

static struct make make;
static struct cp_arena arena = {.give_up = tap_no_memory};
static char directory[] = "/tmp/output_report_XXXXXX";
static const char *const paths[] = {directory};

static const struct cp_report *build(void)
{
	char error[400] = "";
	const struct cp_report *report =
		cp_report_build(&arena, paths, 1, error, sizeof(error));

	if (!report)
		bail("no report: %s", error);
	return report;
}

static void clear(void)
{
	char command[100];

	snprintf(command, sizeof(command), "rm -f %s/*", directory);
	if (system(command) != 0)
		bail("cannot clear %s", directory);
	cp_arena_free(&arena);
}

static void begin(uint32_t engine, int32_t pid)
{
	make_begin(&make, engine, pid);
	make_text(&make, "line", "64");
	make_text(&make, "group",
		"@group g\n@need instructions\n@want l1d_misses l1d_accesses\n"
		"mpki [1/kinstr] = 1000 * l1d_misses / instructions\n"
		"ratio [ratio] = l1d_misses / l1d_accesses\nspeed = LINE * l1d_misses / "
		"SECONDS\n");
	make_counter(&make, "i", 0, 0);
	make_counter(&make, "m", engine == CP_ENGINE_PERF ? 1 : 0, 1);
	make_quantity(&make, "instructions", NULL, (int[]){1, 0});
	make_quantity(&make, "l1d_misses", NULL, (int[]){2, 0});
	make_quantity(&make, "l1d_accesses", "no event for it", NULL);
}

static struct cp_region_item *region(struct cp_thread_item *thread,
	struct cp_region_item *parent, const char *name, uint64_t calls,
	uint64_t instructions, uint64_t misses)
{
	struct cp_region_item *item = make_region(&make, thread, parent, name, calls);

	make_sum(item, 0)->inclusive = instructions;
	make_sum(item, 1)->inclusive = misses;
	if (!parent) { /* on the simulated PMU the mirrors have the root's counts */
		thread->mirror[0] = instructions;
		thread->mirror[1] = misses;
	}
	for (uint32_t i = 0; i < make_header(&make)->nperf_groups; i++)
		*make_times(&make, item, i) = (struct cp_times){1000000, 1000000};
	for (uint32_t i = 0; parent && i < 2; i++)
		make_sum(parent, i)->children += make_sum(item, i)->inclusive;
	item->time_ns = 1000000;
	return item;
}

static const struct cp_region *child(const struct cp_region *parent, const char *name)
{
	const struct cp_region *at = parent->child;

	while (at && !cp_slice_is(at->name, name))
		at = at->next;
	return at;
}

/* ---- sums ---- */

static void make_thread_of(int32_t tid, uint64_t scale, bool extra)
{
	struct cp_thread_item *thread = make_thread(&make, tid, CP_THREAD_ENDED, "t");
	struct cp_region_item *root =
		region(thread, NULL, NULL, 1, 1000 * scale, 100 * scale);
	struct cp_region_item *solve =
		region(thread, root, "solve", 2, 600 * scale, 60 * scale);

	region(thread, solve, "halo", 20, 300 * scale, 0);
	if (extra)
		region(thread, root, "extra", 1, 7, 1);
}

static void make_run(uint32_t engine)
{
	for (int32_t pid = 100; pid < 300; pid += 100) {
		begin(engine, pid);
		make_thread_of(pid, 1, false);
		make_thread_of(pid + 1, 2, pid == 200);
		make_thread_of(pid + 2, 3, false);
		make_write(&make, directory, pid == 100 ? "100-0.rec" : "200-0.rec");
	}
}

static const struct cp_region *at_path(
	const struct cp_region *like, const struct cp_region *root)
{
	const struct cp_region *parent;

	if (!like->parent)
		return root;
	parent = at_path(like->parent, root);
	for (const struct cp_region *at = parent ? parent->child : NULL; at;
		at = at->next)
		if (cp_slice_length(at->name) == cp_slice_length(like->name) &&
			memcmp(at->name.at, like->name.at, cp_slice_length(at->name)) ==
				0)
			return at;
	return NULL;
}

/* Every merged count is the sum over the threads, and over the processes. */
static bool adds_up(
	const struct cp_report *report, const struct cp_region *merged, size_t q)
{
	uint64_t threads = 0, processes = 0, exclusive = 0, calls = 0;

	for (size_t i = 0; i < report->nprocesses; i++) {
		const struct cp_process *process = &report->processes[i];
		const struct cp_region *part = at_path(merged, process->total);

		processes += part ? part->counts[q].value : 0;
		for (size_t j = 0; j < process->nthreads; j++) {
			part = at_path(merged, process->threads[j].root);
			threads += part ? part->counts[q].value : 0;
			exclusive += part ? part->counts[q].exclusive : 0;
			calls += part ? part->calls : 0;
		}
	}
	return threads == merged->counts[q].value && processes == threads &&
	       exclusive == merged->counts[q].exclusive && calls == merged->calls;
}

static void test_sums(uint32_t engine, const char *name)
{
	const struct cp_report *report;
	const struct cp_region *solve;
	bool all = true;
	size_t regions = 0;

	make_run(engine);
	report = build();
	for (const struct cp_region *r = report->total; r;
		r = cp_region_next(report->total, r), regions++)
		all = all && adds_up(report, r, 0) && adds_up(report, r, 1);
	ok(all, "%s: sum over threads == sum over processes == merged", name);
	is_int((long long)regions, 4, "%s: each path once", name);
	solve = child(report->total, "solve");
	is_u64(solve->counts[0].value, 7200, "%s: inclusive", name);
	is_u64(solve->counts[0].exclusive, 3600, "%s: exclusive", name);
	is_u64(solve->calls, 12, "%s: calls", name);
	is_int((long long)solve->nthreads, 6, "%s: threads", name);
	is_double_near(solve->counts[0].over.min, 600, 0, "%s: least", name);
	is_int(solve->counts[0].over.min_at.tid, 100, "%s: where", name);
	is_double_near(solve->counts[0].over.max, 1800, 0, "%s: most", name);
	is_int(solve->counts[0].over.max_at.tid, 102, "%s: in the first that has it",
		name);
	is_double_near(cp_extent_mean(&solve->counts[0].over), 1200, 0, "%s: mean", name);
	is_int((long long)child(report->total, "extra")->nthreads, 1,
		"%s: one thread's region", name);
	is_string(cp_status_name(solve->counts[0].status),
		engine == CP_ENGINE_SIM ? "simulated" : "exact", "%s: status", name);
	clear();
}

/* ---- perf: scaling ---- */

static const struct cp_count *misses_with(uint64_t enabled, uint64_t running)
{
	struct cp_thread_item *thread;
	struct cp_region_item *root;

	clear();
	begin(CP_ENGINE_PERF, 100);
	thread = make_thread(&make, 100, CP_THREAD_ENDED, "t");
	root = region(thread, NULL, NULL, 1, 5000, 1000);
	*make_times(&make, root, 1) = (struct cp_times){enabled, running};
	make_write(&make, directory, "100-0.rec");
	return &build()->total->counts[1];
}

static void test_scaling(void)
{
	const struct cp_count *count = misses_with(400000000, 100000000);

	is_u64(count->value, 4000, "a quarter of the time: four times the count");
	is_string(cp_status_name(count->status), "scaled", "and that is said");
	is_double_near(count->coverage, 0.25, 1e-12, "with the coverage");
	is_double_near(count->error, cp_scaling_error(4000, 0.25, 1e8), 1e-6,
		"and an error bar");
	is_double_near(cp_scaling_error(4000, 0.25, 1e8), 2 * 4000 * 0.17535678, 1e-3,
		"of two standard errors over 25 slices and 1000 events");
	is_double_near(cp_scaling_error(8, 0.5, 4e9), 2 * 8 * 0.35425979, 1e-6,
		"few events are uncertain, however many slices");
	is_double_near(cp_scaling_error(0, 0.25, 1e8), 12, 1e-9, "none are, too");
	count = misses_with(1000, 1000);
	is_u64(count->value, 1000, "all of the time: as counted");
	is_string(cp_status_name(count->status), "exact", "exactly");
	count = misses_with(1000, 0);
	is_string(cp_status_name(count->status), "unavailable", "never: no value");
	is_string(count->reason,
		"never scheduled on the PMU, or refused to the user that the process "
		"became",
		"with its reason");
	count = misses_with(1000000, 9000);
	is_string(cp_status_name(count->status), "unavailable",
		"below one percent: no value");
	ok(strstr(count->reason, "0.9 %") != NULL, "%s", count->reason);
	count = misses_with(0, 0);
	is_string(cp_status_name(count->status), "unavailable", "not enabled: no value");
	clear();
}

/* ---- what is not there ---- */

static void test_unavailable(void)
{
	const struct cp_report *report;
	const struct cp_region *total;

	make_run(CP_ENGINE_SIM);
	report = build();
	total = report->total;
	is_string(total->counts[2].reason, "no event for it",
		"a quantity keeps its reason");
	is_string(total->metrics[1].value.reason, "l1d_accesses: no event for it",
		"a metric names what it lacks");
	is_string(total->seconds.reason, "wall time is simulator time",
		"no time of a simulation");
	is_string(total->metrics[2].value.reason, "SECONDS: wall time is simulator time",
		"and nothing made of it");
	is_double_near(total->metrics[0].value.value, 1000.0 * 1200 / 12000, 1e-9,
		"a metric of the sums");
	is_string(cp_status_name(total->metrics[0].value.status), "simulated",
		"as good as they");
	clear();
	make_run(CP_ENGINE_PERF);
	report = build();
	is_string(report->processes[0].whole[0].reason, "counted from the constructor",
		"perf does not know the whole process");
	is_double_near(report->processes[0].threads[0].root->seconds.value, 0.001, 1e-12,
		"time");
	clear();
}

/* Two processes whose event is unproven, that count so many of it. */
static const struct cp_report *unproven(uint64_t first, uint64_t second)
{
	const uint64_t misses[] = {first, second};

	for (int32_t i = 0; i < 2; i++) {
		char name[20];

		make_begin(&make, CP_ENGINE_PERF, 100 + i);
		make_counter(&make, "i", 0, 0);
		make_counter(&make, "r3", 0, 0);
		make_quantity(&make, "instructions", NULL, (int[]){1, 0});
		make_quantity(&make, "r3", "0 in a self-test, too", (int[]){2, 0})
			->available = CP_QUANTITY_UNPROVEN;
		region(make_thread(&make, 100 + i, CP_THREAD_ENDED, "t"), NULL, NULL, 1,
			10, misses[i]);
		snprintf(name, sizeof(name), "%d-0.rec", 100 + i);
		make_write(&make, directory, name);
	}
	return build();
}

static void test_unproven(void)
{
	const struct cp_report *report = unproven(0, 0);

	is_string(cp_status_name(report->total->counts[1].status), "unavailable",
		"an unproven event that never moved has no value");
	is_string(
		report->total->counts[1].reason, "0 in a self-test, too", "but a reason");
	is_string(cp_status_name(report->total->counts[0].status), "exact",
		"which costs the others nothing");
	clear();
	report = unproven(0, 7);
	is_u64(report->total->counts[1].value, 7, "one that moved somewhere counts");
	is_string(cp_status_name(report->processes[0].total->counts[1].status), "exact",
		"and its zeros are zeros");
	clear();
}

static void test_negative(void)
{
	struct cp_thread_item *thread;

	begin(CP_ENGINE_PERF, 100);
	make_header(&make)->nquantities = 0;
	make_header(&make)->tail = CP_RECORD_HEADER_SIZE;
	make_header(&make)->ncounters = 0;
	make_counter(&make, "a", 0, 0);
	make_counter(&make, "b", 0, 0);
	make_quantity(&make, "difference", NULL, (int[]){1, -2, 0});
	thread = make_thread(&make, 100, CP_THREAD_ENDED, "t");
	region(thread, NULL, NULL, 1, 10, 11);
	make_write(&make, directory, "100-0.rec");
	is_string(cp_status_name(build()->total->counts[0].status), "unavailable",
		"a difference below nothing is no count");
	clear();
}

/* One process with so many quantities of its own; number n counted n + 1. */
static void make_of_many(int32_t pid, unsigned first, unsigned count)
{
	struct cp_thread_item *thread;
	struct cp_region_item *root;
	char name[32];

	make_begin(&make, CP_ENGINE_PERF, pid);
	for (unsigned i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "event-%u", first + i);
		make_counter(&make, name, 0, i);
		make_quantity(&make, name, NULL, (int[]){(int)i + 1, 0});
	}
	thread = make_thread(&make, pid, CP_THREAD_ENDED, "t");
	root = make_region(&make, thread, NULL, NULL, 1);
	for (unsigned i = 0; i < count; i++)
		make_sum(root, i)->inclusive = first + i + 1;
	*make_times(&make, root, 0) = (struct cp_times){1000000, 1000000};
	snprintf(name, sizeof(name), "%d-0.rec", (int)pid);
	make_write(&make, directory, name);
}

/* Quantities for which there is no room are left out, never under another's name. */
static void test_many(void)
{
	const unsigned each = 30, processes = 20;
	const struct cp_report *report;
	unsigned wrong = 0;
	bool said = false;

	for (unsigned p = 0; p < processes; p++)
		make_of_many(100 + (int32_t)p, p * each, each);
	report = build();
	is_u64(report->nquantities, 512, "as many quantities as there is room for");
	for (size_t i = 0; i < report->nquantities; i++) {
		unsigned n = (unsigned)atoi(strchr(report->quantities[i], '-') + 1);

		wrong += report->total->counts[i].value != n + 1;
	}
	is_u64(wrong, 0, "each with its own value");
	for (size_t i = 0; i < report->nwarnings; i++)
		said |= strstr(report->warnings[i], "more than 512 quantities") != NULL;
	ok(said, "that others are left out is said");
	clear();
}

/* Hypervisors mask events, which open and run all the same. */
static void test_masked(uint64_t instructions)
{
	const struct cp_report *report;
	struct cp_thread_item *thread;
	bool said = false;

	clear();
	begin(CP_ENGINE_PERF, 100);
	thread = make_thread(&make, 100, CP_THREAD_ENDED, "t");
	region(thread, NULL, NULL, 1, instructions, 0);
	make_write(&make, directory, "100-0.rec");
	report = build();
	for (size_t i = 0; i < report->nwarnings; i++)
		said |= strstr(report->warnings[i], "l1d_misses stayed 0 over") != NULL;
	is_int(said, instructions >= 1000000,
		"no misses at all in %lu instructions: said to be suspicious or not",
		(unsigned long)instructions);
}

static void test_lost_thread(void)
{
	const struct cp_report *report;
	struct cp_thread_item *lost;

	begin(CP_ENGINE_PERF, 100);
	make_thread_of(100, 1, false);
	lost = make_thread(&make, 101, CP_THREAD_LOST, "t");
	lost->reason = make_string(&make, "too many open files", 19);
	make_write(&make, directory, "100-0.rec");
	report = build();
	is_u64(report->total->counts[0].value, 1000, "the sum is over the others");
	is_string(cp_status_name(report->total->counts[0].status), "estimated",
		"and is not exact");
	is_string(report->total->counts[0].reason,
		"without 1 of 2 threads: too many open files", "and says why");
	ok(report->nwarnings == 1 && strstr(report->warnings[0], "too many open files"),
		"with a warning: %s", report->nwarnings ? report->warnings[0] : "none");
	clear();
}

/* ---- per call ---- */

/* Executions of base + 10, 20, 30, 40, in two threads. */
static void test_per_call(uint64_t base)
{
	const struct cp_count *count;
	double large = (double)base;

	for (int i = 0; i < 2; i++) {
		struct cp_thread_item *thread;
		struct cp_region_item *root, *item;

		if (i == 0)
			begin(CP_ENGINE_SIM, 100);
		thread = make_thread(&make, 100 + i, CP_THREAD_ENDED, "t");
		root = region(thread, NULL, NULL, 1, 2 * base + 1000, 0);
		item = region(thread, root, "r", 2, 2 * base + (i ? 70 : 30), 0);
		cp_region_spreads(item, 2)[0] =
			i ? (struct cp_spread){base + 30, base + 40, 50}
			  : (struct cp_spread){base + 10, base + 20, 50};
	}
	make_write(&make, directory, "100-0.rec");
	count = &child(build()->total, "r")->counts[0];
	ok(count->calls_known, "executions are known");
	is_double_near(count->call_min, large + 10, 0, "least per call");
	is_double_near(count->call_max, large + 40, 0, "most per call");
	is_double_near(count->call_mean, large + 25, 0, "mean per call");
	is_double_near(
		count->call_stddev, 12.909944, 1e-5, "standard deviation of 10 20 30 40");
	clear();
}

/* ---- regions that are short beside what their boundaries cost ---- */

static bool is_flagged(uint32_t engine, uint64_t pair_ns, uint64_t calls, uint64_t ns)
{
	struct cp_thread_item *thread;
	struct cp_region_item *root;
	const struct cp_region *total;
	bool flagged;

	begin(engine, 100);
	make_header(&make)->pair_ns = pair_ns;
	thread = make_thread(&make, 100, CP_THREAD_ENDED, "t");
	root = region(thread, NULL, NULL, 1, 1000, 0);
	region(thread, root, "r", calls, 10, 0)->time_ns = ns;
	root->time_ns = 1;
	make_write(&make, directory, "100-0.rec");
	total = build()->total;
	flagged = child(total, "r")->flags & CP_REGION_SHORT;
	ok(!(total->flags & CP_REGION_SHORT), "the whole run is never short");
	clear();
	return flagged;
}

static void test_short(void)
{
	ok(is_flagged(CP_ENGINE_PERF, 100, 10, 19990), "over 5 %%: short");
	ok(!is_flagged(CP_ENGINE_PERF, 100, 10, 20000), "5 %%: not short");
	ok(!is_flagged(CP_ENGINE_PERF, 0, 10, 10), "the cost is not known: nor short");
	ok(!is_flagged(CP_ENGINE_PERF, 100, 0, 0), "never executed: nor that");
	ok(!is_flagged(CP_ENGINE_SIM, 100, 10, 10), "where time is nobody's, neither");
}

/* ---- how it ended ---- */

static const struct cp_report *open_thread(uint32_t engine, int32_t pid)
{
	struct cp_thread_item *thread;
	struct cp_region_item *root;

	begin(engine, pid);
	make_header(&make)->how = CP_HOW_RUNNING;
	thread = make_thread(&make, pid, CP_THREAD_RUNNING, "t");
	thread->base[0] = 500;
	thread->mirror[0] = 2500;
	root = make_region(&make, thread, NULL, NULL, 0);
	region(thread, root, "done", 1, 300, 0);
	make_region(&make, thread, root, "open", 0);
	make_write(&make, directory, "1-0.rec");
	return build();
}

static void test_unseen(void)
{
	static const char not_seen[] =
		"the process was not seen to end: one that is killed does not tell, nor "
		"one that makes the exit system call itself, as Go programs do";
	pid_t pid = fork();
	const struct cp_report *report;

	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	report = open_thread(CP_ENGINE_SIM, pid);
	is_string(
		report->processes[0].how, "unknown", "what ended a process is not known");
	is_u64(report->total->counts[0].value, 2000,
		"sim: the mirror has the root's counts");
	is_u64(report->total->counts[0].exclusive, 1700, "sim: without what was nested");
	is_string(child(report->total, "open")->counts[0].reason,
		"no execution of it had ended", "a region that was open has no value");
	is_u64(child(report->total, "done")->counts[0].value, 300,
		"one that had ended has");
	clear();
	report = open_thread(CP_ENGINE_PERF, pid);
	is_string(report->total->counts[0].reason, not_seen,
		"perf: the root's counts died with it");
	is_u64(child(report->total, "done")->counts[0].value, 300,
		"perf: the regions' did not");
	clear();
	report = open_thread(CP_ENGINE_SIM, getpid());
	is_string(report->processes[0].how, "running", "we are running");
	clear();
	begin(CP_ENGINE_SIM, getpid());
	make_header(&make)->how = CP_HOW_RUNNING;
	make_header(&make)->realtime_ns = 1000000000;
	make_write(&make, directory, "1-0.rec");
	is_string(build()->processes[0].how, "unknown",
		"our pid was another process's before");
	clear();
	begin(CP_ENGINE_SIM, getpid());
	make_header(&make)->how = CP_HOW_RUNNING;
	make_text(&make, "host", "some-other-host.example");
	make_write(&make, directory, "1-0.rec");
	is_string(build()->processes[0].how, "unknown",
		"another host's processes are unknown");
	clear();
}

/* ---- many records ---- */

static void test_images(void)
{
	const struct cp_report *report;

	for (uint32_t image = 0; image < 2; image++) {
		begin(CP_ENGINE_SIM, 100);
		make_header(&make)->image = image;
		make_header(&make)->realtime_ns = 10 - image; /* order is by time first */
		make_header(&make)->how = image ? CP_HOW_EXIT : CP_HOW_EXEC;
		make_text(&make, "exe", image ? "/bin/second" : "/bin/first");
		make_write(&make, directory, image ? "100-1.rec" : "100-0.rec");
	}
	make_write(&make, directory, "ignored.txt");
	report = build();
	is_int((long long)report->nprocesses, 2, "each image is a process of the report");
	is_string(report->processes[0].exe, "/bin/second", "in the order of their start");
	is_string(report->processes[1].how, "exec", "exec is how the first ended");
	clear();
}

static void test_nothing(void)
{
	char error[400];
	int fd;

	ok(!cp_report_build(&arena, paths, 1, error, sizeof(error)),
		"an empty directory: %s", error);
	ok(strstr(error, directory) != NULL, "is named");
	fd = openat(AT_FDCWD, "/dev/null", O_RDONLY);
	close(fd);
	begin(CP_ENGINE_SIM, 100);
	make_write(&make, directory, "100-0.rec");
	make_header(&make)->magic[0] = 'x';
	make_write(&make, directory, "101-0.rec");
	ok(build()->nwarnings == 1 && strstr(build()->warnings[0], "101-0.rec"),
		"a foreign file among records is a warning: %s", build()->warnings[0]);
	clear();
}

int main(void)
{
	if (!mkdtemp(directory))
		bail("no /tmp");
	plan_lazy();
	test_sums(CP_ENGINE_SIM, "sim");
	test_sums(CP_ENGINE_PERF, "perf");
	test_scaling();
	test_unavailable();
	test_unproven();
	test_negative();
	test_masked(2000000);
	test_masked(1000);
	test_lost_thread();
	test_short();
	test_per_call(0);
	test_per_call(1000000000000000);
	test_unseen();
	test_images();
	test_many();
	test_nothing();
	rmdir(directory);
	return 0;
}
