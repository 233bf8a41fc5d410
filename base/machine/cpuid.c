/* SPDX-License-Identifier: MIT */
#include "base/machine/cpuid.h"

#include <string.h>

const uint32_t *cp_cpuid_find(
	const struct cp_cpuid *cpuid, uint32_t leaf, uint32_t subleaf)
{
	for (size_t i = 0; i < cpuid->count; i++)
		if (cpuid->leaves[i].leaf == leaf && cpuid->leaves[i].subleaf == subleaf)
			return cpuid->leaves[i].reg;
	return NULL;
}

/* ---- caches ---- */

/* The types of leaf 4: 0 is none. */
enum { DATA = 1, CODE, UNIFIED };

/* CP_NLEVELS: it is none that machines have. */
static enum cp_level cache_level(uint32_t eax)
{
	uint32_t type = eax & 0x1f, level = eax >> 5 & 7;

	if (level == 1)
		return type == CODE ? CP_L1I : CP_L1D;
	return level == 2 ? CP_L2 : level == 3 ? CP_LLC : CP_NLEVELS;
}

static void tell_cache(const uint32_t *reg, struct cp_cpuid_told *told)
{
	enum cp_level at = cache_level(reg[CP_EAX]);
	uint32_t partitions = (reg[CP_EBX] >> 12 & 0x3ff) + 1;

	if (at == CP_NLEVELS)
		return;
	told->level[at] = (struct cp_told_level){
		.told = CP_TOLD,
		.sets = (reg[CP_ECX] + 1) * partitions,
		.ways = (reg[CP_EBX] >> 22) + 1,
		.line = (reg[CP_EBX] & 0xfff) + 1,
	};
}

/* Leaves that tell any caches tell all of them. */
bool cp_cpuid_caches(
	const struct cp_cpuid *cpuid, uint32_t leaf, struct cp_cpuid_told *told)
{
	const uint32_t *reg = cp_cpuid_find(cpuid, leaf, 0);
	uint32_t subleaf = 0;

	if (!reg || !(reg[CP_EAX] & 0x1f))
		return false;
	for (int level = CP_L1I; level <= CP_LLC; level++)
		told->level[level].told = CP_NONE;
	for (; reg && reg[CP_EAX] & 0x1f; reg = cp_cpuid_find(cpuid, leaf, ++subleaf))
		tell_cache(reg, told);
	return true;
}

/* ---- TLBs ---- */

void cp_told_entries(struct cp_told_level *level, uint32_t entries, uint32_t ways)
{
	if (!entries || !ways || entries % ways)
		return;
	level->told = CP_TOLD;
	level->sets = entries / ways;
	level->ways = ways;
}

/* A first level without entries for huge pages takes them as small ones. */
void cp_told_huge(struct cp_cpuid_told *told, enum cp_level small)
{
	struct cp_told_level *level = &told->level[small],
			     *huge = &told->level[small + CP_ITLB_2M - CP_ITLB];

	if (level->told != CP_TOLD || huge->told == CP_TOLD)
		return;
	if (level->pages & CP_PAGES_2M || small <= CP_DTLB)
		huge->told = CP_SMALL_PAGES;
	else
		huge->told = CP_NONE;
}

/* ---- the processor ---- */

static void name_processor(const struct cp_cpuid *cpuid, struct cp_cpuid_told *told)
{
	const uint32_t *vendor = cp_cpuid_find(cpuid, 0, 0),
		       *version = cp_cpuid_find(cpuid, 1, 0),
		       *features = cp_cpuid_find(cpuid, 7, 0),
		       *kind = cp_cpuid_find(cpuid, 0x1a, 0);
	uint32_t eax = version ? version[CP_EAX] : 0;

	if (vendor) {
		memcpy(told->vendor, &vendor[CP_EBX], 4);
		memcpy(told->vendor + 4, &vendor[CP_EDX], 4);
		memcpy(told->vendor + 8, &vendor[CP_ECX], 4);
	}
	told->family = eax >> 8 & 0xf;
	told->model = eax >> 4 & 0xf;
	if (told->family == 6 || told->family == 0xf)
		told->model += eax >> 12 & 0xf0;
	if (told->family == 0xf)
		told->family += eax >> 20 & 0xff;
	if (kind && features && features[CP_EDX] >> 15 & 1)
		told->kind = (uint8_t)(kind[CP_EAX] >> 24);
}

static void untell(struct cp_cpuid_told *told, const char *why)
{
	for (int level = 0; level < CP_NLEVELS; level++)
		if (told->level[level].told == CP_UNTOLD && !told->level[level].why)
			told->level[level].why = why;
}

void cp_cpuid_decode(const struct cp_cpuid *cpuid, struct cp_cpuid_told *told)
{
	memset(told, 0, sizeof(*told));
	name_processor(cpuid, told);
	if (strcmp(told->vendor, "AuthenticAMD") == 0 ||
		strcmp(told->vendor, "HygonGenuine") == 0)
		cp_cpuid_decode_amd(cpuid, told);
	else if (strcmp(told->vendor, "GenuineIntel") == 0)
		cp_cpuid_decode_intel(cpuid, told);
	else
		untell(told, "this vendor's leaves are not known");
	untell(told, "CPUID does not tell it");
}
