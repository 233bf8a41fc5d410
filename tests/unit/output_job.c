/* SPDX-License-Identifier: MIT
 * The sums over ranks, in whatever order they come together.
 */
#include <math.h>

#include "output_parcels.h"
#include "output_ranks.h"
#include "tests/tap/tap.h"

enum { RANKS = 37, REGIONS = 5 };

static struct make make;
static struct cp_arena arena = {.give_up = tap_no_memory};
static struct cp_escape out_of_memory;

static void add(struct cp_job *job, int rank)
{
	char error[200];

	make_rank(&make, rank, RANKS, REGIONS);
	if (!cp_job_add_parcel(
		    job, parcel_of(&arena, &make, CP_HOST_BY_NAME), error, sizeof(error)))
		bail("%s", error);
}

static struct cp_job *job_of(int rank)
{
	struct cp_job *job = cp_job_new(&arena);

	add(job, rank);
	return job;
}

static const struct cp_report *in_order(void)
{
	struct cp_job *job = cp_job_new(&arena);

	for (int rank = 0; rank < RANKS; rank++)
		add(job, rank);
	return cp_job_finish(job);
}

static const struct cp_report *backwards(void)
{
	struct cp_job *job = cp_job_new(&arena);

	for (int rank = RANKS; rank-- > 0;)
		add(job, rank);
	return cp_job_finish(job);
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

/* The records of rank 3, of which the last may be damaged, are handed out whole or not at
 * all, and those before it are. */
static void check_damage(void)
{
	struct cp_record_bytes records[2], record;
	const struct cp_parcel *whole;
	char *copy, error[200];

	make_rank(&make, 3, RANKS, REGIONS);
	records[0] = records[1] =
		(struct cp_record_bytes){&make, make_header(&make)->tail - 8};
	whole = cp_parcel_pack(&arena, records, 2, 3, CP_HOST_FIRST);
	copy = cp_arena_alloc(&arena, whole->size);
	for (uint64_t size = sizeof(*whole); size <= whole->size; size++) {
		struct cp_parcel *part = (struct cp_parcel *)copy;
		uint64_t at = sizeof(*part);
		int count = 0;

		memcpy(copy, whole, size);
		part->size = size;
		while (cp_parcel_next(part, &at, &record))
			count += record.size == records[0].size;
		if (count != (size == whole->size) + (size >= (whole->size + 16) / 2))
			ok(0, "%llu bytes hand %d records out", (unsigned long long)size,
				count);
	}
	for (uint64_t at = sizeof(*whole); at < whole->size; at++) {
		memcpy(copy, whole, whole->size);
		copy[at] = (char)~copy[at];
		cp_job_add_parcel(cp_job_new(&arena), (struct cp_parcel *)copy, error,
			sizeof(error));
	}
	ok(1, "nothing breaks, whatever is damaged");
}

/* A rank's children are its own: one rank, two processes. */
static void check_children(void)
{
	static struct make child;
	struct cp_record_bytes records[2];
	struct cp_job *job = cp_job_new(&arena);
	char error[200];

	make_rank(&make, 0, 1, REGIONS);
	make_rank(&child, 0, 1, REGIONS);
	make_header(&child)->pid++;
	make_header(&child)->flags = 0;
	records[0] = (struct cp_record_bytes){&make, make_header(&make)->tail};
	records[1] = (struct cp_record_bytes){&child, make_header(&child)->tail};
	ok(cp_job_add_parcel(job, cp_parcel_pack(&arena, records, 2, 0, CP_HOST_FIRST),
		   error, sizeof(error)),
		"a rank with a child is added");
	is_u64(job->nranks, 1, "as one rank");
	is_u64(job->ranks[0].processes, 2, "of two processes");
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
	check(in_order(), "in order");
	check(backwards(), "backwards");
	check_missing();
	check_damage();
	check_children();
	return 0;
}
