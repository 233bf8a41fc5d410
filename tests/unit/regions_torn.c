/* SPDX-License-Identifier: MIT
 *
 * The end of a region, executed instruction by instruction: a writer that is
 * killed anywhere leaves a record in which the region, its parent and the root
 * are of one moment.
 */
#include "tests/unit/stepped_writer.h"

enum { EXECUTIONS = 3 };

/* ---- the writer ---- */

static void write_record(void)
{
	struct cp_name *outer = cp_name_intern("outer", 5),
		       *inner = cp_name_intern("inner", 5);
	struct cp_reading reading;
	struct cp_tree tree;

	create_record();
	read_now(&reading, 0);
	if (cp_tree_start(
		    &tree, &layout, &recording, CP_RECORD_HEADER_SIZE, &reading, 0) < 0)
		_exit(2);
	read_now(cp_tree_begin_tagged(&tree, outer, 0), 0);
	cp_tree_begin_time(&tree, 0);
	for (unsigned i = 0; i < EXECUTIONS; i++) {
		read_now(cp_tree_begin_tagged(&tree, inner, 0), i);
		cp_tree_begin_time(&tree, 10 * i);
		read_now(&reading, i + 1);
		raise(SIGSTOP);
		cp_tree_end_tagged(&tree, inner, 0, &reading, 10 * (i + 1));
		raise(SIGSTOP);
	}
	_exit(0);
}

/* ---- what a reader finds ---- */

static uint64_t calls; /* of inner, so far */

static const char *fault_of(const struct cp_record *record)
{
	const struct cp_region_item *root, *outer, *inner;
	const struct cp_sum *sum;
	uint64_t n;

	if (record->nregions < 3)
		return "not all regions";
	root = record->regions[0];
	outer = record->regions[1];
	inner = record->regions[2];
	sum = cp_region_sums(inner);
	n = calls = inner->calls;
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

/* ---- one step at a time ---- */

/* Steps until the writer stops itself; how many instructions that took. */
static unsigned step_through(pid_t pid, unsigned execution)
{
	unsigned steps = 0, faults = 0;
	uint64_t before = execution;
	const char *fault, *first = NULL;

	for (bool more = true; more && steps < 100000; steps++) {
		more = step(pid);
		fault = look(fault_of);
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
	plan(3 * EXECUTIONS);
	with_writer(write_record, run);
	return 0;
}
