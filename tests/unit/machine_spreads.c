/* SPDX-License-Identifier: MIT
 *
 * How far predicted time may be off: what machine files say of it, by the parts of time,
 * and as records keep it.
 */
#include <math.h>
#include <string.h>

#include "base/machine/host.h"
#include "base/machine/spreads.h"
#include "tests/tap/tap.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

#define LEVELS                                                                           \
	"l1i = 32K 8 64\nl1d = 32K 8 64 latency=5\nl2 = 1M 16 64 latency=14\n"           \
	"llc = 8M 16 64 latency=50\nitlb = 64 4\ndtlb = 64 4\nstlb = 1536 12 latency=7\n"
#define KEYS                                                                             \
	"memory-latency = 200\nwalk-latency = 40\nclock-mhz = 3000\ntiming = ooo\n"      \
	"width = 4\nwindow = 200\nmispredict-latency = 16\n"
#define ALL_SAID                                                                         \
	"spread = l1d 1 l2 2 llc 3 stlb 4 memory-latency 5 walk-latency 6 clock-mhz 7\n" \
	"spread = width 9 window 8 mispredict-latency 10\n"

static struct cp_machine machine_of(const char *text)
{
	struct cp_machine machine = cp_machine_defaults;
	char error[200] = "";

	is_int(cp_machine_parse(&machine, "x", text, error, sizeof(error)), 0, "%s",
		*error ? error : "a machine");
	machine.timed = true;
	return machine;
}

static struct cp_spreads spreads_of(const char *text)
{
	struct cp_machine machine = machine_of(text);

	return cp_spreads_of(&machine);
}

/* A part is off by what is off most of all that it hangs on. */
static void test_parts(void)
{
	static const double want[CP_NPARTS] = {[CP_PART_ISSUE] = 0.09,
		[CP_PART_BRANCH] = 0.10,
		[CP_PART_L2] = 0.02,
		[CP_PART_L3] = 0.03,
		[CP_PART_MEMORY] = 0.05,
		[CP_PART_TLB] = 0.06,
		[CP_PART_CLOCK] = 0.07};
	struct cp_spreads spreads = spreads_of(LEVELS KEYS ALL_SAID);

	ok(spreads.known, "each figure is said");
	for (unsigned part = 0; part < CP_NPARTS; part++)
		is_double_near(spreads.of[part], want[part], 1e-9, "%s",
			cp_part_quantity((enum cp_time_part)part));
	spreads = spreads_of(LEVELS KEYS ALL_SAID "write-buffers = 48\n"
						  "prefetch-distance = 20\n"
						  "prefetch-latency = 9\n"
						  "spread = prefetch-latency 60\n"
						  "fill-buffers = 10\n"
						  "spread = fill-buffers 30\n");
	ok(spreads.known, "what is never measured is no reason to know nothing");
	is_double_near(spreads.of[CP_PART_STORE], 1, 1e-9, "write buffers: all of it");
	is_double_near(spreads.of[CP_PART_L2], 0.6, 1e-9, "lines that are fetched ahead");
	is_double_near(spreads.of[CP_PART_BANDWIDTH], 0.3, 1e-9, "fill buffers");
}

static void test_none(void)
{
	struct cp_machine machine = machine_of(LEVELS KEYS ALL_SAID);
	struct cp_spreads spreads = spreads_of(LEVELS KEYS);

	ok(!spreads.known, "a file that says nothing");
	is_string(spreads.why,
		"the machine file does not say how far its figures may be off", "why");
	spreads = spreads_of(LEVELS KEYS "walkers = 2\n" ALL_SAID);
	ok(!spreads.known, "a figure that is assumed");
	is_string(spreads.why,
		"the machine file does not say how far it may be off in walkers",
		"which it is");
	machine.timed = false;
	spreads = cp_spreads_of(&machine);
	ok(!spreads.known && !*spreads.why, "nothing is predicted: nothing to say");
	spreads = cp_spreads_of(NULL);
	ok(!spreads.known && !*spreads.why, "no machine");
}

static void test_wrong(void)
{
	static const char *const wrong[] = {"spread = l3 5\n", "spread = llc\n",
		"spread = llc -5\n", "spread = llc 10000\n", "spread = llc 5 %\n"};

	for (size_t i = 0; i < COUNT(wrong); i++) {
		struct cp_machine machine = cp_machine_defaults;
		char error[200] = "";

		ok(cp_machine_parse(&machine, "x", wrong[i], error, sizeof(error)) < 0,
			"%s", wrong[i]);
		ok(strncmp(error, "x:1: spread = ", 14) == 0, "%s", error);
	}
}

static void test_records(void)
{
	struct cp_spreads made = spreads_of(LEVELS KEYS ALL_SAID), read;
	char text[CP_SPREADS_TEXT];

	cp_spreads_print(&made, text, sizeof(text));
	is_string(text,
		"issue=9 branch=10 l2=2 l3=3 memory=5 tlb=6 bandwidth=0 store=0 clock=7",
		"as records keep it");
	read = cp_spreads_read(text);
	ok(read.known && memcmp(read.of, made.of, sizeof(read.of)) == 0,
		"and as it is read");
	text[strlen(text) - 1] = 'x';
	ok(!cp_spreads_read(text).known, "a number that is none");
	ok(!cp_spreads_read("issue=9 branch=10").known, "parts that are left out");
	ok(!cp_spreads_read(NULL).known, "a record without it");
	made = spreads_of(LEVELS KEYS);
	cp_spreads_print(&made, text, sizeof(text));
	read = cp_spreads_read(text);
	ok(!read.known, "none");
	is_string(read.why, made.why, "and why");
}

static void test_quantities(void)
{
	double longer[CP_NCAUSES] = {103, 100, 100, 104};

	is_u64(cp_parts_of_quantity("cycles"), 0xff, "cycles are all parts");
	is_u64(cp_parts_of_quantity("time_perfect"), 0x3, "without misses");
	is_u64(cp_parts_of_quantity("miss_time_cycles"), 0xfc, "and what those add");
	is_u64(cp_parts_of_quantity("time_tlb"), 1u << CP_PART_TLB, "one part");
	is_u64(cp_parts_of_quantity("data_stall_cycles"), 0, "another way to count");
	for (unsigned part = 4; part < CP_NCAUSES; part++)
		longer[part] = 100;
	is_double_near(cp_spreads_error(100, longer), 5, 1e-9, "squares add");
}

int main(void)
{
	plan_lazy();
	test_parts();
	test_none();
	test_wrong();
	test_records();
	test_quantities();
	return 0;
}
