/* SPDX-License-Identifier: MIT */
#include "base/encoder/pfm.h"

#include <errno.h>
#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/format.h"
#include "base/env.h"

static int start_libpfm(void)
{
	static int state; /* 0: not tried, 1: works, -1: does not */

	if (!state)
		state = pfm_initialize() == PFM_SUCCESS ? 1 : -1;
	return state > 0 ? 0 : -ENOSYS;
}

static int encode_event(
	const char *event, struct perf_event_attr *attr, const char **reason)
{
	pfm_perf_encode_arg_t argument = {.attr = attr, .size = sizeof(argument)};
	int result;

	*reason = "libpfm4 does not start on this machine";
	if (start_libpfm() < 0)
		return -ENOSYS;
	memset(attr, 0, sizeof(*attr));
	result = pfm_get_os_event_encoding(event, PFM_PLM3, PFM_OS_PERF_EVENT, &argument);
	if (result == PFM_SUCCESS)
		return 0;
	*reason = pfm_strerror(result);
	return -EINVAL;
}

static bool has_table(const char *event)
{
	size_t length = strcspn(event, ":");
	pfm_pmu_info_t info;
	pfm_pmu_t pmu;

	pfm_for_all_pmus(pmu)
	{
		memset(&info, 0, sizeof(info));
		info.size = sizeof(info);
		if (pfm_get_pmu_info(pmu, &info) == PFM_SUCCESS &&
			strlen(info.name) == length &&
			strncmp(info.name, event, length) == 0)
			return true;
	}
	return false;
}

/* Uncore PMUs have an encoding for the kernel only where they are, and some have
 * none at all: libpfm4 4.12 calls those events not supported, 4.13 not found. */
static int encode_for_none(const char *event)
{
	uint64_t buffer[8], *codes = buffer;
	int count = 8;

	return pfm_get_event_encoding(event, PFM_PLM3, NULL, NULL, &codes, &count);
}

static int check_event(const char *event, const char **reason)
{
	struct perf_event_attr attr = {.size = sizeof(attr)};
	pfm_perf_encode_arg_t argument = {.attr = &attr, .size = sizeof(argument)};
	int result;

	*reason = "libpfm4 does not start on this machine";
	if (start_libpfm() < 0)
		return -ENOSYS;
	if (!has_table(event))
		return -ENOENT;
	result = pfm_get_os_event_encoding(event, PFM_PLM3, PFM_OS_PERF_EVENT, &argument);
	if (result == PFM_ERR_NOTSUPP || result == PFM_ERR_NOTFOUND)
		result = encode_for_none(event);
	*reason = pfm_strerror(result);
	return result == PFM_SUCCESS ? 0 : -EINVAL;
}

static int has_pmu(pfm_pmu_t pmu, pfm_pmu_info_t *info)
{
	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	return pfm_get_pmu_info(pmu, info) == PFM_SUCCESS && info->is_present;
}

static const char *core_pmu(unsigned index)
{
	static char name[32];
	pfm_pmu_info_t info;
	pfm_pmu_t pmu;

	if (start_libpfm() < 0)
		return NULL;
	pfm_for_all_pmus(pmu)
	{
		if (!has_pmu(pmu, &info) || info.type != PFM_PMU_TYPE_CORE)
			continue;
		/* the architectural PMU stands for Intel CPUs unknown to libpfm */
		if (strncmp(info.name, "ix86arch", 8) == 0 || index-- > 0)
			continue;
		cp_format(name, sizeof(name), "%s", info.name);
		return name;
	}
	return NULL;
}

static void each_event_of(const pfm_pmu_info_t *pmu, cp_event_visit *visit, void *context)
{
	pfm_event_info_t event;
	char name[160];

	for (int i = pmu->first_event; i != -1; i = pfm_get_event_next(i)) {
		memset(&event, 0, sizeof(event));
		event.size = sizeof(event);
		if (pfm_get_event_info(i, PFM_OS_PERF_EVENT, &event) != PFM_SUCCESS)
			continue;
		cp_format(name, sizeof(name), "%s::%s", pmu->name, event.name);
		visit(context, name, event.desc ? event.desc : "");
	}
}

static void each_event(cp_event_visit *visit, void *context)
{
	pfm_pmu_info_t info;
	pfm_pmu_t pmu;

	if (start_libpfm() < 0)
		return;
	pfm_for_all_pmus(pmu) if (has_pmu(pmu, &info))
		each_event_of(&info, visit, context);
}

extern const struct cp_encoder cp_encoder;

__attribute__((visibility("default"))) const struct cp_encoder cp_encoder = {
	.use_environment = cp_env_use,
	.encode = encode_event,
	.check = check_event,
	.core_pmu = core_pmu,
	.each_event = each_event,
};
