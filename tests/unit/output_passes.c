/* SPDX-License-Identifier: MIT
 *
 * Several runs that shared the events, in one report.
 */
#include "output/report/report.h"
#include "tests/tap/tap.h"
#include "tests/unit/output_records.h"

static struct make make;
static struct cp_arena arena = {.give_up = tap_no_memory};

/* A run that counted instructions and one of two other events. */
static struct cp_thread_item *begin(uint32_t pass)
{
	static const char *const elsewhere[] = {
		"counted in pass 1 of 2", "counted in pass 2 of 2"};

	make_begin(&make, CP_ENGINE_PERF, 100 + (int)pass);
	make_header(&make)->pass = pass;
	make_header(&make)->npasses = pass ? 2 : 0;
	make_text(&make, "why", "asked for");
	make_text(&make, "group",
		"@group g\n@need l1d_misses l1d_accesses\n"
		"ratio [ratio] = l1d_misses / l1d_accesses\n");
	make_counter(&make, "i", 0, 0);
	make_counter(&make, "e", 0, 1);
	make_quantity(&make, "l1d_misses", pass == 2 ? elsewhere[0] : NULL,
		pass == 2 ? NULL : (int[]){2, 0});
	make_quantity(&make, "l1d_accesses", pass == 1 ? elsewhere[1] : NULL,
		pass == 1 ? NULL : (int[]){2, 0});
	make_quantity(&make, "instructions", NULL, (int[]){1, 0});
	return make_thread(&make, 7, CP_THREAD_ENDED, "main");
}

static struct cp_region_item *region(struct cp_thread_item *thread,
	struct cp_region_item *parent, const char *name, uint64_t calls,
	uint64_t instructions, uint64_t events)
{
	struct cp_region_item *item = make_region(&make, thread, parent, name, calls);

	make_sum(item, 0)->inclusive = instructions;
	make_sum(item, 1)->inclusive = events;
	for (uint32_t g = 0; g < 2; g++)
		make_times(&make, item, g)->enabled =
			make_times(&make, item, g)->running = 1000;
	return item;
}

static const struct cp_report *build(const char *directory)
{
	char error[400] = "";
	const struct cp_report *report =
		cp_report_build(&arena, &directory, 1, error, sizeof(error));

	if (!report)
		bail("no report: %s", error);
	return report;
}

static bool warns(const struct cp_report *report, const char *text)
{
	for (size_t i = 0; i < report->nwarnings; i++)
		if (strstr(report->warnings[i], text))
			return true;
	return false;
}

static const struct cp_count *count_of(
	const struct cp_report *report, const struct cp_region *in, const char *name)
{
	return &in->counts[cp_report_quantity(report, name)];
}

/* The second run executes "same" as the first did, "more" more often, "other" with
 * more instructions, and is the only one that has "new". */
static void test_runs(const char *directory, uint64_t instructions)
{
	struct cp_thread_item *thread = begin(1);
	struct cp_region_item *root = region(thread, NULL, NULL, 1, 1000000, 50);
	const struct cp_report *report;
	const struct cp_region *same, *more, *other;

	region(thread, root, "same", 5, 1000, 10);
	region(thread, root, "more", 5, 1000, 10);
	region(thread, root, "other", 5, 1000, 10);
	make_text(&make, "warning", "of both");
	make_write(&make, directory, "101-0.rec");
	thread = begin(2);
	root = region(thread, NULL, NULL, 1, instructions, 500);
	region(thread, root, "more", 6, 1200, 60);
	region(thread, root, "same", 5, 1005, 40);
	region(thread, root, "other", 5, 1011, 20);
	region(thread, root, "new", 1, 5, 5);
	make_text(&make, "warning", "of both");
	make_text(&make, "warning", "of one");
	make_write(&make, directory, "102-0.rec");

	report = build(directory);
	same = report->total->child;
	more = same->next;
	other = more->next;
	is_u64(report->nprocesses, 1, "the processes are those of the first run");
	is_u64(same->calls, 5, "executions are not added up");
	is_u64(count_of(report, same, "l1d_misses")->value, 10, "an event of the first");
	is_u64(count_of(report, same, "l1d_accesses")->value, 40,
		"an event of the second");
	is_int(count_of(report, same, "l1d_accesses")->status, CP_EXACT,
		"as it was counted");
	is_u64(count_of(report, same, "instructions")->value, 1000,
		"what both counted is the first's");
	is_u64(report->nmetrics, 1, "there is a metric");
	is_int(same->metrics[0].value.status, CP_EXACT, "of both runs");
	is_double_near(same->metrics[0].value.value, 0.25, 1e-9, "is right");
	is_int(count_of(report, more, "l1d_accesses")->status, CP_ESTIMATED,
		"executed more often in the second: estimated");
	is_string(count_of(report, more, "l1d_accesses")->reason,
		"counted in pass 2, with 6 executions instead of 5", "and why");
	is_int(count_of(report, more, "l1d_misses")->status, CP_EXACT,
		"the first's is as it was");
	is_int(count_of(report, other, "l1d_accesses")->status, CP_ESTIMATED,
		"with more instructions: estimated, too");
	is_string(count_of(report, other, "l1d_accesses")->reason,
		"counted in pass 2, with 1011 instructions instead of 1000", "and why");
	is_u64(count_of(report, same, "l1d_misses")->over.nthreads, 1,
		"the first's threads have their extremes");
	is_u64(count_of(report, same, "l1d_accesses")->over.nthreads, 0,
		"those of the second are nobody here");
	ok(warns(report, "of both") && !warns(report, "in pass 2: of both"),
		"what both warn of is said once");
	ok(warns(report, "in pass 2: of one"), "and of what else the second did");
	ok(!other->next, "what only the second has is left out");
	ok(strstr(report->why, "shared by 2 runs") != NULL, "the report says so: %s",
		report->why);
	is_int(warns(report, "pass 2 did not do the same"), instructions != 1000000,
		"%lu instructions instead of 1000000", (unsigned long)instructions);
	cp_arena_free(&arena);
}

static void test_no_common(const char *directory)
{
	struct cp_thread_item *thread = begin(1);
	const struct cp_report *report;

	make_times(&make, region(thread, NULL, NULL, 1, 0, 50), 0)->running = 0;
	make_write(&make, directory, "101-0.rec");
	report = build(directory);
	ok(warns(report, "whether they did the same is not known"),
		"without instructions nobody knows whether the runs did the same");
	cp_arena_free(&arena);
}

/* Two runs that each counted everything are added up, as ever. */
static void test_whole_runs(const char *directory)
{
	const struct cp_report *report;

	region(begin(0), NULL, NULL, 1, 10, 20);
	make_write(&make, directory, "101-0.rec");
	region(begin(0), NULL, NULL, 1, 10, 20);
	make_write(&make, directory, "102-0.rec");
	report = build(directory);
	is_u64(report->nprocesses, 2, "runs without passes: both are there");
	is_u64(count_of(report, report->total, "l1d_misses")->value, 40, "and their sum");
	cp_arena_free(&arena);
}

int main(void)
{
	char directory[] = "/tmp/output_passes_XXXXXX", command[100];

	plan_lazy();
	if (!mkdtemp(directory))
		bail("no directory");
	test_runs(directory, 1000000);
	test_runs(directory, 1200000);
	test_no_common(directory);
	test_whole_runs(directory);
	snprintf(command, sizeof(command), "rm -r %s", directory);
	return system(command) != 0;
}
