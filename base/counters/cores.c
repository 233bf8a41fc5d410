/* SPDX-License-Identifier: MIT */
#include "base/counters/cores.h"

#include <string.h>

#include "base/text.h"
#include "output/metrics/preset.h"
#include "base/counters/encode.h"

#ifndef CP_CPUINFO /* tests have their own */
#define CP_CPUINFO "/proc/cpuinfo"
#define CP_MIDR "/sys/devices/system/cpu/cpu0/regs/identification/midr_el1"
#endif

/* The line "model : 151" of an x86 CPU, or the part number of an Arm's. */
static unsigned cpu_model(void)
{
	static char text[2048];
	uint64_t value;
	const char *at;

	if (cp_read_file(CP_MIDR, text, sizeof(text)) && cp_parse_u64(text, &value) == 0)
		return value >> 4 & 0xfff;
	/* The beginning of a longer file is read all the same. */
	text[0] = '\0';
	cp_read_file(CP_CPUINFO, text, sizeof(text));
	at = strstr(text, "\nmodel\t");
	at = at ? strchr(at, ':') : NULL;
	if (!at || cp_parse_u64_prefix(at + 1 + strspn(at + 1, " "), &at, &value) < 0)
		return 0;
	return (unsigned)value;
}

static void add_core(struct cp_cores *cores, const char *pmu)
{
	if (cores->count < CP_MAX_CORES)
		cores->core[cores->count++].pmu = pmu;
}

/* libpfm's PMUs; where it has no table, the presets may have the codes. */
static void find_alike(
	struct cp_cores *cores, struct cp_arena *arena, const struct cp_sysfs_pmu *device)
{
	const char *pmu;

	for (unsigned i = 0; (pmu = cp_core_pmu(i)); i++)
		add_core(cores, cp_arena_copy(arena, pmu, strlen(pmu)));
	if (cores->count || !device)
		return;
	pmu = cp_preset_pmu_of_device(arena, device->name, cpu_model());
	if (pmu)
		add_core(cores, pmu);
}

void cp_cores_find(struct cp_cores *cores, struct cp_arena *arena)
{
	struct cp_sysfs_pmu devices[CP_MAX_CORES];
	unsigned count = cp_sysfs_core_pmus(devices, CP_MAX_CORES), model;

	memset(cores, 0, sizeof(*cores));
	cores->hybrid = count > 1;
	if (!cores->hybrid) {
		find_alike(cores, arena, count ? &devices[0] : NULL);
		return;
	}
	model = cpu_model();
	for (; cores->count < count && cores->count < CP_MAX_CORES; cores->count++)
		cores->core[cores->count] = (struct cp_core){
			cp_preset_pmu_of_device(arena, devices[cores->count].name, model),
			devices[cores->count]};
}
