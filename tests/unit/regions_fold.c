/* SPDX-License-Identifier: MIT
 *
 * Threads that are folded into one, executed instruction by instruction: a
 * writer that is killed anywhere leaves a record whose sums are those of all
 * threads.  And the space is used again.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "regions/record_read.h"
#include "regions/tree.h"
#include "tests/tap/tap.h"

enum { COUNTERS = 2, THREADS = 3 };

static char directory[] = "/tmp/cachepeek-fold-XXXXXX";
static const struct cp_term terms[COUNTERS] = {{0, 1}, {1, 1}};
static const struct cp_quantity_terms quantities[COUNTERS] = {
	{1, &terms[0]}, {1, &terms[1]}};
static const struct cp_layout layout = {.ncounters = COUNTERS,
	.nquantities = COUNTERS,
	.ngroups = 1,
	.quantities = quantities};
static struct cp_recording recording;

/* ---- the writer ---- */

static void put_counters(void)
{
	struct cp_record_header *header = recording.header;

	header->ncounters = header->nquantities = COUNTERS;
	header->nperf_groups = 1;
	header->engine = CP_ENGINE_PERF;
	for (int i = 0; i < COUNTERS; i++) {
		struct cp_counter_item *counter =
			cp_record_reserve(&recording, sizeof(*counter) + 8);
		struct cp_quantity_item *quantity;

		cp_item_publish(counter, CP_ITEM_COUNTER);
		quantity = cp_record_reserve(&recording, sizeof(*quantity) + 8);
		cp_item_publish(quantity, CP_ITEM_QUANTITY);
	}
}

static void read_now(struct cp_reading *reading, uint64_t count)
{
	memset(reading, 0, sizeof(*reading));
	reading->counter[0] = count;
	reading->counter[1] = 100 * count;
	reading->group[0] = (struct cp_times){count, count};
}

/* One execution of outer with inner in it: 3 counts, 2 of them in inner. */
static void run_thread(struct cp_tree *tree, uint64_t thread)
{
	struct cp_name *outer = cp_name_intern("outer", 5),
		       *inner = cp_name_intern("inner", 5);
	struct cp_reading reading;

	read_now(&reading, 0);
	if (cp_tree_start(tree, &layout, &recording, thread, &reading, 0) < 0)
		_exit(2);
	read_now(cp_tree_begin(tree, outer), 0);
	cp_tree_begin_time(tree, 0);
	read_now(cp_tree_begin(tree, inner), 1);
	cp_tree_begin_time(tree, 10);
	read_now(&reading, 3);
	cp_tree_end(tree, inner, &reading, 30);
	cp_tree_end(tree, outer, &reading, 30);
	cp_tree_finish(tree, &reading, 30, true);
}

static void write_record(void)
{
	static struct cp_tree sum, tree[THREADS], again;
	uint64_t tail;

	if (cp_record_create(&recording, directory, 1) < 0)
		_exit(1);
	put_counters();
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

static const char *look(void)
{
	static char error[200];
	struct cp_arena arena = {0};
	struct cp_record record;
	const char *fault = NULL;
	jmp_buf out_of_memory;
	int dir = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (setjmp(out_of_memory))
		return "out of memory";
	arena.out_of_memory = &out_of_memory;
	if (cp_record_read(&arena, dir, "1-0.rec", &record, error, sizeof(error)) < 0)
		fault = error;
	else
		fault = record.damaged ? "damaged" : fault_of(&record);
	cp_arena_free(&arena);
	close(dir);
	return fault;
}

/* ---- one step at a time ---- */

static bool stopped_by(pid_t pid, int number)
{
	int status;

	return waitpid(pid, &status, 0) == pid && WIFSTOPPED(status) &&
	       WSTOPSIG(status) == number;
}

/* While the regions move: once they have, they are given back one by one, which
 * the flag on their thread is for. */
static void step_through(pid_t pid, unsigned thread)
{
	unsigned steps = 0, faults = 0;
	const char *fault, *first = NULL;

	for (bool stopped = false; !stopped && steps < 100000; steps++) {
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) < 0)
			break;
		stopped = !stopped_by(pid, SIGTRAP);
		fault = look();
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
	char path[80];
	pid_t pid;

	if (!mkdtemp(directory))
		bail("%s: errno %d", directory, errno);
	plan(2 * THREADS + 1);
	pid = fork();
	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
			_exit(77);
		write_record();
	}
	run(pid);
	strcat(strcpy(path, directory), "/1-0.rec");
	unlink(path);
	rmdir(directory);
	return 0;
}
