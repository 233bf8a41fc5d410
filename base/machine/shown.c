/* SPDX-License-Identifier: MIT */
#include "base/machine/shown.h"

#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/format.h"
#include "base/machine/features.h"

#define EXTENDED 0x80000000u

/* The last leaf of Intel's that tells of caches and TLBs; AMD's have none of these. */
enum { LAST_INTEL = 0x18, LAST_AMD = 0xd };

struct shown {
	const struct cp_machine *machine;
	struct cp_cpuid_leaf *leaves;
	size_t count;
};

static uint32_t *add_leaf(struct shown *shown, uint32_t leaf, uint32_t subleaf)
{
	struct cp_cpuid_leaf *added = &shown->leaves[shown->count++];

	*added = (struct cp_cpuid_leaf){leaf, subleaf, {0, 0, 0, 0}};
	return added->reg;
}

static bool is_intel(const struct cp_machine *machine)
{
	return strcmp(machine->shown.vendor, "GenuineIntel") == 0;
}

/* ---- the processor ---- */

static uint32_t cores_of(const struct cp_machine *machine)
{
	return machine->cores / (machine->sockets ? machine->sockets : 1);
}

static uint32_t threads_of(const struct cp_machine *machine, uint32_t cores)
{
	return cores * (machine->shown.threads ? machine->shown.threads : 1);
}

static uint32_t signature(const struct cp_shown *s)
{
	uint32_t family = s->family > 0xf ? 0xf : s->family;

	return (s->family - family) << 20 | (s->model >> 4 & 0xf) << 16 | family << 8 |
	       (s->model & 0xf) << 4 | (s->stepping & 0xf);
}

static void add_name(struct shown *shown, uint32_t leaf, uint32_t last)
{
	uint32_t *reg = add_leaf(shown, leaf, 0);
	const char *vendor = shown->machine->shown.vendor;

	reg[CP_EAX] = last;
	memcpy(&reg[CP_EBX], vendor, 4);
	memcpy(&reg[CP_EDX], vendor + 4, 4);
	memcpy(&reg[CP_ECX], vendor + 8, 4);
}

static uint32_t bits_for(uint32_t ids)
{
	uint32_t bits = 0;

	while ((1u << bits) < ids)
		bits++;
	return bits;
}

static uint32_t at_most(uint32_t value, uint32_t most)
{
	return value < most ? value : most;
}

/* Threads of a core, and of the processor. */
static void add_topology(struct shown *shown)
{
	enum { TOPOLOGY = 0xb, CORE = 0x100, PACKAGE = 0x201 };
	const struct cp_machine *machine = shown->machine;
	uint32_t of_core = threads_of(machine, 1),
		 all = threads_of(machine, cores_of(machine)), *reg;

	reg = add_leaf(shown, TOPOLOGY, 0);
	reg[CP_EAX] = bits_for(of_core);
	reg[CP_EBX] = of_core;
	reg[CP_ECX] = CORE;
	reg = add_leaf(shown, TOPOLOGY, 1);
	reg[CP_EAX] = bits_for(all);
	reg[CP_EBX] = all;
	reg[CP_ECX] = PACKAGE;
}

static void add_processor(struct shown *shown)
{
	enum { LINE_OF_CLFLUSH = 8, MORE_THAN_ONE = 1u << 28 };
	const struct cp_machine *machine = shown->machine;
	uint32_t threads = threads_of(machine, cores_of(machine));
	uint32_t *reg = add_leaf(shown, 1, 0);

	reg[CP_EAX] = signature(&machine->shown);
	reg[CP_EBX] = LINE_OF_CLFLUSH << 8 | at_most(threads, 255) << 16;
	reg[CP_EDX] = threads > 1 ? MORE_THAN_ONE : 0;
	if (is_intel(machine))
		add_topology(shown);
	reg = add_leaf(shown, EXTENDED + 1, 0);
	if (!is_intel(machine))
		reg[CP_EAX] = signature(&machine->shown);
	reg = add_leaf(shown, EXTENDED + 8, 0);
	reg[CP_EAX] = 48 | 48 << 8; /* bits of addresses */
	if (!is_intel(machine))
		reg[CP_ECX] = at_most(threads - 1, 255) | bits_for(threads) << 12;
	/* Programs print it. */
	for (uint32_t i = 0; i < 3; i++) {
		char text[49] = "";

		cp_format(text, sizeof(text), "%s (simulated)", machine->name);
		memcpy(add_leaf(shown, EXTENDED + 2 + i, 0), text + i * 16, 16);
	}
}

static void add_features(struct shown *shown)
{
	add_leaf(shown, 7, 0)[CP_EAX] = 1; /* subleaf */
	add_leaf(shown, 7, 1);
	for (unsigned i = 0; cp_features[i].name; i++)
		for (size_t j = 0; j < shown->count; j++)
			if (shown->machine->shown.features >> i & 1 &&
				shown->leaves[j].leaf == cp_features[i].leaf &&
				shown->leaves[j].subleaf == cp_features[i].subleaf)
				shown->leaves[j].reg[cp_features[i].reg] |=
					1u << cp_features[i].bit;
}

/* ---- caches ---- */

/* Adds a cache to leaf 4 or 8000001DH, which end at one of no type. */
static void add_cache(struct shown *shown, uint32_t leaf, uint32_t *subleaf,
	enum cp_level level, uint32_t type_and_level)
{
	enum { STARTS_ITSELF = 1 << 8, FULL = 1 << 9, INCLUSIVE = 2 };
	const struct cp_machine *machine = shown->machine;
	const struct cp_cache *cache = &machine->level[level];
	uint32_t sharing = cache->shared     ? cache->shared
			   : level == CP_LLC ? cores_of(machine)
					     : 1,
		 *reg;

	if (!cache->sets)
		return;
	reg = add_leaf(shown, leaf, (*subleaf)++);
	reg[CP_EAX] = type_and_level | STARTS_ITSELF | (cache->sets == 1 ? FULL : 0) |
		      at_most(threads_of(machine, sharing) - 1, 0xfff) << 14;
	if (is_intel(machine))
		reg[CP_EAX] |= at_most(cores_of(machine) - 1, 0x3f) << 26;
	reg[CP_EBX] = (cache->line - 1) | (cache->ways - 1) << 22;
	reg[CP_ECX] = cache->sets - 1;
	reg[CP_EDX] = cache->inclusion == CP_INCLUSIVE ? INCLUSIVE : 0;
}

static void add_caches(struct shown *shown, uint32_t leaf)
{
	enum { DATA = 1, CODE, UNIFIED };
	uint32_t subleaf = 0;

	add_cache(shown, leaf, &subleaf, CP_L1D, DATA | 1 << 5);
	add_cache(shown, leaf, &subleaf, CP_L1I, CODE | 1 << 5);
	add_cache(shown, leaf, &subleaf, CP_L2, UNIFIED | 2 << 5);
	add_cache(shown, leaf, &subleaf, CP_LLC, UNIFIED | 3 << 5);
}

static uint32_t bytes_of(const struct cp_cache *cache)
{
	return cache->sets * cache->ways * cache->line;
}

/* The largest code of AMD's for at most as many ways, and "all of them". */
static uint32_t code_of_ways(const struct cp_cache *level)
{
	static const uint8_t ways[] = {
		0, 1, 2, 3, 4, 6, 8, 0, 16, 0, 32, 48, 64, 96, 128};
	uint32_t code = 0;

	if (level->sets == 1)
		return 0xf;
	for (uint32_t i = 1; i < sizeof(ways); i++)
		if (ways[i] && ways[i] <= level->ways &&
			level->sets * level->ways % ways[i] == 0)
			code = i;
	return code;
}

/* ---- AMD ---- */

static uint32_t first_cache(const struct cp_cache *cache)
{
	return bytes_of(cache) >> 10 << 24 | at_most(cache->ways, 0xff) << 16 | 1 << 8 |
	       cache->line;
}

/* The size of one socket's last levels together, in units of 512 KiB. */
static uint32_t all_last_levels(const struct cp_machine *machine)
{
	const struct cp_cache *llc = &machine->level[CP_LLC];

	return llc->sets ? bytes_of(llc) / 524288 *
				   (llc->shared ? cores_of(machine) / llc->shared : 1)
			 : 0;
}

static uint32_t first_tlb(const struct cp_cache *tlb)
{
	uint32_t entries = tlb->sets * tlb->ways;

	return at_most(entries, 0xff) | (tlb->sets == 1 ? 0xff : tlb->ways & 0xff) << 8;
}

static uint32_t second_tlb(const struct cp_cache *tlb, uint32_t units)
{
	uint32_t entries = tlb->sets * tlb->ways / units;

	return entries ? at_most(entries, 0xfff) | code_of_ways(tlb) << 12 : 0;
}

/* Where huge pages are looked for: among the small ones, or apart. */
static const struct cp_cache *of_huge(
	const struct cp_machine *machine, enum cp_level small)
{
	const struct cp_cache *huge = &machine->level[small + CP_ITLB_2M - CP_ITLB];

	return huge->sets || huge->absent ? huge : &machine->level[small];
}

static void add_amd(struct shown *shown)
{
	enum { FAMILY_OF_32 = 0x1a, IN_UNITS_OF_32 = 1 << 14, SEE_TOPOLOGY = 9 };
	enum { FAMILY_WITH_TOPOLOGY = 0x17 };
	const struct cp_machine *m = shown->machine;
	const struct cp_cache *level = m->level;
	uint32_t family = m->shown.family, units = family >= FAMILY_OF_32 ? 32 : 1, *reg;

	reg = add_leaf(shown, EXTENDED + 5, 0);
	reg[CP_EAX] =
		first_tlb(of_huge(m, CP_DTLB)) << 16 | first_tlb(of_huge(m, CP_ITLB));
	reg[CP_EBX] = first_tlb(&level[CP_DTLB]) << 16 | first_tlb(&level[CP_ITLB]);
	reg[CP_ECX] = first_cache(&level[CP_L1D]);
	reg[CP_EDX] = first_cache(&level[CP_L1I]);
	reg = add_leaf(shown, EXTENDED + 6, 0);
	reg[CP_EAX] = second_tlb(of_huge(m, CP_DTLB2), units) << 16 |
		      second_tlb(of_huge(m, CP_ITLB2), units);
	reg[CP_EBX] = second_tlb(&level[CP_DTLB2], units) << 16 |
		      second_tlb(&level[CP_ITLB2], units);
	reg[CP_ECX] = bytes_of(&level[CP_L2]) >> 10 << 16 |
		      code_of_ways(&level[CP_L2]) << 12 | 1 << 8 | level[CP_L2].line;
	if (level[CP_LLC].sets)
		reg[CP_EDX] = all_last_levels(m) << 18 | SEE_TOPOLOGY << 12 | 1 << 8 |
			      level[CP_LLC].line;
	if (family >= FAMILY_WITH_TOPOLOGY)
		add_caches(shown, EXTENDED + 0x1d);
	if (family >= FAMILY_OF_32)
		add_leaf(shown, EXTENDED + 0x21, 0)[CP_EAX] = IN_UNITS_OF_32;
}

/* ---- Intel ---- */

/* A subleaf of leaf 18H. */
static void add_tlb(
	struct shown *shown, const struct cp_cache *tlb, uint32_t type, uint32_t pages)
{
	enum { FULL = 1 << 8 };
	uint32_t subleaf = 0, *reg;

	if (!tlb->sets)
		return;
	for (size_t i = 0; i < shown->count; i++)
		subleaf += shown->leaves[i].leaf == LAST_INTEL;
	reg = add_leaf(shown, LAST_INTEL, subleaf);
	reg[CP_EBX] = pages | tlb->ways << 16;
	reg[CP_ECX] = tlb->sets;
	reg[CP_EDX] = type | (tlb->sets == 1 ? FULL : 0);
	for (size_t i = 0; i < shown->count; i++)
		if (shown->leaves[i].leaf == LAST_INTEL && !shown->leaves[i].subleaf)
			shown->leaves[i].reg[CP_EAX] = subleaf;
}

static void add_intel(struct shown *shown)
{
	enum { SMALL = 1, HUGE_ONES = 6, SEE_4_AND_18 = 0x00feff01 };
	static const struct {
		enum cp_level level;
		uint32_t type;
	} tlbs[] = {{CP_ITLB, 2 | 1 << 5}, {CP_DTLB, 1 | 1 << 5}, {CP_STLB, 3 | 2 << 5},
		{CP_ITLB2, 2 | 2 << 5}, {CP_DTLB2, 1 | 2 << 5}};
	const struct cp_cache *l2 = &shown->machine->level[CP_L2];

	add_leaf(shown, 2, 0)[CP_EAX] = SEE_4_AND_18;
	add_caches(shown, 4);
	for (int i = 0; i < 5; i++) {
		const struct cp_cache *small = &shown->machine->level[tlbs[i].level],
				      *huge = of_huge(shown->machine, tlbs[i].level);

		add_tlb(shown, small, tlbs[i].type,
			SMALL | (huge == small ? HUGE_ONES : 0));
		if (huge != small)
			add_tlb(shown, huge, tlbs[i].type, HUGE_ONES);
	}
	add_leaf(shown, EXTENDED + 6, 0)[CP_ECX] =
		bytes_of(l2) >> 10 << 16 | code_of_ways(l2) << 12 | l2->line;
}

/* ---- all ---- */

#if defined(__AVX2__)
#define NEEDED "x86-64-v3"
#elif defined(__SSE4_2__)
#define NEEDED "x86-64-v2"
#else
#define NEEDED ""
#endif

bool cp_shown_has(const struct cp_machine *machine)
{
	uint64_t needed = cp_features_named(NEEDED);

	return machine->shown.vendor[0] && machine->shown.has_features &&
	       (machine->shown.features & needed) == needed;
}

size_t cp_shown_leaves(
	const struct cp_machine *machine, struct cp_cpuid_leaf leaves[CP_SHOWN_LEAVES])
{
	struct shown shown = {machine, leaves, 0};
	bool intel = is_intel(machine);

	add_name(&shown, 0, intel ? LAST_INTEL : LAST_AMD);
	add_name(&shown, EXTENDED, EXTENDED + (intel ? 8 : 0x21));
	add_processor(&shown);
	add_features(&shown);
	if (intel)
		add_intel(&shown);
	else
		add_amd(&shown);
	return shown.count;
}

void cp_shown_option(const struct cp_machine *machine, char *to, size_t size)
{
	struct cp_cpuid_leaf leaves[CP_SHOWN_LEAVES];
	size_t count = cp_shown_leaves(machine, leaves), used;

	used = cp_format(to, size, "--cpu=");
	for (size_t i = 0; i < count && used < size; i++) {
		const uint32_t *reg = leaves[i].reg;

		used += cp_format(to + used, size - used, "%x.%x:%x:%x:%x:%x,",
			leaves[i].leaf, leaves[i].subleaf, reg[CP_EAX], reg[CP_EBX],
			reg[CP_ECX], reg[CP_EDX]);
	}
}

#if defined(__x86_64__)
static bool has_leaf_of(const struct cp_feature *feature, const struct cp_feature *other)
{
	return feature->leaf == other->leaf && feature->subleaf == other->subleaf;
}

/* Asks CPUID for the features of one leaf: returns those that are executed here; *all:
 * those that the leaf has. */
static uint64_t ask_leaf_of(const struct cp_feature *feature, uint64_t *all)
{
	uint32_t reg[4];
	uint64_t executed = 0;

	__cpuid_count(feature->leaf, feature->subleaf, reg[0], reg[1], reg[2], reg[3]);
	*all = 0;
	for (unsigned i = 0; cp_features[i].name; i++) {
		if (!has_leaf_of(&cp_features[i], feature))
			continue;
		*all |= 1ull << i;
		executed |= (uint64_t)(reg[cp_features[i].reg] >> cp_features[i].bit & 1)
			    << i;
	}
	return executed;
}
#endif

/* CPUID takes a guest tens of microseconds, so that each leaf is asked for once. */
uint64_t cp_shown_lacking(const struct cp_machine *machine)
{
	uint64_t lacking = 0;

#if defined(__x86_64__)
	uint64_t left = machine->shown.features, all;

	for (; left; left &= ~all)
		lacking |= left &
			   ~ask_leaf_of(&cp_features[__builtin_ctzll(left)], &all) & all;
#else
	(void)machine;
#endif
	return lacking;
}
