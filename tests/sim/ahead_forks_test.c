/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lines that a core which executes out of order asks for behind a branch that it foresees
 * wrongly: times that were worked out by hand.
 */
#include "model/timing.h"
#include "tests/sim/ahead_trace.h"
#include "tests/tap/tap.h"

/* Where blocks are: one that ends in a branch which hangs on a line from memory; one that
 * is left out at times; the one behind both; another one; and what comes last, which is
 * long. */
enum { BEFORE = 10, LEFT_OUT, BEHIND, OTHER, LAST };
#define LAST_LENGTH 300

static void load_and_branch(uint64_t line, int from, int to, int on)
{
	const struct instruction load = {.what = A_LOAD,
					 .from = from,
					 .other = NONE,
					 .to = to,
					 .level = 2,
					 .begins = 1},
				 branch = {.what = A_BRANCH,
					 .from = on,
					 .other = NONE,
					 .to = NONE,
					 .level = 3};

	execute_at(&load, line, 0);
	execute_at(&branch, line, 0);
}

static void write_and_branch(uint64_t line, int to)
{
	const struct instruction write = {.what = OPERATION,
					 .from = NONE,
					 .other = NONE,
					 .to = to,
					 .level = 3,
					 .begins = 1},
				 branch = {.what = A_BRANCH,
					 .from = NONE,
					 .other = NONE,
					 .to = NONE,
					 .level = 3};

	execute_at(&write, line, 0);
	execute_at(&branch, line, 0);
}

static void operations(uint64_t line, int n)
{
	const struct instruction one = {.what = OPERATION,
		.from = NONE,
		.other = NONE,
		.to = 7,
		.level = 3,
		.begins = 1};

	for (int i = 0; i < n; i++)
		execute_at(&one, line, 0);
}

/* What a round has. */
struct round {
	int left_out; /* the block that may be */
	int other;    /* that one comes instead of the one behind */
	int address;  /* the register that the load in the one behind hangs on */
	int written;  /* by the block that may be left out */
	int late;     /* by so many operations, that load */
};

/* The cycles that its instructions wait for memory. */
static uint64_t go_round(struct round r)
{
	collect();
	got[CP_SIM_time_memory] = 0;
	load_and_branch(BEFORE, NONE, 1, 1);
	if (!r.left_out)
		write_and_branch(LEFT_OUT, r.written);
	if (r.late)
		operations(BEHIND, r.late);
	load_and_branch(r.other ? OTHER : BEHIND, r.address, 4, NONE);
	operations(LAST, LAST_LENGTH);
	collect();
	return got[CP_SIM_time_memory];
}

/* The first branch goes one way, and then the other one. */
static uint64_t wait_of(struct round usual, struct round then)
{
	uint64_t wait;

	begin(&small);
	for (int i = 0; i < 20; i++)
		go_round(usual);
	wait = go_round(then);
	end();
	return wait;
}

/* The first load's line is there 98 cycles after the instruction behind the branch would
 * be issued.  A second load that was issued then has its line, too; if it was not, it
 * asks for it 15 later, when the branch is known, and the instruction a window of 32
 * behind it waits for 68. */
enum { FIRST_ALONE = 98, BOTH = 98 + 68 };

static void left_out(void)
{
	struct round usual = {.address = 3, .written = 2}, then = usual;

	then.left_out = 1;
	is_u64(wait_of(usual, then), FIRST_ALONE, "a line that both ways ask for");
	usual.written = then.written = 3;
	is_u64(wait_of(usual, then), BOTH, "another one on the wrong way");
	usual.written = then.written = 2;
	usual.address = then.address = 1;
	is_u64(wait_of(usual, then), BOTH, "its address hangs on what the branch does");
	usual.address = then.address = 3;
	then.other = 1;
	/* The branch behind has not been seen before: 15 of them pass so. */
	is_u64(wait_of(usual, then), BOTH - 15, "ways that do not meet");
}

static void put_in(void)
{
	struct round usual = {.left_out = 1, .address = 3, .written = 2}, then = usual;

	then.left_out = 0;
	is_u64(wait_of(usual, then), FIRST_ALONE, "a block more on the right way");
	then.written = 3;
	is_u64(wait_of(usual, then), BOTH, "which says where the line is");
}

static void too_far(void)
{
	struct round usual = {.address = 3, .written = 2, .late = 29}, then = usual;

	then.left_out = 1;
	is_u64(wait_of(usual, then), FIRST_ALONE, "the last one within the window");
	usual.late = then.late = 30;
	is_u64(wait_of(usual, then), BOTH, "the first behind it");
}

int main(void)
{
	plan_lazy();
	batch_told.observe = timing_observe;
	left_out();
	put_in();
	too_far();
	return 0;
}
