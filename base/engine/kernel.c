/* SPDX-License-Identifier: MIT */
#include "base/engine/kernel.h"

#include <sys/mman.h>

#include "base/map.h"
#include "base/syscall.h"

int cp_kernel_open(const struct perf_event_attr *attr, pid_t tid, int group)
{
	return (int)cp_syscall(
		SYS_perf_event_open, attr, tid, -1, group, PERF_FLAG_FD_CLOEXEC);
}

int cp_kernel_open_cpu(const struct perf_event_attr *attr, int cpu)
{
	return (int)cp_syscall(
		SYS_perf_event_open, attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

long cp_kernel_read(int fd, void *to, size_t size)
{
	return cp_syscall(SYS_read, fd, to, size);
}

int cp_kernel_enable(int fd, bool enable)
{
	return (int)cp_syscall(SYS_ioctl, fd,
		enable ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

void *cp_kernel_map(int fd)
{
	long page = cp_syscall(
		SYS_mmap, 0, sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd, 0);

	return page < 0 && page > -4096 ? NULL : (void *)page;
}

void cp_kernel_unmap(void *page)
{
	if (page)
		cp_syscall(SYS_munmap, page, sysconf(_SC_PAGESIZE));
}

void cp_kernel_unmapped(void *page)
{
	if (page)
		cp_map_zeros(page, (size_t)sysconf(_SC_PAGESIZE));
}
