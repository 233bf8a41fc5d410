/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "instrument/flow_keep.h"

static UChar *append_piece(UChar *to, const void *piece, SizeT size)
{
	VG_(memcpy)(to, piece, size);
	return to + size;
}

/* One piece: the sources behind the values that there are, the ways, and
 * what touches memory. */
static SizeT pack_flow(const struct made_flow *made, UChar *to)
{
	UChar *end = append_piece(to, &made->flow, sizeof(struct flow));

	end = append_piece(end, made->value, made->nvalues * sizeof(struct flow_value));
	end = append_piece(
		end, made->source, made->flow.nsources * sizeof(struct flow_source));
	end = append_piece(end, made->way, made->nwords * sizeof(union flow_word));
	end = append_piece(
		end, made->touch, made->flow.ntouches * sizeof(struct flow_touch));
	return (SizeT)(end - to);
}

#define BUCKETS 8192
struct kept {
	struct kept *next;
	SizeT size;
	UInt hash;
	UChar *flow;
};

static UInt hash_of(const UChar *bytes, SizeT size)
{
	ULong hash = 0;

	for (SizeT i = 0; i < size; i++)
		hash = (hash ^ bytes[i]) * 0x9e3779b97f4a7c15ull;
	return (UInt)(hash >> 32);
}

const void *flow_keep_piece(const UChar *bytes, SizeT size)
{
	static struct kept *bucket[BUCKETS];
	UInt hash = hash_of(bytes, size);
	struct kept **first = &bucket[hash % BUCKETS], *k;

	for (k = *first; k; k = k->next)
		if (k->size == size && VG_(memcmp)(k->flow, bytes, size) == 0)
			return k->flow;
	k = VG_(malloc)("cachepeek.flow", sizeof(*k));
	*k = (struct kept){*first, size, hash, VG_(malloc)("cachepeek.flow", size)};
	VG_(memcpy)(k->flow, bytes, size);
	*first = k;
	return k->flow;
}

/* Blocks are alike, and batches with them (batches.c). */
const struct flow *flow_keep(const struct made_flow *made)
{
	static UChar packed[sizeof(struct made_flow)] __attribute__((aligned(8)));

	return flow_keep_piece(packed, pack_flow(made, packed));
}
