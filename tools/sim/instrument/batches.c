/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The batches of all generated code.  Blocks are alike: most batches serve many,
 * hence they are shared and never freed.
 */
#include "block.h"

#define BUCKETS 16384
/* The first ones lie where a 32-bit constant reaches them. */
#ifndef POOL
#define POOL (1u << 20)
#endif
#define LINE 64 /* of the host */

struct kept {
	struct kept *next;
	UInt items;
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

static UInt hash_batch(const struct batch *batch, SizeT size)
{
	const UInt *word = (const UInt *)batch;
	ULong hash = 0;

	for (SizeT i = 0; i < size / sizeof(*word); i++)
		hash = (hash ^ word[i]) * 0x9e3779b97f4a7c15ull;
	return hash >> 32 & (BUCKETS - 1);
}

/* Aligned to the host's lines. */
static void *allocate_batch(SizeT size)
{
	static UChar pool[POOL] __attribute__((aligned(LINE)));
	static SizeT used;
	SizeT room = (size + LINE - 1) & ~(SizeT)(LINE - 1);
	void *p = pool + used;

	if (used + room > POOL)
		return (void *)(((UWord)VG_(malloc)("cachepeek.batch", size + LINE) +
					LINE - 1) &
				~(UWord)(LINE - 1));
	used += room;
	return p;
}

const struct batch *batch_keep(const struct batch *batch)
{
	static struct kept *bucket[BUCKETS];
	SizeT size = batch_size(batch);
	struct kept **first = &bucket[hash_batch(batch, size)], *k;

	for (k = *first; k; k = k->next)
		if (k->items == batch->items && VG_(memcmp)(k->batch, batch, size) == 0)
			return k->batch;
	k = VG_(malloc)("cachepeek.kept", sizeof(*k));
	*k = (struct kept){*first, batch->items, allocate_batch(size)};
	VG_(memcpy)(k->batch, batch, size);
	*first = k;
	return k->batch;
}
