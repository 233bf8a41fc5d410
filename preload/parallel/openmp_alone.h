/* SPDX-License-Identifier: MIT
 *
 * Does a runtime's work where a program finds our functions and has no runtime.
 */
#ifndef CACHEPEEK_PRELOAD_PARALLEL_OPENMP_ALONE_H
#define CACHEPEEK_PRELOAD_PARALLEL_OPENMP_ALONE_H

/* A function that is called as `entry` is, which we have a hook of: the calling thread
 * is the team, and runs the body before it returns.  Never NULL. */
void *cp_omp_alone(const char *entry);

#endif
