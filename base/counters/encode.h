/* SPDX-License-Identifier: MIT
 *
 * From the name of an event to what perf_event_open takes.
 */
#ifndef CACHEPEEK_BASE_COUNTERS_ENCODE_H
#define CACHEPEEK_BASE_COUNTERS_ENCODE_H

#include <linux/perf_event.h>
#include <stdbool.h>

/*
 * Understands sysfs:PMU/SETTING=VALUE,…/, perf's mem:ADDRESS[/LENGTH][:rwx] and rHEX, the
 * kernel's software events (perf::PAGE-FAULTS …), and through libpfm everything else.
 * User mode only unless modifiers say otherwise or the event happens in the kernel
 * only.  0, -EINVAL (unknown) or -ENODATA (known, but it could not be counted so)
 * with a phrase in *reason, which is static.
 */
int cp_encode(const char *event, struct perf_event_attr *attr, const char **reason);

/* Is it spelled rHEX? */
bool cp_event_is_raw(const char *event);

/* Does the kernel count it in software, however it is modified? */
bool cp_event_is_software(const char *event);

/* Is it a software event that happens in the kernel only?  It is opened for kernel
 * mode, but says nothing about the mode in which other events are counted. */
bool cp_counts_only_in_kernel(const struct perf_event_attr *attr);

/* The name of the index'th software event, NULL after the last. */
const char *cp_software_event(unsigned index);

/* The name of the index'th core PMU that libpfm finds, NULL after the last. */
const char *cp_core_pmu(unsigned index);

#endif
