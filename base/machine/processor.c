/* SPDX-License-Identifier: MIT */
#include "base/machine/processor.h"

#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/machine/features.h"
#include "base/text.h"

#define MOST_KHZ "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq"
#define MOST_MHZ 100000

/* ---- its name ---- */

/* The value of a line "KEY\t: VALUE"; NULL: there is none. */
static const char *value_of(const char *cpuinfo, const char *key)
{
	size_t length = strlen(key);

	for (const char *line = cpuinfo; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, length) == 0 &&
			line[length + strspn(line + length, " \t")] == ':')
			return strchr(line, ':') + 1 + strspn(strchr(line, ':') + 1, " ");
	}
	return NULL;
}

static uint32_t number_of(const char *cpuinfo, const char *key)
{
	const char *text = value_of(cpuinfo, key), *end;
	uint64_t value;

	if (!text || cp_parse_u64_prefix(text, &end, &value) < 0 || value > UINT32_MAX)
		return 0;
	return (uint32_t)value;
}

/* Is it among the words of the line? */
static bool has_flag(const char *flags, const char *flag)
{
	size_t length = strlen(flag), word;

	for (; flags && *flags && *flags != '\n'; flags += word + (flags[word] == ' ')) {
		word = strcspn(flags, " \n");
		if (word == length && strncmp(flags, flag, length) == 0)
			return true;
	}
	return false;
}

static uint64_t features_of(const char *flags)
{
	uint64_t features = 0;

	for (unsigned i = 0; cp_features[i].name; i++)
		if (has_flag(flags, cp_features[i].name))
			features |= 1ull << i;
	return features;
}

void cp_processor_read(struct cp_processor *processor, const char *cpuinfo)
{
	const char *vendor = value_of(cpuinfo, "vendor_id"),
		   *flags = value_of(cpuinfo, "flags");
	size_t length = vendor ? strcspn(vendor, "\n") : 0;

	memset(processor, 0, sizeof(*processor));
	if (length && length < sizeof(processor->vendor)) {
		memcpy(processor->vendor, vendor, length);
		processor->family = number_of(cpuinfo, "cpu family");
		processor->model = number_of(cpuinfo, "model");
		processor->stepping = number_of(cpuinfo, "stepping");
	} else if (value_of(cpuinfo, "CPU implementer")) {
		memcpy(processor->vendor, "Arm", sizeof("Arm"));
		processor->family = number_of(cpuinfo, "CPU implementer");
		processor->model = number_of(cpuinfo, "CPU part");
	}
	processor->features = features_of(flags);
	processor->is_virtual = has_flag(flags, "hypervisor");
	if (processor->is_virtual)
		processor->mhz = number_of(cpuinfo, "cpu MHz");
}

bool cp_processor_here(struct cp_processor *processor)
{
	char text[8192];
	const char *end;
	uint64_t khz;

	if (!cp_read_file("/proc/cpuinfo", text, sizeof(text)))
		*text = '\0';
	cp_processor_read(processor, text);
	if (!cp_read_file(MOST_KHZ, text, sizeof(text)) ||
		cp_parse_u64_prefix(text, &end, &khz) < 0 || khz / 1000 > MOST_MHZ)
		return !processor->is_virtual;
	processor->mhz = (uint32_t)(khz / 1000);
	return true;
}

/* ---- its leaves ---- */

#if defined(__x86_64__)
/* Each with its last subleaf. */
static const struct {
	uint32_t leaf, last;
} wanted[] = {
	{0, 0},
	{1, 0},
	{2, 0},
	{4, 7},
	{7, 0},
	{0x18, 15},
	{0x1a, 0},
	{0x80000005, 0},
	{0x80000006, 0},
	{0x80000019, 0},
	{0x8000001d, 7},
	{0x80000021, 0},
};
#define NWANTED (sizeof(wanted) / sizeof(wanted[0]))
#define MOST_LEAVES 48

static void read_leaves(struct cp_cpuid_leaf leaves[MOST_LEAVES], size_t *count)
{
	uint32_t reg[4];

	*count = 0;
	for (size_t i = 0; i < NWANTED; i++) {
		/* An int to clang. */
		uint32_t last =
			(uint32_t)__get_cpuid_max(wanted[i].leaf & 0x80000000u, NULL);

		if (wanted[i].leaf > last)
			continue;
		for (uint32_t subleaf = 0; subleaf <= wanted[i].last; subleaf++) {
			__cpuid_count(
				wanted[i].leaf, subleaf, reg[0], reg[1], reg[2], reg[3]);
			leaves[*count] = (struct cp_cpuid_leaf){
				wanted[i].leaf, subleaf, {0, 0, 0, 0}};
			memcpy(leaves[(*count)++].reg, reg, sizeof(reg));
		}
	}
}
#else
#define MOST_LEAVES 1
static void read_leaves(struct cp_cpuid_leaf leaves[MOST_LEAVES], size_t *count)
{
	(void)leaves;
	*count = 0;
}
#endif

void cp_processor_told(const struct cp_processor *processor, struct cp_cpuid_told *told)
{
	struct cp_cpuid_leaf leaves[MOST_LEAVES];
	struct cp_cpuid cpuid = {leaves, 0};

	read_leaves(leaves, &cpuid.count);
	cp_cpuid_decode(&cpuid, told);
	if (strcmp(told->vendor, processor->vendor) == 0 &&
		told->family == processor->family && told->model == processor->model)
		return;
	memset(told, 0, sizeof(*told));
	for (int level = 0; level < CP_NLEVELS; level++)
		told->level[level].why = cpuid.count ? "CPUID is another processor's"
						     : "there is no CPUID here";
}
