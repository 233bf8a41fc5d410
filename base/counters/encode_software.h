/* SPDX-License-Identifier: MIT
 *
 * Shared by encode.c and encode_software.c only.
 */
#ifndef CACHEPEEK_BASE_COUNTERS_ENCODE_SOFTWARE_H
#define CACHEPEEK_BASE_COUNTERS_ENCODE_SOFTWARE_H

#include <linux/perf_event.h>
#include <stdbool.h>

/* ":u", ":k", ":uk" and nothing (user mode): which modes are left out. */
bool cp_encode_modes(const char *modifiers, struct perf_event_attr *attr);

/* 0; -ENOENT: it is no software event; -EINVAL or -ENODATA: it is, but cannot be
 * counted so, with a phrase in *reason, which is static. */
int cp_encode_software(
	const char *event, struct perf_event_attr *attr, const char **reason);

/* Does the kernel count it in software, however it is modified? */
bool cp_event_is_software(const char *event);

/* Is it a software event that happens in the kernel only?  It is opened for kernel
 * mode, but says nothing about the mode in which other events are counted. */
bool cp_counts_only_in_kernel(const struct perf_event_attr *attr);

/* The name of the index'th software event, NULL after the last. */
const char *cp_software_event(unsigned index);

#endif
