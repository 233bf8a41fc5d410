/* SPDX-License-Identifier: MIT */
#include "preload/ended.h"

#include <errno.h>
#include <string.h>

#include "base/syscall.h"
#include "preload/runtime.h"

/* Everything here is under the lock of threads.c. */
static struct cp_live_thread *oldest, *newest; /* linked by next */
static unsigned kept;

static struct cp_tree sum; /* sum.root NULL: nothing is folded yet */
static struct cp_thread_item *sum_item, *lost_item;

static bool start_sum(void)
{
	if (sum.root)
		return true;
	sum_item = cp_thread_item_new(0, CP_THREAD_ENDED | CP_THREAD_FOLDS);
	if (!sum_item ||
		cp_tree_start_folded(&sum, &cp_runtime.layout, &cp_runtime.record,
			cp_record_offset(&cp_runtime.record, sum_item)) < 0)
		return false;
	__atomic_store_n(&sum_item->root, cp_tree_root_offset(&sum), __ATOMIC_RELEASE);
	return true;
}

/* The simulated PMU has counted on until the thread was really gone. */
static void take_mirror(struct cp_live_thread *thread)
{
	memset(&thread->reading, 0, sizeof(thread->reading));
	thread->counters.open = true;
	if (cp_engine->read(&thread->counters, false, &thread->reading) == 0)
		cp_tree_finish(&thread->tree, &thread->reading, 0, false);
	thread->counters.open = false;
}

static void set_state(struct cp_thread_item *item, uint32_t state)
{
	__atomic_store_n(&item->state, state, __ATOMIC_RELEASE);
}

static bool fold_counted(struct cp_live_thread *thread)
{
	struct cp_thread_item *item = thread->item;

	if (!start_sum())
		return false;
	if (cp_engine->counts_whole_threads)
		take_mirror(thread);
	set_state(item, item->state | CP_THREAD_FOLDED);
	if (cp_tree_fold(&sum, &thread->tree))
		return true;
	set_state(item, item->state & ~(uint32_t)CP_THREAD_FOLDED);
	return false;
}

/* Of these there is nothing but the number. */
static bool fold_lost(struct cp_live_thread *thread)
{
	if (!lost_item) {
		lost_item = cp_thread_item_new(
			0, CP_THREAD_ENDED | CP_THREAD_FOLDS | CP_THREAD_LOST);
		if (!lost_item)
			return false;
		lost_item->reason = thread->item->reason;
	}
	set_state(thread->item, thread->item->state | CP_THREAD_FOLDED);
	__atomic_store_n(&lost_item->base[0], lost_item->base[0] + 1, __ATOMIC_RELEASE);
	return true;
}

static void fold(struct cp_live_thread *thread)
{
	if (thread->lost ? fold_lost(thread) : fold_counted(thread))
		cp_record_recycle(&cp_runtime.record, thread->item);
	cp_tree_drop(&thread->tree);
	cp_thread_give(thread);
}

/* The simulated PMU writes into the thread's item until it is gone. */
static bool is_gone(const struct cp_live_thread *thread)
{
	return !cp_engine->counts_whole_threads ||
	       cp_syscall(SYS_tgkill, cp_runtime.pid, thread->tid, 0) == -ESRCH;
}

void cp_ended_keep(struct cp_live_thread *thread)
{
	struct cp_live_thread *old = oldest;

	if (thread->tid == cp_runtime.pid) { /* the main thread keeps its place */
		cp_tree_drop(&thread->tree);
		cp_thread_give(thread);
		return;
	}
	thread->next = NULL;
	if (newest)
		newest->next = thread;
	else
		oldest = thread;
	newest = thread;
	if (++kept <= CP_ENDED_KEPT || !is_gone(old))
		return;
	oldest = old->next;
	kept--;
	fold(old);
}

void cp_ended_after_fork(void)
{
	for (struct cp_live_thread *next; oldest; oldest = next) {
		next = oldest->next;
		cp_thread_give(oldest);
	}
	newest = NULL;
	kept = 0;
	memset(&sum, 0, sizeof(sum));
	sum_item = lost_item = NULL;
}
