/* SPDX-License-Identifier: MIT
 *
 * A lock for short, rare sections inside a foreign program: no libpthread
 * state, nothing that a fork leaves half done (cp_lock_reset in the child),
 * no priority games.  Holders never call the program and never block.
 */
#ifndef CACHEPEEK_BASE_LOCK_H
#define CACHEPEEK_BASE_LOCK_H

#include <sched.h>
#include <stdbool.h>

struct cp_lock {
	int held;
};

/*
 * Set while the process is being finished.  A holder may then be somebody whom
 * a signal handler of the program has interrupted for good, by ending the
 * process: locks are taken from those who keep them for too long.
 */
extern int cp_lock_last_resort;

#define CP_LOCK_PATIENCE 2000

static inline void cp_lock(struct cp_lock *lock)
{
	for (unsigned tries = 0; __atomic_exchange_n(&lock->held, 1, __ATOMIC_ACQUIRE);
		tries++) {
		if (tries > CP_LOCK_PATIENCE &&
			__atomic_load_n(&cp_lock_last_resort, __ATOMIC_RELAXED))
			return;
		if (tries > 64)
			sched_yield();
	}
}

static inline void cp_unlock(struct cp_lock *lock)
{
	__atomic_store_n(&lock->held, 0, __ATOMIC_RELEASE);
}

/* In a fork child, whose holder (another thread) does not exist any more. */
static inline void cp_lock_reset(struct cp_lock *lock)
{
	cp_unlock(lock);
}

#endif
