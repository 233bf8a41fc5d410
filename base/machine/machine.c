/* SPDX-License-Identifier: MIT */
#include "base/machine/machine.h"

#include <string.h>

#include "base/format.h"

static const char *const level_names[CP_NLEVELS] = {"l1i", "l1d", "l2", "llc", "itlb",
	"dtlb", "stlb", "itlb2", "dtlb2", "itlb-2m", "dtlb-2m", "stlb-2m", "itlb2-2m",
	"dtlb2-2m"};
static const char *const level_titles[CP_NLEVELS] = {"L1I", "L1D", "L2", "L3", "ITLB",
	"DTLB", "STLB", "ITLB2", "DTLB2", "2M ITLB", "2M DTLB", "2M STLB", "2M ITLB2",
	"2M DTLB2"};

const char *cp_level_name(enum cp_level level)
{
	return level_names[level];
}

static bool is_of_huge(enum cp_level level)
{
	return level >= CP_ITLB_2M && level < CP_NLEVELS;
}

/* Bytes of what the simulated PMU tells apart: the smallest line, or half of it. */
static uint32_t unit_of(const struct cp_machine *machine)
{
	uint32_t unit = machine->level[CP_L1I].line;

	for (int level = CP_L1I; level <= CP_LLC; level++) {
		const struct cp_cache *cache = &machine->level[level];
		uint32_t line = cache->line >> cache->half_lines;

		if (cache->sets && line < unit)
			unit = line;
	}
	return unit;
}

bool cp_machine_shares_run(const struct cp_machine *a, const struct cp_machine *b)
{
	if (unit_of(a) != unit_of(b) || a->string_iterations != b->string_iterations)
		return false;
	return !a->timed || !b->timed || !a->ooo.on || !b->ooo.on ||
	       (a->level[CP_L1D].latency == b->level[CP_L1D].latency &&
		       a->ooo.width == b->ooo.width && a->ooo.loads == b->ooo.loads &&
		       a->ooo.stores == b->ooo.stores &&
		       a->ooo.float_add == b->ooo.float_add &&
		       a->ooo.float_multiply == b->ooo.float_multiply);
}

/* ---- for people and for the tool ---- */

/* Behind "qlru": for people as its inventors have it, and as digits. */
static size_t describe_qlru(uint32_t digits, char separator, char *to, size_t size)
{
	if (separator == ',')
		return cp_format(to, size, ":%u", digits);
	return cp_format(to, size, "_h%u%u_m%u_r%u_u%u", digits / 10000 % 10,
		digits / 1000 % 10, digits / 100 % 10, digits / 10 % 10, digits % 10);
}

/* For people without its numbers. */
static size_t describe_duel(
	const struct cp_duel *duel, char separator, char *to, size_t size)
{
	if (!duel->of)
		return 0;
	if (separator == ',')
		return cp_format(to, size, ",duel:%u:%u:%u:%u:%u", duel->age, duel->first,
			duel->second, duel->count, duel->of);
	return cp_format(to, size, "%cduel", separator);
}

/* For people without their numbers. */
static size_t describe_prefetchers(
	const struct cp_cache *cache, char separator, char *to, size_t size)
{
	size_t used = 0;

	for (int i = 0; i < CP_PREFETCHERS; i++) {
		const struct cp_prefetcher *p = &cache->prefetch[i];

		if (p->kind == CP_NO_PREFETCH)
			continue;
		used += cp_format(to + used, size - used, "%c%s", separator,
			cp_prefetch_name(p->kind));
		for (unsigned n = 0; separator == ',' && n < cp_prefetch_numbers(p); n++)
			used += cp_format(to + used, size - used, ":%u", p->number[n]);
	}
	return used;
}

/* Words for what is not as usual, each with a separator before it. */
static size_t describe_words(
	const struct cp_cache *cache, char separator, char *to, size_t size)
{
	static const char *const policies[CP_NPOLICIES] = {
		"", "plru", "round-robin", "random", "lru-plru4", "qlru", "mru", "mru-n"};
	static const char *const inclusions[] = {"", "inclusive", "exclusive"};
	const char *words[] = {policies[cache->policy],
		cache->write_through ? "write-through" : "",
		cache->no_allocate ? "no-allocate" : "", inclusions[cache->inclusion],
		cache->half_lines ? "half-lines" : "",
		cache->fp_bypass ? "fp-bypass" : ""};
	size_t used = 0;

	to[0] = '\0';
	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!*words[i])
			continue;
		used += cp_format(to + used, size - used, "%c%s", separator, words[i]);
		if (i == 0 && separator == ',' && cache->policy == CP_RANDOM)
			used += cp_format(to + used, size - used, ":%llu",
				(unsigned long long)cache->seed);
		if (i == 0 && cache->policy == CP_QLRU) {
			used += describe_qlru(
				cache->qlru, separator, to + used, size - used);
			used += describe_duel(
				&cache->duel, separator, to + used, size - used);
		}
	}
	return used + describe_prefetchers(cache, separator, to + used, size - used);
}

static size_t describe_size(
	const struct cp_machine *machine, enum cp_level level, char *to, size_t size)
{
	const struct cp_cache *cache = &machine->level[level];
	uint64_t bytes = (uint64_t)cache->sets * cache->ways * cache->line;

	if (cp_is_tlb(level))
		return cp_format(to, size, ", %s %u", level_titles[level],
			cache->sets * cache->ways);
	if (bytes >= 1 << 20)
		return cp_format(to, size, "%s%s %g MiB %u-way",
			level == CP_L1I ? "" : ", ", level_titles[level],
			(double)bytes / (1 << 20), cache->ways);
	return cp_format(to, size, "%s%s %g KiB %u-way", level == CP_L1I ? "" : ", ",
		level_titles[level], (double)bytes / 1024, cache->ways);
}

void cp_machine_describe(const struct cp_machine *machine, char *to, size_t size)
{
	size_t used = cp_format(to, size, "%s: ", machine->name);

	for (int level = 0; level < CP_NLEVELS && used < size; level++) {
		const struct cp_cache *cache = &machine->level[level];
		char words[CP_MACHINE_OPTION];

		if (!cache->sets)
			continue;
		used += describe_size(
			machine, (enum cp_level)level, to + used, size - used);
		describe_words(cache, ' ', words, sizeof(words));
		if (used < size)
			used += cp_format(to + used, size - used, "%s", words);
	}
	if (used < size && machine->sockets > 1)
		used += cp_format(to + used, size - used, ", %u sockets%s",
			machine->sockets, machine->ring ? " in a ring" : "");
	if (used < size && machine->note[0])
		cp_format(to + used, size - used, " (%s)", machine->note);
}

void cp_machine_option(
	const struct cp_machine *machine, enum cp_level level, char *to, size_t size)
{
	const struct cp_cache *cache = &machine->level[level];
	char words[CP_MACHINE_OPTION - 48], shared[32] = "", line[16] = "";
	uint32_t llc_cores = cp_machine_llc_cores(machine);

	if (is_of_huge(level) && !cache->sets && !cache->absent) {
		cp_format(to, size, "--%s=shared", level_names[level]);
		return;
	}
	describe_words(cache, ',', words, sizeof(words));
	if (level == CP_L2 && cache->shared > 1)
		cp_format(shared, sizeof(shared), ",shared:%u", cache->shared);
	if (level == CP_LLC && llc_cores && llc_cores < machine->cores)
		cp_format(shared, sizeof(shared), ",shared:%u", llc_cores);
	if (!cp_is_tlb(level))
		cp_format(line, sizeof(line), ",%u", cache->line);
	cp_format(to, size, "--%s=%u,%u%s%s%s", level_names[level], cache->sets,
		cache->ways, line, words, shared);
}
