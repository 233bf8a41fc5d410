/* SPDX-License-Identifier: MIT
 *
 * Opening one counter: how all are opened, and whether the kernel takes it and
 * the PMU counts.
 */
#include <errno.h>

#include "base/fd.h"
#include "base/format.h"
#include "base/engine/explain.h"
#include "base/engine/kernel.h"
#include "base/engine/perf_parts.h"
#include "base/engine/proof.h"

#define READ_FORMAT                                                                      \
	(PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |                            \
		PERF_FORMAT_TOTAL_TIME_RUNNING)

int cp_perf_open(const struct perf_event_attr *wanted, pid_t tid, int leader)
{
	struct perf_event_attr attr = *wanted;
	int fd;

	attr.size = sizeof(attr);
	attr.read_format = READ_FORMAT;
	attr.disabled = leader < 0;
#ifdef __aarch64__
	if (attr.type == PERF_TYPE_RAW || attr.type == PERF_TYPE_HARDWARE)
		attr.config1 |= 2; /* ask for reads from user space */
#endif
	fd = cp_kernel_open(&attr, tid, leader);
#ifdef __aarch64__
	if (fd == -EINVAL && attr.config1 != wanted->config1) {
		attr.config1 = wanted->config1;
		fd = cp_kernel_open(&attr, tid, leader);
	}
#endif
	return fd;
}

static int probed[CP_MAX_COUNTERS];
static unsigned nprobed;

int cp_perf_probe(
	const struct perf_event_attr *attr, enum cp_proof *proof, struct cp_why *why)
{
	int fd;

	if (attr->type == PERF_TYPE_BREAKPOINT && !cp_breakpoints_count()) {
		cp_format(why->text, sizeof(why->text),
			"breakpoints open here, but do not count "
			"(a hypervisor without debug registers?): run on bare metal");
		return -ENODATA;
	}
	fd = cp_perf_open(attr, 0, -1);
	if (fd < 0) {
		cp_perf_explain(-fd, attr, why);
		return fd;
	}
	if (proof)
		*proof = cp_prove(fd, attr, why);
	if (proof && *proof == CP_PROOF_MISSING) {
		cp_fd_close(fd);
		return -ENOENT;
	}
	/* The thread that is counted needs its breakpoints: there are four. */
	if (nprobed < CP_MAX_COUNTERS && attr->type != PERF_TYPE_BREAKPOINT &&
		!cp_fd_few())
		probed[nprobed++] = fd;
	else
		cp_fd_close(fd);
	return 0;
}

void cp_perf_probe_done(void)
{
	while (nprobed > 0)
		cp_fd_close(probed[--nprobed]);
}

int cp_perf_open_part(const struct cp_part *part)
{
	struct perf_event_attr attr = part->attr;

	attr.size = sizeof(attr);
	attr.read_format = READ_FORMAT;
	return cp_kernel_open_cpu(&attr, part->cpu);
}

bool cp_perf_needs_pmu(const struct perf_event_attr *attr)
{
	return attr->type != PERF_TYPE_SOFTWARE && attr->type != PERF_TYPE_BREAKPOINT;
}

int cp_perf_probe_cpu(const struct perf_event_attr *attr, int cpu, struct cp_why *why)
{
	const struct cp_part part = {.cpu = cpu, .attr = *attr};
	int fd = cp_perf_open_part(&part);

	if (fd == -EACCES || fd == -EPERM)
		cp_format(why->text, sizeof(why->text),
			"it counts all of a socket: that takes CAP_PERFMON, "
			"or `sysctl -w kernel.perf_event_paranoid=0` as root");
	else if (fd < 0)
		cp_perf_explain(-fd, attr, why);
	if (fd < 0)
		return fd;
	cp_fd_close(fd);
	return 0;
}

static int probe_event(uint64_t config, struct cp_why *why)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.config = config,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int fd = cp_perf_open(&attr, 0, -1);
	bool moved;

	if (fd < 0) {
		cp_perf_explain(-fd, &attr, why);
		return fd;
	}
	moved = cp_event_moves(fd);
	cp_fd_close(fd);
	if (moved)
		return 0;
	cp_format(why->text, sizeof(why->text),
		"the PMU accepts events but does not count (a hypervisor masks it?): "
		"pass the vPMU through, or run on bare metal");
	return -ENODATA;
}

bool cp_perf_hardware_works(struct cp_why *why)
{
	struct cp_why second;

	/* Some emulators count cycles only; the first answer is the better one
	 * to tell. */
	return probe_event(PERF_COUNT_HW_INSTRUCTIONS, why) == 0 ||
	       probe_event(PERF_COUNT_HW_CPU_CYCLES, &second) == 0;
}
