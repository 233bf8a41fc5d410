/* SPDX-License-Identifier: MIT
 *
 * Caches and TLBs by CPUID's leaves of many processors, beside what their
 * vendors document.
 */
#include <stdio.h>
#include <string.h>

#include "base/machine/cpuid.h"
#include "tests/tap/tap.h"
#include "tests/unit/cpuid_dumps_amd.h"
#include "tests/unit/cpuid_dumps_intel.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
#define OF(name) #name, name, COUNT(name)

/* Documents:
 *   sog10 AMD 40546, Software Optimization Guide for Family 10h and 12h
 *   sog15 AMD 47414, the same for Family 15h
 *   sog17 AMD 55723, the same for Family 17h
 *   sog19 AMD 56665, the same for Family 19h (Zen 3); sogz4: 57647, for Zen 4
 *   hc24  AMD at Hot Chips 2024, Next Generation "Zen 5" Core
 *   spec  the vendor's product page: sizes of caches
 *   orm   Intel 248966, Optimization Reference Manual, the chapter of that core
 *   sdm   Intel 325383, leaf 2 of CPUID: its descriptors are what is documented
 * other: what these say where CPUID says otherwise; NULL: they do not. */
static const struct row {
	const char *name;
	const struct cp_cpuid_leaf *leaves;
	size_t count;
	unsigned family, model, kind;
	const char *told, *source, *other;
} rows[] = {
#define ZEN5 "itlb 64/64 dtlb 96/96 itlb2 2048/4 dtlb2 4096/8"
#define CORES5 "l1i 32K/8 l1d 48K/12 l2 1024K/16 "
	{OF(turin), 26, 2, 0, CORES5 "llc 32768K/16 " ZEN5, "hc24", NULL},
	{OF(turind), 26, 17, 0, CORES5 "llc 32768K/16 " ZEN5, "hc24", NULL},
	{OF(graniteridge), 26, 68, 0, CORES5 "llc 32768K/16 " ZEN5, "hc24", NULL},
	{OF(strixpoint_0), 26, 36, 0, CORES5 "llc 16384K/16 " ZEN5, "hc24, spec", NULL},
	{OF(strixpoint_1), 26, 36, 0, CORES5 "llc 8192K/16 " ZEN5, "hc24, spec", NULL},
#define ZEN4(llc)                                                                        \
	"l1i 32K/8 l1d 32K/8 l2 1024K/8 llc " llc                                        \
	" itlb 64/64 dtlb 72/72 itlb2 512/4 dtlb2 3072/8"
	{OF(genoa), 25, 17, 0, ZEN4("32768K/16"), "sogz4", "dtlb2 3072/24"},
	{OF(bergamo), 25, 160, 0, ZEN4("16384K/16"), "sogz4", "dtlb2 3072/24"},
	{OF(raphael), 25, 97, 0, ZEN4("32768K/16"), "sogz4", "dtlb2 3072/24"},
#define ZEN3(llc)                                                                        \
	"l1i 32K/8 l1d 32K/8 l2 512K/8 llc " llc                                         \
	" itlb 64/64 dtlb 64/64 itlb2 512/4 dtlb2 2048/8"
	{OF(milan), 25, 1, 0, ZEN3("32768K/16"), "sog19", "dtlb2 2048/16"},
	{OF(vermeer), 25, 33, 0, ZEN3("32768K/16"), "sog19", "dtlb2 2048/16"},
	{OF(cezanne), 25, 80, 0, ZEN3("16384K/16"), "sog19, spec", "dtlb2 2048/16"},
#define ZEN2                                                                              \
	"l1i 32K/8 l1d 32K/8 l2 512K/8 llc 16384K/16 itlb 64/64 dtlb 64/64 itlb2 1024/8 " \
	"dtlb2 2048/8"
	{OF(rome), 23, 49, 0, ZEN2, "spec", NULL},
	{OF(matisse), 23, 113, 0, ZEN2, "spec", NULL},
	{OF(hygon), 24, 0, 0,
		"l1i 64K/4 l1d 32K/8 l2 512K/8 llc 8192K/16 itlb 64/64 dtlb 64/64 "
		"itlb2 1024/8 dtlb2 1536/6",
		"sog17, of Zen", "itlb2 512/8 dtlb2 1536/12"},
	{OF(abudhabi), 21, 2, 0,
		"l1i 64K/2 l1d 16K/4 l2 2048K/16 llc 6144K/48 itlb 48/48 itlb-2m 24/24 "
		"dtlb 64/64 itlb2 512/4 itlb2-2m 1024/8 dtlb2 1024/8",
		"sog15", NULL},
	{OF(bristolridge), 21, 101, 0,
		"l1i 96K/3 l1d 32K/8 l2 1024K/16 itlb 48/48 itlb-2m 24/24 dtlb 64/64 "
		"itlb2 512/4 itlb2-2m 1024/8 dtlb2 1024/8",
		"spec", NULL},
	{OF(barcelona), 16, 2, 0,
		"l1i 64K/2 l1d 64K/2 l2 512K/16 llc 2048K/32 itlb 32/32 itlb-2m 16/16 "
		"dtlb 48/48 itlb2 512/4 itlb2-2m none dtlb2 512/4 dtlb2-2m 128/2",
		"sog10", NULL},

#define GOLDEN(l1i, l2, llc, dtlb)                                                       \
	"l1i " l1i " l1d 48K/12 l2 " l2 " llc " llc                                      \
	" itlb 256/8 itlb-2m 32/8 dtlb " dtlb                                            \
	" dtlb-2m 32/4 stlb 2048/16 stlb-2m 1024/8"
	{OF(graniterapids), 6, 173, 0, GOLDEN("64K/16", "2048K/16", "147456K/16", "96/6"),
		"orm", NULL},
	{OF(emeraldrapids), 6, 207, 0, GOLDEN("32K/8", "2048K/16", "53760K/15", "64/4"),
		"orm", "dtlb 96/6"},
	{OF(sapphirerapids), 6, 143, 0, GOLDEN("32K/8", "2048K/16", "38400K/15", "64/4"),
		"orm", "dtlb 96/6"},
	{OF(alderlake), 6, 151, CP_PERFORMANCE_CORE,
		GOLDEN("32K/8", "1280K/10", "30720K/12", "64/4"), "orm", "dtlb 96/6"},
	{OF(raptorlake_p), 6, 183, CP_PERFORMANCE_CORE,
		GOLDEN("32K/8", "2048K/16", "36864K/12", "64/4"), "orm", "dtlb 96/6"},
	{OF(raptorlake_e), 6, 183, CP_EFFICIENT_CORE,
		"l1i 64K/8 l1d 32K/8 l2 4096K/16 llc 36864K/12 itlb 64/64 dtlb 48/48 "
		"stlb 2048/4",
		"orm, Gracemont", NULL},
	{OF(meteorlake_p), 6, 170, CP_PERFORMANCE_CORE,
		GOLDEN("64K/16", "2048K/16", "18432K/12", "96/6"), "orm", NULL},
	{OF(meteorlake_e), 6, 170, CP_EFFICIENT_CORE,
		"l1i 64K/8 l1d 32K/8 l2 2048K/16 llc 18432K/12 itlb 64/64 dtlb 48/48 "
		"stlb 3072/6",
		"orm, Crestmont", NULL},
	{OF(meteorlake_low), 6, 170, CP_EFFICIENT_CORE,
		"l1i 64K/8 l1d 32K/8 l2 2048K/16 itlb 64/64 dtlb 48/48 stlb 3072/6",
		"orm, Crestmont", NULL},
	{OF(lunarlake_p), 6, 189, CP_PERFORMANCE_CORE,
		GOLDEN("64K/16", "2560K/10", "12288K/12", "128/8"), "orm, Lion Cove",
		NULL},
	{OF(lunarlake_e), 6, 189, CP_EFFICIENT_CORE,
		"l1i 64K/8 l1d 32K/8 l2 4096K/16 itlb 128/128 dtlb 48/48 stlb 4096/4",
		"orm, Skymont", NULL},
	{OF(arrowlake_p), 6, 198, CP_PERFORMANCE_CORE,
		GOLDEN("64K/16", "3072K/12", "24576K/12", "128/8"), "orm, Lion Cove",
		NULL},
	{OF(arrowlake_e), 6, 198, CP_EFFICIENT_CORE,
		"l1i 64K/8 l1d 32K/8 l2 4096K/16 llc 24576K/12 itlb 128/128 dtlb 48/48 "
		"stlb 4096/4",
		"orm, Skymont", NULL},
	{OF(pantherlakel_p), 6, 204, CP_PERFORMANCE_CORE,
		"l1i 64K/16 l1d 48K/12 l2 3072K/12 llc 12288K/12 itlb 256/8 itlb-2m 32/8 "
		"dtlb 128/8 dtlb-2m 32/4 stlb 3072/12 stlb-2m 2048/8",
		"CPUID alone", NULL},
	{OF(pantherlakel_e), 6, 204, CP_EFFICIENT_CORE,
		"l1i 64K/8 l1d 32K/8 l2 4096K/16 itlb 128/128 dtlb 48/48 stlb 4096/4",
		"CPUID alone", NULL},

#define SUNNY(l2, llc, itlb)                                                             \
	"l1i 32K/8 l1d 48K/12 l2 " l2 " llc " llc " itlb " itlb                          \
	" dtlb 64/4 dtlb-2m 32/4 stlb 2048/16 stlb-2m 1024/8"
	{OF(icx), 6, 106, 0, SUNNY("1280K/20", "36864K/12", "? itlb-2m 8/8"), "orm",
		"itlb 128/8"},
	{OF(icelakey), 6, 126, 0, SUNNY("512K/8", "8192K/16", "? itlb-2m 8/8"), "orm",
		"itlb 128/8"},
	{OF(tigerlake), 6, 140, 0, SUNNY("1280K/20", "8192K/8", "128/8 itlb-2m 16/8"),
		"orm", NULL},

/* An ITLB of 128 entries is two threads' of 64. */
#define SKYLAKE(l2, llc)                                                                 \
	"l1i 32K/8 l1d 32K/8 l2 " l2 " llc " llc                                         \
	" itlb 64/8 itlb-2m 8/8 dtlb 64/4 dtlb-2m 32/4 stlb 1536/6"
#define SKYLAKE_SAID "itlb 128/8 stlb 1536/12"
	{OF(cascadelakesp), 6, 85, 0, SKYLAKE("1024K/16", "22528K/11"), "orm, sdm",
		SKYLAKE_SAID},
	{OF(skylakex), 6, 85, 0, SKYLAKE("1024K/16", "14080K/11"), "orm, sdm",
		SKYLAKE_SAID},
	{OF(skylake), 6, 78, 0, SKYLAKE("256K/4", "4096K/16"), "orm, sdm", SKYLAKE_SAID},
	{OF(broadwell), 6, 61, 0, SKYLAKE("256K/8", "3072K/12"), "orm, sdm",
		"itlb 128/4"},
	{OF(haswell), 6, 60, 0,
		"l1i 32K/8 l1d 32K/8 l2 256K/8 llc 8192K/16 itlb 64/8 itlb-2m 8/8 "
		"dtlb 64/4 dtlb-2m 32/4 stlb 1024/8",
		"orm, sdm", "itlb 128/4"},
#define NEHALEM(l1, llc, huge)                                                           \
	l1 " l2 256K/8 llc " llc " itlb 64/4 itlb-2m " huge                              \
	   " dtlb 64/4 dtlb-2m 32/4 stlb 512/4 stlb-2m none"
#define L1 "l1i 32K/8 l1d 32K/8"
	{OF(ivybridgews), 6, 58, 0, NEHALEM(L1, "8192K/16", "8/8"), "orm, sdm",
		"itlb 128/4"},
	{OF(sandybridge), 6, 42, 0, NEHALEM(L1, "4096K/16", "7/7"), "orm, sdm",
		"itlb 128/4"},
	/* A stepping that was not sold. */
	{OF(nehalem), 6, 26, 0, NEHALEM("l1i 32K/4 l1d 16K/4", "8192K/16", "7/7"),
		"orm, sdm", "l1d 32K/8 itlb 128/4"},
#define CORE2(l2)                                                                        \
	"l1i 32K/8 l1d 32K/8 l2 " l2 " itlb 128/4 itlb-2m 8/4 dtlb 16/4 dtlb-2m 16/4 "   \
	"dtlb2 256/4 dtlb2-2m 32/4"
	{OF(conroe), 6, 15, 0, CORE2("2048K/8"), "orm, sdm", NULL},
	{OF(penryn), 6, 23, 0, CORE2("3072K/12"), "orm, sdm", NULL},
	{OF(goldmont), 6, 92, 0,
		"l1i 32K/8 l1d 24K/6 l2 1024K/16 itlb 48/48 dtlb 32/32 dtlb2 512/4 "
		"dtlb2-2m 32/4",
		"orm, sdm", NULL},
};

static size_t say_level(const struct cp_cpuid_told *told, enum cp_level at, char *to)
{
	static const struct cp_told_level unknown;
	const struct cp_told_level
		*level = &told->level[at],
		*small = at >= CP_ITLB_2M ? &told->level[at - CP_ITLB_2M + CP_ITLB]
					  : &unknown;
	unsigned entries = level->sets * level->ways;

	if (level->told == CP_TOLD && !cp_is_tlb(at))
		return (size_t)sprintf(to, " %s %uK/%u", cp_level_name(at),
			entries * level->line / 1024, level->ways);
	if (level->told == CP_TOLD)
		return (size_t)sprintf(
			to, " %s %u/%u", cp_level_name(at), entries, level->ways);
	if (level->told == CP_NONE && small->told == CP_TOLD)
		return (size_t)sprintf(to, " %s none", cp_level_name(at));
	if (level->told == CP_UNTOLD && at <= CP_DTLB2)
		return (size_t)sprintf(to, " %s ?", cp_level_name(at));
	return 0;
}

/* In the order of the rows: a TLB's entries for huge pages behind it. */
static void say(const struct cp_cpuid_told *told, char *to)
{
	static const enum cp_level order[] = {CP_L1I, CP_L1D, CP_L2, CP_LLC, CP_ITLB,
		CP_ITLB_2M, CP_DTLB, CP_DTLB_2M, CP_STLB, CP_STLB_2M, CP_ITLB2,
		CP_ITLB2_2M, CP_DTLB2, CP_DTLB2_2M};
	size_t used = 0;

	to[0] = to[1] = '\0';
	for (size_t i = 0; i < COUNT(order); i++)
		used += say_level(told, order[i], to + used);
}

static void test_row(const struct row *row)
{
	const struct cp_cpuid cpuid = {row->leaves, row->count};
	struct cp_cpuid_told told;
	char text[400];

	cp_cpuid_decode(&cpuid, &told);
	say(&told, text);
	is_string(text + 1, row->told, "%s (%s%s%s)", row->name, row->source,
		row->other ? "; but " : "", row->other ? row->other : "");
	ok(told.family == row->family && told.model == row->model &&
			told.kind == row->kind,
		"%s: family %u model %u kind %x", row->name, told.family, told.model,
		told.kind);
}

/* ---- what the rows do not have ---- */

static struct cp_cpuid_told changed(const struct cp_cpuid_leaf *leaves, size_t count,
	const struct cp_cpuid_leaf *change)
{
	struct cp_cpuid_leaf copy[32];
	struct cp_cpuid cpuid = {copy, count};
	struct cp_cpuid_told told;

	memcpy(copy, leaves, count * sizeof(*copy));
	for (size_t i = 0; i < count; i++)
		if (copy[i].leaf == change->leaf && copy[i].subleaf == change->subleaf)
			copy[i] = *change;
	cp_cpuid_decode(&cpuid, &told);
	return told;
}

static unsigned entries_of(const struct cp_cpuid_told *told, enum cp_level at)
{
	return told->level[at].sets * told->level[at].ways;
}

/* Family 1Ah counts second levels by 32, whether a hypervisor shows the bit that says so
 * or not; others do not. */
static void test_units(void)
{
	struct cp_cpuid_told told = changed(turin, COUNT(turin),
		&(struct cp_cpuid_leaf){0x80000021, 0, {0x204, 0, 0, 0}});

	is_int(entries_of(&told, CP_DTLB2), 4096, "a hypervisor hides the bit: DTLB2");
	is_int(entries_of(&told, CP_ITLB2), 2048, "and ITLB2");
	told = changed(turin, COUNT(turin),
		&(struct cp_cpuid_leaf){1, 0, {0x00a10f11, 0, 0, 0}});
	is_int(entries_of(&told, CP_DTLB2), 4096, "the bit alone says so, too");
	told = changed(milan, COUNT(milan),
		&(struct cp_cpuid_leaf){
			0x80000006, 0, {0x40802040, 0x60804040, 0x02006140, 0}});
	is_int(entries_of(&told, CP_DTLB2), 128, "family 19h without it: units of one");
}

static void test_pages(void)
{
	struct cp_cpuid_told told;
	struct cp_cpuid cpuid = {turin, COUNT(turin)};

	cp_cpuid_decode(&cpuid, &told);
	is_int(told.level[CP_DTLB].pages, 7, "Zen 5: the DTLB holds all pages");
	is_int(told.level[CP_ITLB2].pages, 3, "its ITLB2 none of 1 GB");
	is_int(told.level[CP_DTLB2].pages, 7, "its DTLB2 all");
	cpuid = (struct cp_cpuid){nehalem, COUNT(nehalem)};
	cp_cpuid_decode(&cpuid, &told);
	is_int(told.level[CP_STLB].pages, 1, "Nehalem: the STLB holds 4 KB");
	is_int(told.level[CP_DTLB_2M].pages, 2, "its DTLB of 2 MB nothing else");
}

/* A TLB that is not told says why. */
static void test_untold(void)
{
	static const struct cp_cpuid_leaf centaur[] = {
		{0, 0, {1, 0x746e6543, 0x736c7561, 0x48727561}},
		{1, 0, {0x6f1, 0, 0, 0}},
	};
	struct cp_cpuid cpuid = {icx, COUNT(icx)};
	struct cp_cpuid_told told;

	cp_cpuid_decode(&cpuid, &told);
	is_string(told.level[CP_ITLB].why, "CPUID tells its entries for huge pages only",
		"Ice Lake's ITLB");
	cpuid = (struct cp_cpuid){centaur, COUNT(centaur)};
	cp_cpuid_decode(&cpuid, &told);
	is_string(told.vendor, "CentaurHauls", "another vendor");
	is_string(told.level[CP_DTLB].why, "this vendor's leaves are not known",
		"nothing is taken from its leaves");
	cpuid.count = 0;
	cp_cpuid_decode(&cpuid, &told);
	is_string(told.vendor, "", "no leaf: no vendor");
	ok(told.level[CP_L2].told == CP_UNTOLD, "and no cache");
}

/* No leaf, whatever it says, makes a level without ways or sets. */
static void test_any_bits(void)
{
	uint64_t random = 88172645463325252ull;
	unsigned bad = 0;

	for (int round = 0; round < 20000; round++) {
		struct cp_cpuid_leaf leaves[COUNT(graniterapids)];
		struct cp_cpuid cpuid = {leaves, COUNT(graniterapids)};
		struct cp_cpuid_told told;

		memcpy(leaves, graniterapids, sizeof(leaves));
		for (size_t i = 2; i < COUNT(leaves); i++)
			for (int r = 0; r < 4; r++) {
				random ^= random << 13;
				random ^= random >> 7;
				random ^= random << 17;
				leaves[i].reg[r] = (uint32_t)random;
			}
		if (round % 2) {
			memcpy(leaves, turin, 2 * sizeof(leaves[0]));
			leaves[2].leaf = 0x80000005;
			leaves[3].leaf = 0x80000006;
			leaves[3].subleaf = 0;
		}
		cp_cpuid_decode(&cpuid, &told);
		for (int at = 0; at < CP_NLEVELS; at++)
			bad += told.level[at].told == CP_TOLD &&
			       (!told.level[at].sets || !told.level[at].ways);
	}
	is_int(bad, 0, "any bits: a level that is told has sets and ways");
}

int main(void)
{
	plan_lazy();
	for (size_t i = 0; i < COUNT(rows); i++)
		test_row(&rows[i]);
	test_units();
	test_pages();
	test_untold();
	test_any_bits();
	return 0;
}
