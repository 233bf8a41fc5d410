/* SPDX-License-Identifier: MIT
 *
 * A lock for short, rare sections inside a foreign program: no libpthread
 * state, nothing that a fork leaves half done (cp_locks_after_fork in the child),
 * no priority games.  Holders never call the program and never block.
 *
 * A signal handler of the program must not wait for what it has interrupted: in
 * preload/, locks are taken between cp_enter() and cp_leave().
 */
#ifndef CACHEPEEK_BASE_LOCK_H
#define CACHEPEEK_BASE_LOCK_H

#include <sched.h>
#include <stdbool.h>

#include "base/listed.h"
#include "base/lock_word.h"

/* Every lock with a place of its own is on the list, below its definition. */
#define CP_LOCK_LISTED(lock) CP_LISTED(cp_locks, struct cp_lock, lock)

/* One in memory that is taken and given back: part of an object that stays a lock
 * for as long as the process lives. */
struct cp_made_lock {
	struct cp_lock lock;
	struct cp_made_lock *next;
	int listed; /* atomic */
};

/* Puts it on the list, once. */
void cp_lock_made(struct cp_made_lock *made);

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

/* In a fork child, where their holders (other threads) do not exist any more: all
 * locks are free, and those that were held are torn. */
void cp_locks_after_fork(void);

/* In a fork child: what the lock is for may be half changed, says the first call. */
static inline bool cp_lock_was_torn(struct cp_lock *lock)
{
	bool torn = lock->torn;

	lock->torn = 0;
	return torn;
}

#endif
