/* SPDX-License-Identifier: MIT
 *
 * The perf engine on a kernel that fails: every errno that perf_event_open has,
 * readings that fail or end early, groups that run part of the time or never,
 * registers that wrap, pages whose index goes to 0.  What then stands in the
 * report is compared with what really happened.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "output/report/report.h"
#include "base/engine/engine.h"
#include "regions/rundir.h"
#include "regions/tree.h"
#include "tests/tap/tap.h"
#include "tests/unit/engine_record.h"
#include "tests/unit/engine_world.h"

#define SEEDS tap_repeats(200)
#define STEPS 150
#define NAMES 3
#define DEPTH 4

static struct cp_event_set set;

static void make_set(unsigned ncounters)
{
	memset(&set, 0, sizeof(set));
	set.ncounters = ncounters;
	for (unsigned i = 0; i < ncounters; i++) {
		set.counters[i].attr.type = PERF_TYPE_RAW;
		set.counters[i].attr.config = i;
	}
	cp_perf_arrange(&set);
	cp_engine_perf.configure(&set);
}

static unsigned open_descriptors(void)
{
	unsigned count = 0;
	DIR *directory = opendir("/proc/self/fd");

	world_collect();
	while (readdir(directory))
		count++;
	closedir(directory);
	return count;
}

/* ---- opening ---- */

/* ERRORS of perf_event_open(2). */
static const int open_errors[] = {E2BIG, EACCES, EBADF, EBUSY, EFAULT, EINTR, EINVAL,
	EMFILE, ENODEV, ENOENT, ENOSPC, ENOSYS, EOPNOTSUPP, EOVERFLOW, EPERM, ESRCH};

/* Is the failure one that leaves a group out, while another one counts? */
static bool left_out(int error, unsigned at)
{
	return (error == EACCES || error == EPERM) && set.counters[at].group > 0;
}

/* The groups that were opened count, the others never run. */
static unsigned wrong_if_left_out(struct cp_thread_counters *counters)
{
	struct cp_reading reading;
	unsigned wrong = 0;

	wrong += cp_engine_perf.read(counters, true, &reading) != 0 || reading.failed;
	wrong += counters->refused[0] || !counters->refused[set.ncounters - 1];
	wrong += reading.group[1].enabled == 0 || reading.group[1].running != 0;
	cp_engine_perf.thread_close(counters);
	return wrong;
}

/* On the first to the last of seven opens, of a thread and of a probe. */
static void test_open(int error)
{
	unsigned before = open_descriptors(), wrong = 0;
	struct cp_thread_counters counters;
	struct cp_reading reading;
	struct cp_why why;

	for (unsigned at = 0; at < 7; at++) {
		world_reset();
		make_set(7);
		memset(&counters, 0, sizeof(counters));
		why.text[0] = '\0';
		world.open_error = -error;
		world.opens_left = at;
		if (left_out(error, at)) {
			wrong += cp_engine_perf.thread_open(&counters, 0, &why) != 0;
			wrong += wrong_if_left_out(&counters);
			continue;
		}
		wrong += cp_engine_perf.thread_open(&counters, 0, &why) != -error;
		wrong += strlen(why.text) < 20 || strchr(why.text, '\n');
		wrong += counters.open;
		wrong += cp_engine_perf.read(&counters, true, &reading) != -EBADF ||
			 !reading.failed;
	}
	is_u64(wrong, 0, "errno %d: the thread is not counted, and why is said: %s",
		error, why.text);
	is_u64(open_descriptors(), before, "errno %d: nothing is left open", error);
	world_reset();
	world.open_error = -error;
	why.text[0] = '\0';
	is_int(cp_perf_probe(&set.counters[0].attr, NULL, &why), -error,
		"errno %d: a probe", error);
	ok(strlen(why.text) >= 20, "errno %d: and why", error);
}

static void test_enable(void)
{
	unsigned before = open_descriptors();
	struct cp_thread_counters counters = {0};
	struct cp_why why = {""};

	world_reset();
	make_set(3);
	world.enable_error = -EIO;
	is_int(cp_engine_perf.thread_open(&counters, 0, &why), -EIO,
		"counters that do not start");
	ok(strstr(why.text, "does not start") != NULL, "are said to: %s", why.text);
	is_u64(open_descriptors(), before, "and are closed");
}

/* Events open and run, and count nothing: a hypervisor's doing. */
static void test_masked(void)
{
	struct cp_why why = {""};

	world_reset();
	ok(!cp_perf_hardware_works(&why), "a PMU that runs and counts nothing is none");
	ok(strstr(why.text, "hypervisor") != NULL, "and why: %s", why.text);
}

static void test_groups(void)
{
	world_reset();
	world.capacity = 4;
	make_set(10);
	is_u64(set.ngroups, 3, "ten events on four counters: three groups");
	world_reset();
	world.capacity = 0;
	make_set(2);
	is_u64(set.ngroups, 2, "no counters at all: each event alone, never to run");
}

/* ---- in a child that a signal handler has forked inside a reading ---- */

/* The kernel does not copy pages of counters: its status. */
static int read_in_child(const struct cp_thread_counters *counters)
{
	struct cp_reading reading;
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		cp_engine_perf.forked_inside(counters);
		_exit(cp_engine_perf.read(counters, true, &reading) == 0 ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	return status;
}

/* Valgrind takes the page for one that the child has, and keeps its address. */
static bool is_under_valgrind(void)
{
	const char *tool = getenv("SANITIZE");

	return tool && strcmp(tool, "memcheck") == 0;
}

static void test_forked_inside(void)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *page = mmap(
		NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct cp_thread_counters counters = {0};
	struct cp_why why;
	void *worlds;

	world_reset();
	world.user_access = true;
	world.width = 48;
	make_set(1);
	is_int(cp_engine_perf.thread_open(&counters, 0, &why), 0, "counters with pages");
	ok(counters.page[0] && counters.user_read[0], "are read in user space");
	worlds = counters.page[0];
	counters.page[0] = page;
	madvise(page, size, MADV_DONTFORK);
	if (is_under_valgrind())
		skip(1, "Valgrind does not know of pages that fork leaves out");
	else
		is_int(read_in_child(&counters), 0, "a child that has no page reads on");
	counters.page[0] = worlds;
	cp_engine_perf.thread_close(&counters);
	munmap(page, size);
}

/* ---- what really happened ---- */

struct path {
	char name[DEPTH * 2 + 2];
	uint64_t truth[WORLD_CONFIGS], own[WORLD_CONFIGS];
	/* As the kernel had it, per counter. */
	uint64_t counted[WORLD_CONFIGS], enabled[WORLD_CONFIGS], running[WORLD_CONFIGS];
	bool faulty;
};

static struct path paths[64];
static unsigned npaths, stack[DEPTH + 1], depth, pauses;
static struct cp_name *names[NAMES];
static struct cp_recording record;
static struct cp_tree tree;
static struct cp_thread_counters counters;
static struct cp_layout layout;
static uint64_t clock_ns;

static unsigned path_of(const char *name)
{
	for (unsigned i = 0; i < npaths; i++)
		if (strcmp(paths[i].name, name) == 0)
			return i;
	memset(&paths[npaths], 0, sizeof(paths[0]));
	snprintf(paths[npaths].name, sizeof(paths[0].name), "%s", name);
	return npaths++;
}

/* A thread's events are the last that were opened, in the set's order. */
static const struct world_event *event_of(unsigned counter)
{
	return &world.event[world.nevents - set.ncounters + counter];
}

static void add_truth(
	struct path *path, const uint64_t happened[], uint64_t ns, bool inner)
{
	for (unsigned i = 0; i < set.ncounters; i++) {
		const struct world_event *event = event_of(i);
		bool on = world.event[event->leader].on_pmu;

		path->truth[i] += happened[event->config];
		path->own[i] += inner ? happened[event->config] : 0;
		path->counted[i] += on ? happened[event->config] : 0;
		path->enabled[i] += ns;
		path->running[i] += on ? ns : 0;
	}
}

static void work(void)
{
	uint64_t happened[WORLD_CONFIGS], ns = 1000 + world_random(5000000);

	for (unsigned i = 0; i < WORLD_CONFIGS; i++)
		happened[i] = world_random(4) ? world_random(100000) : 0;
	if (world_random(3) == 0)
		world_schedule();
	add_truth(&paths[0], happened, ns, depth == 0 || pauses > 0);
	for (unsigned i = 1; i <= depth && !pauses; i++)
		add_truth(&paths[stack[i]], happened, ns, i == depth);
	world_advance(ns, happened);
	clock_ns += ns;
}

/* As the markers do it. */
static struct cp_reading *read_now(struct cp_reading *reading)
{
	uint64_t ns;
	const struct cp_reading *frozen = cp_tree_frozen(&tree, &ns);

	if (frozen)
		*reading = *frozen;
	else
		cp_engine_perf.read(&counters, true, reading);
	return reading;
}

static void mark_faulty(const struct cp_reading *reading)
{
	for (unsigned i = 0; reading->failed && i <= depth; i++)
		paths[stack[i]].faulty = true;
}

static void begin(void)
{
	unsigned name = world_random(NAMES);
	char child[DEPTH * 2 + 2];
	struct cp_reading *start;

	if (depth == DEPTH)
		return;
	snprintf(child, sizeof(child), "%.*s/%c", DEPTH * 2 - 2, paths[stack[depth]].name,
		(char)('a' + name));
	stack[++depth] = path_of(child);
	start = cp_tree_begin_tagged(&tree, names[name], 0);
	mark_faulty(read_now(start));
	cp_tree_begin_time(&tree, clock_ns);
}

static void end(void)
{
	struct cp_reading reading;
	const char *name = paths[stack[depth]].name;

	if (depth == 0)
		return;
	mark_faulty(read_now(&reading));
	cp_tree_end_tagged(
		&tree, names[name[strlen(name) - 1] - 'a'], 0, &reading, clock_ns);
	depth--;
}

/* While paused, failures meet nobody: there are no readings. */
static void pause_or_resume(void)
{
	struct cp_reading reading;

	cp_engine_perf.read(&counters, true, &reading);
	if (pauses)
		cp_tree_resume(&tree, &reading, clock_ns);
	else
		cp_tree_pause(&tree, &reading, clock_ns);
	pauses = !pauses;
	mark_faulty(&reading);
}

/* ---- a run ---- */

static void start(const char *directory)
{
	struct cp_reading first;

	layout = engine_create(&record, directory, &set);
	memset(&counters, 0, sizeof(counters));
	first = engine_start(&tree, &counters, &record, &layout, getpid());
	npaths = depth = pauses = 0;
	clock_ns = 0;
	stack[0] = path_of("");
	mark_faulty(&first);
}

static void run_steps(void)
{
	static void (*const actions[])(void) = {
		begin, begin, end, end, work, work, work, work};
	struct cp_reading last;

	for (unsigned step = 0; step < STEPS; step++) {
		if (world_random(40) == 0)
			pause_or_resume();
		else
			actions[world_random(8)]();
	}
	if (pauses)
		pause_or_resume();
	while (depth)
		end();
	last = engine_finish(&tree, &counters, clock_ns);
	mark_faulty(&last);
}

/* ---- the report against the truth ---- */

static unsigned compared, exact, scaled, withheld, estimated;

static double share(const struct path *path, unsigned i)
{
	return path->enabled[i] ? (double)path->running[i] / (double)path->enabled[i] : 0;
}

/* Time passes in readings, too: nothing happens then, but a group may have been
 * off the PMU just there. */
static bool is_near(double got, double want, double part)
{
	return got >= want * (1 - part) - 2 && got <= want * (1 + part) + 2;
}

static bool is_right(const struct path *path, const struct cp_count *count, unsigned i)
{
	double factor = path->running[i] ? 1 / share(path, i) : 0;

	if (path->faulty &&
		(count->status == CP_ESTIMATED || count->status == CP_UNAVAILABLE))
		return count->reason &&
		       (count->coverage < 1 || count->value <= path->truth[i]);
	switch (count->status) {
	case CP_EXACT:
		exact++;
		return (share(path, i) == 1 || !path->enabled[i]) &&
		       count->value == path->truth[i] && count->exclusive == path->own[i];
	case CP_SCALED:
		scaled++;
		return count->error > 0 &&
		       (count->value || path->running[i] > 30e6 ||
			       share(path, i) > 0.99) &&
		       is_near(count->coverage, share(path, i), 0.05) &&
		       is_near((double)count->value, (double)path->counted[i] * factor,
			       0.05);
	case CP_UNAVAILABLE:
		withheld++;
		return count->reason &&
		       (share(path, i) < 1.2 * CP_MIN_COVERAGE ||
			       (!path->counted[i] && path->running[i] < 33e6));
	default:
		return false;
	}
}

static unsigned compare(const struct cp_report *report)
{
	unsigned wrong = 0;

	for (const struct cp_region *region = report->total; region;
		region = cp_region_next(report->total, region)) {
		char name[DEPTH * 2 + 2] = "";
		unsigned at = region->depth * 2;

		for (const struct cp_region *up = region; up->parent; up = up->parent) {
			name[--at] = *up->name.at;
			name[--at] = '/';
		}
		for (unsigned i = 0; i < set.ncounters; i++, compared++) {
			const struct cp_count *count = &region->counts[i];
			const struct path *path = &paths[path_of(name)];

			estimated += count->status == CP_ESTIMATED;
			if (is_right(path, count, i))
				continue;
			if (wrong++ == 0)
				diag("%s q%u: %lu %s (%s), truth %lu, counted %lu, "
				     "running "
				     "%.4f, reported %.4f, faulty %d",
					name, i, (unsigned long)count->value,
					cp_status_name(count->status),
					count->reason ? count->reason : "-",
					(unsigned long)path->truth[i],
					(unsigned long)path->counted[i], share(path, i),
					count->coverage, path->faulty);
		}
	}
	return wrong;
}

static unsigned run(const char *directory)
{
	struct cp_arena arena = {.give_up = tap_no_memory};
	unsigned wrong;

	start(directory);
	run_steps();
	wrong = compare(engine_report(&arena, &record, directory));
	cp_arena_free(&arena);
	return wrong;
}

/* fault: what one reading in twenty has for a result; 1: none. */
static void test_runs(const char *what, unsigned ncounters, int fault, bool user_access)
{
	static const unsigned widths[] = {32, 40, 48, 64};
	unsigned wrong = 0, reads = 0, user_reads = 0, failed = 0,
		 before = open_descriptors();

	compared = exact = scaled = withheld = estimated = 0;
	for (unsigned seed = 0; seed < SEEDS; seed++) {
		char directory[] = "/tmp/engine-faults-XXXXXX";

		srandom(seed);
		world_reset();
		world.width = widths[seed % 4];
		make_set(ncounters);
		if (!mkdtemp(directory))
			bail("no /tmp");
		world.user_access = user_access;
		world.torn = user_access ? 3 : 0;
		world.read_fails = fault == 1 ? 0 : 20;
		world.read_result = fault;
		wrong += run(directory);
		cp_run_remove(directory);
		reads += world.reads;
		user_reads += world.user_reads;
		failed += world.failed_reads;
	}
	is_u64(wrong, 0,
		"%s: no wrong number among %u (%u exact, %u scaled, %u estimated, %u "
		"withheld)",
		what, compared, exact, scaled, estimated, withheld);
	ok(compared > 1000 && exact + scaled > compared / 10, "%s: and there were some",
		what);
	ok(reads > 0 && (estimated > 0) == (failed > 0) &&
			(failed > 0) == (fault != 1 && fault != -EINTR),
		"%s: readings failed as planned (%u of %u), and only then counts are "
		"incomplete",
		what, failed, reads);
	ok((user_reads > 0) == user_access, "%s: %u registers were read in user space",
		what, user_reads);
	is_u64(open_descriptors(), before, "%s: nothing is left open", what);
}

/* ---- what is read together ---- */

/* Page faults, which anybody may count; two events that need rights. */
static void make_software(void)
{
	static const uint64_t events[] = {PERF_COUNT_SW_CONTEXT_SWITCHES,
		PERF_COUNT_SW_PAGE_FAULTS, PERF_COUNT_SW_CPU_MIGRATIONS};

	memset(&set, 0, sizeof(set));
	set.ncounters = 3;
	for (unsigned i = 0; i < 3; i++) {
		set.counters[i].attr.type = PERF_TYPE_SOFTWARE;
		set.counters[i].attr.config = events[i];
		set.counters[i].attr.exclude_kernel = i == 1;
	}
	cp_perf_arrange(&set);
	cp_engine_perf.configure(&set);
}

static void test_software(void)
{
	struct cp_thread_counters thread = {0};
	struct cp_reading reading;
	struct cp_why why;

	world_reset();
	make_software();
	is_u64(set.ngroups, 3, "software events that need rights: left out one by one");
	is_u64(set.counters[0].attr.config, PERF_COUNT_SW_PAGE_FAULTS,
		"and led by one that needs none");
	is_int(cp_engine_perf.thread_open(&thread, 0, &why), 0, "they open");
	world.reads = 0;
	is_int(cp_engine_perf.read(&thread, true, &reading), 0, "and are read");
	is_u64(world.reads, 1, "all with one read(2)");
	ok(reading.group[0].running && reading.group[2].running,
		"with the times of each");
	cp_engine_perf.thread_close(&thread);
}

static void test_software_refused(void)
{
	struct cp_thread_counters thread = {0};
	struct cp_reading reading;
	struct cp_why why;

	world_reset();
	make_software();
	world.open_error = -EACCES;
	world.opens_left = 1;
	is_int(cp_engine_perf.thread_open(&thread, 0, &why), 0,
		"without these rights the others open");
	is_int(cp_engine_perf.read(&thread, true, &reading), 0, "and are read");
	ok(!thread.refused[0] && thread.refused[1] && thread.refused[2],
		"those that need them are not");
	ok(reading.group[0].running && !reading.group[2].running,
		"which their times tell");
	cp_engine_perf.thread_close(&thread);
	world_reset();
}

int main(void)
{
	static const char *const letters[NAMES] = {"a", "b", "c"};

	plan_lazy();
	for (unsigned i = 0; i < NAMES; i++)
		names[i] = cp_name_intern(letters[i], 1);
	for (size_t i = 0; i < sizeof(open_errors) / sizeof(open_errors[0]); i++)
		test_open(open_errors[i]);
	test_enable();
	test_masked();
	test_groups();
	test_software();
	test_software_refused();
	test_forked_inside();
	test_runs("all fit", 4, 1, false);
	test_runs("multiplexed", 9, 1, false);
	test_runs("interrupted readings", 4, -EINTR, false);
	test_runs("EOF, as of a pinned group", 4, 0, false);
	test_runs("EBADF", 9, -EBADF, false);
	test_runs("EIO", 4, -EIO, false);
	test_runs("ENOSPC", 9, -ENOSPC, false);
	test_runs("a short reading", 4, 24, false);
	test_runs("user space", 4, 1, true);
	test_runs("user space, multiplexed", 9, 1, true);
	test_runs("user space, failing", 9, -EIO, true);
	return 0;
}
