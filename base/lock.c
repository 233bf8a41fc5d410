/* SPDX-License-Identifier: MIT */
#include "base/lock.h"

CP_LIST_ENDS(cp_locks, struct cp_lock);

int cp_lock_last_resort;

static struct cp_made_lock *made_locks; /* atomic; only added to */

void cp_lock_made(struct cp_made_lock *made)
{
	if (__atomic_exchange_n(&made->listed, 1, __ATOMIC_RELAXED))
		return;
	made->next = __atomic_load_n(&made_locks, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&made_locks, &made->next, made, false,
		__ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

static void free_in_child(struct cp_lock *lock)
{
	lock->torn = __atomic_load_n(&lock->held, __ATOMIC_RELAXED);
	cp_unlock(lock);
}

void cp_locks_after_fork(void)
{
	for (struct cp_lock *const *lock = __start_cp_locks; lock < __stop_cp_locks;
		lock++)
		free_in_child(*lock);
	for (struct cp_made_lock *made = made_locks; made; made = made->next)
		free_in_child(&made->lock);
}
