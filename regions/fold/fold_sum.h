/* SPDX-License-Identifier: MIT
 *
 * The sum of several records of processes of one kind, as a record.
 */
#ifndef CACHEPEEK_REGIONS_FOLD_FOLD_SUM_H
#define CACHEPEEK_REGIONS_FOLD_FOLD_SUM_H

#include "regions/record_read.h"
#include "regions/tree.h"

#define CP_SUM_THREADS 8
#define CP_SUM_BUCKETS 512

struct cp_sum_of {
	struct cp_arena *arena;
	struct cp_record first; /* the record that it began with */
	struct cp_layout layout;
	struct cp_record_header header;
	struct cp_sum_thread {
		struct cp_thread_item item;
		struct cp_sum_node *root;
	} threads[CP_SUM_THREADS]; /* one for each state that threads ended in */
	unsigned nthreads;
	struct cp_sum_node *nodes, **end; /* parents before what is in them */
	struct cp_sum_node *buckets[CP_SUM_BUCKETS];
	struct cp_sum_note *notes;
	size_t nnotes, nmachines;
	struct cp_machine_item **machines;
	struct cp_sum_taken {
		struct cp_sum_taken *next;
		const char *text; /* of a note "folding" */
	} * taken;                /* what was added now */
	int32_t *pids;
	size_t npids, room;
};

/* Begins with a record: a sum, whose counts are in it at once, or one of the kind that
 * is to be added.  Memory: the arena. */
void cp_sum_start(
	struct cp_sum_of *sum, struct cp_arena *arena, const struct cp_record *record);

/* Same program, same events, the same way of ending: can they be added? */
bool cp_sum_is_like(const struct cp_sum_of *sum, const struct cp_record *record);

void cp_sum_note(struct cp_sum_of *sum, const struct cp_meta_item *meta);

/* The record's counts move: its copy in memory has none any more. */
void cp_sum_add(struct cp_sum_of *sum, const struct cp_record *record, const char *name);

/* The sum as a file. */
const char *cp_sum_bytes(struct cp_sum_of *sum, size_t *size);

#endif
