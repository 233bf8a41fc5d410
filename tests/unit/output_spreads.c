/* SPDX-License-Identifier: MIT
 *
 * Intervals of cycles that are modelled of samples: by how much units differ from what
 * was expected of them, and by how many there are.  Nobody is shown the variances.
 */
#include <math.h>

#include "base/machine/machine.h"
#include "output/report/report.h"
#include "tests/tap/tap.h"
#include "tests/unit/output_records.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
#define OF_ALL 400.0   /* standard deviation of all cycles, */
#define OF_MISSES 80.0 /* and of those of misses */
#define BRANCHES 1000
#define MISSES 50000

static struct make make;
static struct cp_arena arena = {.give_up = tap_no_memory};
static char directory[] = "/tmp/output_spreads_XXXXXX";

static const char *const names[] = {"cycles", "time_issue", "time_branch", "time_memory",
	"miss_time_cycles", "time_l2", "time_l3", "time_tlb", "time_bandwidth",
	"time_store", "timed_instructions", "untimed_instructions", "time_variance",
	"miss_time_variance"};

#define MODELLED 10 /* of them */

static void make_quantities(void)
{
	for (size_t i = 0; i < COUNT(names); i++) {
		bool modelled = i < MODELLED;
		struct cp_quantity_item *quantity;

		make_counter(&make, names[i], 0, (uint32_t)i);
		quantity = make_quantity(&make, names[i],
			modelled ? "out-of-order timing model of machine x" : NULL,
			(int[]){(int)i + 1, 0});
		quantity->available =
			modelled ? CP_QUANTITY_ESTIMATED : CP_QUANTITY_AVAILABLE;
	}
}

/* The region of a run of which so many units were modelled. */
static const struct cp_region *run_of(unsigned units, const struct cp_report **report)
{
	const uint64_t counts[COUNT(names)] = {1000000, 1000000 - BRANCHES - MISSES,
		BRANCHES, MISSES, MISSES, 0, 0, 0, 0, 0, units * CP_TIME_UNIT,
		units * (uint64_t)(CP_TIME_PERIOD - CP_TIME_UNIT),
		(uint64_t)(OF_ALL * OF_ALL / 256),
		(uint64_t)(OF_MISSES * OF_MISSES / 256)};
	const char *const paths[] = {directory};
	struct cp_thread_item *thread;
	struct cp_region_item *root;
	char error[400] = "";

	make_begin(&make, CP_ENGINE_SIM, 100);
	make_quantities();
	thread = make_thread(&make, 100, CP_THREAD_ENDED, "t");
	root = make_region(&make, thread, NULL, NULL, 1);
	for (uint32_t i = 0; i < COUNT(names); i++)
		thread->mirror[i] = make_sum(root, i)->inclusive = counts[i];
	root->time_ns = 1000000;
	make_write(&make, directory, "100-0.rec");
	*report = cp_report_build(&arena, paths, 1, error, sizeof(error));
	if (!*report)
		bail("no report: %s", error);
	return (*report)->total;
}

static double error_of(const struct cp_report *report, const char *name)
{
	int q = cp_report_quantity(report, name);

	return q < 0 ? -2 : report->total->counts[q].error;
}

/* Student's t of two sides: by tables. */
static void test_units(void)
{
	static const struct {
		unsigned units;
		double t;
	} rows[] = {{2, 12.706}, {3, 4.303}, {5, 2.776}, {11, 2.228}, {31, 2.042},
		{100001, 1.960}};
	const struct cp_report *report;
	double branches = 0.2 * BRANCHES, other = 0.01 * 1000000;

	for (size_t i = 0; i < COUNT(rows); i++) {
		double all = rows[i].t * OF_ALL, misses = rows[i].t * OF_MISSES;

		run_of(rows[i].units, &report);
		is_double_near(error_of(report, "time_issue"), all, 0.003 * all,
			"%u units: so many deviations", rows[i].units);
		is_double_near(error_of(report, "miss_time_cycles"),
			sqrt(misses * misses + branches * branches + other * other),
			0.003 * other, "and of misses, with those behind branches");
		cp_arena_free(&arena);
	}
}

static void test_writers(void)
{
	const struct cp_report *report;

	run_of(5, &report);
	for (size_t i = 0; i < report->nquantities; i++)
		is_int(cp_report_shows(report, i),
			strstr(report->quantities[i], "variance") == NULL, "%s: shown?",
			report->quantities[i]);
}

int main(void)
{
	char command[100];

	plan_lazy();
	if (!mkdtemp(directory))
		bail("no directory");
	test_units();
	test_writers();
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	is_int(system(command), 0, "cleared");
	return 0;
}
