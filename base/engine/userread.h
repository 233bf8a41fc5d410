/* SPDX-License-Identifier: MIT
 *
 * Counters read in user space through perf's mmap page.
 */
#ifndef CACHEPEEK_BASE_ENGINE_USERREAD_H
#define CACHEPEEK_BASE_ENGINE_USERREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/counts.h"

/* Does the page say that its counter may be read now, times included? */
bool cp_user_page_readable(const void *page);

/*
 * Count and times of the event now, by the seqlock protocol that
 * linux/perf_event.h describes.  Returns false where the counter is not on
 * the PMU or may not be read: use read(2).  Only in the event's own thread.
 */
bool cp_user_page_read(const void *page, uint64_t *count, struct cp_times *times);

#endif
