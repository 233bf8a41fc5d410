/* SPDX-License-Identifier: MIT */
#include "base/engine/explain.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/format.h"
#include "base/text.h"
#include "base/engine/sysfs.h"

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"

static bool is_hardware(const struct perf_event_attr *attr)
{
	return attr->type != PERF_TYPE_SOFTWARE && attr->type != PERF_TYPE_BREAKPOINT &&
	       attr->type != PERF_TYPE_TRACEPOINT;
}

/* -1..4, or 99 where there is no such file: a kernel without perf events. */
static int paranoid_level(void)
{
	char text[16];
	uint64_t level;

	if (!cp_read_file(PARANOID, text, sizeof(text)))
		return 99;
	if (text[0] == '-')
		return -1;
	return cp_parse_u64(text, &level) ? 99 : (int)level;
}

static bool seccomp_filtered(void)
{
	return prctl(PR_GET_SECCOMP) == 2; /* SECCOMP_MODE_FILTER */
}

static void explain_permission(
	int error, const struct perf_event_attr *attr, struct cp_why *why)
{
	int level = paranoid_level();
	int needed = attr->exclude_kernel ? 2 : 1;

	if (level == 99)
		cp_format(why->text, sizeof(why->text),
			"this kernel has no perf events (%s is missing)", PARANOID);
	else if (level > needed && geteuid() != 0)
		cp_format(why->text, sizeof(why->text),
			"kernel.perf_event_paranoid is %d and forbids it: "
			"`sysctl -w kernel.perf_event_paranoid=%d` as root, "
			"or CAP_PERFMON, unlocks it",
			level, needed);
	else if (seccomp_filtered())
		cp_format(why->text, sizeof(why->text),
			"a seccomp filter (a container's?) refuses perf_event_open: "
			"allow it in the profile, e.g. "
			"docker run --cap-add PERFMON "
			"--security-opt seccomp=unconfined");
	else
		cp_format(why->text, sizeof(why->text),
			"the kernel refuses perf_event_open (%s) "
			"although perf_event_paranoid is %d: a security module, "
			"lockdown or a missing CAP_PERFMON",
			error == EPERM ? "EPERM" : "EACCES", level);
}

static void explain_missing(const struct perf_event_attr *attr, struct cp_why *why)
{
	char pmu[256];

	if (is_hardware(attr) && !cp_sysfs_core_pmu(pmu, sizeof(pmu)))
		cp_format(why->text, sizeof(why->text),
			"this machine has no hardware PMU "
			"(a virtual machine without vPMU?): "
			"switch the vPMU on in the hypervisor, or run on bare metal");
	else
		cp_format(why->text, sizeof(why->text),
			"this machine's PMU does not have the event (ENOENT)");
}

static void explain_descriptors(struct cp_why *why)
{
	struct rlimit limit = {0, 0};

	getrlimit(RLIMIT_NOFILE, &limit);
	cp_format(why->text, sizeof(why->text),
		"no file descriptor left for its counters (limit %llu): "
		"raise it with `ulimit -n`, or count fewer events",
		(unsigned long long)limit.rlim_max);
}

/* Reasons that do not depend on the event; a format takes an errno without a meaning. */
static const char *meaning_of(int error)
{
	switch (error) {
	case EBUSY:
		return "the PMU is reserved by somebody else (EBUSY): "
		       "another profiler, or the NMI watchdog "
		       "(`sysctl -w kernel.nmi_watchdog=0`)";
	case ENOSPC:
		return "the CPU has no breakpoint register left (ENOSPC): "
		       "ask for fewer mem: events";
	case ENOSYS:
		if (seccomp_filtered())
			return "a seccomp filter (a container's?) "
			       "hides perf_event_open (ENOSYS): "
			       "allow it in the profile";
		return "this kernel has no perf_event_open (ENOSYS)";
	case EINVAL:
		return "the kernel does not take this event's encoding "
		       "on this CPU (EINVAL)";
	default:
		return "perf_event_open failed with errno %d";
	}
}

void cp_perf_explain(int error, const struct perf_event_attr *attr, struct cp_why *why)
{
	switch (error) {
	case EACCES:
	case EPERM:
		explain_permission(error, attr, why);
		break;
	case ENOENT:
	case ENODEV:
	case ENXIO:
	case EOPNOTSUPP:
		explain_missing(attr, why);
		break;
	case EMFILE:
	case ENFILE:
		explain_descriptors(why);
		break;
	default:
		cp_format(why->text, sizeof(why->text), meaning_of(error), error);
	}
}
