/* SPDX-License-Identifier: MIT */
#include "regions/series_write.h"

#include <errno.h>
#include <string.h>

#include "regions/record.h"

static void lock_series(struct cp_series *series)
{
	cp_lock(&series->lock);
}

static void unlock_series(struct cp_series *series)
{
	cp_unlock(&series->lock);
}

/* Where in a region's item the words of a row are. */
static void find_words(struct cp_series *series, const struct cp_record_header *header)
{
	uint32_t sums = sizeof(struct cp_region_item) / 8, n = 0,
		 times = sums + (header->ncounters * (uint32_t)sizeof(struct cp_sum) +
					header->nquantities *
						(uint32_t)sizeof(struct cp_spread)) /
					8;

	for (uint32_t i = 0; i < header->ncounters; i++)
		series->at[n++] = sums + i * (uint32_t)(sizeof(struct cp_sum) / 8);
	for (uint32_t i = 0; i < 2 * header->nperf_groups; i++)
		series->at[n++] = times + i;
}

int cp_series_start(struct cp_series *series, struct cp_recording *record,
	uint64_t interval_ns, uint64_t now_ns)
{
	struct cp_series_item *item = cp_record_reserve(record, sizeof(*item));

	memset(series, 0, sizeof(*series));
	if (!item)
		return -ENOSPC;
	item->asked_ns = item->interval_ns = interval_ns;
	item->start_ns = now_ns;
	item->block_words = record->header->ncounters + 2 * record->header->nperf_groups;
	series->item = item;
	series->next_ns = now_ns + interval_ns;
	find_words(series, record->header);
	memset(series->process, 0xff, sizeof(series->process));
	record->series = series;
	cp_item_publish(item, CP_ITEM_SERIES);
	return 0;
}

/* A row of what is sampled is long: eight have room at least. */
static uint32_t most_blocks(const struct cp_series_item *item)
{
	uint64_t most = CP_SERIES_BYTES / 2 / 8 / (8 * (uint64_t)item->block_words + 16);

	if (item->block_words <= CP_MAX_COUNTERS + 2 * CP_MAX_PERF_GROUPS ||
		most > CP_SERIES_BLOCKS)
		return CP_SERIES_BLOCKS;
	return (uint32_t)most;
}

static void add_changes(struct cp_series *series, uint64_t offset, const void *base)
{
	struct cp_series_item *item = series->item;

	if (item->nblocks >= most_blocks(item)) {
		item->dropped++;
		return;
	}
	series->base[item->nblocks] = base;
	item->blocks[item->nblocks] = offset;
	__atomic_store_n(&item->nblocks, item->nblocks + 1, __ATOMIC_RELEASE);
}

void cp_series_process(
	struct cp_series *series, const uint64_t *base, const uint32_t *at, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		series->process[i] = at[i];
	add_changes(series, 0, base);
}

void cp_series_note(struct cp_series *series, uint64_t offset, const void *region)
{
	lock_series(series);
	add_changes(series, offset, region);
	unlock_series(series);
}

void cp_series_forget(struct cp_series *series, const void *region, uint64_t into)
{
	struct cp_series_item *item = series->item;

	lock_series(series);
	for (uint32_t i = 0; i < item->nblocks; i++) {
		if (series->base[i] != region)
			continue;
		series->base[i] = NULL;
		item->blocks[i] = into;
	}
	unlock_series(series);
}
