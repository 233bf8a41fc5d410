/* SPDX-License-Identifier: MIT
 *
 * From the name of an event to what perf_event_open takes.
 */
#ifndef CACHEPEEK_BASE_COUNTERS_ENCODE_H
#define CACHEPEEK_BASE_COUNTERS_ENCODE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/counters/encode_software.h"

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

/* The name of the index'th core PMU that libpfm finds, NULL after the last. */
const char *cp_core_pmu(unsigned index);

/* Where encoder.so is: 0 or -errno.  The library knows its place (preload/reexec.c). */
int cp_encoder_path(char *to, size_t size);

#endif
