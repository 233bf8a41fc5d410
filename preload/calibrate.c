/* SPDX-License-Identifier: MIT
 *
 * Pairs of a scratch region inside another, in a record that nobody reads, by
 * the functions that the program's markers call.  Of some rounds the least
 * counts: whatever else happened only adds.
 */
#include "preload/calibrate.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>

#include "base/syscall.h"
#include "base/counters/clock.h"
#include "preload/markers/markers.h"
#include "preload/markers/markers_parts.h"
#include "preload/runtime.h"
#include "preload/self.h"
#include "preload/planned.h"
#include "preload/threads/thread_record.h"

enum { ROUNDS = 10, PAIRS = 10, SCRATCH = 64 << 10 };
/* A measurement takes less than 1 ms, a hundred times that on an emulated CPU. */
#define MOST_WAIT_NS 1000000000

int cp_calibrated;

/* The cost of pairs, and the thread that measures it: the calling one for the time being,
 * with its counters and another tree. */
static struct {
	struct cp_pair_cost cost;
	bool known;
	struct cp_live_thread thread;
	struct cp_layout layout;
	struct cp_recording record;
	char memory[SCRATCH] __attribute__((aligned(16)));
} scratch;
CP_LOCK_LISTED(scratch.record.lock);

static bool start_scratch(const struct cp_live_thread *thread)
{
	scratch.record.header = (struct cp_record_header *)scratch.memory;
	scratch.record.header->tail = CP_RECORD_HEADER_SIZE;
	scratch.record.sealed = true;
	scratch.record.nchunks = 1;
	scratch.record.chunks[0] = (struct cp_record_chunk){scratch.memory, 0, SCRATCH};
	scratch.layout = cp_runtime.layout;
	scratch.layout.cost = NULL; /* so that all executions are counted */
	scratch.layout.nrotated = 0;
	scratch.thread.tid = thread->tid;
	scratch.thread.counters = thread->counters;
	return cp_tree_start(&scratch.thread.tree, &scratch.layout, &scratch.record, 0,
		       &cp_no_reading, 0) == 0;
}

/* Region number n of the scratch record; the root is 0. */
static const struct cp_region_item *region_number(unsigned n)
{
	for (uint64_t at = CP_RECORD_HEADER_SIZE; at < scratch.record.header->tail;) {
		const struct cp_item *next = (const void *)(scratch.memory + at);

		if (next->type == CP_ITEM_REGION && n-- == 0)
			return (const void *)next;
		at += next->size;
	}
	return NULL;
}

/* Markers enter the library, which run_calibration() is in already. */
static void run_pairs(struct cp_name *outer, struct cp_name *inner, bool skip)
{
	cp_leave();
	cp_marker_begin_now(outer, CP_MARKER_API);
	if (skip)
		cp_tree_skip(&scratch.thread.tree, inner, PAIRS);
	for (int i = 0; i < PAIRS; i++) {
		cp_marker_begin_now(inner, CP_MARKER_API);
		cp_marker_end(inner, CP_MARKER_API, CP_END_OWN);
	}
	cp_marker_end(outer, CP_MARKER_API, CP_END_OWN);
	(void)cp_enter();
}

static void keep_least(uint64_t *so_far, uint64_t value, uint64_t minus, uint64_t by)
{
	value = (value > minus ? value - minus : 0) / by;
	if (value < *so_far)
		*so_far = value;
}

/* Notes what skipped pairs cost the region around them. */
static void take_skipped(const uint64_t outer_before[])
{
	const struct cp_region_item *outer = region_number(1);
	const struct cp_sum *outside = cp_region_sums(outer);

	for (uint32_t i = 0; i < scratch.layout.ncounters; i++)
		keep_least(&scratch.cost.skipped[i], outside[i].inclusive,
			outer_before[i] + scratch.cost.inside[i], PAIRS);
	keep_least(&scratch.cost.skipped_ns, outer->time_ns,
		outer_before[CP_MAX_COUNTERS] + scratch.cost.inside_ns, PAIRS);
}

/* Groups that take turns count in theirs only. */
static bool counts_in(unsigned turn, uint32_t counter)
{
	uint32_t group = scratch.layout.group_of[counter];

	return group >= cp_runtime.layout.nrotated || group == turn;
}

/* Notes what the last round added to what was there before. */
static void take_round(
	unsigned turn, const uint64_t outer_before[], const uint64_t inner_before[])
{
	const struct cp_region_item *outer = region_number(1), *inner = region_number(2);
	const struct cp_sum *outside = cp_region_sums(outer),
			    *inside = cp_region_sums(inner);

	for (uint32_t i = 0; i < scratch.layout.ncounters; i++) {
		if (!counts_in(turn, i))
			continue;
		keep_least(&scratch.cost.inside[i], inside[i].inclusive, inner_before[i],
			PAIRS);
		keep_least(&scratch.cost.whole[i], outside[i].inclusive,
			outer_before[i] + scratch.cost.inside[i], PAIRS);
	}
	keep_least(&scratch.cost.inside_ns, inner->time_ns, inner_before[CP_MAX_COUNTERS],
		PAIRS);
	keep_least(&scratch.cost.whole_ns, outer->time_ns,
		outer_before[CP_MAX_COUNTERS] + scratch.cost.inside_ns, PAIRS);
}

static void remember_sums(uint64_t before[], const struct cp_region_item *region)
{
	const struct cp_sum *sums = cp_region_sums(region);

	for (uint32_t i = 0; i < scratch.layout.ncounters; i++)
		before[i] = sums[i].inclusive;
	before[CP_MAX_COUNTERS] = region->time_ns;
}

static void measure_turn(unsigned turn, struct cp_name *outer, struct cp_name *inner)
{
	uint64_t outer_before[CP_MAX_COUNTERS + 1] = {0},
						inner_before[CP_MAX_COUNTERS + 1] = {0};

	for (int i = 0; i < ROUNDS; i++) {
		remember_sums(outer_before, region_number(1));
		remember_sums(inner_before, region_number(2));
		run_pairs(outer, inner, false);
		take_round(turn, outer_before, inner_before);
	}
}

static void measure_skipped(struct cp_name *outer, struct cp_name *inner)
{
	uint64_t outer_before[CP_MAX_COUNTERS + 1] = {0};

	for (int i = 0; i < ROUNDS; i++) {
		remember_sums(outer_before, region_number(1));
		run_pairs(outer, inner, true);
		take_skipped(outer_before);
	}
}

static bool has_counts(void)
{
	for (uint32_t i = 0; i < scratch.layout.ncounters; i++)
		if (scratch.cost.inside[i] || scratch.cost.whole[i] ||
			(scratch.layout.sparse && scratch.cost.skipped[i]))
			return true;
	return false;
}

/* Counts of whole sockets have others' work in them: none of it is our cost. */
static void leave_out_sockets(void)
{
	for (uint32_t i = 0; i < scratch.layout.ncounters; i++)
		if (cp_plan.set.counters[i].socket)
			scratch.cost.inside[i] = scratch.cost.whole[i] = 0;
}

static void measure_pairs(void)
{
	/* Not the program's regions of these names, which go into its record. */
	static struct cp_name names[] = {{0, 5, "outer", false}, {0, 5, "inner", false}};
	struct cp_name *outer = &names[0], *inner = &names[1];
	unsigned turn = scratch.thread.counters.turn;

	run_pairs(outer, inner, false); /* makes the regions, and warms up */
	if (!region_number(2))
		return;
	memset(&scratch.cost, 0xff, sizeof(scratch.cost));
	measure_turn(turn, outer, inner);
	for (unsigned g = 0; g < cp_runtime.layout.nrotated; g++) {
		cp_engine->turn(&scratch.thread.counters, g);
		measure_turn(g, outer, inner);
	}
	if (cp_runtime.layout.nrotated)
		cp_engine->turn(&scratch.thread.counters, turn);
	if (scratch.layout.sparse)
		measure_skipped(outer, inner);
	leave_out_sockets();
	scratch.cost.counts = has_counts();
	scratch.known = true;
}

void cp_calibrate_describe(void)
{
	if (scratch.known && cp_runtime.record.header)
		cp_runtime.record.header->pair_ns = scratch.cost.whole_ns;
}

static void give_up(void)
{
	int calibrating = CP_CALIBRATING;

	__atomic_compare_exchange_n(&cp_calibrated, &calibrating, CP_CALIBRATED, false,
		__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

/* Regions that began before would have counted the pairs inside them.  Not for
 * ever: whoever measures may be interrupted for good, or be another process's. */
static void wait_for_it(void)
{
	uint64_t end = cp_now_ns() + MOST_WAIT_NS;

	while (cp_now_ns() < end) {
		if (__atomic_load_n(&cp_calibrated, __ATOMIC_ACQUIRE) == CP_CALIBRATED)
			return;
		sched_yield();
	}
	give_up();
}

void cp_calibrate_wait(void)
{
	if (__atomic_load_n(&cp_calibrated, __ATOMIC_ACQUIRE) == CP_CALIBRATING &&
		!cp_is_calibrating())
		wait_for_it();
}

void cp_calibrate_after_fork(void)
{
	give_up();
}

#define BIT(number) ((uint64_t)1 << ((number)-1))

/* Markers in a signal handler would be in the scratch record.  What an instruction
 * itself raises is not to wait for: the kernel would end the process. */
static bool hold_signals(uint64_t *before)
{
	uint64_t held = ~(BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGILL) | BIT(SIGFPE) |
			  BIT(SIGTRAP) | BIT(SIGSYS));

	return !cp_confined() && cp_syscall(SYS_rt_sigprocmask, SIG_BLOCK, &held, before,
					 sizeof(held)) == 0;
}

static void release_signals(const uint64_t *before)
{
	cp_syscall(SYS_rt_sigprocmask, SIG_SETMASK, before, NULL, sizeof(*before));
}

/* Inside: a handler that cannot be held back, and a child that it forks, keep off
 * the memory that is being taken and given back here. */
static void run_calibration(void)
{
	struct cp_live_thread *thread;
	uint64_t signals;
	bool held;

	(void)cp_enter();
	thread = cp_self.thread;
	held = hold_signals(&signals);
	cp_clock_warm_up();
	if (start_scratch(thread)) {
		cp_self.thread = &scratch.thread;
		measure_pairs();
		cp_self.thread = thread;
		cp_tree_drop(&scratch.thread.tree);
	}
	if (scratch.known) {
		cp_calibrate_describe();
		__atomic_store_n(
			&cp_runtime.layout.cost, &scratch.cost, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&cp_calibrated, CP_CALIBRATED, __ATOMIC_RELEASE);
	if (held)
		release_signals(&signals);
	cp_leave();
}

bool cp_is_calibrating(void)
{
	return cp_self.thread == &scratch.thread;
}

void cp_calibrate(void)
{
	int saved, state = CP_NOT_CALIBRATED;

	if (!cp_engine->counts_readings || !cp_self.thread || cp_is_calibrating() ||
		cp_self.depth > 0 || !cp_counting())
		return;
	saved = errno; /* libc's code, which the simulated PMU counts as any other */
	if (__atomic_compare_exchange_n(&cp_calibrated, &state, CP_CALIBRATING, false,
		    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		run_calibration();
	else if (state == CP_CALIBRATING)
		wait_for_it();
	errno = saved;
}

void cp_marker_begin(struct cp_name *name, uint64_t tag)
{
	if (__builtin_expect(
		    __atomic_load_n(&cp_calibrated, __ATOMIC_RELAXED) != CP_CALIBRATED,
		    0))
		cp_calibrate();
	cp_marker_begin_now(name, tag);
}
