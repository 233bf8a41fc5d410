/* SPDX-License-Identifier: MIT
 * The sums over ranks, in whatever order they come together.
 */
#include <math.h>

#include "output/report/job_pack.h"
#include "output_ranks.h"
#include "tests/tap/tap.h"

enum { RANKS = 37, REGIONS = 5 };

static struct make make;
static struct cp_arena arena = {.give_up = tap_no_memory};
static struct cp_escape out_of_memory;

static struct cp_job *job_of(int rank)
{
	struct cp_job *job = cp_job_new(&arena);
	char error[200];

	make_rank(&make, rank, RANKS, REGIONS);
	if (!cp_job_add_record(
		    job, &make, make_header(&make)->tail, error, sizeof(error)))
		bail("%s", error);
	return job;
}

static const struct cp_report *one_by_one(void)
{
	struct cp_job *job = cp_job_new(&arena);
	char error[200];

	for (int rank = 0; rank < RANKS; rank++) {
		make_rank(&make, rank, RANKS, REGIONS);
		cp_job_add_record(
			job, &make, make_header(&make)->tail, error, sizeof(error));
	}
	return cp_job_finish(job);
}

/* As the ranks of a job do it: each hears those below and tells the one above. */
static struct cp_job *heard(int rank, int limit)
{
	struct cp_job *job = job_of(rank);

	for (int bit = 1; bit < limit && !(rank & bit); bit <<= 1) {
		const void *bytes;
		size_t size;

		if (rank + bit >= RANKS)
			continue;
		bytes = cp_job_pack(heard(rank + bit, bit), &size);
		ok(cp_job_unpack(job, bytes, size), "rank %d hears rank %d", rank,
			rank + bit);
	}
	return job;
}

static double expected_deviation(int region)
{
	double mean = 0, squares = 0;

	for (int rank = 0; rank < RANKS; rank++)
		mean += (double)rank_count(rank, region) / RANKS;
	for (int rank = 0; rank < RANKS; rank++)
		squares += pow((double)rank_count(rank, region) - mean, 2);
	return sqrt(squares / (RANKS - 1));
}

static void check_region(const struct cp_report *report, const struct cp_region *region,
	int index, const char *what)
{
	const struct cp_count *count =
		&region->counts[cp_report_quantity(report, "instructions")];
	int least = 0, most = 0;
	uint64_t sum = 0;

	for (int rank = 0; rank < RANKS; rank++) {
		sum += rank_count(rank, index);
		if (rank_count(rank, index) < rank_count(least, index))
			least = rank;
		if (rank_count(rank, index) > rank_count(most, index))
			most = rank;
	}
	is_u64(count->value, sum, "%s: %d: the sum", what, index);
	is_int(count->status, CP_EXACT, "%s: %d: exact", what, index);
	is_u64(region->calls, 10 * RANKS, "%s: %d: executions", what, index);
	is_u64((uint64_t)count->over.min, rank_count(least, index), "%s: %d: the least",
		what, index);
	is_int(count->over.min_at.rank, least, "%s: %d: its rank", what, index);
	is_u64((uint64_t)count->over.max, rank_count(most, index), "%s: %d: the most",
		what, index);
	is_int(count->over.max_at.rank, most, "%s: %d: its rank", what, index);
	is_double_near(cp_extent_stddev(&count->over), expected_deviation(index), 1e-9,
		"%s: %d: the deviation", what, index);
	count = &region->counts[cp_report_quantity(report, "extra")];
	is_int(count->status, CP_ESTIMATED, "%s: %d: not all ranks counted it", what,
		index);
	is_u64(count->over.nthreads, RANKS / 2, "%s: %d: but half did", what, index);
}

static void check(const struct cp_report *report, const char *what)
{
	const struct cp_region *region = report->total->child;

	is_u64(report->job->nranks, RANKS, "%s: all ranks", what);
	is_int(cp_job_missing(report->job, 0), -1, "%s: none is missing", what);
	for (int i = 0; i < REGIONS; i++, region = region->next)
		check_region(report, region, i, what);
	ok(!region, "%s: no more regions", what);
}

/* Whatever is cut off: nothing was added, and nothing breaks. */
static void check_damage(void)
{
	struct cp_job *job = job_of(0);
	size_t size, taken = 0;
	const char *bytes = cp_job_pack(job_of(1), &size);
	char *copy = cp_arena_alloc(&arena, size);

	for (size_t length = 0; length < size; length++)
		taken += cp_job_unpack(job, bytes, length);
	is_u64(taken, 0, "a part is not taken for the whole");
	is_u64(job->nranks, 1, "and nothing was added");
	for (size_t at = 0; at < size; at++) {
		memcpy(copy, bytes, size);
		copy[at] = (char)~copy[at];
		cp_job_unpack(job_of(0), copy, size);
	}
	ok(cp_job_unpack(job, bytes, size), "the whole is taken");
}

/* A flag of a count is 0 or 1, wherever it is in what is sent. */
static void check_flags(void)
{
	struct cp_job *job = job_of(1);
	struct cp_count *count = &job->report.total->counts[0];
	bool *const flags[] = {&count->calls_known, &count->socket};

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		size_t size, at = 0;
		const char *bytes = cp_job_pack(job, &size), *other;
		char *copy = cp_arena_alloc(&arena, size);

		memcpy(copy, bytes, size);
		*flags[i] = !*flags[i];
		other = cp_job_pack(job, &size);
		while (at < size && other[at] == copy[at])
			at++;
		ok(at < size && cp_job_unpack(job_of(0), other, size), "flag %zu is sent",
			i);
		copy[at] = 2;
		ok(!cp_job_unpack(job_of(0), copy, size), "flag %zu is no number", i);
	}
}

static void check_missing(void)
{
	struct cp_job *job = job_of(3);
	const struct cp_report *report = cp_job_finish(job);

	is_int(cp_job_missing(job, 0), 0, "the first that is missing");
	is_int(cp_job_missing(job, 3), 4, "the next one");
	ok(report->nwarnings == 1 && strstr(report->warnings[0], "36 of 37 ranks"),
		"the report says so");
}

int main(void)
{
	plan_lazy();
	if (CP_ESCAPE_SET(out_of_memory))
		bail("out of memory");
	arena.out_of_memory = &out_of_memory;
	check(one_by_one(), "one by one");
	check(cp_job_finish(heard(0, 64)), "up a tree");
	check_missing();
	check_damage();
	check_flags();
	return 0;
}
