/* SPDX-License-Identifier: MIT */
#include "preload/threads/ended.h"

#include <errno.h>
#include <string.h>

#include "base/syscall.h"
#include "preload/runtime.h"

/* Everything here is under the lock of threads.c. */
static struct {
	struct cp_live_thread *oldest, *newest; /* linked by next */
	unsigned kept;
	struct cp_tree sum; /* sum.root NULL: nothing is folded yet */
	struct cp_thread_item *sum_item, *lost_item;
} ended;

static bool start_sum(void)
{
	if (ended.sum.root)
		return true;
	ended.sum_item = cp_thread_item_new(0, CP_THREAD_ENDED | CP_THREAD_FOLDS);
	if (!ended.sum_item ||
		cp_tree_start_folded(&ended.sum, &cp_runtime.layout, &cp_runtime.record,
			cp_record_offset(&cp_runtime.record, ended.sum_item)) < 0)
		return false;
	__atomic_store_n(
		&ended.sum_item->root, cp_tree_root_offset(&ended.sum), __ATOMIC_RELEASE);
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
	if (cp_tree_fold(&ended.sum, &thread->tree))
		return true;
	set_state(item, item->state & ~(uint32_t)CP_THREAD_FOLDED);
	return false;
}

/* Lost threads have nothing but their number. */
static bool fold_lost(struct cp_live_thread *thread)
{
	if (!ended.lost_item) {
		ended.lost_item = cp_thread_item_new(
			0, CP_THREAD_ENDED | CP_THREAD_FOLDS | CP_THREAD_LOST);
		if (!ended.lost_item)
			return false;
		ended.lost_item->reason = thread->item->reason;
	}
	set_state(thread->item, thread->item->state | CP_THREAD_FOLDED);
	__atomic_store_n(&ended.lost_item->base[0], ended.lost_item->base[0] + 1,
		__ATOMIC_RELEASE);
	return true;
}

static void fold_thread(struct cp_live_thread *thread)
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
	struct cp_live_thread *old = ended.oldest;

	if (thread->tid == cp_runtime.pid) { /* the main thread keeps its place */
		cp_tree_drop(&thread->tree);
		cp_thread_give(thread);
		return;
	}
	thread->next = NULL;
	if (ended.newest)
		ended.newest->next = thread;
	else
		ended.oldest = thread;
	ended.newest = thread;
	if (++ended.kept <= CP_ENDED_KEPT || !is_gone(old))
		return;
	ended.oldest = old->next;
	ended.kept--;
	fold_thread(old);
}

void cp_ended_after_fork(void)
{
	if (ended.oldest)
		cp_threads_give(ended.oldest, ended.newest);
	ended.oldest = ended.newest = NULL;
	ended.kept = 0;
	memset(&ended.sum, 0, sizeof(ended.sum));
	ended.sum_item = ended.lost_item = NULL;
}
