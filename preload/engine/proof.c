/* SPDX-License-Identifier: MIT */
#include "preload/engine/proof.h"

#include "base/format.h"
#include "preload/engine/kernel.h"
#include "preload/engine/sysfs.h"

static void touch_memory(void)
{
	static volatile char buffer[1 << 16];

	for (unsigned i = 0; i < sizeof(buffer); i += 64)
		buffer[i]++;
}

/* The value is behind three words, whether or not it is of a group. */
bool cp_event_moves(int fd)
{
	uint64_t values[16] = {0};
	bool read;

	cp_kernel_enable(fd, true);
	touch_memory();
	read = cp_kernel_read(fd, values, sizeof(values)) > 0;
	cp_kernel_enable(fd, false);
	return read && values[3] > 0;
}

void cp_explain_unproven(const struct perf_event_attr *attr, struct cp_why *why)
{
	cp_format(why->text, sizeof(why->text),
		"suspicious: 0 here and in a self-test, and nothing says that this PMU "
		"has "
		"raw code 0x%llx: such a 0 is no count",
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
			"suspicious: raw code 0x%llx opens, but the kernel does not list "
			"it "
			"for this PMU, and it stays 0 in a self-test",
			(unsigned long long)attr->config);
		return CP_PROOF_MISSING;
	}
	cp_explain_unproven(attr, why);
	return CP_PROOF_NONE;
}
