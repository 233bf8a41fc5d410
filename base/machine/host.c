/* SPDX-License-Identifier: MIT
 *
 * The host's caches: as sysfs tells them, and as `cachepeek doctor --calibrate` measured
 * them.
 */
#include "base/machine/host.h"

#include <string.h>
#include <unistd.h>

#include "base/embedded.h"
#include "base/env.h"
#include "base/files/trusted.h"
#include "base/format.h"
#include "base/machine/clock.h"
#include "base/machine/known.h"
#include "base/text.h"

#define MAX_CORES 4096
#define CACHE_DIR "/sys/devices/system/cpu/cpu0/cache/index"

/* sysfs does not tell these: common sizes of x86 and Arm server cores of the last
 * ten years (first-level TLBs of 64 entries, a second level of 1,536). */
const struct cp_machine cp_machine_defaults = {
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

static bool take_sysfs(struct cp_machine *machine)
{
	unsigned found = 0;

	long cores = sysconf(_SC_NPROCESSORS_CONF);

	*machine = cp_machine_defaults;
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
	for (int level = CP_L1I; level <= CP_L1D; level++)
		if (!machine->level[level].sets)
			machine->level[level] = cp_machine_defaults.level[level];
	return found > 0;
}

unsigned cp_machine_host_line(void)
{
	uint32_t line = sysfs_number(0, "coherency_line_size");

	return line ? line : cp_machine_defaults.level[CP_L1D].line;
}

/* ---- what was measured ---- */

bool cp_host_file(char *to, size_t size)
{
	const char *home = cp_env_get("XDG_CONFIG_HOME");

	if (home && *home == '/')
		return cp_format(to, size, "%s/cachepeek/host.machine", home) < size;
	home = cp_env_get("HOME");
	return home && *home == '/' &&
	       cp_format(to, size, "%s/.config/cachepeek/host.machine", home) < size;
}

/* Reads the first processor's value of the key from /proc/cpuinfo. */
static size_t add_cpu_word(const char *text, const char *key, char *to, size_t size)
{
	const char *at = strstr(text, key);
	size_t used = 0;

	if (!at)
		return 0;
	at += strcspn(at, ":\n");
	at += strspn(at, ": \t");
	for (; *at && *at != '\n' && used + 2 < size; at++)
		to[used++] = *at > ' ' && *at < 127 && *at != '#' ? *at : '-';
	to[used++] = ',';
	to[used] = '\0';
	return used;
}

void cp_host_word(const struct cp_machine *machine, char *to, size_t size)
{
	static const char *const keys[] = {
		"model name", "CPU implementer", "CPU part", "stepping"};
	char text[8192] = "";
	size_t used = 0;

	to[0] = '\0';
	(void)cp_read_file("/proc/cpuinfo", text, sizeof(text));
	for (unsigned i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		used += add_cpu_word(text, keys[i], to + used, size / 2 - used);
	for (int level = CP_L1D; level <= CP_LLC && used < size; level++)
		used += cp_format(to + used, size - used, "%s%ux%u",
			level == CP_L1D ? "" : ",", machine->level[level].sets,
			machine->level[level].ways);
}

/* Reads a machine file of this host over what sysfs tells; leaves that where there is
 * none, and says why where there is one that is not taken. */
static void take_measured(struct cp_machine *machine, bool plain)
{
	char path[4096], content[8192], why[160] = "", word[sizeof(machine->host)];
	struct cp_machine measured = cp_machine_defaults;
	size_t used = strlen(machine->note);
	const char *whose = plain ? "; " CP_PLAIN_CHOSEN : "";
	int result;

	if (!cp_host_file(path, sizeof(path)) || access(path, F_OK) != 0)
		return;
	result = cp_trusted_load(
		path, CP_FOUND, content, sizeof(content), why, sizeof(why));
	if (result == 0)
		result = cp_machine_parse(&measured, path, content, why, sizeof(why));
	cp_host_word(machine, word, sizeof(word));
	if (result == 0 && strcmp(measured.host, word) != 0)
		cp_format(why, sizeof(why), "is of another processor");
	if (*why) {
		cp_format(machine->note + used, sizeof(machine->note) - used,
			"; host.machine not used: %s", why);
		return;
	}
	measured.cores = machine->cores;
	if (plain)
		cp_machine_make_plain(&measured);
	else if (cp_machine_take_policies(&measured, machine))
		whose = "; policies and prefetchers of its model";
	measured.llc_threads = machine->llc_threads;
	cp_format(measured.note, sizeof(measured.note), "measured on %s%s",
		measured.measured, whose);
	*machine = measured;
}

/* Where sysfs tells no caches. */
static void take_cpuid_caches(
	struct cp_machine *machine, const struct cp_cpuid_told *told)
{
	memset(machine->level, 0, CP_ITLB * sizeof(machine->level[0]));
	if (told->level[CP_L1D].told != CP_TOLD) {
		cp_format(machine->note, sizeof(machine->note),
			"caches assumed: neither sysfs nor CPUID tells them");
		return;
	}
	for (int level = CP_L1I; level <= CP_LLC; level++) {
		const struct cp_told_level *its = &told->level[level];

		machine->level[level] = (struct cp_cache){
			.sets = its->sets, .ways = its->ways, .line = its->line};
	}
}

static bool find_sizes(struct cp_machine *machine, const struct cp_cpuid_told *told)
{
	if (take_sysfs(machine))
		return true;
	take_cpuid_caches(machine, told);
	return told->level[CP_L1D].told == CP_TOLD;
}

static bool find_host(struct cp_machine *machine, struct cp_processor *processor,
	bool plain, bool timed)
{
	struct cp_cpuid_told told;
	bool sized;

	if (!cp_processor_here(processor) && timed)
		processor->mhz = cp_clock_here(processor->mhz);
	cp_processor_told(processor, &told);
	sized = find_sizes(machine, &told);
	cp_machine_recognise(machine, processor, &told, cp_processor_files(), plain);
	return sized;
}

bool cp_machine_sizes(struct cp_machine *machine)
{
	struct cp_processor processor;

	return find_host(machine, &processor, true, false);
}

/* Hypervisors tell the last level of a whole socket, or none, however few of its cores
 * they give. */
void cp_machine_host(struct cp_machine *machine, bool plain)
{
	struct cp_processor processor;

	find_host(machine, &processor, plain, true);
	take_measured(machine, plain);
	if (processor.is_virtual && machine->level[CP_LLC].sets &&
		(!*machine->measured || machine->assumed >> CP_ASSUMED_LLC_SIZE & 1))
		cp_machine_share_llc(machine);
}
