/* SPDX-License-Identifier: MIT
 *
 * The rank that the environment tells of.
 */
#ifndef CACHEPEEK_REGIONS_RANK_H
#define CACHEPEEK_REGIONS_RANK_H

#include <stdbool.h>
#include <stdint.h>

#include "regions/rundir.h"

struct cp_rank {
	int number;    /* -1: no rank */
	int of;        /* in the job; 0: not known */
	int local;     /* among those on its host; -1: not known */
	uint64_t job;  /* the same for all ranks of a job; 0: not known */
	uint64_t self; /* the same for all processes of a rank; 0: not known */
	bool spawned;  /* and there may be other ranks of these numbers, spawned later */
};

void cp_rank_find(struct cp_rank *rank, cp_lookup *get);

/* The command line that started the job, and all others that it starts. */
uint64_t cp_rank_scope(const struct cp_rank *rank);

#endif
