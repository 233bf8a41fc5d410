/* SPDX-License-Identifier: MIT
 *
 * The time series of a run: at each interval a row with the raw sums so far, of
 * every region of every thread.  Rows are in the record from the moment they are
 * made, so that a process that is killed loses the interval it is in.
 *
 * Where the space is used up every other row is dropped and the interval doubles:
 * sums so far are right at any distance.
 *
 * The simulated PMU includes this file, too: no libc here.
 */
#ifndef CACHEPEEK_REGIONS_SERIES_H
#define CACHEPEEK_REGIONS_SERIES_H

#include "base/counts.h"
#include "base/lock_word.h"

#define CP_SERIES_BLOCKS 1024               /* regions of threads */
#define CP_SERIES_BYTES ((uint64_t)4 << 20) /* two halves: see cp_series_thin */
#define CP_SERIES_WORDS (CP_MAX_READ + 2 * CP_MAX_PERF_GROUPS)

/* CP_ITEM_SERIES.  A row is the time (CLOCK_MONOTONIC, ns), the number of blocks,
 * and the words of each: the counters' sums, then enabled and running of each perf
 * group.  A block that is gone has zeros. */
struct cp_series_item {
	uint64_t item; /* struct cp_item */
	uint64_t asked_ns, interval_ns;
	uint64_t start_ns; /* when it began */
	uint32_t block_words, nblocks;
	uint32_t dropped; /* regions that found no block */
	uint32_t half;    /* that has the rows */
	uint64_t used[2]; /* bytes */
	/* Offsets in the record of the regions (of one that is gone: of that which
	 * has its sums); 0: the whole process, of the simulated PMU. */
	uint64_t blocks[CP_SERIES_BLOCKS];
	uint64_t rows[2][CP_SERIES_BYTES / 2 / sizeof(uint64_t)];
};

/* Whoever makes the rows has this beside it. */
struct cp_series {
	struct cp_series_item *item;
	struct cp_lock lock; /* blocks come and go */
	uint64_t next_ns;
	const uint64_t *base[CP_SERIES_BLOCKS]; /* NULL: gone */
	uint32_t at[CP_SERIES_WORDS];           /* a block's words, from its base */
	uint32_t process[CP_SERIES_WORDS];      /* the same of the process, or ~0u */
	/* The samples of the process, whose words are from CP_MIRROR_SIZE on: who
	 * adds a row brings it up to date before. */
	uint64_t sample[CP_SAMPLE_WORDS];
};

/* Every other row into the other half, which is the one in use from then on. */
static inline void cp_series_thin(struct cp_series_item *item)
{
	const uint64_t *from = item->rows[item->half],
		       *end = from + item->used[item->half] / 8;
	uint64_t *to = item->rows[1 - item->half], *start = to;

	for (unsigned keep = 0; from < end; keep = !keep) {
		uint64_t size = 2 + from[1] * item->block_words;

		for (uint64_t i = 0; keep && i < size; i++)
			*to++ = from[i];
		from += size;
	}
	item->used[1 - item->half] = (uint64_t)(to - start) * 8;
	item->interval_ns *= 2;
	__atomic_store_n(&item->half, 1 - item->half, __ATOMIC_RELEASE);
}

/* Where a word of that block is; NULL: nowhere. */
static inline const uint64_t *cp_series_word(
	const struct cp_series *series, uint32_t block, uint32_t word)
{
	const uint64_t *base = series->base[block];
	uint32_t at;

	if (!base)
		return NULL;
	if (series->item->blocks[block])
		return base + series->at[word];
	at = series->process[word];
	if (at == ~0u)
		return NULL;
	return at < CP_MIRROR_SIZE ? base + at : &series->sample[at - CP_MIRROR_SIZE];
}

/* A row of now, if there is room for it. */
static inline void cp_series_add(struct cp_series *series, uint64_t now_ns)
{
	struct cp_series_item *item = series->item;
	uint32_t nblocks = item->nblocks, words = item->block_words;
	uint64_t size = (2 + (uint64_t)nblocks * words) * 8, *to;

	if (item->used[item->half] + size > CP_SERIES_BYTES / 2)
		cp_series_thin(item);
	if (item->used[item->half] + size > CP_SERIES_BYTES / 2)
		return;
	to = item->rows[item->half] + item->used[item->half] / 8;
	*to++ = now_ns;
	*to++ = nblocks;
	for (uint32_t b = 0; b < nblocks; b++)
		for (uint32_t i = 0; i < words; i++) {
			const uint64_t *from = cp_series_word(series, b, i);

			*to++ = from ? __atomic_load_n(from, __ATOMIC_RELAXED) : 0;
		}
	__atomic_store_n(
		&item->used[item->half], item->used[item->half] + size, __ATOMIC_RELEASE);
}

/* The same where one is due, and nobody is changing the blocks. */
static inline void cp_series_tick(struct cp_series *series, uint64_t now_ns)
{
	if (now_ns < series->next_ns ||
		__atomic_exchange_n(&series->lock.held, 1, __ATOMIC_ACQUIRE))
		return;
	cp_series_add(series, now_ns);
	series->next_ns += series->item->interval_ns;
	if (series->next_ns <= now_ns)
		series->next_ns = now_ns + series->item->interval_ns;
	__atomic_store_n(&series->lock.held, 0, __ATOMIC_RELEASE);
}

#endif
