/* SPDX-License-Identifier: MIT
 * The rows of a time series when there are more than there is room for.
 */
#include <stdlib.h>

#include "regions/series.h"
#include "tests/tap/tap.h"

static struct cp_series series;
static uint64_t words[2];

static const uint64_t *rows_of(const struct cp_series_item *item, size_t *count)
{
	size_t words_of_row = 2 + item->block_words;

	*count = item->used[item->half] / 8 / words_of_row;
	return item->rows[item->half];
}

/* Row i was taken at time i, when the words were 10 * i and 7. */
static bool is_row(const uint64_t *row)
{
	return row[1] == 1 && row[2] == 10 * row[0] && row[3] == 7;
}

static void test_thin(void)
{
	struct cp_series_item *item = calloc(1, sizeof(*item));
	const uint64_t *rows;
	size_t count, wrong = 0;
	uint64_t apart;

	if (!item)
		bail("no memory");
	series.item = item;
	item->interval_ns = item->asked_ns = 1;
	item->block_words = 2;
	item->nblocks = 1;
	item->blocks[0] = 4096;
	series.base[0] = words;
	series.at[1] = 1;
	for (uint64_t now = 1; now <= 300000; now++) {
		words[0] = 10 * now;
		words[1] = 7;
		cp_series_tick(&series, now);
	}
	ok(item->interval_ns >= 4, "the interval has grown to %llu",
		(unsigned long long)item->interval_ns);
	rows = rows_of(item, &count);
	ok(count > 30000 && item->used[item->half] <= CP_SERIES_BYTES / 2,
		"%zu rows, in their room", count);
	apart = rows[4] - rows[0];
	ok(apart <= item->interval_ns, "no further apart than the interval");
	for (size_t i = 0; i < count; i++)
		wrong += !is_row(rows + 4 * i) || (i && rows[4 * i] <= rows[4 * (i - 1)]);
	is_u64(wrong, 0, "all are what they were, in their order");
	ok(rows[4 * (count - 1)] > 300000 - 2 * item->interval_ns, "up to the last");
	free(item);
}

static void test_ticks(void)
{
	struct cp_series_item *item = calloc(1, sizeof(*item));
	size_t count;

	if (!item)
		bail("no memory");
	series = (struct cp_series){.item = item, .next_ns = 100};
	item->interval_ns = 100;
	cp_series_tick(&series, 99);
	rows_of(item, &count);
	is_u64(count, 0, "nothing is due yet");
	series.lock.held = 1;
	cp_series_tick(&series, 100);
	is_u64(item->used[0], 0, "nothing while blocks change");
	series.lock.held = 0;
	cp_series_tick(&series, 120);
	is_u64(item->used[0], 16, "a row without blocks");
	is_u64(series.next_ns, 200, "the next one is where it would have been");
	cp_series_tick(&series, 750);
	is_u64(series.next_ns, 850, "intervals that were missed are not made up for");
	is_int(series.lock.held, 0, "and it is let go");
	free(item);
}

int main(void)
{
	plan_lazy();
	test_thin();
	test_ticks();
	return 0;
}
