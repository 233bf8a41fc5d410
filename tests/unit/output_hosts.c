/* SPDX-License-Identifier: MIT
 * What counts whole sockets, in a job on several hosts: the first rank of each host
 * speaks for it.
 */

#include "output_parcels.h"
#include "tests/tap/tap.h"

enum { PER_HOST = 3 };

static struct make make;
static struct cp_arena arena = {.give_up = tap_no_memory};
static struct cp_escape out_of_memory;

/* A rank's reading of the sockets of its host: all on it much the same. */
static uint64_t reads_of(int rank)
{
	return 1000 * (uint64_t)(rank / PER_HOST + 1) + (uint64_t)(rank % PER_HOST);
}

static void fill(struct cp_region_item *item, int rank)
{
	item->time_ns = 1000;
	make_sum(item, 0)->inclusive = 10;
	make_sum(item, 1)->inclusive = reads_of(rank);
	for (uint32_t g = 0; g < 2; g++)
		*make_times(&make, item, g) = (struct cp_times){1000, 1000};
}

/* The first rank of the second host has no region "solve". */
static void make_one(int rank, int ranks)
{
	struct cp_thread_item *thread;
	struct cp_region_item *root;
	char host[20];

	snprintf(host, sizeof(host), "node%d", rank / PER_HOST);
	make_begin(&make, CP_ENGINE_PERF, 1000 + rank);
	make_header(&make)->rank = rank;
	make_header(&make)->nranks = ranks;
	make_header(&make)->flags = CP_RECORD_ROOT;
	make_header(&make)->socket[1] = 1;
	make_text(&make, "exe", "/bin/app");
	make_text(&make, "host", host);
	make_counter(&make, "i", 0, 0);
	make_counter(&make, "x", 1, 0);
	make_quantity(&make, "instructions", NULL, (int[]){1, 0});
	make_quantity(&make, "reads", NULL, (int[]){2, 0});
	thread = make_thread(&make, 1000 + rank, CP_THREAD_ENDED, "app");
	root = make_region(&make, thread, NULL, NULL, 1);
	fill(root, rank);
	if (rank != PER_HOST)
		fill(make_region(&make, thread, root, "solve", 1), rank);
}

static void add(struct cp_job *job, int rank, int ranks, enum cp_host_place place)
{
	char error[200];

	make_one(rank, ranks);
	if (!cp_job_add_parcel(
		    job, parcel_of(&arena, &make, place), error, sizeof(error)))
		bail("%s", error);
}

static const struct cp_report *by_name(int ranks)
{
	struct cp_job *job = cp_job_new(&arena);

	for (int rank = 0; rank < ranks; rank++)
		add(job, rank, ranks, CP_HOST_BY_NAME);
	return cp_job_finish(job);
}

/* The last first: ranks come in any order. */
static const struct cp_report *sent(int ranks, bool known)
{
	struct cp_job *job = cp_job_new(&arena);

	for (int rank = ranks - 1; rank >= 0; rank--)
		add(job, rank, ranks,
			!known            ? CP_HOST_UNKNOWN
			: rank % PER_HOST ? CP_HOST_LATER
					  : CP_HOST_FIRST);
	return cp_job_finish(job);
}

static const struct cp_count *reads(const struct cp_report *report, bool in_solve)
{
	const struct cp_region *region = in_solve ? report->total->child : report->total;

	return &region->counts[cp_report_quantity(report, "reads")];
}

static void check(const struct cp_report *report, const char *what)
{
	const struct cp_count *count = reads(report, false);

	is_u64(count->value, 1000 + 2000 + 3000, "%s: the sum over the hosts", what);
	is_int(count->status, CP_EXACT, "%s: is exact", what);
	is_u64((uint64_t)count->over.max, 3000, "%s: the most of a host", what);
	is_int(count->over.max_at.rank, 2 * PER_HOST, "%s: and its first rank", what);
	count = reads(report, true);
	is_u64(count->value, 1000 + 3000, "%s: one host's is missing", what);
	is_int(count->status, CP_ESTIMATED, "%s: it is a part", what);
	is_string(count->reason, "without 1 of 3 hosts", "%s: and says so", what);
}

int main(void)
{
	const struct cp_count *count;

	plan_lazy();
	if (CP_ESCAPE_SET(out_of_memory))
		bail("out of memory");
	arena.out_of_memory = &out_of_memory;
	check(by_name(3 * PER_HOST), "by name");
	check(sent(3 * PER_HOST, true), "sent");
	count = reads(sent(3 * PER_HOST, false), false);
	is_int(count->status, CP_UNAVAILABLE, "no first rank is known: no value");
	ok(strstr(count->reason, "first on its host") != NULL, "and why");
	count = reads(by_name(PER_HOST), false);
	is_u64(count->value, 1000, "one host: its first rank's");
	is_u64(count->over.nthreads, 0, "and no extremes");
	is_u64(reads(sent(PER_HOST, false), false)->value, 1002,
		"one host: any rank's will do");
	count = reads(by_name(200 * PER_HOST), false);
	is_u64(count->value, 1000 * 200 * 201 / 2, "many hosts");
	is_u64(count->over.nthreads, 200, "are all known");
	return 0;
}
