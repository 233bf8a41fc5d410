/* SPDX-License-Identifier: MIT */
#ifndef CACHEPEEK_PRELOAD_RANK_H
#define CACHEPEEK_PRELOAD_RANK_H

#include <stdbool.h>

/* The MPI rank that the launcher's environment tells; -1: none. */
int cp_rank_from_environment(void);

/* How many there are in the job; 0: not known. */
int cp_ranks_from_environment(void);

/* Which of the ranks on its host it is; -1: not known. */
int cp_local_rank_from_environment(void);

/* Is this executable (its path) an MPI launcher or one of its daemons? They
 * are left alone: only the ranks that they start are of interest. */
bool cp_is_launcher(const char *exe);

#endif
