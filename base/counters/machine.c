/* SPDX-License-Identifier: MIT */
#include "base/counters/machine.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/embedded.h"
#include "base/error.h"
#include "base/format.h"
#include "base/text/nearest.h"
#include "base/text.h"
#include "base/files/trusted.h"

#define MAX_CORES 4096
#define CACHE_DIR "/sys/devices/system/cpu/cpu0/cache/index"

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

static bool is_tlb(enum cp_level level)
{
	return level >= CP_ITLB;
}

static bool is_of_huge(enum cp_level level)
{
	return level >= CP_ITLB_2M && level < CP_NLEVELS;
}

/* sysfs does not tell these: common sizes of x86 and Arm server cores of the last
 * ten years (first-level TLBs of 64 entries, a second level of 1,536). */
static const struct cp_machine defaults = {
	.name = "host",
	.level =
		{
			[CP_L1I] = {.sets = 64, .ways = 8, .line = 64},
			[CP_L1D] = {.sets = 64, .ways = 8, .line = 64},
			[CP_L2] = {.sets = 2048, .ways = 8, .line = 64},
			[CP_LLC] = {.sets = 8192, .ways = 16, .line = 64},
			[CP_ITLB] = {.sets = 16, .ways = 4},
			[CP_DTLB] = {.sets = 16, .ways = 4},
			[CP_STLB] = {.sets = 128, .ways = 12},
		},
	.page = 4096,
	.cores = 64,
	.note = "TLB sizes assumed",
};

/* ---- the host, from sysfs ---- */

static uint32_t sysfs_number(unsigned index, const char *file)
{
	char path[96], text[32];
	const char *end;
	uint64_t value;

	cp_format(path, sizeof(path), CACHE_DIR "%u/%s", index, file);
	if (!cp_read_file(path, text, sizeof(text)) ||
		cp_parse_u64_prefix(text, &end, &value) < 0)
		return 0;
	if (*end == 'K')
		value <<= 10;
	return value > UINT32_MAX ? 0 : (uint32_t)value;
}

static int sysfs_level(unsigned index)
{
	char path[96], type[32];
	uint32_t level = sysfs_number(index, "level");

	cp_format(path, sizeof(path), CACHE_DIR "%u/type", index);
	if (level == 0 || !cp_read_file(path, type, sizeof(type)))
		return -1;
	if (level == 1)
		return strcmp(type, "Instruction") == 0 ? CP_L1I : CP_L1D;
	return level == 2 ? CP_L2 : CP_LLC;
}

/* Some virtual machines leave out the sets or the ways: two of size, sets,
 * ways and line give the rest. */
static bool sysfs_cache(unsigned index, struct cp_cache *cache)
{
	uint32_t size = sysfs_number(index, "size");

	memset(cache, 0, sizeof(*cache));
	cache->sets = sysfs_number(index, "number_of_sets");
	cache->ways = sysfs_number(index, "ways_of_associativity");
	cache->line = sysfs_number(index, "coherency_line_size");
	if (!cache->line)
		cache->line = 64;
	if (cache->ways && !cache->sets)
		cache->sets = size / cache->ways / cache->line;
	if (cache->sets && !cache->ways)
		cache->ways = size / cache->sets / cache->line;
	return cache->sets && cache->ways;
}

/* x86 says so in the flags of the first processor; elsewhere nothing does that can be
 * relied on. */
static bool is_virtual(void)
{
	char text[8192], *flags;

	if (!cp_read_file("/proc/cpuinfo", text, sizeof(text)))
		return false;
	flags = strstr(text, "\nflags");
	if (!flags)
		return false;
	flags[1 + strcspn(flags + 1, "\n")] = '\0';
	return strstr(flags, " hypervisor") != NULL;
}

/* Hypervisors tell the last level of a whole socket, however few of its cores they
 * give. */
static void note_virtual(struct cp_machine *machine)
{
	size_t used = strlen(machine->note);

	if (machine->level[CP_LLC].sets && is_virtual())
		cp_format(machine->note + used, sizeof(machine->note) - used,
			"; a virtual machine: its share of the L3 is unknown");
}

static void host_machine(struct cp_machine *machine)
{
	unsigned found = 0;

	long cores = sysconf(_SC_NPROCESSORS_CONF);

	*machine = defaults;
	if (cores > 0 && cores <= MAX_CORES)
		machine->cores = (uint32_t)cores;
	for (unsigned index = 0; index < 8; index++) {
		struct cp_cache cache;
		int level = sysfs_level(index);

		if (level < 0 || !sysfs_cache(index, &cache))
			continue;
		if (!found++) /* a host that tells its caches tells all of them */
			memset(machine->level, 0, CP_ITLB * sizeof(machine->level[0]));
		machine->level[level] = cache;
	}
	if (!found)
		cp_format(machine->note, sizeof(machine->note),
			"caches and TLBs assumed: sysfs does not tell them");
	else
		note_virtual(machine);
	for (int level = CP_L1I; level <= CP_L1D; level++)
		if (!machine->level[level].sets)
			machine->level[level] = defaults.level[level];
}

unsigned cp_machine_host_line(void)
{
	uint32_t line = sysfs_number(0, "coherency_line_size");

	return line ? line : defaults.level[CP_L1D].line;
}

/* ---- by name ---- */

static int complain_of_name(const char *name, char *error, size_t error_size)
{
	const char *names[64] = {"host"}, *nearest;
	unsigned count = 1;
	char file[80];

	for (const struct cp_embedded *e = cp_embedded_files; e->name && count < 63; e++)
		if (strstr(e->name, ".machine"))
			names[count++] = e->name;
	cp_format(file, sizeof(file), "%s.machine", name);
	nearest = cp_nearest(file, names);
	cp_format(error, error_size, "unknown machine %s%s%.*s%s", name,
		nearest ? ": did you mean " : "",
		nearest ? (int)strcspn(nearest, ".") : 0, nearest ? nearest : "",
		nearest ? "?" : "");
	return -ENOENT;
}

static int named_machine(
	struct cp_machine *machine, const char *name, char *error, size_t error_size)
{
	char file[80], content[8192];
	const char *text = content;

	if (strchr(name, '/')) {
		char why[160];
		int result =
			cp_trusted_load(name, content, sizeof(content), why, sizeof(why));

		if (result < 0) {
			cp_format(error, error_size, "machine file %s: %s", name, why);
			return result;
		}
	} else {
		cp_format(file, sizeof(file), "%s.machine", name);
		text = cp_embedded_find(file);
	}
	if (!text)
		return complain_of_name(name, error, error_size);
	*machine = defaults;
	machine->note[0] = '\0';
	cp_format(machine->name, sizeof(machine->name), "%s", name);
	return cp_machine_parse(machine, name, text, error, error_size);
}

int cp_machine_find(
	struct cp_machine *machine, const char *name, char *error, size_t error_size)
{
	if (strcmp(name, "host") == 0) {
		host_machine(machine);
		return 0;
	}
	return named_machine(machine, name, error, error_size);
}

uint32_t cp_machine_unit(const struct cp_machine *machine)
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

/* ---- for people and for the tool ---- */

/* Words for what is not as usual, each with a separator before it. */
static size_t describe_words(
	const struct cp_cache *cache, char separator, char *to, size_t size)
{
	static const char *const policies[] = {"", "plru", "round-robin", "random"};
	static const char *const inclusions[] = {"", "inclusive", "exclusive"};
	static const char *const prefetchers[] = {"", "next-line", "stream"};
	const char *words[] = {policies[cache->policy],
		cache->write_through ? "write-through" : "",
		cache->no_allocate ? "no-allocate" : "", inclusions[cache->inclusion],
		prefetchers[cache->prefetch], cache->half_lines ? "half-lines" : "",
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
		if (i == 4 && separator == ',' && cache->prefetch == CP_STREAM)
			used += cp_format(to + used, size - used, ":%u:%u", cache->degree,
				cache->distance);
	}
	return used;
}

static size_t describe_size(
	const struct cp_machine *machine, enum cp_level level, char *to, size_t size)
{
	const struct cp_cache *cache = &machine->level[level];
	uint64_t bytes = (uint64_t)cache->sets * cache->ways * cache->line;

	if (is_tlb(level))
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
		char words[128];

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
	char words[128], shared[32] = "", line[16] = "";
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
	if (!is_tlb(level))
		cp_format(line, sizeof(line), ",%u", cache->line);
	cp_format(to, size, "--%s=%u,%u%s%s%s", level_names[level], cache->sets,
		cache->ways, line, words, shared);
}
