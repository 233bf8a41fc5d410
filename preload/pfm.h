/* SPDX-License-Identifier: MIT
 *
 * libpfm4, reduced to what is needed here.  (Its perf_event.h and the
 * kernel's cannot be included together, so it is named in pfm.c only.)
 */
#ifndef CACHEPEEK_PRELOAD_PFM_H
#define CACHEPEEK_PRELOAD_PFM_H

#include <stddef.h>

struct perf_event_attr;

/* Initialises libpfm with every PMU that is present.  0 or -ENOSYS. */
int cp_pfm_start(void);

/*
 * Encodes an event for user mode (unless its modifiers say otherwise) into
 * *attr.  Returns 0, or -EINVAL with a phrase of libpfm's in *reason, which is
 * static.
 */
int cp_pfm_encode(const char *event, struct perf_event_attr *attr, const char **reason);

/* The name of the index'th core PMU that is present ("skx", "arm_n1"), NULL
 * after the last.  "perf", uncore and OS PMUs are left out. */
const char *cp_pfm_core_pmu(unsigned index);

/* Calls visit for every event name of every PMU present, "PMU::NAME". */
void cp_pfm_each_event(void (*visit)(void *context, const char *name), void *context);

#endif
