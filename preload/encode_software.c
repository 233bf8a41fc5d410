/* SPDX-License-Identifier: MIT */
#include "preload/encode_software.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "preload/encode.h"

/* The kernel's software events under libpfm's names: the few that every run
 * may count, without paying for libpfm's tables. */
static const struct {
	const char *name;
	uint64_t config;
} software[] = {
	{"perf::CPU-CLOCK", PERF_COUNT_SW_CPU_CLOCK},
	{"perf::TASK-CLOCK", PERF_COUNT_SW_TASK_CLOCK},
	{"perf::PAGE-FAULTS", PERF_COUNT_SW_PAGE_FAULTS},
	{"perf::FAULTS", PERF_COUNT_SW_PAGE_FAULTS},
	{"perf::CONTEXT-SWITCHES", PERF_COUNT_SW_CONTEXT_SWITCHES},
	{"perf::CS", PERF_COUNT_SW_CONTEXT_SWITCHES},
	{"perf::CPU-MIGRATIONS", PERF_COUNT_SW_CPU_MIGRATIONS},
	{"perf::MIGRATIONS", PERF_COUNT_SW_CPU_MIGRATIONS},
	{"perf::MINOR-FAULTS", PERF_COUNT_SW_PAGE_FAULTS_MIN},
	{"perf::MAJOR-FAULTS", PERF_COUNT_SW_PAGE_FAULTS_MAJ},
	{"perf::ALIGNMENT-FAULTS", PERF_COUNT_SW_ALIGNMENT_FAULTS},
	{"perf::EMULATION-FAULTS", PERF_COUNT_SW_EMULATION_FAULTS},
};

bool cp_encode_modes(const char *modifiers, struct perf_event_attr *attr)
{
	bool user = !*modifiers, kernel = false;

	for (; *modifiers; modifiers++) {
		if (*modifiers == 'u')
			user = true;
		else if (*modifiers == 'k')
			kernel = true;
		else if (*modifiers != ':')
			return false;
	}
	attr->exclude_user = !user;
	attr->exclude_kernel = !kernel;
	attr->exclude_hv = 1;
	return user || kernel;
}

bool cp_encode_software(const char *event, struct perf_event_attr *attr)
{
	size_t length;

	if (strncasecmp(event, "perf::", 6) != 0)
		return false;
	length = 6 + strcspn(event + 6, ":");
	for (unsigned i = 0; i < sizeof(software) / sizeof(software[0]); i++) {
		if (strlen(software[i].name) != length ||
			strncasecmp(software[i].name, event, length) != 0)
			continue;
		attr->type = PERF_TYPE_SOFTWARE;
		attr->config = software[i].config;
		return cp_encode_modes(event + length, attr);
	}
	return false;
}

const char *cp_software_event(unsigned index)
{
	return index < sizeof(software) / sizeof(software[0]) ? software[index].name
							      : NULL;
}
