/* SPDX-License-Identifier: MIT
 *
 * Intel's leaves: 18H, a TLB in each subleaf, and where there is none leaf 2, whose bytes
 * are entries of a table.
 */
#include "base/machine/cpuid.h"

enum { TABLE = 2, CACHES = 4, TRANSLATION = 0x18 };

/* ---- leaf 18H ---- */

/* The types of a subleaf: 0 is none.  TLBs for stores are left out, as machines have one
 * DTLB. */
enum { DATA = 1, CODE, UNIFIED, LOADS };

/* CP_NLEVELS: it is none that machines have. */
static enum cp_level tlb_level(uint32_t edx)
{
	uint32_t type = edx & 0x1f, level = edx >> 5 & 7;
	bool data = type == DATA || type == LOADS;

	if (level == 1)
		return type == CODE ? CP_ITLB : data ? CP_DTLB : CP_NLEVELS;
	if (level != 2)
		return CP_NLEVELS;
	return type == UNIFIED ? CP_STLB
	       : type == CODE  ? CP_ITLB2
	       : data          ? CP_DTLB2
			       : CP_NLEVELS;
}

/* 4 KB, 2 MB and 4 MB, 1 GB. */
static unsigned pages_of(uint32_t ebx)
{
	return (ebx & 1 ? CP_PAGES_4K : 0) | (ebx & 6 ? CP_PAGES_2M : 0) |
	       (ebx & 8 ? CP_PAGES_1G : 0);
}

/* Arrays that hold the same pages are one of all their ways. */
static void add_array(struct cp_told_level *level, uint32_t sets, uint32_t ways)
{
	if (level->told == CP_TOLD && level->sets != sets)
		return;
	level->ways = level->told == CP_TOLD ? level->ways + ways : ways;
	level->sets = sets;
	level->told = CP_TOLD;
}

/* With as many entries as of small pages there are no other arrays for huge ones. */
static void join_pages(struct cp_cpuid_told *told, enum cp_level small)
{
	struct cp_told_level *level = &told->level[small],
			     *huge = &told->level[small + CP_ITLB_2M - CP_ITLB];

	if (level->told == CP_TOLD && huge->told == CP_TOLD &&
		level->pages & CP_PAGES_2M && level->ways == huge->ways &&
		level->sets == huge->sets)
		huge->told = CP_SMALL_PAGES;
	cp_told_huge(told, small);
}

/* Ice Lake tells of an ITLB of 8 entries for huge pages that it holds small ones, too,
 * and not of that for small ones, of 128. */
#define FEWEST_SMALL 16

static void tell_tlb(const uint32_t *reg, struct cp_cpuid_told *told)
{
	enum cp_level at = tlb_level(reg[CP_EDX]);
	uint32_t ways = reg[CP_EBX] >> 16, sets = reg[CP_ECX];
	unsigned pages = pages_of(reg[CP_EBX]);

	if (at == CP_NLEVELS || !ways || !sets)
		return;
	if (at == CP_ITLB && pages & CP_PAGES_4K && ways * sets < FEWEST_SMALL) {
		told->level[at].why = "CPUID tells its entries for huge pages only";
		pages &= ~(unsigned)CP_PAGES_4K;
	}
	if (pages & CP_PAGES_4K) {
		add_array(&told->level[at], sets, ways);
		told->level[at].pages |= pages;
	}
	if (pages & CP_PAGES_2M) {
		add_array(&told->level[at + CP_ITLB_2M - CP_ITLB], sets, ways);
		told->level[at + CP_ITLB_2M - CP_ITLB].pages |= pages;
	}
}

static bool tell_translation(const struct cp_cpuid *cpuid, struct cp_cpuid_told *told)
{
	const uint32_t *reg = cp_cpuid_find(cpuid, TRANSLATION, 0);
	uint32_t most = reg ? reg[CP_EAX] : 0;
	bool any = false;

	for (uint32_t subleaf = 0; subleaf <= most && subleaf < 64; subleaf++) {
		reg = cp_cpuid_find(cpuid, TRANSLATION, subleaf);
		if (!reg || !(reg[CP_EDX] & 0x1f))
			continue;
		tell_tlb(reg, told);
		any = true;
	}
	return any;
}

/* ---- leaf 2 ---- */

enum { SMALL = CP_PAGES_4K, HUGE_ONES = CP_PAGES_2M, BOTH = SMALL | HUGE_ONES };

/* Intel's manual for developers, volume 2A, CPUID.  ways 0: all.  The first is for loads
 * where there are two. */
static const struct descriptor {
	uint8_t byte, level, pages, ways;
	uint16_t entries;
} descriptors[] = {
	{0x01, CP_ITLB, SMALL, 4, 32},
	{0x02, CP_ITLB, HUGE_ONES, 0, 2},
	{0x03, CP_DTLB, SMALL, 4, 64},
	{0x04, CP_DTLB, HUGE_ONES, 4, 8},
	{0x05, CP_DTLB2, HUGE_ONES, 4, 32},
	{0x0b, CP_ITLB, HUGE_ONES, 4, 4},
	{0x4f, CP_ITLB, SMALL, 0, 32},
	{0x50, CP_ITLB, BOTH, 0, 64},
	{0x51, CP_ITLB, BOTH, 0, 128},
	{0x55, CP_ITLB, HUGE_ONES, 0, 7},
	{0x56, CP_DTLB, HUGE_ONES, 4, 16},
	{0x57, CP_DTLB, SMALL, 4, 16},
	{0x59, CP_DTLB, SMALL, 0, 16},
	{0x5a, CP_DTLB, HUGE_ONES, 4, 32},
	{0x5b, CP_DTLB, BOTH, 0, 64},
	{0x5c, CP_DTLB, BOTH, 0, 128},
	{0x61, CP_ITLB, SMALL, 0, 48},
	{0x63, CP_DTLB, HUGE_ONES, 4, 32},
	{0x64, CP_DTLB2, SMALL, 4, 512},
	{0x6a, CP_DTLB, SMALL, 8, 64},
	{0x6b, CP_DTLB2, SMALL, 8, 256},
	{0x6c, CP_DTLB2, HUGE_ONES, 8, 128},
	{0x76, CP_ITLB, HUGE_ONES, 0, 8},
	{0xa0, CP_DTLB, SMALL, 0, 32},
	{0xb0, CP_ITLB, SMALL, 4, 128},
	{0xb1, CP_ITLB, HUGE_ONES, 4, 8},
	{0xb2, CP_ITLB, SMALL, 4, 64},
	{0xb3, CP_DTLB, SMALL, 4, 128},
	{0xb4, CP_DTLB2, SMALL, 4, 256},
	{0xb5, CP_ITLB, SMALL, 8, 64},
	{0xb6, CP_ITLB, SMALL, 8, 128},
	{0xba, CP_DTLB2, SMALL, 4, 64},
	{0xc0, CP_DTLB2, HUGE_ONES, 4, 8},
	{0xc1, CP_STLB, BOTH, 8, 1024},
	{0xc2, CP_DTLB, BOTH, 4, 16},
	{0xc3, CP_STLB, BOTH, 6, 1536},
	{0xc4, CP_DTLB2, HUGE_ONES, 4, 32},
	{0xca, CP_STLB, SMALL, 4, 512},
};

static const struct descriptor *find_descriptor(uint8_t byte)
{
	for (size_t i = 0; i < sizeof(descriptors) / sizeof(descriptors[0]); i++)
		if (descriptors[i].byte == byte)
			return &descriptors[i];
	return NULL;
}

static void tell_descriptor(const struct descriptor *d, struct cp_cpuid_told *told)
{
	uint32_t ways = d->ways ? d->ways : d->entries;
	struct cp_told_level *level = &told->level[d->level];

	/* Some processors' first level of 128 is others' second, behind a smaller one. */
	if (d->pages & CP_PAGES_4K && level->told == CP_TOLD && d->level == CP_DTLB)
		level = &told->level[CP_DTLB2];
	if (!(d->pages & CP_PAGES_4K))
		level += CP_ITLB_2M - CP_ITLB;
	cp_told_entries(level, d->entries, ways);
	level->pages = d->pages;
}

/* A register whose highest bit is set has none; the lowest byte of EAX is no entry. */
static bool tell_table(const struct cp_cpuid *cpuid, struct cp_cpuid_told *told)
{
	const uint32_t *reg = cp_cpuid_find(cpuid, TABLE, 0);
	bool any = false;

	for (int i = 1; reg && i < 16; i++) {
		const struct descriptor *d =
			find_descriptor((uint8_t)(reg[i / 4] >> i % 4 * 8));

		if (!d || reg[i / 4] >> 31)
			continue;
		tell_descriptor(d, told);
		any = true;
	}
	return any;
}

/* Where any of second levels is told, there is no other. */
static void close_second(struct cp_cpuid_told *told)
{
	static const enum cp_level second[] = {CP_STLB, CP_ITLB2, CP_DTLB2};

	for (int i = 0; i < 3; i++)
		if (told->level[second[i]].told == CP_UNTOLD)
			told->level[second[i]].told =
				told->level[second[i] + CP_ITLB_2M - CP_ITLB].told =
					CP_NONE;
}

void cp_cpuid_decode_intel(const struct cp_cpuid *cpuid, struct cp_cpuid_told *told)
{
	static const enum cp_level levels[] = {
		CP_ITLB, CP_DTLB, CP_STLB, CP_ITLB2, CP_DTLB2};

	cp_cpuid_caches(cpuid, CACHES, told);
	if (!tell_translation(cpuid, told) && !tell_table(cpuid, told))
		return;
	for (int i = 0; i < 5; i++)
		join_pages(told, levels[i]);
	if (told->level[CP_DTLB].told == CP_TOLD)
		close_second(told);
}
