/* SPDX-License-Identifier: MIT */
#include "preload/machine.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/embedded.h"
#include "base/format.h"
#include "base/nearest.h"
#include "base/text.h"

#define MAX_LINE 4096
#define MAX_PAGE ((uint64_t)1 << 30)
#define CACHE_DIR "/sys/devices/system/cpu/cpu0/cache/index"

static const char *const level_names[CP_NLEVELS] = {
	"l1i", "l1d", "l2", "llc", "itlb", "dtlb", "stlb"};
static const char *const level_titles[CP_NLEVELS] = {
	"L1I", "L1D", "L2", "L3", "ITLB", "DTLB", "STLB"};

static bool is_tlb(enum cp_level level)
{
	return level >= CP_ITLB;
}

/* What sysfs never tells: common sizes of x86 and Arm server cores of the last
 * ten years (first-level TLBs of 64 entries, a second level of 1,536). */
static const struct cp_machine defaults = {
	.name = "host",
	.level =
		{
			[CP_L1I] = {64, 8, 64},
			[CP_L1D] = {64, 8, 64},
			[CP_L2] = {2048, 8, 64},
			[CP_LLC] = {8192, 16, 64},
			[CP_ITLB] = {16, 4, 0},
			[CP_DTLB] = {16, 4, 0},
			[CP_STLB] = {128, 12, 0},
		},
	.page = 4096,
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

static void host_machine(struct cp_machine *machine)
{
	unsigned found = 0;

	*machine = defaults;
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
	for (int level = CP_L1I; level <= CP_L1D; level++)
		if (!machine->level[level].sets)
			machine->level[level] = defaults.level[level];
}

unsigned cp_machine_host_line(void)
{
	uint32_t line = sysfs_number(0, "coherency_line_size");

	return line ? line : defaults.level[CP_L1D].line;
}

/* ---- machine files ---- */

static bool parse_size(const char **at, uint64_t *value)
{
	while (**at == ' ' || **at == '\t')
		++*at;
	if (cp_parse_u64_prefix(*at, at, value) < 0)
		return false;
	if (**at == 'K' || **at == 'M') {
		*value <<= **at == 'K' ? 10 : 20;
		++*at;
	}
	return true;
}

/* "32K 8 64": size, ways, line; TLBs "64 4": entries, ways; "none". */
static bool parse_cache(const char *text, enum cp_level level, struct cp_cache *cache)
{
	uint64_t size, ways, line = 1;

	memset(cache, 0, sizeof(*cache));
	if (cp_starts_with(text, "none"))
		return level == CP_L2 || level == CP_LLC || level == CP_STLB;
	if (!parse_size(&text, &size) || !parse_size(&text, &ways))
		return false;
	if (!is_tlb(level) && !parse_size(&text, &line))
		return false;
	if (!ways || ways > 128 || !line || line > MAX_LINE || size / ways / line == 0 ||
		size % (ways * line) || size / ways / line > UINT32_MAX)
		return false;
	cache->sets = (uint32_t)(size / ways / line);
	cache->ways = (uint32_t)ways;
	cache->line = is_tlb(level) ? 0 : (uint32_t)line;
	return true;
}

static bool parse_line(
	struct cp_machine *machine, const char *key, size_t length, const char *value)
{
	uint64_t page;

	for (int level = 0; level < CP_NLEVELS; level++)
		if (strlen(level_names[level]) == length &&
			strncmp(key, level_names[level], length) == 0)
			return parse_cache(
				value, (enum cp_level)level, &machine->level[level]);
	if (length == 4 && strncmp(key, "page", 4) == 0 && parse_size(&value, &page) &&
		page && page <= MAX_PAGE) {
		machine->page = (uint32_t)page;
		return true;
	}
	return false;
}

static int parse_machine(struct cp_machine *machine, const char *file, const char *text,
	char *error, size_t error_size)
{
	unsigned number = 0;

	while (*text) {
		size_t length = strcspn(text, "\n"), key;
		char line[200];
		const char *value;

		number++;
		cp_format(line, sizeof(line), "%.*s", (int)length, text);
		text += length + (text[length] == '\n');
		line[strcspn(line, "#")] = '\0';
		key = strcspn(line, " \t=");
		if (line[strspn(line, " \t\r")] == '\0')
			continue;
		value = line + key + strspn(line + key, " \t=");
		if (!strchr(line, '=') || !parse_line(machine, line, key, value)) {
			cp_format(error, error_size,
				"%s:%u: expected LEVEL = SIZE WAYS LINE (l1i l1d l2 "
				"llc), TLB = "
				"ENTRIES WAYS (itlb dtlb stlb) or page = BYTES",
				file, number);
			return -EINVAL;
		}
	}
	return 0;
}

static int named_machine(
	struct cp_machine *machine, const char *name, char *error, size_t error_size)
{
	char file[80], content[8192];
	const char *text = content;

	if (strchr(name, '/')) {
		if (!cp_read_file(name, content, sizeof(content))) {
			cp_format(error, error_size, "machine file %s cannot be read",
				name);
			return -ENOENT;
		}
	} else {
		cp_format(file, sizeof(file), "%s.machine", name);
		text = cp_embedded_find(file);
	}
	if (!text) {
		const char *names[64] = {"host"};
		unsigned count = 1;

		for (const struct cp_embedded *e = cp_embedded_files;
			e->name && count < 63; e++)
			if (strstr(e->name, ".machine"))
				names[count++] = e->name;
		cp_format(file, sizeof(file), "%s.machine", name);
		const char *nearest = cp_nearest(file, names);
		cp_format(error, error_size, "unknown machine %s%s%.*s%s", name,
			nearest ? ": did you mean " : "",
			nearest ? (int)strcspn(nearest, ".") : 0, nearest ? nearest : "",
			nearest ? "?" : "");
		return -ENOENT;
	}
	*machine = defaults;
	machine->note[0] = '\0';
	cp_format(machine->name, sizeof(machine->name), "%s", name);
	return parse_machine(machine, name, text, error, error_size);
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

/* ---- for people and for the tool ---- */

static size_t describe_level(
	const struct cp_machine *machine, enum cp_level level, char *to, size_t size)
{
	const struct cp_cache *cache = &machine->level[level];
	uint64_t bytes = (uint64_t)cache->sets * cache->ways * cache->line;

	if (!cache->sets)
		return 0;
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

	for (int level = 0; level < CP_NLEVELS && used < size; level++)
		used += describe_level(
			machine, (enum cp_level)level, to + used, size - used);
	if (used < size && machine->note[0])
		cp_format(to + used, size - used, " (%s)", machine->note);
}

void cp_machine_option(
	const struct cp_machine *machine, enum cp_level level, char *to, size_t size)
{
	const struct cp_cache *cache = &machine->level[level];

	if (is_tlb(level))
		cp_format(to, size, "--%s=%u,%u", level_names[level], cache->sets,
			cache->ways);
	else
		cp_format(to, size, "--%s=%u,%u,%u", level_names[level], cache->sets,
			cache->ways, cache->line);
}
