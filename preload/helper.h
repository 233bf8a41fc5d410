/* SPDX-License-Identifier: MIT
 *
 * Threads of ours in the program: no libc sees them, nor do they take signals, and
 * nobody counts them.
 */
#ifndef CACHEPEEK_PRELOAD_HELPER_H
#define CACHEPEEK_PRELOAD_HELPER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/listed.h"

struct cp_helper {
	int tid;            /* the kernel clears it; 0: it does not run */
	int stopping;       /* atomic */
	void (*wake)(void); /* from what it waits for */
};

/* Every one is on the list, below its definition. */
#define CP_HELPER_LISTED(helper) CP_LISTED(cp_helpers, struct cp_helper, helper)

/* Runs what returns when it sees stopping, by system calls alone: 0 or -errno. */
int cp_helper_start(struct cp_helper *helper, int (*run)(void *));

static inline bool cp_helper_told(const struct cp_helper *helper)
{
	return __atomic_load_n(&helper->stopping, __ATOMIC_ACQUIRE);
}

static inline pid_t cp_helper_tid(const struct cp_helper *helper)
{
	return __atomic_load_n(&helper->tid, __ATOMIC_ACQUIRE);
}

/* In its thread: sleeps for so long, or until it is told to stop. */
void cp_helper_wait(const struct cp_helper *helper, uint64_t ns);

/* ---- all of them ---- */

bool cp_helpers_have(pid_t tid);
unsigned cp_helpers_running(void);

/* CPU time of those that run; clock: of a thread. */
uint64_t cp_helpers_cpu(uint64_t (*clock)(pid_t tid));

/* They are told to stop, and woken, where the process is finished: locks are taken from
 * who holds them for long (base/lock.h), so they are waited for, a second at most, for
 * one may be stopped. */
void cp_helpers_finish(void);

/* They are told, and have stopped. */
void cp_helpers_stop(void);

/* In a fork child, that has none. */
void cp_helpers_after_fork(void);

#endif
