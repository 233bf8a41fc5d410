/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "instrument/flow_keep.h"
#include "instrument/pool.h"

static UChar *append_piece(UChar *to, const void *piece, SizeT size)
{
	VG_(memcpy)(to, piece, size);
	return to + size;
}

/* One piece: the sources behind the values that there are, and the ways. */
static UChar *pack_flow(const struct made_flow *made, UChar *to)
{
	UChar *end = append_piece(to, &made->flow, sizeof(struct flow));

	end = append_piece(end, made->value, made->nvalues * sizeof(struct flow_value));
	end = append_piece(
		end, made->source, made->flow.nsources * sizeof(struct flow_source));
	return append_piece(end, made->way, made->nwords * sizeof(union flow_word));
}

#define BUCKETS (1 << 15)
struct kept {
	struct kept *next;
	UInt words, hash;
	ULong piece[];
};

const void *flow_keep_piece(const ULong *piece, SizeT words)
{
	static struct kept *bucket[BUCKETS];
	static struct pool pool;
	UInt hash = pool_hash(piece, words);
	struct kept **first = &bucket[hash % BUCKETS], *k;

	for (k = *first; k; k = k->next)
		if (k->hash == hash && k->words == words &&
			pool_same(k->piece, piece, words))
			return k->piece;
	k = pool_take(&pool, sizeof(*k) + words * sizeof(*piece), sizeof(*piece));
	k->next = *first;
	k->words = (UInt)words;
	k->hash = hash;
	VG_(memcpy)(k->piece, piece, words * sizeof(*piece));
	*first = k;
	return k->piece;
}

/* Blocks are alike, and batches with them (batches.c). */
const struct flow *flow_keep(const struct made_flow *made)
{
	static ULong packed[sizeof(struct made_flow) / sizeof(ULong) + 1];
	UChar *end = pack_flow(made, (UChar *)packed);

	while ((UWord)end % sizeof(*packed))
		*end++ = 0;
	return flow_keep_piece(packed, (SizeT)((ULong *)end - packed));
}
