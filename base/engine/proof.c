/* SPDX-License-Identifier: MIT */
#include "base/engine/proof.h"

#include <linux/hw_breakpoint.h>

#include "base/fd.h"
#include "base/format.h"
#include "base/engine/kernel.h"
#include "base/engine/perf_parts.h"
#include "base/engine/sysfs.h"

static void touch_memory(void)
{
	static volatile char buffer[1 << 16];

	for (unsigned i = 0; i < sizeof(buffer); i += 64)
		buffer[i]++;
}

static void __attribute__((noinline)) stop_here(void)
{
	__asm__ volatile("");
}

/* The value is behind three words, whether or not it is of a group. */
static bool count_moves(int fd, void (*work)(void))
{
	uint64_t values[16] = {0};
	bool read;

	cp_kernel_enable(fd, true);
	work();
	read = cp_kernel_read(fd, values, sizeof(values)) > 0;
	cp_kernel_enable(fd, false);
	return read && values[3] > 0;
}

bool cp_event_moves(int fd)
{
	return count_moves(fd, touch_memory);
}

bool cp_breakpoints_count(void)
{
	const struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.bp_type = HW_BREAKPOINT_X,
		.bp_addr = (uintptr_t)stop_here,
		.bp_len = sizeof(long),
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int fd = cp_perf_open(&attr, 0, -1);
	bool counted;

	if (fd < 0)
		return true;
	counted = count_moves(fd, stop_here);
	cp_fd_close(fd);
	return counted;
}

void cp_explain_unproven(const struct perf_event_attr *attr, struct cp_why *why)
{
	cp_format(why->text, sizeof(why->text),
		"suspicious: 0 here and in a self-test, "
		"and nothing says that this PMU has raw code 0x%llx: "
		"such a 0 is no count",
		(unsigned long long)attr->config);
}

enum cp_proof cp_prove(int fd, const struct perf_event_attr *attr, struct cp_why *why)
{
	enum cp_listed listed;

	if (cp_event_moves(fd))
		return CP_PROOF_COUNTS;
	listed = cp_sysfs_lists(attr->config);
	if (listed == CP_LISTED)
		return CP_PROOF_COUNTS;
	if (listed == CP_NOT_LISTED) {
		cp_format(why->text, sizeof(why->text),
			"suspicious: raw code 0x%llx opens, "
			"but the kernel does not list it for this PMU, "
			"and it stays 0 in a self-test",
			(unsigned long long)attr->config);
		return CP_PROOF_MISSING;
	}
	cp_explain_unproven(attr, why);
	return CP_PROOF_NONE;
}
