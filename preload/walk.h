/* SPDX-License-Identifier: MIT
 *
 * Walks through the loaded objects.  dl_iterate_phdr(3) holds a lock of the dynamic
 * linker, which no glibc frees in a fork child: one that was forked while another thread
 * walks would wait for ever at its first walk.  So a fork waits until nobody walks.
 */
#ifndef CACHEPEEK_PRELOAD_WALK_H
#define CACHEPEEK_PRELOAD_WALK_H

#include <link.h>
#include <stddef.h>

/* dl_iterate_phdr. */
int cp_walk_objects(
	int (*callback)(struct dl_phdr_info *, size_t, void *), void *context);

/* Around a fork, in all threads of the parent, and in its child. */
void cp_walks_before_fork(void);
void cp_walks_in_parent(void);
void cp_walks_in_child(void);

#endif
