/* SPDX-License-Identifier: MIT
 *
 * From the name of an event to what perf_event_open takes.
 */
#ifndef CACHEPEEK_PRELOAD_ENCODE_H
#define CACHEPEEK_PRELOAD_ENCODE_H

#include <linux/perf_event.h>
#include <stdbool.h>

/*
 * Understands sysfs:PMU/SETTING=VALUE,…/, perf's mem:ADDRESS[/LENGTH][:rwx] and rHEX, the
 * kernel's software events (perf::PAGE-FAULTS …), and through libpfm everything else.
 * User mode only unless modifiers say otherwise.  0, or -EINVAL with a phrase
 * in *reason, which is static.
 */
int cp_encode(const char *event, struct perf_event_attr *attr, const char **reason);

/* Is it spelled rHEX? */
bool cp_event_is_raw(const char *event);

/* The name of the index'th software event, NULL after the last. */
const char *cp_software_event(unsigned index);

/* The name of the index'th core PMU that libpfm finds, NULL after the last. */
const char *cp_core_pmu(unsigned index);

#endif
