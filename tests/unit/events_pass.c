/* SPDX-License-Identifier: MIT
 *
 * Which events are counted in which of several runs, on a PMU with four counters.
 */
#include <stdio.h>

#include "base/counters/events_pass.c"
#include "tests/tap/tap.h"
#include "tests/unit/engine_world.h"

static struct cp_event_set set;

static void add_counter(unsigned index, uint32_t type)
{
	struct cp_counter *counter = &set.counters[set.ncounters++];

	snprintf(counter->name, sizeof(counter->name), "c%u", index);
	counter->attr.type = type;
	counter->attr.config = index;
}

/* Adds a quantity of the counters first and, unless it is the same, second. */
static void add_quantity(const char *name, unsigned first, unsigned second)
{
	struct cp_quantity *quantity = &set.quantities[set.nquantities++];

	snprintf(quantity->name, sizeof(quantity->name), "%s", name);
	quantity->available = true;
	quantity->terms[0].counter = first;
	quantity->terms[1].counter = second;
	quantity->nterms = first == second ? 1 : 2;
}

/* Quantities a to e of two counters each, but that c is one of software; they
 * share one: a 0 1, b 1 2, d 4 5, e 5 6.  Counter 7 is in every pass. */
static void make_set(bool common)
{
	memset(&set, 0, sizeof(set));
	for (unsigned i = 0; i < 8; i++)
		add_counter(i, i == 3 ? PERF_TYPE_SOFTWARE : PERF_TYPE_RAW);
	add_quantity("a", 0, 1);
	add_quantity("b", 1, 2);
	add_quantity("c", 3, 3);
	add_quantity("d", 4, 5);
	add_quantity("e", 5, 6);
	add_quantity(common ? "instructions" : "f", 7, 7);
}

/* The names that pass has, and in order the counters that it needs. */
static const char *counted(unsigned number, bool in_turn)
{
	static char text[200];
	size_t length = 0;

	cp_events_take_pass(&set, (struct cp_share){number, in_turn});
	for (unsigned q = 0; q < set.nquantities; q++)
		if (set.quantities[q].available)
			length += (size_t)snprintf(text + length, sizeof(text) - length,
				"%.1s", set.quantities[q].name);
	length += (size_t)snprintf(text + length, sizeof(text) - length, ":");
	for (unsigned i = 0; i < set.ncounters; i++)
		length += (size_t)snprintf(text + length, sizeof(text) - length, " %s",
			set.counters[i].name);
	return text;
}

static bool terms_are_right(void)
{
	static const char *const first[] = {"c0", "c1", "c3", "c4", "c5", "c7"};

	for (unsigned q = 0; q < set.nquantities; q++)
		if (set.quantities[q].available &&
			strcmp(set.counters[set.quantities[q].terms[0].counter].name,
				first[q]) != 0)
			return false;
	return true;
}

int main(void)
{
	plan_lazy();
	world_reset();
	make_set(true);
	is_string(counted(1, false), "abci: c0 c1 c2 c3 c7",
		"as much as fits beside instructions");
	is_u64(set.npasses, 2, "in two passes");
	ok(terms_are_right(), "the counters are numbered anew");
	is_string(set.quantities[3].why.text, "counted in pass 2 of 2",
		"the rest says where it is");
	ok(!set.quantities[3].available && !set.quantities[3].nterms, "and is not here");
	make_set(true);
	is_string(counted(2, false), "cdei: c3 c4 c5 c6 c7",
		"the rest, and software again");
	ok(terms_are_right(), "the counters are numbered anew, too");
	make_set(false);
	is_string(counted(1, false), "abc: c0 c1 c2 c3", "without instructions: a and b");
	make_set(false);
	is_string(counted(2, false), "cdef: c3 c4 c5 c6 c7", "d, e and f");
	make_set(true);
	is_string(
		counted(3, false), "ci: c3 c7", "a pass too many counts what all count");
	make_set(true);
	is_string(counted(3, true), "abci: c0 c1 c2 c3 c7",
		"of ranks that take turns the third counts what the first does");
	is_u64(set.pass, 1, "and says so");
	make_set(true);
	add_counter(8, PERF_TYPE_RAW);
	set.counters[8].socket = true;
	set.nparts = 1;
	set.parts[0].counter = 8;
	add_quantity("g", 8, 8);
	is_string(counted(2, false), "cdeig: c3 c4 c5 c6 c7 c8",
		"what a socket counts is in every pass");
	is_u64(set.parts[0].counter, 5, "by its new number");
	world.capacity = 3;
	make_set(true);
	is_string(counted(1, false), "aci: c0 c1 c3 c7",
		"instructions take a counter, too");
	world.capacity = 2;
	make_set(true);
	is_string(counted(1, false), "aci: c0 c1 c3 c7",
		"too few counters for one: a pass of its own");
	is_u64(set.npasses, 4, "each");
	world_reset();
	return 0;
}
