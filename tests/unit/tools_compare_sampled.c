/* SPDX-License-Identifier: MIT
 *
 * The interval of a difference between two machines of one sample, where one has no value
 * without some part of it: nothing of the other takes that part's place.
 */
#include "tools/compare/compare_sampled.c"

#include "tests/tap/tap.h"

enum { GROUPS = 16, SETS = 8 };

/* By machine; what leaving a burst out changes.  gone: the burst without which the second
 * machine has no value; -1: none. */
static double value_of[2];
static int gone = -1;

struct cp_value cp_compare_quantity(
	const struct cp_comparison *c, unsigned i, const char *name)
{
	double change = c->view.run && c->view.burst >= 0 ? c->view.burst : 0;

	(void)name;
	if (i == 1 && gone >= 0 && c->view.run && c->view.burst == gone)
		return cp_unavailable("nothing is left");
	return (struct cp_value){.value = value_of[i] + change, .status = CP_ESTIMATED};
}

struct cp_value cp_compare_metric(
	struct cp_comparison *c, unsigned i, const struct cp_metric *metric)
{
	(void)metric;
	return cp_compare_quantity(c, i, "");
}

static struct cp_comparison made;

static void make_machines(void)
{
	for (unsigned i = 0; i < 2; i++) {
		struct cp_compared *of = &made.of[i];

		of->run = 1;
		of->machine.sampled = true;
		of->sample.sets = SETS;
		of->sample.groups = 64;
		for (unsigned g = 0; g < GROUPS; g++)
			of->parts[g] = 1000;
	}
	made.nmachines = 2;
}

int main(void)
{
	static const struct cp_metric metric = {.name = "m", .unit = ""};
	struct cp_escape out_of_memory;

	plan(9);
	if (CP_ESCAPE_SET(out_of_memory) != 0)
		return 1;
	made.arena.out_of_memory = &out_of_memory;
	made.arena.give_up = tap_no_memory;
	make_machines();
	value_of[0] = 1000;
	value_of[1] = 1001;
	ok(cp_compare_error(&made, 1, "", &metric) > 1,
		"by themselves they are too close");
	ok(!cp_compare_undecided(&made, 0, 1, "", &metric),
		"what both have too much of is in no difference");
	gone = 3;
	ok(cp_compare_undecided(&made, 0, 1, "", &metric),
		"without a value of one, the difference is not decided");
	ok(cp_compare_undecided(&made, 1, 0, "", &metric), "either way round");
	is_double_near(cp_compare_error(&made, 1, "", &metric), -1, 0,
		"nor has that one an interval");
	is_string(cp_compare_interval(&made, 1, "", &metric, 1001), " \u00b1?",
		"which the text says");
	ok(cp_compare_error(&made, 0, "", &metric) > 1, "the other has its own");
	value_of[1] = 1000;
	ok(!cp_compare_undecided(&made, 0, 1, "", &metric), "no difference at all");
	ok(made.view.run == 0, "and the comparison is looked at as a whole again");
	return 0;
}
