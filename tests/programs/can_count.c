/* SPDX-License-Identifier: MIT
 * Prints which kinds of events the kernel lets this process count, a line
 * each: "software", "breakpoint", "stop" (a breakpoint that sends SIGTRAP), "hardware",
 * and of others why not.  Some virtual machines open breakpoints that never count: one
 * has to be seen to.
 */
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void __attribute__((noinline)) called(void)
{
	__asm__ volatile("");
}

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
	(void)signal;
	stopped = 1;
}

static int counts_calls(int fd, const struct perf_event_attr *attr)
{
	uint64_t count = 0;

	called();
	return (!attr->sigtrap || stopped) &&
	       read(fd, &count, sizeof(count)) == sizeof(count) && count == 1;
}

static void try_open(const char *name, struct perf_event_attr *attr)
{
	int fd;

	attr->size = sizeof(*attr);
	attr->exclude_kernel = 1;
	attr->exclude_hv = 1;
	fd = (int)syscall(SYS_perf_event_open, attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		printf("no %s: %s\n", name, strerror(errno));
	else if (attr->type == PERF_TYPE_BREAKPOINT && !counts_calls(fd, attr))
		printf("no %s: they open, but do not count\n", name);
	else
		printf("%s\n", name);
	if (fd >= 0)
		close(fd);
}

int main(void)
{
	struct perf_event_attr software, breakpoint, hardware;

	memset(&software, 0, sizeof(software));
	software.type = PERF_TYPE_SOFTWARE;
	software.config = PERF_COUNT_SW_PAGE_FAULTS;
	try_open("software", &software);

	memset(&breakpoint, 0, sizeof(breakpoint));
	breakpoint.type = PERF_TYPE_BREAKPOINT;
	breakpoint.bp_type = HW_BREAKPOINT_X;
	breakpoint.bp_addr = (uintptr_t)called;
	breakpoint.bp_len = sizeof(long);
	try_open("breakpoint", &breakpoint);

	signal(SIGTRAP, stop);
	breakpoint.sample_period = 1;
	breakpoint.sigtrap = 1;
	breakpoint.remove_on_exec = 1;
	breakpoint.inherit = 1;
	breakpoint.inherit_thread = 1;
	try_open("stop", &breakpoint);

	memset(&hardware, 0, sizeof(hardware));
	hardware.type = PERF_TYPE_HARDWARE;
	hardware.config = PERF_COUNT_HW_INSTRUCTIONS;
	try_open("hardware", &hardware);
	return 0;
}
