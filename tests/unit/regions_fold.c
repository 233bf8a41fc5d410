/* SPDX-License-Identifier: MIT
 *
 * Threads that are folded into one, executed instruction by instruction: a
 * writer that is killed anywhere leaves a record whose sums are those of all
 * threads.  And the space is used again.
 */
#include "tests/unit/stepped_writer.h"

enum { THREADS = 3 };

/* ---- the writer ---- */

/* One execution of outer with inner in it: 3 counts, 2 of them in inner. */
static void run_thread(struct cp_tree *tree, uint64_t thread)
{
	struct cp_name *outer = cp_name_intern("outer", 5),
		       *inner = cp_name_intern("inner", 5);
	struct cp_reading reading;

	read_now(&reading, 0);
	if (cp_tree_start(tree, &layout, &recording, thread, &reading, 0) < 0)
		_exit(2);
	read_now(cp_tree_begin_tagged(tree, outer, 0), 0);
	cp_tree_begin_time(tree, 0);
	read_now(cp_tree_begin_tagged(tree, inner, 0), 1);
	cp_tree_begin_time(tree, 10);
	read_now(&reading, 3);
	cp_tree_end_tagged(tree, inner, 0, &reading, 30);
	cp_tree_end_tagged(tree, outer, 0, &reading, 30);
	cp_tree_finish(tree, &reading, 30, true);
}

static void write_record(void)
{
	static struct cp_tree sum, tree[THREADS], again;
	uint64_t tail;

	create_record();
	if (cp_tree_start_folded(&sum, &layout, &recording, 8) < 0)
		_exit(2);
	for (uint64_t i = 0; i < THREADS; i++)
		run_thread(&tree[i], 16 + 8 * i);
	for (int i = 0; i < THREADS; i++) {
		raise(SIGSTOP);
		if (!cp_tree_fold(&sum, &tree[i]))
			_exit(3);
		raise(SIGSTOP);
		cp_tree_drop(&tree[i]);
	}
	tail = recording.header->tail;
	for (int i = 0; i < THREADS; i++)
		run_thread(&again, 8);
	_exit(recording.header->tail == tail ? 0 : 4);
}

/* ---- what a reader finds ---- */

/* 0: a root, 1: outer, 2: inner; by name, since outer comes first. */
static int kind_of(const struct cp_record *record, const struct cp_region_item *item)
{
	const struct cp_string_item *name = cp_record_string(record, item->name);

	if (!name)
		return 0;
	return strcmp(name->text, "outer") == 0 ? 1 : 2;
}

static const char *fault_of(const struct cp_record *record)
{
	static const uint64_t each[3] = {3, 3, 2}, inside[3] = {3, 2, 0};
	uint64_t calls[3] = {0}, counts[3] = {0}, children[3] = {0}, time[3] = {0},
		 running[3] = {0};

	for (size_t i = 0; i < record->nregions; i++) {
		const struct cp_region_item *item = record->regions[i];
		int kind = kind_of(record, item);

		calls[kind] += item->calls;
		counts[kind] += cp_region_sums(item)[1].inclusive;
		children[kind] += cp_region_sums(item)[0].children;
		time[kind] += item->time_ns;
		running[kind] += cp_region_times(item, COUNTERS, COUNTERS)[0].running;
	}
	for (int kind = 0; kind < 3; kind++) {
		if (calls[kind] != THREADS)
			return "calls";
		if (counts[kind] != THREADS * 100 * each[kind] ||
			children[kind] != THREADS * inside[kind])
			return "counts";
		if (time[kind] != THREADS * 10 * each[kind] ||
			running[kind] != THREADS * each[kind])
			return "times";
	}
	return NULL;
}

/* ---- one step at a time ---- */

/* While the regions move: once they have, they are given back one by one, which
 * the flag on their thread is for. */
static void step_through(pid_t pid, unsigned thread)
{
	unsigned steps = 0, faults = 0;
	const char *fault, *first = NULL;

	for (bool more = true; more && steps < 100000; steps++) {
		more = step(pid);
		fault = look(fault_of);
		if (fault && !faults++)
			first = fault;
	}
	ok(!faults, "thread %u: the sums are the same at each of %u instructions", thread,
		steps);
	if (faults)
		diag("%u times not, first %s", faults, first);
	ok(steps > 100, "thread %u: it was stepped through", thread);
}

static void run(pid_t pid)
{
	int status = 0;

	for (unsigned i = 0; i < THREADS; i++) {
		if (!stopped_by(pid, SIGSTOP)) {
			skip(2 * (THREADS - i) + 1, "ptrace is not allowed here");
			return;
		}
		step_through(pid, i);
		ptrace(PTRACE_CONT, pid, NULL, NULL);
	}
	waitpid(pid, &status, 0);
	is_int(WEXITSTATUS(status), 0, "the space is used again");
}

int main(void)
{
	plan(2 * THREADS + 1);
	with_writer(write_record, run);
	return 0;
}
