/* SPDX-License-Identifier: MIT
 *
 * The CPUID of each machine that names a processor, read by the decoder
 * that reads the hosts': it is that machine's processor, caches and TLBs.
 */
#include <stdio.h>
#include <string.h>

#include "base/embedded.h"
#include "base/machine/features.h"
#include "base/machine/host.h"
#include "base/machine/shown.h"
#include "base/text.h"
#include "tests/tap/tap.h"

static bool is_code(const struct cp_cache *cache, const struct cp_told_level *told)
{
	return told->sets == cache->sets && told->ways == cache->ways &&
	       told->line == cache->line;
}

/* AMD's leaves have codes for some numbers of ways only. */
static bool is_tlb(const struct cp_cache *tlb, const struct cp_told_level *told)
{
	return told->sets * told->ways == tlb->sets * tlb->ways &&
	       (told->ways == tlb->ways || (tlb->ways == 24 && told->ways == 16));
}

/* CPUID tells entries of small and of huge pages, and no array has another name. */
static bool is_huge(const struct cp_machine *machine, enum cp_level huge,
	const struct cp_told_level *told)
{
	const struct cp_cache *small = &machine->level[huge - CP_ITLB_2M + CP_ITLB],
			      *tlb = &machine->level[huge];

	if (!small->sets || tlb->absent)
		return told->told == CP_NONE;
	if (told->told == CP_SMALL_PAGES)
		return !tlb->sets || tlb->sets * tlb->ways == small->sets * small->ways;
	return tlb->sets && told->told == CP_TOLD && is_tlb(tlb, told);
}

static bool is_level(const struct cp_machine *machine, enum cp_level level,
	const struct cp_told_level *told)
{
	const struct cp_cache *cache = &machine->level[level];

	if (level >= CP_ITLB_2M)
		return is_huge(machine, level, told);
	if (!cache->sets)
		return told->told == CP_NONE;
	return told->told == CP_TOLD &&
	       (cp_is_tlb(level) ? is_tlb(cache, told) : is_code(cache, told));
}

static void check_leaves(const struct cp_machine *machine)
{
	struct cp_cpuid_leaf leaves[CP_SHOWN_LEAVES];
	struct cp_cpuid cpuid = {leaves, cp_shown_leaves(machine, leaves)};
	const struct cp_shown *shown = &machine->shown;
	struct cp_cpuid_told told;
	unsigned bad = 0;

	cp_cpuid_decode(&cpuid, &told);
	is_string(told.vendor, shown->vendor, "%s: the vendor", machine->name);
	is_int(told.family << 16 | told.model, shown->family << 16 | shown->model,
		"%s: family and model", machine->name);
	for (int level = 0; level < CP_NLEVELS; level++) {
		const struct cp_told_level *at = &told.level[level];

		if (is_level(machine, (enum cp_level)level, at))
			continue;
		bad++;
		diag("%s %s: told %d, %u sets, %u ways", machine->name,
			cp_level_name((enum cp_level)level), (int)at->told, at->sets,
			at->ways);
	}
	is_int(bad, 0, "%s: its caches and TLBs", machine->name);
	bad = 0;
	for (unsigned i = 0; cp_features[i].name; i++) {
		const struct cp_feature *f = &cp_features[i];
		const uint32_t *reg = cp_cpuid_find(&cpuid, f->leaf, f->subleaf);

		bad += (reg && reg[f->reg] >> f->bit & 1) != (shown->features >> i & 1);
	}
	is_int(bad, 0, "%s: its features", machine->name);
}

static unsigned test_shipped(void)
{
	unsigned count = 0;

	for (const struct cp_embedded *file = cp_embedded_files; file->name; file++) {
		struct cp_machine machine = cp_machine_defaults;
		char error[200] = "";

		if (!cp_ends_with(file->name, ".machine"))
			continue;
		snprintf(machine.name, sizeof(machine.name), "%.*s",
			(int)strcspn(file->name, "."), file->name);
		if (cp_machine_parse(
			    &machine, file->name, file->text, error, sizeof(error)) < 0)
			diag("%s", error);
		if (!cp_shown_has(&machine))
			continue;
		check_leaves(&machine);
		count++;
	}
	return count;
}

/* ---- beside what processors told ---- */

/* Threads that share a cache, of leaf 4 or 8000001DH, and in all. */
static void test_threads(void)
{
	static const struct {
		const char *name;
		uint32_t leaf, subleaf, sharing, all;
	} rows[] = {
		/* Ryzen 9 9950X's complex: 0003C163H; 16 of one. */
		{"zen5", 0x8000001d, 3, 16, 16},
		{"zen5", 0x8000001d, 0, 2, 16},
		/* Core i7-6700: 1C03C163H, which has room for 16 of 8. */
		{"skylake", 4, 3, 8, 8},
		{"skylake", 4, 0, 2, 8},
		{"core2duo", 4, 2, 2, 2},
		/* EPYC 7713, of one socket. */
		{"milan-2s", 0x8000001d, 3, 16, 128},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct cp_cpuid_leaf leaves[CP_SHOWN_LEAVES];
		struct cp_machine machine;
		struct cp_cpuid cpuid = {leaves, 0};
		const uint32_t *reg;
		char error[200];

		is_int(cp_machine_find(&machine, rows[i].name, error, sizeof(error)), 0,
			"%s", rows[i].name);
		cpuid.count = cp_shown_leaves(&machine, leaves);
		reg = cp_cpuid_find(&cpuid, rows[i].leaf, rows[i].subleaf);
		is_int((reg[CP_EAX] >> 14 & 0xfff) + 1, rows[i].sharing,
			"%s %u: threads share it", rows[i].name, rows[i].subleaf);
		is_int(cp_cpuid_find(&cpuid, 1, 0)[CP_EBX] >> 16 & 0xff, rows[i].all,
			"%s: threads", rows[i].name);
	}
}

static void test_option(void)
{
	char text[CP_SHOWN_OPTION], error[200], name[2000];
	struct cp_machine machine;

	cp_machine_find(&machine, "zen5", error, sizeof(error));
	cp_shown_option(&machine, text, sizeof(text));
	ok(cp_starts_with(text, "--cpu=0.0:d:68747541:444d4163:69746e65,") &&
			strstr(text, ",1.0:b40f40:") && cp_ends_with(text, ","),
		"the option: %s", text);
	cp_features_list(cp_features_named("x86-64-v3"), name, sizeof(name));
	is_string(name,
		"pni ssse3 cx16 sse4_1 sse4_2 popcnt lahf_lm fma movbe xsave avx f16c "
		"bmi1 avx2 bmi2 abm",
		"the features of a level");
	is_int(cp_features_named("avx3"), 0, "there is no such feature");
	cp_machine_find(&machine, "neoverse-n2", error, sizeof(error));
	ok(!cp_shown_has(&machine), "an Arm shows nothing");
}

int main(void)
{
	plan_lazy();
	ok(test_shipped() >= 27, "machines that show a processor");
	test_threads();
	test_option();
	return 0;
}
