/* SPDX-License-Identifier: MIT */
#include "preload/pfm.h"

#include <errno.h>
#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>
#include <string.h>

#include "base/format.h"

/* Detecting the CPU's PMUs takes a CPUID instruction for each that libpfm
 * knows, and in a virtual machine each of them leaves the guest: 1 ms in all.
 * Software events need none of that, only the PMU that libpfm calls "perf". */
enum started { NOT_YET, PERF_ONLY, ALL, FAILED };
static enum started started;

const char *cp_pfm_forced_pmu(void);

/* libpfm's getenv is ours (pfm_libc.c), which asks here. */
const char *cp_pfm_forced_pmu(void)
{
	return started == PERF_ONLY ? "perf" : NULL;
}

static int start(enum started wanted)
{
	if (started == wanted || started == ALL || started == FAILED)
		return started == FAILED ? -ENOSYS : 0;
	if (started == PERF_ONLY)
		pfm_terminate();
	started = wanted;
	if (pfm_initialize() == PFM_SUCCESS)
		return 0;
	started = FAILED;
	return -ENOSYS;
}

int cp_pfm_start(void)
{
	return start(ALL);
}

int cp_pfm_encode(const char *event, struct perf_event_attr *attr, const char **reason)
{
	pfm_perf_encode_arg_t argument = {.attr = attr, .size = sizeof(argument)};
	int result;

	*reason = "libpfm4 does not start on this machine";
	if (start(strncmp(event, "perf::", 6) == 0 ? PERF_ONLY : ALL) < 0)
		return -ENOSYS;
	memset(attr, 0, sizeof(*attr));
	result = pfm_get_os_event_encoding(event, PFM_PLM3, PFM_OS_PERF_EVENT, &argument);
	if (result == PFM_SUCCESS)
		return 0;
	*reason = pfm_strerror(result);
	return -EINVAL;
}

static int present(pfm_pmu_t pmu, pfm_pmu_info_t *info)
{
	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	return pfm_get_pmu_info(pmu, info) == PFM_SUCCESS && info->is_present;
}

const char *cp_pfm_core_pmu(unsigned index)
{
	static char name[32];
	pfm_pmu_info_t info;
	pfm_pmu_t pmu;

	if (cp_pfm_start() < 0)
		return NULL;
	pfm_for_all_pmus (pmu) {
		if (!present(pmu, &info) || info.type != PFM_PMU_TYPE_CORE)
			continue;
		/* the architectural PMU stands for Intel CPUs unknown to libpfm */
		if (strncmp(info.name, "ix86arch", 8) == 0 || index-- > 0)
			continue;
		cp_format(name, sizeof(name), "%s", info.name);
		return name;
	}
	return NULL;
}

static void each_event_of(
	const pfm_pmu_info_t *pmu, void (*visit)(void *context, const char *name), void *context)
{
	pfm_event_info_t event;
	char name[160];

	for (int i = pmu->first_event; i != -1; i = pfm_get_event_next(i)) {
		memset(&event, 0, sizeof(event));
		event.size = sizeof(event);
		if (pfm_get_event_info(i, PFM_OS_PERF_EVENT, &event) != PFM_SUCCESS)
			continue;
		cp_format(name, sizeof(name), "%s::%s", pmu->name, event.name);
		visit(context, name);
	}
}

void cp_pfm_each_event(void (*visit)(void *context, const char *name), void *context)
{
	pfm_pmu_info_t info;
	pfm_pmu_t pmu;

	if (cp_pfm_start() < 0)
		return;
	pfm_for_all_pmus (pmu)
		if (present(pmu, &info))
			each_event_of(&info, visit, context);
}
