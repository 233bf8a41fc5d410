/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The batches of all generated code.  Blocks are alike: most batches serve many,
 * hence they are shared and never freed.
 */
#include "block.h"

#define BUCKETS 16384
/* The first ones lie where a 32-bit constant reaches them. */
#define POOL (1u << 20)

struct kept {
	struct kept *next;
	ULong unused;       /* keeps the batch aligned */
	struct batch batch; /* as much of it as its items need */
};

static SizeT batch_size(const struct batch *batch)
{
	SizeT size = __builtin_offsetof(struct batch, item) +
		     batch->items * sizeof(batch->item[0]);

	if (batch_observer)
		size += (batch->items + batch->places) * sizeof(struct batch_note);
	return (size + 7) & ~7ul;
}

static UInt hash(const struct batch *batch, SizeT size)
{
	const UInt *word = (const UInt *)batch;
	ULong hash = 0;

	for (SizeT i = 0; i < size / sizeof(*word); i++)
		hash = (hash ^ word[i]) * 0x9e3779b97f4a7c15ull;
	return hash >> 32 & (BUCKETS - 1);
}

static struct kept *allocate(SizeT size)
{
	static UChar pool[POOL] __attribute__((aligned(64)));
	static SizeT used;
	SizeT room = (size + 63) & ~63ul;
	struct kept *k;

	if (used + room > POOL)
		return VG_(malloc)("cachepeek.batch", size);
	k = (struct kept *)(pool + used);
	used += room;
	return k;
}

const struct batch *batch_keep(const struct batch *batch)
{
	static struct kept *bucket[BUCKETS];
	SizeT size = batch_size(batch);
	struct kept **first = &bucket[hash(batch, size)], *k;

	for (k = *first; k; k = k->next)
		if (k->batch.items == batch->items &&
			VG_(memcmp)(&k->batch, batch, size) == 0)
			return &k->batch;
	k = allocate(__builtin_offsetof(struct kept, batch) + size);
	VG_(memcpy)(&k->batch, batch, size);
	k->next = *first;
	*first = k;
	return &k->batch;
}
