/* SPDX-License-Identifier: MIT
 *
 * To which run this process belongs, and to which rank of which job: what its
 * environment says, and what its children's will.
 */
#ifndef CACHEPEEK_PRELOAD_RUN_H
#define CACHEPEEK_PRELOAD_RUN_H

#include <stdbool.h>

/* True: an earlier image, or a parent, has decided for us.  A rank that no process of
 * that run has been so far joins it as the root of its own. */
bool cp_run_inherit(void);

/* In a root: the run's directory, and the number of its job.  0 or -errno. */
int cp_run_found(void);

/* The entries of the environment that children, and our own next image, inherit. */
char *const *cp_run_entries(void);

/* This is a launcher of jobs, or one of its helpers: neither they nor what is there
 * only to start it is of interest. */
bool cp_run_is_launcher(void);

#endif
