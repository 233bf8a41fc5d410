/* SPDX-License-Identifier: MIT */
#ifndef CACHEPEEK_PRELOAD_MARKERS_ALLOCATORS_H
#define CACHEPEEK_PRELOAD_MARKERS_ALLOCATORS_H

/* Tells the simulated PMU where the program's malloc and its relatives are, for
 * the profile; nothing takes their place.  Once, in the constructor. */
void cp_allocators_tell(void);

/* Then: where the calling thread has the thread-local variables of each module. */
void cp_allocators_thread_begin(void);

#endif
