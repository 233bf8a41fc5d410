/* SPDX-License-Identifier: MIT
 *
 * Which regions a time series has.
 */
#ifndef CACHEPEEK_REGIONS_SERIES_WRITE_H
#define CACHEPEEK_REGIONS_SERIES_WRITE_H

#include "regions/record_write.h"
#include "regions/series.h"

/* Makes the record's series: regions that begin from here on are in it.
 * 0 or -ENOSPC. */
int cp_series_start(struct cp_series *series, struct cp_recording *record,
	uint64_t interval_ns, uint64_t now_ns);

/* The whole process: the words are at these places from base. */
void cp_series_process(
	struct cp_series *series, const uint64_t *base, const uint32_t *at, uint32_t n);

/* A region of the record has come; or is about to go, and all that it had is in
 * another one of the same path now. */
void cp_series_note(struct cp_series *series, uint64_t offset, const void *region);
void cp_series_forget(struct cp_series *series, const void *region, uint64_t into);

#endif
