/* SPDX-License-Identifier: MIT
 *
 * Records of the ranks of a job that never ran.
 */
#ifndef CACHEPEEK_TESTS_UNIT_OUTPUT_RANKS_H
#define CACHEPEEK_TESTS_UNIT_OUTPUT_RANKS_H

#include "output/report/job.h"
#include "output_records.h"

/* The count of region `index` of a rank. */
static inline uint64_t rank_count(int rank, int index)
{
	return (uint64_t)((rank * 7 + index * 3) % 101 + 1);
}

/* Rank r has `regions` regions, "region 0" on, each below the whole run; half of
 * the ranks count an event more. */
static inline void make_rank(struct make *make, int rank, int ranks, int regions)
{
	struct cp_thread_item *thread;
	struct cp_region_item *root, *item;
	char name[40];

	make_begin(make, CP_ENGINE_PERF, 1000 + rank);
	make_header(make)->rank = rank;
	make_header(make)->nranks = ranks;
	make_header(make)->flags = CP_RECORD_ROOT;
	make_text(make, "exe", "/bin/app");
	make_text(make, "host", "node");
	make_meta(make, "command", "app", 4);
	make_counter(make, "i", 0, 0);
	make_counter(make, "m", 1, 0);
	if (rank % 2)
		make_quantity(make, "extra", NULL, (int[]){2, 0});
	make_quantity(make, "instructions", NULL, (int[]){1, 0});
	make_quantity(make, "misses", NULL, (int[]){2, 0});
	thread = make_thread(make, 1000 + rank, CP_THREAD_ENDED, "app");
	root = make_region(make, thread, NULL, NULL, 1);
	for (int i = 0; i < regions; i++) {
		snprintf(name, sizeof(name), "region %d", i);
		item = make_region(make, thread, root, name, 10);
		item->time_ns = 1000;
		for (uint32_t g = 0; g < 2; g++)
			*make_times(make, item, g) = (struct cp_times){1000, 1000};
		for (uint32_t c = 0; c < 2; c++) {
			make_sum(item, c)->inclusive = rank_count(rank, i) * (c + 1);
			make_sum(root, c)->inclusive += rank_count(rank, i) * (c + 1);
			make_sum(root, c)->children += rank_count(rank, i) * (c + 1);
		}
	}
	root->time_ns = 1000000;
	for (uint32_t g = 0; g < 2; g++)
		*make_times(make, root, g) = (struct cp_times){1000000, 1000000};
}

#endif
