/* SPDX-License-Identifier: MIT
 *
 * The path of a marker: enter (a TLS depth), find the node, read the counters
 * last at a begin and first at an end, so that our own work lies outside.
 */
#include "preload/markers/markers.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

#include "base/format.h"
#include "base/once.h"
#include "preload/markers/markers_parts.h"
#include "preload/runtime.h"
#include "preload/sampling/sampling.h"
#include "preload/threads/threads.h"
#include "preload/self.h"
#include "preload/warn.h"
#include "preload/threads/thread_record.h"

/* ---- entering ---- */

/*
 * The calling thread, if it is counted and nothing of ours is under way in it.
 * busy and the state form a handshake with cp_process_end: either it sees us
 * busy and waits, or we see that it has finished.
 */
static inline __attribute__((always_inline)) struct cp_live_thread *enter_tree(void)
{
	struct cp_live_thread *thread;

	if (!cp_self.thread || !cp_enter())
		return NULL;
	thread = cp_self.thread; /* now: before, a handler's fork makes another */
	while (__builtin_expect(
		       __atomic_exchange_n(&thread->busy, 1, __ATOMIC_SEQ_CST), 0) &&
		cp_counting())
		sched_yield();
	if (__builtin_expect(
		    __atomic_load_n(&cp_runtime.state, __ATOMIC_SEQ_CST) == CP_ON, 1))
		return thread;
	__atomic_store_n(&thread->busy, 0, __ATOMIC_RELEASE);
	cp_leave();
	return NULL;
}

struct cp_live_thread *cp_marker_enter(void)
{
	return enter_tree();
}

static inline void leave_tree(struct cp_live_thread *thread)
{
	if (__builtin_expect(thread->tree.layout->corrected, 0))
		cp_thread_tell_region(thread);
	__atomic_store_n(&thread->busy, 0, __ATOMIC_RELEASE);
	cp_leave();
}

void cp_marker_leave(struct cp_live_thread *thread)
{
	leave_tree(thread);
}

bool cp_marker_lock(struct cp_lock *lock)
{
	if (!cp_counting() || !cp_enter())
		return false;
	cp_engine_pause();
	cp_lock(lock);
	return true;
}

void cp_marker_unlock(struct cp_lock *lock)
{
	cp_unlock(lock);
	cp_engine_resume();
	cp_leave();
}

/* The tree knows what to do with a failure.  Engines read without libc, and so
 * without errno. */
static inline __attribute__((always_inline)) int read_counters(
	struct cp_live_thread *thread, bool own, struct cp_reading *reading)
{
	return cp_engine->read(&thread->counters, own, reading);
}

int cp_marker_read(struct cp_live_thread *thread, bool own, struct cp_reading *reading)
{
	return read_counters(thread, own, reading);
}

static __attribute__((noinline)) void read_frozen(
	const struct cp_live_thread *thread, struct cp_reading *reading, uint64_t *now_ns)
{
	*reading = *cp_tree_frozen(&thread->tree, now_ns);
}

/* A marker reads the counters; between pause and resume, those of the pause. */
static inline __attribute__((always_inline)) void read_marker(
	struct cp_live_thread *thread, bool own, struct cp_reading *reading,
	uint64_t *now_ns)
{
	if (__builtin_expect(thread->tree.paused != NULL, 0)) {
		read_frozen(thread, reading, now_ns);
		return;
	}
	*now_ns = cp_now_ns();
	read_counters(thread, own, reading);
}

void cp_marker_read_now(struct cp_live_thread *thread, bool own,
	struct cp_reading *reading, uint64_t *now_ns)
{
	read_marker(thread, own, reading, now_ns);
}

/* ---- misuse: each kind once, for each tool's markers ---- */

/* "": ours; NULL: nobody writes its ends. */
static const char *tool_of(uint64_t tag)
{
	unsigned kind = tag & 0xff;

	if (kind >= CP_MARKER_TOOLS)
		return __start_cp_marker_tools[kind - CP_MARKER_TOOLS].of;
	return kind == CP_MARKER_API ? "" : NULL;
}

static void report_misuse(enum cp_misuse misuse, const struct cp_live_thread *thread,
	uint64_t tag, const struct cp_name *name, const struct cp_name *inner)
{
	char line[400];

	if (!name)
		cp_format(line, sizeof(line),
			"END of a region%s in thread %d, where none is open: ignored",
			tool_of(tag), (int)thread->tid);
	else if (misuse == CP_MISUSE_NO_BEGIN)
		cp_format(line, sizeof(line),
			"END of region \"%.80s\"%s in thread %d, where it is not open: "
			"ignored",
			name->text, tool_of(tag), (int)thread->tid);
	else
		cp_format(line, sizeof(line),
			"END of region \"%.80s\" in thread %d "
			"while \"%.80s\" was open inside it: "
			"both are closed",
			name->text, (int)thread->tid, inner ? inner->text : "?");
	cp_warn(line);
}

/* Has a begin failed, or did it do nothing, so that an end may be right where nothing is
 * open? */
static struct {
	struct cp_once not_opened, not_named, left_out;
} begins;

static void note_misuse(enum cp_misuse misuse, struct cp_live_thread *thread,
	uint64_t tag, const struct cp_name *name, const struct cp_name *inner)
{
	static unsigned reported[256]; /* by whose, one bit per kind */
	unsigned bit = 1u << misuse;
	int state;

	if (misuse == CP_MISUSE_NONE || !tool_of(tag) ||
		cp_once_was(&begins.not_opened) || cp_once_was(&begins.not_named) ||
		(!name && cp_once_was(&begins.left_out)) ||
		__atomic_fetch_or(&reported[tag & 0xff], bit, __ATOMIC_RELAXED) & bit)
		return;
	cp_own_work_begin(&state);
	report_misuse(misuse, thread, tag, name, inner);
	cp_own_work_end(state);
}

/* No memory, or no room on the disk: said once here, and with their number in the
 * report. */
void cp_marker_note_not_opened(
	const struct cp_live_thread *thread, const struct cp_name *name)
{
	char line[240];
	int state;

	cp_record_not_recorded(&cp_runtime.record, CP_UNRECORDED_REGION);
	if (!cp_once(&begins.not_opened))
		return;
	cp_own_work_begin(&state);
	cp_format(line, sizeof(line),
		"region \"%.80s\" in thread %d, or more, is not counted: "
		"no memory for it, or no room on the disk",
		name->text, (int)thread->tid);
	cp_say_first(line);
	cp_own_work_end(state);
}

/* ---- names ---- */

/* Once is enough here as well. */
static void note_no_name(void)
{
	if (cp_once(&begins.not_named))
		cp_warn("regions are not counted: no memory for their names");
}

struct cp_name *cp_marker_name_of(const char *text, size_t length)
{
	struct cp_name *name;
	int saved = errno, state;

	if (!cp_counting() || !cp_enter_slowly(&state))
		return NULL;
	name = cp_name_intern(text, length);
	if (!name)
		note_no_name();
	cp_leave_slowly(state);
	errno = saved;
	return name;
}

struct cp_name *cp_marker_name(const char *text)
{
	size_t length;
	int state;

	if (!text || !cp_counting())
		return NULL;
	cp_own_work_begin(&state);
	length = strlen(text);
	cp_own_work_end(state);
	return cp_marker_name_of(text, length);
}

/* ---- regions ---- */

/* A node that exists is found without leaving our own code; a new one needs
 * libc, which the simulated PMU would otherwise count as the program's. */
static struct cp_reading *open_region(
	struct cp_live_thread *thread, struct cp_name *name, uint64_t tag)
{
	struct cp_reading *start = cp_tree_begin_again(&thread->tree, name, tag);
	int state;

	if (start)
		return start;
	cp_own_work_begin(&state);
	start = cp_tree_begin_tagged(&thread->tree, name, tag);
	cp_own_work_end(state);
	return start;
}

void cp_marker_take_turn(struct cp_live_thread *thread)
{
	int saved, group;

	if (!thread->tree.layout->nrotated)
		return;
	saved = errno; /* libc's code: not where the program is being counted */
	group = cp_tree_turn(&thread->tree);
	if (group >= 0)
		cp_engine->turn(&thread->counters, (unsigned)group);
	errno = saved;
}

/* Opens it, whatever that takes; NULL: there is nothing to be read any more. */
static __attribute__((noinline)) struct cp_reading *begin_slowly(
	struct cp_live_thread *thread, struct cp_name *name, uint64_t tag)
{
	struct cp_reading *start = open_region(thread, name, tag);
	uint64_t now_ns;

	if (!start) {
		if (thread->tree.depth <= CP_TREE_DEPTH)
			cp_marker_note_not_opened(thread, name);
		return NULL;
	}
	if (cp_tree_is_skipping(&thread->tree))
		return NULL;
	cp_marker_take_turn(thread);
	if (!thread->tree.paused)
		return start;
	read_frozen(thread, start, &now_ns);
	cp_tree_begin_time(&thread->tree, now_ns);
	return NULL;
}

/* No pause, no turns, each execution is counted: the commonest, in few instructions. */
static inline bool is_plain(const struct cp_live_thread *thread)
{
	return __builtin_expect(thread->tree.plain && !thread->tree.paused, 1);
}

/* A region whose name CACHEPEEK_REGIONS leaves out begins, or ends. */
static __attribute__((noinline)) void note_left_out(
	bool begins_now, const struct cp_name *name, uint64_t tag)
{
	struct cp_live_thread *thread = enter_tree();

	if (!thread)
		return;
	if (begins_now)
		cp_left_out_begin(&thread->left_out, &thread->tree, name, tag);
	else
		cp_left_out_end(&thread->left_out, &thread->tree, name, tag);
	leave_tree(thread);
}

void cp_marker_begin_now(struct cp_name *name, uint64_t tag)
{
	struct cp_live_thread *thread;
	struct cp_reading *start = NULL;

	if (!name) {
		cp_once(&begins.left_out);
		return;
	}
	if (name->left_out) {
		note_left_out(true, name, tag);
		return;
	}
	thread = enter_tree();
	if (__builtin_expect(!thread, 0))
		return;
	if (is_plain(thread))
		start = cp_tree_begin_again(&thread->tree, name, tag);
	if (!start)
		start = begin_slowly(thread, name, tag);
	/* By one way for all: what comes behind the reading is counted. */
	if (start) {
		cp_tree_begin_time(&thread->tree, cp_now_ns());
		read_counters(thread, true, start);
	}
	leave_tree(thread);
}

/* Regions that go on elsewhere may need new nodes. */
static enum cp_misuse end_alone(struct cp_live_thread *thread, const struct cp_name *name,
	uint64_t tag, bool close_own, const struct cp_reading *reading, uint64_t now_ns)
{
	enum cp_misuse misuse;
	int state;

	cp_own_work_begin(&state);
	misuse =
		cp_tree_end_loosely(&thread->tree, name, tag, close_own, reading, now_ns);
	cp_own_work_end(state);
	return misuse;
}

/* The end of an execution that is not counted: without a reading. */
static bool end_skipped(
	struct cp_live_thread *thread, const struct cp_name *name, uint64_t tag)
{
	struct cp_tree *tree = &thread->tree;

	return cp_tree_is_skipping(tree) &&
	       cp_tree_end_innermost(tree, name, tag, &thread->reading, 0);
}

/* The innermost region is another one, or none is open. */
static __attribute__((noinline)) void end_other(struct cp_live_thread *thread,
	struct cp_name *name, uint64_t tag, enum cp_marker_end how, uint64_t now_ns)
{
	const struct cp_name *inner = cp_tree_innermost(&thread->tree);
	enum cp_misuse misuse =
		end_alone(thread, name, tag, how == CP_END_OWN, &thread->reading, now_ns);

	if (how != CP_END_IF_OPEN)
		note_misuse(misuse, thread, tag, name, inner);
}

void cp_marker_end(struct cp_name *name, uint64_t tag, enum cp_marker_end how)
{
	struct cp_live_thread *thread;
	uint64_t now_ns;

	if (name && name->left_out) {
		note_left_out(false, name, tag);
		return;
	}
	thread = enter_tree();
	if (__builtin_expect(!thread, 0))
		return;
	if (!name && thread->left_out.n &&
		cp_left_out_end(&thread->left_out, &thread->tree, NULL, tag)) {
		leave_tree(thread);
		return;
	}
	if (is_plain(thread)) {
		now_ns = cp_now_ns();
		read_counters(thread, true, &thread->reading);
	} else if (end_skipped(thread, name, tag)) {
		leave_tree(thread);
		return;
	} else {
		cp_marker_read_now(thread, true, &thread->reading, &now_ns);
	}
	if (!cp_tree_end_innermost(&thread->tree, name, tag, &thread->reading, now_ns))
		end_other(thread, name, tag, how, now_ns);
	if (__builtin_expect(thread->sampler != NULL, 0))
		cp_sampling_boundary(thread->sampler);
	leave_tree(thread);
}

void cp_marker_suspend(uint64_t tag)
{
	struct cp_live_thread *thread = enter_tree();
	uint64_t now_ns;
	int state;

	if (!thread)
		return;
	read_marker(thread, true, &thread->reading, &now_ns);
	cp_own_work_begin(&state);
	if (!thread->left_out.n ||
		!cp_left_out_end(&thread->left_out, &thread->tree, NULL, tag))
		cp_tree_suspend(&thread->tree, tag, &thread->reading, now_ns);
	cp_own_work_end(state);
	leave_tree(thread);
}

void cp_marker_begin_again(struct cp_name *name, uint64_t tag)
{
	struct cp_live_thread *thread;
	struct cp_reading *start;

	if (name->left_out) {
		note_left_out(true, name, tag);
		return;
	}
	thread = enter_tree();
	if (!thread)
		return;
	start = begin_slowly(thread, name, tag);
	cp_tree_is_again(&thread->tree, name);
	if (start) {
		cp_tree_begin_time(&thread->tree, cp_now_ns());
		read_counters(thread, true, start);
	}
	leave_tree(thread);
}

void cp_marker_pause(void)
{
	struct cp_live_thread *thread = cp_marker_enter();

	if (__builtin_expect(!thread, 0))
		return;
	cp_marker_read(thread, true, &thread->reading);
	cp_tree_pause(&thread->tree, &thread->reading, cp_now_ns());
	cp_marker_leave(thread);
}

void cp_marker_resume(void)
{
	struct cp_live_thread *thread = cp_marker_enter();

	if (!thread)
		return;
	cp_marker_read(thread, true, &thread->reading);
	cp_tree_resume(&thread->tree, &thread->reading, cp_now_ns());
	cp_marker_leave(thread);
}

void cp_marker_flush(void)
{
	struct cp_live_thread *thread = cp_marker_enter();
	int saved = errno, state;

	if (!thread)
		return;
	cp_own_work_begin(&state);
	cp_threads_adopt();
	cp_threads_flush();
	cp_own_work_end(state);
	cp_marker_leave(thread);
	errno = saved;
}

/* ---- ranges, in the tree of one thread ---- */

void cp_marker_note_no_range(uint64_t tag)
{
	struct cp_live_thread *thread = cp_marker_enter();

	if (!thread)
		return;
	note_misuse(CP_MISUSE_NO_BEGIN, thread, tag, NULL, NULL);
	cp_marker_leave(thread);
}

bool cp_marker_range_begin(struct cp_name *name, uint64_t id, pid_t *tid)
{
	struct cp_live_thread *thread = cp_marker_enter();
	struct cp_reading *start;
	uint64_t now_ns;
	int state;

	if (!thread)
		return false;
	cp_own_work_begin(&state);
	start = cp_tree_range_begin(&thread->tree, name, id);
	cp_own_work_end(state);
	*tid = thread->tid;
	if (start) {
		read_marker(thread, true, start, &now_ns);
		cp_tree_range_time(&thread->tree, now_ns);
	}
	cp_marker_leave(thread);
	return start != NULL;
}

static void end_range(struct cp_live_thread *thread, bool own, uint64_t id)
{
	uint64_t now_ns;

	read_marker(thread, own, &thread->reading, &now_ns);
	cp_tree_range_end(&thread->tree, id, &thread->reading, now_ns);
}

static void end_foreign_range(struct cp_live_thread *thread, void *id)
{
	end_range(thread, false, *(uint64_t *)id);
}

void cp_marker_range_end(pid_t tid, uint64_t id)
{
	struct cp_live_thread *thread = cp_marker_enter();
	bool own = thread && thread->tid == tid;
	int state;

	if (!thread)
		return;
	if (own)
		end_range(thread, true, id);
	cp_marker_leave(thread);
	if (own || !cp_enter_slowly(&state))
		return;
	cp_thread_visit(tid, end_foreign_range, &id);
	cp_leave_slowly(state);
}
