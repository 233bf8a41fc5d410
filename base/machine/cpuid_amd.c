/* SPDX-License-Identifier: MIT
 *
 * AMD's leaves, which Hygon has as well: 80000005H (first level), 80000006H (second),
 * 80000019H (pages of 1 GB).  Each 16 bits of them are a TLB: its entries below, its
 * ways above.
 */
#include "base/machine/cpuid.h"

#define FIRST 0x80000005u
#define SECOND 0x80000006u
#define GIGABYTE 0x80000019u
#define TOPOLOGY 0x8000001du
#define HINTS 0x80000021u

#define FULL 0xff /* of the ways of the first level: all of its entries */

/* From this family on the second levels are counted in units of 32 entries, which a bit
 * says.  Hypervisors hide the bit, and show the counts; in units of one, none of that
 * family would have as few. */
#define FAMILY_OF_32 0x1a
#define ENTRIES_OF_32 512

static uint32_t units_of_second(
	const struct cp_cpuid *cpuid, const struct cp_cpuid_told *told)
{
	const uint32_t *bits = cp_cpuid_find(cpuid, HINTS, 0),
		       *second = cp_cpuid_find(cpuid, SECOND, 0);

	if (bits && bits[CP_EAX] >> 14 & 1)
		return 32;
	return told->family >= FAMILY_OF_32 && second &&
			       (second[CP_EBX] >> 16 & 0xfff) < ENTRIES_OF_32
		       ? 32
		       : 1;
}

/* The ways that a code of four bits stands for; 0: there is no such level, or another
 * leaf tells. */
static uint32_t ways_of_code(uint32_t code, uint32_t entries)
{
	static const uint8_t ways[] = {
		0, 1, 2, 3, 4, 6, 8, 0, 16, 0, 32, 48, 64, 96, 128};

	return code == 0xf ? entries : ways[code];
}

static void tell_first(struct cp_told_level *level, uint32_t half)
{
	uint32_t entries = half & 0xff, ways = half >> 8 & 0xff;

	cp_told_entries(level, entries, ways == FULL ? entries : ways);
}

static void tell_second(struct cp_told_level *level, uint32_t half, uint32_t units)
{
	uint32_t entries = (half & 0xfff) * units;

	cp_told_entries(level, entries, ways_of_code(half >> 12, entries));
	if (!entries)
		level->told = CP_NONE;
}

/* One array, where there are as many entries of either. */
static void join_pages(
	struct cp_cpuid_told *told, enum cp_level small, uint32_t gigabyte_entries)
{
	struct cp_told_level *level = &told->level[small],
			     *huge = &told->level[small + CP_ITLB_2M - CP_ITLB];

	if (level->told != CP_TOLD)
		return;
	level->pages = CP_PAGES_4K | (gigabyte_entries ? CP_PAGES_1G : 0);
	if (huge->told == CP_TOLD) {
		huge->pages = CP_PAGES_2M;
		if (huge->sets * huge->ways == level->sets * level->ways) {
			level->pages |= CP_PAGES_2M;
			huge->told = CP_SMALL_PAGES;
		}
	}
	cp_told_huge(told, small);
}

static void tell_tlbs(const struct cp_cpuid *cpuid, struct cp_cpuid_told *told)
{
	static const uint32_t none[4];
	const uint32_t *first = cp_cpuid_find(cpuid, FIRST, 0),
		       *second = cp_cpuid_find(cpuid, SECOND, 0),
		       *gigabyte = cp_cpuid_find(cpuid, GIGABYTE, 0);
	uint32_t units = units_of_second(cpuid, told);

	if (!first || !second || !first[CP_EBX])
		return;
	gigabyte = gigabyte ? gigabyte : none;
	tell_first(&told->level[CP_DTLB], first[CP_EBX] >> 16);
	tell_first(&told->level[CP_ITLB], first[CP_EBX] & 0xffff);
	tell_first(&told->level[CP_DTLB_2M], first[CP_EAX] >> 16);
	tell_first(&told->level[CP_ITLB_2M], first[CP_EAX] & 0xffff);
	tell_second(&told->level[CP_DTLB2], second[CP_EBX] >> 16, units);
	tell_second(&told->level[CP_ITLB2], second[CP_EBX] & 0xffff, units);
	tell_second(&told->level[CP_DTLB2_2M], second[CP_EAX] >> 16, units);
	tell_second(&told->level[CP_ITLB2_2M], second[CP_EAX] & 0xffff, units);
	told->level[CP_STLB].told = told->level[CP_STLB_2M].told = CP_NONE;
	join_pages(told, CP_DTLB, gigabyte[CP_EAX] >> 16 & 0xfff);
	join_pages(told, CP_ITLB, gigabyte[CP_EAX] & 0xfff);
	join_pages(told, CP_DTLB2, gigabyte[CP_EBX] >> 16 & 0xfff);
	join_pages(told, CP_ITLB2, gigabyte[CP_EBX] & 0xfff);
}

/* ---- caches, of processors without leaf 8000001DH, or whose hypervisor hides it ---- */

static void tell_cache(
	struct cp_told_level *level, uint32_t bytes, uint32_t ways, uint32_t line)
{
	level->told = bytes && !ways ? CP_UNTOLD : CP_NONE; /* "see leaf 8000001DH" */
	if (!bytes || !ways || !line || bytes % (ways * line))
		return;
	*level = (struct cp_told_level){
		.told = CP_TOLD, .sets = bytes / ways / line, .ways = ways, .line = line};
}

static void tell_first_cache(struct cp_told_level *level, uint32_t reg)
{
	uint32_t bytes = (reg >> 24) << 10, line = reg & 0xff, ways = reg >> 16 & 0xff;

	tell_cache(level, bytes, ways == FULL && line ? bytes / line : ways, line);
}

static void tell_caches(const struct cp_cpuid *cpuid, struct cp_cpuid_told *told)
{
	const uint32_t *first = cp_cpuid_find(cpuid, FIRST, 0),
		       *second = cp_cpuid_find(cpuid, SECOND, 0);

	if (!first || !second || !first[CP_ECX])
		return;
	tell_first_cache(&told->level[CP_L1D], first[CP_ECX]);
	tell_first_cache(&told->level[CP_L1I], first[CP_EDX]);
	tell_cache(&told->level[CP_L2], (second[CP_ECX] >> 16) << 10,
		ways_of_code(second[CP_ECX] >> 12 & 0xf, 0), second[CP_ECX] & 0xff);
	tell_cache(&told->level[CP_LLC], (second[CP_EDX] >> 18) << 19,
		ways_of_code(second[CP_EDX] >> 12 & 0xf, 0), second[CP_EDX] & 0xff);
}

void cp_cpuid_decode_amd(const struct cp_cpuid *cpuid, struct cp_cpuid_told *told)
{
	if (!cp_cpuid_caches(cpuid, TOPOLOGY, told))
		tell_caches(cpuid, told);
	tell_tlbs(cpuid, told);
}
