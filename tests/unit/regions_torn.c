/* SPDX-License-Identifier: MIT
 *
 * The end of a region, executed instruction by instruction: a writer that is
 * killed anywhere leaves a record in which the region, its parent and the root
 * are of one moment.
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

enum { COUNTERS = 2, EXECUTIONS = 3 };

static char directory[] = "/tmp/cachepeek-torn-XXXXXX";
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

/* Counter 0 counts 1 in each execution of inner, counter 1 counts 100. */
static void read_now(struct cp_reading *reading, unsigned executions)
{
	memset(reading, 0, sizeof(*reading));
	reading->counter[0] = executions;
	reading->counter[1] = 100 * executions;
	reading->group[0] = (struct cp_times){executions, executions};
}

static void write_record(void)
{
	struct cp_name *outer = cp_name_intern("outer", 5),
		       *inner = cp_name_intern("inner", 5);
	struct cp_reading reading;
	struct cp_tree tree;

	if (cp_record_create(&recording, directory, 1) < 0)
		_exit(1);
	put_counters();
	read_now(&reading, 0);
	if (cp_tree_start(
		    &tree, &layout, &recording, CP_RECORD_HEADER_SIZE, &reading, 0) < 0)
		_exit(2);
	read_now(cp_tree_begin(&tree, outer), 0);
	cp_tree_begin_time(&tree, 0);
	for (unsigned i = 0; i < EXECUTIONS; i++) {
		read_now(cp_tree_begin(&tree, inner), i);
		cp_tree_begin_time(&tree, 10 * i);
		read_now(&reading, i + 1);
		raise(SIGSTOP);
		cp_tree_end(&tree, inner, &reading, 10 * (i + 1));
		raise(SIGSTOP);
	}
	_exit(0);
}

/* ---- what a reader finds ---- */

static const char *fault_of(const struct cp_record *record, uint64_t *calls)
{
	const struct cp_region_item *root = record->regions[0],
				    *outer = record->regions[1],
				    *inner = record->regions[2];
	const struct cp_sum *sum = cp_region_sums(inner);
	uint64_t n = *calls = inner->calls;

	if (sum[0].inclusive != n || sum[1].inclusive != 100 * n ||
		inner->time_ns != 10 * n)
		return "the region's own sums";
	if (cp_region_times(inner, COUNTERS, COUNTERS)[0].running != n)
		return "the region's times";
	if (cp_region_spreads(inner, COUNTERS)[1].max != (n ? 100 : 0))
		return "the region's most";
	sum = cp_region_sums(outer);
	if (sum[0].children != n || sum[1].children != 100 * n ||
		outer->children_ns != 10 * n)
		return "the parent's share";
	sum = cp_region_sums(root);
	if (sum[0].inclusive != n || sum[1].inclusive != 100 * n ||
		root->time_ns != 10 * n)
		return "the root's sums";
	if (cp_region_times(root, COUNTERS, COUNTERS)[0].enabled != n)
		return "the root's times";
	return NULL;
}

static const char *look(uint64_t *calls)
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
	else if (record.nregions < 3 || record.damaged)
		fault = "not all regions";
	else
		fault = fault_of(&record, calls);
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

/* Steps until the writer stops itself; how many instructions that took. */
static unsigned step_through(pid_t pid, unsigned execution)
{
	unsigned steps = 0, faults = 0;
	uint64_t calls = 0, before = execution;
	const char *fault, *first = NULL;

	for (bool stopped = false; !stopped && steps < 100000; steps++) {
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) < 0)
			break;
		stopped = !stopped_by(pid, SIGTRAP);
		fault = look(&calls);
		if (!fault && calls != before && calls != execution + 1)
			fault = "number of executions";
		if (fault && !faults++)
			first = fault;
		before = calls;
	}
	ok(!faults, "execution %u: whole at each of %u instructions", execution, steps);
	if (faults)
		diag("%u times not, first %s", faults, first);
	is_u64(calls, execution + 1, "execution %u: it is there", execution);
	return steps;
}

static void run(pid_t pid)
{
	for (unsigned i = 0; i < EXECUTIONS; i++) {
		unsigned steps;

		if (!stopped_by(pid, SIGSTOP)) {
			skip(3 * (EXECUTIONS - i), "ptrace is not allowed here");
			return;
		}
		steps = step_through(pid, i);
		ok(steps > 100, "execution %u: it was stepped through", i);
		ptrace(PTRACE_CONT, pid, NULL, NULL);
	}
	waitpid(pid, NULL, 0);
}

int main(void)
{
	char path[80];
	pid_t pid;

	if (!mkdtemp(directory))
		bail("%s: errno %d", directory, errno);
	plan(3 * EXECUTIONS);
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
