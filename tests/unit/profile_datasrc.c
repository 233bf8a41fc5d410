/* SPDX-License-Identifier: MIT
 *
 * Processors' words about a sampled access, in the report's: every level with
 * every snoop, and the words that the kernel has for what processors report, from
 * its tables (none of this was verified on hardware).
 */
#include "tools/profile/samples/datasrc.h"

#include <linux/perf_event.h>
#include <string.h>

#include "tests/tap/tap.h"

static const char *const served_names[] = {
	"L1", "L2", "LFB", "L3", "c2c", "loc", "1hop", "2hop", "?", "-"};
static const char *const translated_names[] = {"L1", "L2", "walk", "soft", "?"};

static const char *served(union perf_mem_data_src d, enum cp_vendor vendor)
{
	return served_names[cp_served_from(d.val, vendor)];
}

/* ---- every lvl_num, snoop, snoopx, remote and hops ---- */

/* By lvl_num: of this core; of it, from a peer; remote: on the node or socket, and
 * farther. */
static const struct {
	const char *own, *peer, *near, *far;
} levels[16] = {
	{"?", "?", "?", "?"},           /* none */
	{"L1", "L1", "c2c", "c2c"},     /* L1 */
	{"L2", "c2c", "c2c", "c2c"},    /* L2 */
	{"L3", "c2c", "c2c", "c2c"},    /* L3 */
	{"?", "?", "?", "?"},           /* L4 */
	{"LFB", "LFB", "LFB", "LFB"},   /* L2_MHB */
	{"?", "?", "?", "?"},           /* MSC */
	{"L1", "L1", "c2c", "c2c"},     /* L0 */
	{"?", "?", "?", "?"},           /* UNC */
	{"?", "?", "?", "?"},           /* CXL */
	{"?", "?", "?", "?"},           /* IO */
	{"?", "c2c", "c2c", "c2c"},     /* ANY_CACHE */
	{"LFB", "LFB", "LFB", "LFB"},   /* LFB */
	{"loc", "loc", "1hop", "2hop"}, /* RAM */
	{"loc", "loc", "1hop", "2hop"}, /* PMEM */
	{"?", "?", "?", "?"},           /* NA */
};

static const unsigned snoops[] = {0, PERF_MEM_SNOOP_NA, PERF_MEM_SNOOP_NONE,
	PERF_MEM_SNOOP_HIT, PERF_MEM_SNOOP_MISS, PERF_MEM_SNOOP_HITM,
	PERF_MEM_SNOOP_NONE | PERF_MEM_SNOOP_MISS};

static const char *expected(
	unsigned level, unsigned snoop, unsigned snoopx, bool remote, unsigned hops)
{
	if (remote)
		return hops >= PERF_MEM_HOPS_2 ? levels[level].far : levels[level].near;
	if (snoop == PERF_MEM_SNOOP_HITM || snoopx)
		return levels[level].peer;
	return levels[level].own;
}

static void test_level(unsigned level)
{
	unsigned tried = 0, wrong = 0;

	for (unsigned i = 0; i < 7 * 3 * 2 * 5 * 3; i++) {
		unsigned snoop = snoops[i % 7], snoopx = i / 7 % 3, hops = i / 42 % 5;
		bool remote = i / 21 % 2;
		union perf_mem_data_src d = {.val = 0};
		const char *want, *got;

		d.mem_op = PERF_MEM_OP_LOAD;
		d.mem_lvl_num = level;
		d.mem_snoop = snoop;
		d.mem_snoopx = snoopx;
		d.mem_remote = remote;
		d.mem_hops = hops;
		want = expected(level, snoop, snoopx, remote, hops);
		got = served(d, (enum cp_vendor)(i / 210 % 3));
		tried++;
		if (strcmp(got, want) == 0)
			continue;
		wrong++;
		diag("lvl_num %u snoop %#x snoopx %u remote %u hops %u: %s, not %s",
			level, snoop, snoopx, remote, hops, got, want);
	}
	is_u64(wrong, 0, "lvl_num %u: %u combinations", level, tried);
}

/* ---- the words of the kernel's tables ---- */

#define P(a, b) PERF_MEM_S(a, b)
#define LOAD P(OP, LOAD)
#define FOUND (LOAD | P(LVL, HIT))
#define LEVEL(x) P(LVLNUM, x)
#define REM P(REMOTE, REMOTE)

static const struct {
	enum cp_vendor vendor;
	uint64_t data_source;
	const char *served, *what;
} words[] = {
	/* Intel: by the data source that PEBS writes */
	{CP_VENDOR_INTEL, LOAD | P(LVL, MISS) | LEVEL(L3) | P(SNOOP, NA), "?", "0x0"},
	{CP_VENDOR_INTEL, FOUND | P(LVL, L1) | LEVEL(L1) | P(SNOOP, NONE), "L1", "0x1"},
	{CP_VENDOR_INTEL, FOUND | P(LVL, LFB) | LEVEL(LFB) | P(SNOOP, NONE), "LFB",
		"0x2"},
	{CP_VENDOR_INTEL, FOUND | P(LVL, L2) | LEVEL(L2) | P(SNOOP, NONE), "L2", "0x3"},
	{CP_VENDOR_INTEL, FOUND | P(LVL, L3) | LEVEL(L3) | P(SNOOP, NONE), "L3", "0x4"},
	{CP_VENDOR_INTEL, FOUND | P(LVL, L3) | LEVEL(L3) | P(SNOOP, MISS), "L3", "0x5"},
	{CP_VENDOR_INTEL, FOUND | P(LVL, L3) | LEVEL(L3) | P(SNOOP, HIT), "L3", "0x6"},
	{CP_VENDOR_INTEL, FOUND | P(LVL, L3) | LEVEL(L3) | P(SNOOP, HITM), "c2c", "0x7"},
	{CP_VENDOR_INTEL, FOUND | P(LVL, L3) | LEVEL(L3) | P(SNOOPX, FWD), "c2c",
		"Skylake: forwarded"},
	{CP_VENDOR_INTEL, FOUND | P(LVL, REM_CCE1) | REM | LEVEL(L3) | P(SNOOP, HIT),
		"c2c", "0x8"},
	{CP_VENDOR_INTEL, FOUND | P(LVL, REM_CCE1) | REM | LEVEL(L3) | P(SNOOP, HITM),
		"c2c", "0x9"},
	{CP_VENDOR_INTEL, FOUND | P(LVL, LOC_RAM) | LEVEL(RAM) | P(SNOOP, HIT), "loc",
		"0xa"},
	{CP_VENDOR_INTEL, FOUND | P(LVL, REM_RAM1) | REM | LEVEL(RAM) | P(SNOOP, HIT),
		"1hop", "0xb"},
	{CP_VENDOR_INTEL,
		FOUND | P(LVL, LOC_RAM) | LEVEL(RAM) | P(SNOOP, NONE) | P(SNOOP, MISS),
		"loc", "0xc"},
	{CP_VENDOR_INTEL,
		FOUND | P(LVL, REM_RAM1) | REM | LEVEL(RAM) | P(SNOOP, NONE) |
			P(SNOOP, MISS),
		"1hop", "0xd"},
	{CP_VENDOR_INTEL, FOUND | P(LVL, IO) | LEVEL(NA) | P(SNOOP, NONE), "?", "0xe"},
	{CP_VENDOR_INTEL, FOUND | P(LVL, UNC) | LEVEL(NA) | P(SNOOP, NONE), "?", "0xf"},
	/* before there were numbers */
	{CP_VENDOR_INTEL, FOUND | P(LVL, L2), "L2", "old: L2"},
	{CP_VENDOR_INTEL, FOUND | P(LVL, LFB), "LFB", "old: LFB"},
	{CP_VENDOR_INTEL, FOUND | P(LVL, L3) | P(SNOOP, HITM), "c2c", "old: HITM"},
	{CP_VENDOR_INTEL, FOUND | P(LVL, LOC_RAM), "loc", "old: memory"},
	{CP_VENDOR_INTEL, FOUND | P(LVL, REM_RAM1), "1hop", "old: memory, 1 hop"},
	{CP_VENDOR_INTEL, FOUND | P(LVL, REM_RAM2), "2hop", "old: memory, 2 hops"},
	{CP_VENDOR_INTEL, FOUND | P(LVL, REM_CCE1), "c2c", "old: cache, 1 hop"},
	{CP_VENDOR_INTEL, FOUND | P(LVL, REM_CCE2), "c2c", "old: cache, 2 hops"},
	{CP_VENDOR_INTEL, LOAD | P(LVL, MISS) | P(LVL, L1), "?", "old: not in L1"},
	{CP_VENDOR_INTEL, P(OP, STORE) | P(LVL, HIT) | P(LVL, L1), "L1", "a store"},
	{CP_VENDOR_INTEL, P(OP, NA) | P(LVL, NA) | P(SNOOP, NA), "-", "no access"},
	{CP_VENDOR_INTEL, LOAD | P(LVL, NA), "?", "nothing said"},
	/* AMD IBS */
	{CP_VENDOR_AMD, FOUND | P(LVL, L1), "L1", "no miss"},
	{CP_VENDOR_AMD, FOUND | P(LVL, L2), "L2", "L2"},
	{CP_VENDOR_AMD, FOUND | P(LVL, LFB), "LFB", "a miss buffer"},
	{CP_VENDOR_AMD, FOUND | P(LVL, L3) | P(LVL, REM_CCE1), "?",
		"before Zen 4: L3 or a neighbour's"},
	{CP_VENDOR_AMD, FOUND | P(LVL, L3) | P(LVL, REM_CCE1) | P(SNOOP, HITM), "c2c",
		"the same, modified"},
	{CP_VENDOR_AMD, FOUND | P(LVL, L3), "L3", "Zen 4: L3"},
	{CP_VENDOR_AMD, FOUND | P(LVL, L3) | LEVEL(L3), "L3", "newer kernels"},
	{CP_VENDOR_AMD, FOUND | P(LVL, REM_CCE1) | LEVEL(ANY_CACHE) | REM | P(HOPS, 0),
		"c2c", "Zen 4: a near CCX"},
	{CP_VENDOR_AMD, FOUND | P(LVL, REM_CCE1) | LEVEL(ANY_CACHE) | REM | P(HOPS, 1),
		"c2c", "Zen 4: a far CCX"},
	{CP_VENDOR_AMD, FOUND | P(LVL, REM_CCE2), "c2c", "a remote cache"},
	{CP_VENDOR_AMD, FOUND | P(LVL, LOC_RAM), "loc", "memory"},
	{CP_VENDOR_AMD, FOUND | P(LVL, LOC_RAM) | LEVEL(RAM), "loc", "memory, newer"},
	{CP_VENDOR_AMD, FOUND | P(LVL, REM_RAM1), "1hop", "another node's memory"},
	{CP_VENDOR_AMD, FOUND | P(LVL, REM_RAM1) | LEVEL(RAM) | REM | P(HOPS, 1), "1hop",
		"the same, newer"},
	{CP_VENDOR_AMD, FOUND | LEVEL(PMEM), "loc", "persistent memory"},
	{CP_VENDOR_AMD, FOUND | LEVEL(CXL), "?", "extension memory"},
	{CP_VENDOR_AMD, FOUND | P(LVL, IO), "?", "a device"},
	/* Arm SPE, as perf words it */
	{CP_VENDOR_ARM, FOUND | P(LVL, L1) | LEVEL(L1) | P(SNOOP, NONE), "L1", "L1D"},
	{CP_VENDOR_ARM, FOUND | P(LVL, L2) | LEVEL(L2) | P(SNOOP, NONE), "L2", "L2"},
	{CP_VENDOR_ARM, FOUND | P(LVL, L2) | LEVEL(L2) | P(SNOOP, HITM) | P(SNOOPX, PEER),
		"c2c", "a core of the cluster"},
	{CP_VENDOR_ARM, FOUND | P(LVL, L3) | LEVEL(L3) | P(SNOOP, HITM) | P(SNOOPX, PEER),
		"c2c", "the cluster, or another"},
	{CP_VENDOR_ARM, FOUND | P(LVL, L3) | LEVEL(L3) | P(SNOOP, HIT), "L3",
		"the system's cache"},
	{CP_VENDOR_ARM, FOUND | P(LVL, LOC_RAM) | LEVEL(RAM) | P(SNOOP, NONE), "loc",
		"memory"},
	{CP_VENDOR_ARM,
		FOUND | P(LVL, REM_CCE1) | LEVEL(ANY_CACHE) | REM | P(SNOOPX, PEER),
		"c2c", "another socket"},
};

static void test_words(void)
{
	static const char *const vendors[] = {"Intel", "AMD", "Arm"};

	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		is_string(served_names[cp_served_from(
				  words[i].data_source, words[i].vendor)],
			words[i].served, "%s: %s", vendors[words[i].vendor],
			words[i].what);
}

/* As samples of the kernel have them. */
static void test_recorded(void)
{
	static const struct {
		enum cp_vendor vendor;
		uint64_t data_source;
		const char *served, *translated;
	} recorded[] = {
		{CP_VENDOR_INTEL, 0x10668100842, "L3", "?"},
		{CP_VENDOR_INTEL, 0x11868100242, "LFB", "?"},
		{CP_VENDOR_INTEL, 0x10650100842, "L3", "walk"},
		{CP_VENDOR_INTEL, 0x10468100442, "L2", "?"},
		{CP_VENDOR_AMD, 0x51080242, "LFB", "walk"},
		{CP_VENDOR_AMD, 0x49080142, "L1", "L2"},
		{CP_VENDOR_AMD, 0x51088842, "?", "walk"},
		{CP_VENDOR_AMD, 0x49080442, "L2", "L2"},
		{CP_VENDOR_AMD, 0x629080842, "L3", "L1"},
		{CP_VENDOR_AMD, 0x1a29081042, "loc", "L1"},
		{CP_VENDOR_AMD, 0x1e05080021, "-", "?"},
		{CP_VENDOR_ARM, 0x8688000842, "c2c", "walk"},
	};

	for (unsigned i = 0; i < sizeof(recorded) / sizeof(recorded[0]); i++) {
		uint64_t d = recorded[i].data_source;

		is_string(served_names[cp_served_from(d, recorded[i].vendor)],
			recorded[i].served, "%#llx: served", (unsigned long long)d);
		is_string(translated_names[cp_translated_by(d)], recorded[i].translated,
			"%#llx: translated", (unsigned long long)d);
	}
}

/* ---- TLBs ---- */

static void test_tlb(void)
{
	static const struct {
		unsigned tlb;
		const char *by;
	} cases[] = {
		{0, "?"},
		{PERF_MEM_TLB_NA, "?"},
		{PERF_MEM_TLB_HIT | PERF_MEM_TLB_L1, "L1"},
		{PERF_MEM_TLB_HIT | PERF_MEM_TLB_L2, "L2"},
		{PERF_MEM_TLB_HIT | PERF_MEM_TLB_L1 | PERF_MEM_TLB_L2, "?"},
		{PERF_MEM_TLB_MISS | PERF_MEM_TLB_L2, "walk"},
		{PERF_MEM_TLB_MISS | PERF_MEM_TLB_L1, "?"},
		{PERF_MEM_TLB_HIT | PERF_MEM_TLB_WK, "walk"},
		{PERF_MEM_TLB_MISS | PERF_MEM_TLB_OS, "soft"},
		{PERF_MEM_TLB_HIT, "?"},
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		union perf_mem_data_src d = {.val = 0};

		d.mem_dtlb = cases[i].tlb;
		is_string(translated_names[cp_translated_by(d.val)], cases[i].by,
			"TLB bits %#x", cases[i].tlb);
	}
}

int main(void)
{
	plan_lazy();
	for (unsigned level = 0; level < 16; level++)
		test_level(level);
	test_words();
	test_recorded();
	test_tlb();
	return 0;
}
