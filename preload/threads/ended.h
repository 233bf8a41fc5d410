/* SPDX-License-Identifier: MIT
 *
 * Threads that have ended.  The last ones keep a place of their own in the
 * record; what older ones counted is added to a thread item that stands for all
 * of them, and their space is used again.
 */
#ifndef CACHEPEEK_PRELOAD_ENDED_H
#define CACHEPEEK_PRELOAD_ENDED_H

#include "preload/threads/thread_record.h"

/* How many keep their place. */
#define CP_ENDED_KEPT 3000

/* Takes a thread over whose last reading is taken, and sooner or later gives it
 * back with cp_thread_give.  Under the lock of threads.c. */
void cp_ended_keep(struct cp_live_thread *thread);

/* In a fork child, whose record knows none of them. */
void cp_ended_after_fork(void);

#endif
