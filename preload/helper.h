/* SPDX-License-Identifier: MIT
 *
 * Threads of ours in the program: no libc sees them, nor do they take signals, and
 * nobody counts them.
 */
#ifndef CACHEPEEK_PRELOAD_HELPER_H
#define CACHEPEEK_PRELOAD_HELPER_H

#include <stdbool.h>
#include <sys/types.h>

struct cp_helper {
	int tid;      /* the kernel clears it; 0: it does not run */
	int stopping; /* atomic */
};

/* Runs what returns when it sees stopping, by system calls alone: 0 or -errno. */
int cp_helper_start(struct cp_helper *helper, int (*run)(void *));

/* Tells it to stop: it has to be woken as well, by who knows what it waits for. */
static inline void cp_helper_tell(struct cp_helper *helper)
{
	__atomic_store_n(&helper->stopping, 1, __ATOMIC_RELEASE);
}

static inline bool cp_helper_told(const struct cp_helper *helper)
{
	return __atomic_load_n(&helper->stopping, __ATOMIC_ACQUIRE);
}

static inline pid_t cp_helper_tid(const struct cp_helper *helper)
{
	return __atomic_load_n(&helper->tid, __ATOMIC_ACQUIRE);
}

#endif
