/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The batches of all generated code.  Blocks are alike: most batches serve many,
 * hence they are shared and never freed.
 */
#include "block.h"
#include "instrument/pool.h"

#define BUCKETS (1 << 15)
/* The first ones lie where a 32-bit constant reaches them. */
#define POOL (1u << 20)
#define LINE 64 /* of the host */

struct kept {
	struct kept *next;
	UInt items, hash;
	struct batch *batch; /* as much of it as its items need */
};

static SizeT batch_size(const struct batch *batch)
{
	SizeT size = __builtin_offsetof(struct batch, item) +
		     batch->items * sizeof(batch->item[0]);

	if (batch_has_notes())
		size += (batch->items + BATCH_PLACES) * sizeof(struct batch_note);
	return (size + 7) & ~7ul;
}

/* Aligned to the host's lines. */
static void *allocate_batch(SizeT size)
{
	static UChar near[POOL] __attribute__((aligned(LINE)));
	static SizeT used;
	static struct pool pool;
	SizeT room = (size + LINE - 1) & ~(SizeT)(LINE - 1);
	void *p = near + used;

	if (used + room > POOL)
		return pool_take(&pool, room, LINE);
	used += room;
	return p;
}

const struct batch *batch_keep(const struct batch *batch)
{
	static struct kept *bucket[BUCKETS];
	static struct pool pool;
	SizeT words = batch_size(batch) / sizeof(ULong);
	UInt hash = pool_hash((const ULong *)batch, words);
	struct kept **first = &bucket[hash % BUCKETS], *k;

	for (k = *first; k; k = k->next)
		if (k->hash == hash && k->items == batch->items &&
			pool_same((const ULong *)k->batch, (const ULong *)batch, words))
			return k->batch;
	k = pool_take(&pool, sizeof(*k), sizeof(ULong));
	*k = (struct kept){
		*first, batch->items, hash, allocate_batch(words * sizeof(ULong))};
	VG_(memcpy)(k->batch, batch, words * sizeof(ULong));
	*first = k;
	return k->batch;
}
