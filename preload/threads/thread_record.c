/* SPDX-License-Identifier: MIT */
#include "preload/threads/thread_record.h"

#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/format.h"
#include "base/log.h"
#include "base/once.h"
#include "base/pool.h"
#include "base/syscall.h"
#include "base/text.h"
#include "preload/planned.h"
#include "preload/run.h"
#include "preload/runtime.h"
#include "preload/warn.h"

CP_POOL(pool, struct cp_live_thread);

struct cp_live_thread *cp_thread_take(void)
{
	return cp_pool_take(&pool);
}

void cp_thread_give(struct cp_live_thread *thread)
{
	cp_pool_give(&pool, thread);
}

void cp_threads_give(struct cp_live_thread *first, struct cp_live_thread *last)
{
	cp_pool_give_list(&pool, first, last);
}

void cp_thread_tell_region(struct cp_live_thread *thread)
{
	uint64_t number = cp_tree_number(&thread->tree);

	if (!thread->tree.layout->corrected || number == thread->told ||
		!cp_engine->enter_region)
		return;
	thread->told = number;
	cp_engine->enter_region(number);
}

void cp_thread_read_name(struct cp_thread_item *item)
{
	char path[64], name[sizeof(item->name)];

	if (cp_confined() || !item->tid)
		return;
	if (item->tid == (pid_t)cp_syscall(SYS_gettid)) {
		if (cp_syscall(SYS_prctl, PR_GET_NAME, name) == 0)
			memcpy(item->name, name, sizeof(name));
		return;
	}
	cp_format(path, sizeof(path), "/proc/self/task/%d/comm", (int)item->tid);
	if (cp_read_file(path, name, sizeof(name)))
		memcpy(item->name, name, sizeof(name));
}

struct cp_thread_item *cp_thread_item_new(pid_t tid, uint32_t state)
{
	bool folds = state & CP_THREAD_FOLDS;
	size_t sample = cp_plan.sample.sets && !folds
				? 2 * CP_SAMPLE_WORDS * sizeof(uint64_t)
				: 0;
	struct cp_thread_item *item = cp_record_reserve(
		&cp_runtime.record, sizeof(struct cp_thread_item) + sample);

	if (!item)
		return NULL;
	item->tid = tid;
	item->state = state;
	item->start_ns = cp_now_ns();
	cp_thread_read_name(item);
	cp_item_publish(item, CP_ITEM_THREAD);
	return item;
}

/* The offset of a reason in the record; the last one is mostly the same. */
static struct {
	struct cp_lock lock;
	uint64_t offset; /* 0: none yet */
	struct cp_why why;
} last_reason;
CP_LOCK_LISTED(last_reason.lock);

static uint64_t put_reason(const struct cp_why *why)
{
	uint64_t offset;

	cp_lock(&last_reason.lock);
	if (!last_reason.offset || strcmp(last_reason.why.text, why->text) != 0) {
		last_reason.why = *why;
		last_reason.offset = cp_record_put_string(
			&cp_runtime.record, why->text, strlen(why->text));
	}
	offset = last_reason.offset;
	cp_unlock(&last_reason.lock);
	return offset;
}

void cp_thread_mark_lost(struct cp_thread_item *item, const struct cp_why *why)
{
	static struct cp_once said;

	item->reason = put_reason(why);
	item->state |= CP_THREAD_LOST;
	/* A child's stderr may be what its parent reads; the report says it, too. */
	if (cp_is_root() && cp_once(&said))
		cp_say("thread %d is not counted: %s", item->tid, why->text);
}

void cp_thread_warn_no_memory(pid_t tid)
{
	static struct cp_once said;
	char line[120];

	cp_record_not_recorded(&cp_runtime.record, CP_UNRECORDED_THREAD);
	if (!cp_once(&said))
		return;
	cp_format(line, sizeof(line),
		"thread %d, or more, is not counted: no memory for it, "
		"or no room on the disk",
		(int)(tid ? tid : gettid()));
	cp_say_first(line);
}

void cp_thread_forget_reason(void)
{
	last_reason.offset = 0;
}
