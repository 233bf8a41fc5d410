/* SPDX-License-Identifier: MIT
 * What shadows estimate: from windows to a process, and from processes to a run.
 */
#include <math.h>

#include "output/report/job_pack.h"
#include "output/report/report_parts.h"
#include "output_records.h"
#include "preload/shadow/estimate.c"
#include "tests/tap/tap.h"

static struct make make;
static struct cp_arena arena = {.give_up = tap_no_memory};

/* ---- windows ---- */

#define MOST 200
static struct cp_shadow_window window[MOST];

static double total_of(unsigned n, double cpu_ns, double *error)
{
	const struct cp_shadow_windows windows = {window, n, n + 10};
	struct cp_shadow_estimate e =
		cp_shadow_total(&windows, CP_SHADOW_l1d_misses, cpu_ns);

	*error = e.error;
	return e.value;
}

static void put_window(unsigned i, uint64_t at, uint64_t ns, uint64_t count)
{
	window[i] = (struct cp_shadow_window){.at_ns = at, .cpu_ns = ns};
	window[i].count[CP_SHADOW_l1d_misses] = count;
}

/* The first half of the time has 2 misses a ns, and ten windows; the second has 6, and
 * a hundred. */
static void check_weights(void)
{
	double error;

	for (unsigned i = 0; i < 10; i++)
		put_window(i, 50 + 100 * i, 10, 20);
	for (unsigned i = 0; i < 100; i++)
		put_window(10 + i, 1005 + 10 * i, 5, 30);
	is_double_near(total_of(110, 2000, &error), 8000, 100,
		"windows that are closer together weigh less");
	ok(error > 100 && error < 2000, "the interval says that rates differ");
	for (unsigned i = 0; i < 110; i++)
		put_window(i, 18 * i, 5, 0);
	is_double_near(total_of(110, 2000, &error), 0, 0, "nothing was seen");
	is_double_near(error, 3 * 2000 / 550., 1e-9, "of three one might have been");
	for (unsigned i = 0; i < 110; i++) {
		put_window(i, 18 * i, 5, 20);
		window[i].unknown[CP_SHADOW_l1d_misses] = 10;
	}
	is_double_near(total_of(110, 2000, &error), 6000, 1e-6, "unknown: half of them");
	is_double_near(error, 2000, 1e-6, "and the interval has all");
	for (unsigned i = 0; i < 110; i++) {
		put_window(i, 18 * i, 5, 20);
		window[i].copied_ns = 10;
	}
	is_double_near(total_of(110, 2000, &error), 8000, 1e-6, "copies are beside it");
	is_double_near(
		error, 8000 * 0.2 * 2, 1e-6, "and may have taken a fifth more or less");
}

static void check_held(void)
{
	double error;

	for (unsigned i = 0; i < 110; i++) {
		put_window(i, 18 * i, 5, 20);
		window[i].held[CP_SHADOW_l1d_misses] = i;
	}
	is_double_near(total_of(110, 2000, &error), 8000, 1e-6, "held: not counted");
	is_double_near(error, 109, 1e-6, "but each was missed once");
}

/* Slices have an instruction a ns; after each fork ten took 12 ns. */
static void check_slowed(void)
{
	double error;

	for (unsigned i = 0; i < 110; i++) {
		put_window(i, 18 * i, 5, 20);
		window[i].count[CP_SHADOW_instructions] = 5;
		window[i].settling = 10;
		window[i].settling_ns = 12;
	}
	is_double_near(total_of(110, 2000, &error), 4 * (2000 - 2 * 120), 1e-6,
		"what a fork slows down is not the program's, nor if its window is lost");
	is_double_near(error, 0, 1e-6, "and is known where all are the same");
	for (unsigned i = 0; i < 110; i++)
		window[i].settling_ns += i % 2 ? 1 : -1;
	total_of(110, 2000, &error);
	is_double_near(
		error, 4 * 120 * 1.982 / sqrt(109), 0.1, "else the interval has it");
}

static uint64_t drawn = 1;

static double draw(void)
{
	drawn = drawn * 6364136223846793005u + 1442695040888963407u;
	return (double)(drawn >> 11) / 0x1p53;
}

/* A program of phases whose rates differ by as much as ten times, and windows that
 * hold each other up in the slow ones. */
static bool holds(double phase)
{
	double rate[MOST], truth = 0, error, value, at = 0;
	unsigned n = 0;

	for (unsigned i = 0; i < MOST; i++) {
		rate[i] = 1 + (i % 3 ? 0 : 9 * phase * draw());
		truth += 1e6 * rate[i];
	}
	for (; n < MOST; n++) {
		at += 1e6 * (1 + 3 * draw());
		if (at >= 1e6 * MOST)
			break;
		put_window(n, (uint64_t)at, 100000,
			(uint64_t)(1e5 * rate[(unsigned)(at / 1e6)] *
				   (0.9 + 0.2 * draw())));
		at += 1e6 * rate[(unsigned)(at / 1e6)] * 0.2;
	}
	value = total_of(n, 1e6 * MOST, &error);
	return fabs(value - truth) <= error;
}

static void check_coverage(void)
{
	for (int phase = 0; phase <= 1; phase++) {
		int inside = 0;

		for (int i = 0; i < 1000; i++)
			inside += holds(phase);
		ok(inside >= 930, "%s: the truth is in %d of 1000 intervals",
			phase ? "rates that differ" : "rates alike", inside);
	}
}

/* ---- processes ---- */

static const struct cp_shadowed known = {.with = 1,
	.with_ns = 1e9,
	.seen_ns = 1e8,
	.value = 1000,
	.square = 900,
	.low = 990,
	.high = 1010};

static void make_one(int pid, struct cp_shadowed shadowed, bool nested)
{
	struct cp_shadowed_item *item;
	struct cp_thread_item *thread;
	struct cp_region_item *root;

	make_begin(&make, CP_ENGINE_PERF, pid);
	make_header(&make)->flags = pid == 1000 ? CP_RECORD_ROOT : 0;
	make_header(&make)->rank = pid - 1000;
	make_header(&make)->nranks = 2;
	make_text(&make, "exe", "/bin/app");
	make_counter(&make, "x", 0, 0);
	make_quantity(&make, "page_faults", NULL, (int[]){1, 0});
	make_quantity(&make, "l1d_misses", NULL, NULL)->available = CP_QUANTITY_SHADOWED;
	item = make_item(&make, CP_ITEM_SHADOWED, sizeof(*item) + 2 * sizeof(shadowed));
	item->of[1] = shadowed;
	thread = make_thread(&make, pid, CP_THREAD_ENDED, "app");
	root = make_region(&make, thread, NULL, NULL, 1);
	*make_times(&make, root, 0) = (struct cp_times){1000, 1000};
	if (nested)
		make_region(&make, thread, root, "inside", 1);
}

static void add(struct cp_job *job, bool sent)
{
	struct cp_job *mine = cp_job_new(&arena);
	char error[200];
	size_t size;
	const void *bytes;

	if (!cp_job_add_record(sent ? mine : job, &make, make_header(&make)->tail, error,
		    sizeof(error)))
		bail("%s", error);
	if (!sent)
		return;
	bytes = cp_job_pack(mine, &size);
	cp_job_unpack(job, bytes, size);
}

static const struct cp_count *count_of(const struct cp_report *report)
{
	return &report->total->counts[cp_report_quantity(report, "l1d_misses")];
}

static const struct cp_count *sum_with(struct cp_shadowed other, bool sent)
{
	struct cp_job *job = cp_job_new(&arena);

	make_one(1000, known, false);
	add(job, false);
	make_one(1001, other, false);
	add(job, sent);
	return count_of(cp_job_finish(job));
}

static void check_sum(bool sent)
{
	const char *what = sent ? "sent" : "one by one";
	struct cp_shadowed other = known;
	const struct cp_count *count;

	other.value = 3000;
	other.square = 1600;
	count = sum_with(other, sent);
	is_u64(count->value, 4000, "%s: the sum of both", what);
	is_int(count->status, CP_ESTIMATED, "%s: is estimated", what);
	is_double_near(count->error, 50, 1e-9, "%s: with the root of the squares", what);
	is_double_near(count->coverage, 0.1, 1e-9, "%s: and the time in windows", what);
}

static void check_without(void)
{
	struct cp_shadowed few = {
		.why = CP_SHADOWED_FEW, .without = 1, .without_ns = 1e9 / 99};
	struct cp_shadowed unknown = known;
	const struct cp_count *count = sum_with(few, true);

	is_u64(count->value, 1010,
		"a process that had a hundredth of the time is like the other");
	is_double_near(count->error, sqrt(900 + 1000 / 99. * (1000 / 99.)), 1e-9,
		"or had nothing, or twice as much");
	ok(strstr(count->reason, "1 of 2 processes, with 1 % of the CPU time"),
		"which is said: %s", count->reason);
	few.without_ns = 1e9;
	count = sum_with(few, false);
	is_int(count->status, CP_UNAVAILABLE, "one that had half of it: no value");
	ok(strstr(count->reason, "not known of 1 of 2 processes: fewer than 10 windows"),
		"and why: %s", count->reason);
	few.without_ns = 0;
	is_int(sum_with(few, false)->status, CP_UNAVAILABLE, "nor where that is unknown");
	unknown = (struct cp_shadowed){.why = CP_SHADOWED_UNKNOWN,
		.without = 1,
		.without_ns = 1e9,
		.low = 10,
		.high = 500};
	ok(strstr(sum_with(unknown, true)->reason, "between 1000 and 1510: "),
		"what caches held: both ends");
}

static void check_regions(void)
{
	struct cp_job *job = cp_job_new(&arena);
	const struct cp_report *report;
	const struct cp_region *inside;

	make_one(1000, known, true);
	add(job, false);
	report = cp_job_finish(job);
	inside = report->total->child;
	is_int(inside->counts[cp_report_quantity(report, "l1d_misses")].status,
		CP_UNAVAILABLE, "a region has no part of it");
	is_int(count_of(report)->exclusive_status, CP_UNAVAILABLE,
		"and what is outside of it is not known");
	is_u64(count_of(report)->value, 1000, "of the whole it is");
}

int main(void)
{
	struct cp_escape out_of_memory;

	plan_lazy();
	if (CP_ESCAPE_SET(out_of_memory) == 0) {
		arena.out_of_memory = &out_of_memory;
		check_weights();
		check_slowed();
		check_held();
		check_coverage();
		check_sum(false);
		check_sum(true);
		check_without();
		check_regions();
	}
	return 0;
}
