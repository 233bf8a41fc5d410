/* SPDX-License-Identifier: MIT
 *
 * The kernel's side of perf events, as few calls as possible and none of libc:
 * the program may have its own read and ioctl.  Tests link a kernel that fails.
 */
#ifndef CACHEPEEK_BASE_ENGINE_KERNEL_H
#define CACHEPEEK_BASE_ENGINE_KERNEL_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A descriptor or -errno. */
int cp_kernel_open(const struct perf_event_attr *attr, pid_t tid, int group);

/* All that a CPU, or what it stands for, does: a descriptor or -errno. */
int cp_kernel_open_cpu(const struct perf_event_attr *attr, int cpu);

/* read(2): bytes or -errno. */
long cp_kernel_read(int fd, void *to, size_t size);

/* Enables or disables the event; 0 or -errno. */
int cp_kernel_enable(int fd, bool enable);

/* The event's first page, NULL where the kernel refuses. */
void *cp_kernel_map(int fd);
void cp_kernel_unmap(void *page);
/* In a fork child, which has no such page: zeros instead. */
void cp_kernel_unmapped(void *page);

#endif
