/* SPDX-License-Identifier: MIT
 * Ranks that shared the events: what half of them counted, for all.
 */
#include <math.h>

#include "output_parcels.h"
#include "tests/tap/tap.h"

static struct make make;
static struct cp_arena arena = {.give_up = tap_no_memory};
static struct cp_escape out_of_memory;

/* The ranks' work. */
static struct {
	int ranks;
	int odd_more; /* instructions more in odd ranks, in percent */
} job_shape;

static uint64_t misses_of(int rank)
{
	return 1000 + (uint64_t)(rank * 7 % 10);
}

static uint64_t instructions_of(int rank)
{
	return rank % 2 ? 10000 + 100 * (uint64_t)job_shape.odd_more : 10000;
}

static void fill(struct cp_region_item *item, int rank, uint64_t times)
{
	item->time_ns = 1000;
	make_sum(item, 0)->inclusive = instructions_of(rank);
	make_sum(item, 1)->inclusive = times * misses_of(rank);
	for (uint32_t g = 0; g < 2; g++)
		*make_times(&make, item, g) = (struct cp_times){1000, 1000};
}

/* Even ranks count misses, odd ones loads: as many as the misses twice. */
static void make_one(int rank)
{
	bool odd = rank % 2;
	struct cp_thread_item *thread;

	make_begin(&make, CP_ENGINE_PERF, 1000 + rank);
	make_header(&make)->rank = rank;
	make_header(&make)->nranks = job_shape.ranks;
	make_header(&make)->flags = CP_RECORD_ROOT;
	make_header(&make)->pass = odd ? 2 : 1;
	make_header(&make)->npasses = 2;
	make_text(&make, "exe", "/bin/app");
	make_text(&make, "host", "node");
	make_counter(&make, "i", 0, 0);
	make_counter(&make, "x", 1, 0);
	make_quantity(&make, "instructions", NULL, (int[]){1, 0});
	make_quantity(&make, "misses", odd ? "counted in pass 1 of 2" : NULL,
		(int[]){odd ? 0 : 2, 0});
	make_quantity(&make, "loads", odd ? NULL : "counted in pass 2 of 2",
		(int[]){odd ? 2 : 0, 0});
	thread = make_thread(&make, 1000 + rank, CP_THREAD_ENDED, "app");
	fill(make_region(&make, thread, NULL, NULL, 1), rank, odd ? 2 : 1);
}

static const struct cp_report *report_of(int ranks, int odd_more)
{
	struct cp_job *job = cp_job_new(&arena);
	char error[200];

	job_shape.ranks = ranks;
	job_shape.odd_more = odd_more;
	for (int rank = 0; rank < ranks; rank++) {
		make_one(rank);
		if (!cp_job_add_parcel(job, parcel_of(&arena, &make, CP_HOST_BY_NAME),
			    error, sizeof(error)))
			bail("%s", error);
	}
	return cp_job_finish(job);
}

static const struct cp_count *count_of(const struct cp_report *report, const char *name)
{
	return &report->total->counts[cp_report_quantity(report, name)];
}

/* Twice what the even ranks have. */
static void check_many(void)
{
	const struct cp_report *report = report_of(20, 0);
	const struct cp_count *misses = count_of(report, "misses"),
			      *all = count_of(report, "instructions");
	double sum = 0, squares = 0, deviation;

	for (int rank = 0; rank < 20; rank += 2)
		sum += (double)misses_of(rank);
	for (int rank = 0; rank < 20; rank += 2)
		squares += pow((double)misses_of(rank) - sum / 10, 2);
	deviation = sqrt(squares / 9);
	is_u64(misses->value, (uint64_t)(2 * sum), "half of the ranks, for all");
	is_int(misses->status, CP_SCALED, "which is said");
	is_double_near(misses->coverage, 0.5, 1e-9, "with their part");
	/* Student's t of 9 is 2.262; half of the population was drawn. */
	is_double_near(
		misses->error, 2.262 * 20 * deviation * sqrt(0.5 / 10), 0.1, "the bar");
	is_u64(misses->over.nthreads, 10, "extremes are of those that counted");
	is_int(misses->over.max_at.rank % 2, 0, "and so is the rank");
	is_int(all->status, CP_EXACT, "what all counted is exact");
	is_int(count_of(report, "loads")->over.min_at.rank % 2, 1,
		"the others counted the other");
	ok(report->nwarnings == 1 && strstr(report->warnings[0], "2 of 3 counts"),
		"the report says so");
}

static void check_few(void)
{
	const struct cp_count *misses = count_of(report_of(4, 0), "misses");

	is_u64(misses->value, 2 * (misses_of(0) + misses_of(2)), "of few: the value");
	is_int(misses->status, CP_ESTIMATED, "is estimated");
	ok(misses->error < 0, "without a bar");
	is_string(misses->reason,
		"counted by 2 of 4 ranks, and taken to be the same in the others", "why");
}

static void check_unlike(void)
{
	const struct cp_count *misses = count_of(report_of(20, 4), "misses");
	double same = count_of(report_of(20, 0), "misses")->error;

	is_int(misses->status, CP_SCALED, "ranks that are 4 %% apart: a value");
	is_double_near(misses->error - same, (double)misses->value * 200 / 10200, 1,
		"with a longer bar");
	misses = count_of(report_of(20, 20), "misses");
	is_int(misses->status, CP_UNAVAILABLE, "ranks that are 20 %% apart: none");
	is_string(misses->reason,
		"counted by 10 of 20 ranks, whose executions or instructions are 9.1 % "
		"apart from all",
		"and why");
}

int main(void)
{
	plan_lazy();
	if (CP_ESCAPE_SET(out_of_memory))
		bail("out of memory");
	arena.out_of_memory = &out_of_memory;
	check_many();
	check_few();
	check_unlike();
	return 0;
}
