/* SPDX-License-Identifier: MIT */
#include "base/counters/encode_software.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

/* The mode in which the kernel counts a software event.  It tests exclude_user and
 * exclude_kernel against the registers that it holds when the event happens. */
enum domain {
	DOMAIN_BOTH,   /* the mode that caused it: faults */
	DOMAIN_KERNEL, /* always in the kernel: the scheduler's events */
	DOMAIN_TIME,   /* never tested: clocks run in either mode */
	DOMAIN_ABSENT, /* no code of this architecture's kernel raises it */
};

/* Kernels repair misaligned references and emulate instructions where the
 * processor does not do that itself. */
#if defined(__x86_64__)
#define DOMAIN_REPAIR DOMAIN_ABSENT
#else
#define DOMAIN_REPAIR DOMAIN_BOTH
#endif

/* The kernel's software events under libpfm's names: the few that every run
 * may count, without paying for libpfm's tables. */
static const struct software {
	const char *name;
	uint64_t config;
	enum domain domain;
} software[] = {
	{"perf::CPU-CLOCK", PERF_COUNT_SW_CPU_CLOCK, DOMAIN_TIME},
	{"perf::TASK-CLOCK", PERF_COUNT_SW_TASK_CLOCK, DOMAIN_TIME},
	{"perf::PAGE-FAULTS", PERF_COUNT_SW_PAGE_FAULTS, DOMAIN_BOTH},
	{"perf::FAULTS", PERF_COUNT_SW_PAGE_FAULTS, DOMAIN_BOTH},
	{"perf::CONTEXT-SWITCHES", PERF_COUNT_SW_CONTEXT_SWITCHES, DOMAIN_KERNEL},
	{"perf::CS", PERF_COUNT_SW_CONTEXT_SWITCHES, DOMAIN_KERNEL},
	{"perf::CPU-MIGRATIONS", PERF_COUNT_SW_CPU_MIGRATIONS, DOMAIN_KERNEL},
	{"perf::MIGRATIONS", PERF_COUNT_SW_CPU_MIGRATIONS, DOMAIN_KERNEL},
	{"perf::CGROUP-SWITCHES", PERF_COUNT_SW_CGROUP_SWITCHES, DOMAIN_KERNEL},
	{"perf::MINOR-FAULTS", PERF_COUNT_SW_PAGE_FAULTS_MIN, DOMAIN_BOTH},
	{"perf::MAJOR-FAULTS", PERF_COUNT_SW_PAGE_FAULTS_MAJ, DOMAIN_BOTH},
	{"perf::ALIGNMENT-FAULTS", PERF_COUNT_SW_ALIGNMENT_FAULTS, DOMAIN_REPAIR},
	{"perf::EMULATION-FAULTS", PERF_COUNT_SW_EMULATION_FAULTS, DOMAIN_REPAIR},
};

enum { NSOFTWARE = sizeof(software) / sizeof(software[0]) };

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

/* The event of this name, with or without modifiers behind it. */
static const struct software *find_software(const char *event)
{
	size_t length = 6 + strcspn(event + 6, ":");

	for (unsigned i = 0; i < NSOFTWARE; i++)
		if (strlen(software[i].name) == length &&
			strncasecmp(software[i].name, event, length) == 0)
			return &software[i];
	return NULL;
}

/* Opens the event in the modes in which it can happen; refuses modes in which its
 * count could only be 0, or would be that of both. */
static int choose_modes(const struct software *event, const char *modifiers,
	struct perf_event_attr *attr, const char **reason)
{
	*reason = "the modes behind it are u, k or uk";
	if (!cp_encode_modes(modifiers, attr))
		return -EINVAL;
	*reason = "no code of this architecture's kernel raises it: it could only be 0";
	if (event->domain == DOMAIN_ABSENT)
		return -ENODATA;
	*reason = "it happens in the kernel only, and in user mode could only be 0: "
		  "leave ':u' out";
	if (event->domain == DOMAIN_KERNEL && *modifiers && attr->exclude_kernel)
		return -ENODATA;
	*reason = "the kernel does not divide this time by mode: leave the modifier out";
	if (event->domain == DOMAIN_TIME && *modifiers &&
		(attr->exclude_kernel || attr->exclude_user))
		return -ENODATA;
	if (event->domain == DOMAIN_KERNEL)
		attr->exclude_kernel = 0;
	return 0;
}

int cp_encode_software(
	const char *event, struct perf_event_attr *attr, const char **reason)
{
	const struct software *found;

	if (strncasecmp(event, "perf::", 6) != 0)
		return -ENOENT;
	found = find_software(event);
	if (!found)
		return -ENOENT;
	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = found->config;
	return choose_modes(found, event + strlen(found->name), attr, reason);
}

bool cp_event_is_software(const char *event)
{
	return strncasecmp(event, "perf::", 6) == 0 && find_software(event);
}

bool cp_counts_only_in_kernel(const struct perf_event_attr *attr)
{
	for (unsigned i = 0; i < NSOFTWARE && attr->type == PERF_TYPE_SOFTWARE; i++)
		if (software[i].config == attr->config)
			return software[i].domain == DOMAIN_KERNEL;
	return false;
}

const char *cp_software_event(unsigned index)
{
	return index < NSOFTWARE ? software[index].name : NULL;
}
