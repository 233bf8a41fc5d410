/* SPDX-License-Identifier: MIT
 * What a page costs that is copied while there is a shadow: others may disturb the thread
 * while it is measured, and that is no cost of pages.
 */
#include "base/syscall.h"

static long fake_syscall(long number, const long arg[6]);
#define cp_syscall6 fake_syscall
#include "preload/shadow/controller.c"
#include "tests/tap/tap.h"

struct cp_options cp_options; /* the library has it */

static struct timespec now;
static long passes; /* ns between two looks at the clock */

static long fake_syscall(long number, const long arg[6])
{
	if (number != SYS_clock_gettime)
		return 0;
	now.tv_nsec += passes;
	*(struct timespec *)arg[1] = now;
	return 0;
}

static void fork_with_cost(struct cp_shadows *s, long page_ns)
{
	passes = page_ns * CP_PROBES;
	cp_controller_forked(s);
}

int main(void)
{
	static struct cp_shadows s;

	plan(4);
	is_u64(cp_controller_faultless(&s, 1000000, 100), 1000000,
		"before there was a shadow pages cost nothing");
	fork_with_cost(&s, 1100);
	is_u64(cp_controller_faultless(&s, 1000000, 100), 890000, "as measured");
	fork_with_cost(&s, 1000);
	for (int i = 0; i < 5; i++)
		fork_with_cost(&s, 30000);
	is_u64(cp_controller_faultless(&s, 1000000, 100), 900000,
		"the least that was measured: others disturbed the rest");
	is_u64(cp_controller_faultless(&s, 50000, 100), 0, "never less than nothing");
	return 0;
}
