/* SPDX-License-Identifier: MIT
 *
 * A count of the simulated PMU that is less than when its thread's root began: it was not
 * written, or takes back what was expected too much, as only some records may.
 */
#include "output/report/report.h"
#include "tests/tap/tap.h"
#include "tests/unit/output_records.h"

static struct make make;
static struct cp_arena arena = {.give_up = tap_no_memory};
static char directory[] = "/tmp/output_mirror_XXXXXX";

/* The root has 500 by then, and a region in it 300. */
static const struct cp_count *count_of(uint64_t mirror, unsigned flags)
{
	const char *const paths[] = {directory};
	const struct cp_report *report;
	struct cp_thread_item *thread;
	struct cp_region_item *root, *inner;
	char error[200];

	make_begin(&make, CP_ENGINE_SIM, 1);
	make_header(&make)->flags |= flags;
	make_counter(&make, "i", 0, 0);
	make_quantity(&make, "instructions", NULL, (int[]){1, 0});
	thread = make_thread(&make, 1, CP_THREAD_ENDED, "t");
	thread->base[0] = 500;
	thread->mirror[0] = mirror;
	root = make_region(&make, thread, NULL, NULL, 1);
	inner = make_region(&make, thread, root, "inner", 1);
	make_sum(inner, 0)->inclusive = make_sum(root, 0)->children = 300;
	make_write(&make, directory, "1-0.rec");
	report = cp_report_build(&arena, paths, 1, error, sizeof(error));
	if (!report)
		bail("no report: %s", error);
	return &report->total->counts[0];
}

int main(void)
{
	static const char gap[] = "the simulator had not written the thread's counts";
	char command[100];

	if (!mkdtemp(directory))
		bail("no directory");
	plan(4);
	is_u64(count_of(2500, 0)->value, 2000, "what was counted since");
	is_string(count_of(400, 0)->reason, gap, "a count that fell is none");
	is_u64(count_of(400, CP_RECORD_CORRECTED)->value, 300,
		"one that takes back what was expected is what its regions have");
	is_string(count_of(0, CP_RECORD_CORRECTED)->reason, gap,
		"but not one that was never written");
	cp_arena_free(&arena);
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	return system(command) != 0;
}
