/* SPDX-License-Identifier: MIT
 *
 * Machine files that are like another machine.
 */
#include <errno.h>
#include <string.h>

#include "base/machine/host.h"
#include "tests/tap/tap.h"

static struct cp_machine parsed(const char *text)
{
	struct cp_machine machine = cp_machine_defaults;
	char error[200] = "";

	is_int(cp_machine_parse(&machine, "x", text, error, sizeof(error)), 0, "%s",
		*error ? error : text);
	return machine;
}

static bool assumes(const struct cp_machine *machine, unsigned figure)
{
	return machine->assumed >> figure & 1;
}

static void test_taken(void)
{
	struct cp_machine same = parsed("like = ice-lake-sp"),
			  other = parsed("like = ice-lake-sp\n"
					 "llc = 64M 16 64 latency=80\n"
					 "window = 300\n"
					 "stlb = 1536 12 latency=9\n"
					 "memory-latency = 300\n"
					 "assumed = memory-latency\n");

	is_int(same.cores, 36, "what is not said again: cores");
	is_int(same.level[CP_L2].ways, 20, "a level");
	is_int(same.level[CP_STLB_2M].ways, 8, "a TLB for huge pages");
	ok(same.ooo.on && same.ooo.window == 352, "time");
	ok(assumes(&same, CP_OF_L3) && assumes(&same, CP_ASSUMED_WINDOW),
		"and what is assumed");
	is_string(same.shown.vendor, "GenuineIntel", "the processor");
	is_int(same.shown.model, 106, "its model");

	is_int(other.level[CP_LLC].ways, 16, "what is said again: a level");
	is_int(other.level[CP_LLC].inclusion, CP_NON_INCLUSIVE, "as a whole");
	ok(!assumes(&other, CP_OF_L3) && !assumes(&other, CP_ASSUMED_WINDOW),
		"is no longer assumed");
	ok(assumes(&other, CP_OF_MEMORY), "but what this file assumes is");
	ok(assumes(&other, CP_OF_L2), "and what it does not say again");
	is_int(other.level[CP_STLB_2M].sets, 0,
		"huge pages are where the small ones are");
	is_int(parsed("like = broadwell").level[CP_LLC].duel.second, 768,
		"the sets that lead");
	is_int(parsed("like = skylake-sp-2s").shown.model, 85,
		"one that is like another");
}

static void test_mistakes(void)
{
	static const struct {
		const char *text, *error;
	} rows[] = {
		{"like = nonesuch\n",
			"x:1: like = NAME, of a machine in \"cachepeek list machines\": "
			"nonesuch"},
		{"like =\n", "x:1: like = NAME, of a machine in \"cachepeek list "
			     "machines\": "},
		{"cores = 2\nlike = zen4\n", "x:2: like comes before all else: zen4"},
		{"like = zen4\nlike = zen4\n", "x:2: like comes before all else: zen4"},
		{"# one\nlike = zen4\nstlb = 512 4\n",
			"x:3: stlb is in place of itlb2 and dtlb2: leave one out"},
		{"like = skylake\nl1d = 32K 8 32\nl2 = 256K 4 16\n",
			"x:3: its line is smaller than one in front of it"},
		{"like = zen4\npage = 16K\nitlb-2m = 8 8\n",
			"x:3: wants page = 4K: pages of 2 MB are 512 of them"},
		{"llc = 1M 8 64 duel=3:0:1:1:2\n",
			"x:1: duel is of ages: it wants a policy qlru_..."},
		{"l1d = 32K 8 64 duel=3:0:1:1:2\n",
			"x:1: not one of the words in cachepeek-machines(5): duel=3:0:1:1:2"},
		{"llc = 1M 8 64 qlru_h11_m1_r1_u2 duel=3:0:1:2:4\n",
			"x:1: duel=AGE:FIRST:SECOND:COUNT:OF, COUNT sets from FIRST and from "
			"SECOND on, of OF, a power of two: duel=3:0:1:2:4"},
		{"llc = 1M 8 64 qlru_h11_m1_r1_u2 duel=4:0:1:1:2\n",
			"x:1: duel=AGE:FIRST:SECOND:COUNT:OF, COUNT sets from FIRST and from "
			"SECOND on, of OF, a power of two: duel=4:0:1:1:2"},
		{"llc = 1M 8 64 qlru_h11_m1_r1_u2 duel=3:0:1:1\n",
			"x:1: duel=AGE:FIRST:SECOND:COUNT:OF, COUNT sets from FIRST and from "
			"SECOND on, of OF, a power of two: duel=3:0:1:1"},
		{"features = avx3\n",
			"x:1: features = x86-64 (or -v2 to -v4) and names that "
			"/proc/cpuinfo has for more: avx3"},
		{"threads-per-core = 9\n",
			"x:1: expected one number above 0, at most 8: threads-per-core"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct cp_machine machine = cp_machine_defaults;
		char error[200] = "";

		is_int(cp_machine_parse(
			       &machine, "x", rows[i].text, error, sizeof(error)),
			-EINVAL, "wrong: %s", rows[i].text);
		is_string(error, rows[i].error, "and why");
	}
}

int main(void)
{
	plan_lazy();
	test_taken();
	test_mistakes();
	return 0;
}
