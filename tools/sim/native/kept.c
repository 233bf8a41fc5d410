/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "native/kept.h"

#include "memory.h"

#define CHUNK (1u << 20)
#define BUCKETS 4096
struct kept {
	struct kept *next;
	UChar *at;
	UInt size;
};

/* Executable, as all of the core's memory. */
static UChar *take_room(UInt size)
{
	static UChar *chunk;
	static UInt used = CHUNK;

	if (used + size > CHUNK) {
		chunk = valgrind_alloc(CHUNK);
		used = 0;
	}
	if (!chunk)
		return NULL;
	used += (size + 15) & ~15u;
	return chunk + used - ((size + 15) & ~15u);
}

static UInt hash_code(const struct assembler *a)
{
	UInt h = 5381;

	for (UInt i = 0; i < a->n; i++)
		h = h * 33 ^ a->bytes[i];
	return h % BUCKETS;
}

void *native_keep_stub(const struct assembler *a)
{
	static struct kept *buckets[BUCKETS];
	struct kept **first = &buckets[hash_code(a)], *k;

	for (k = *first; k; k = k->next)
		if (k->size == a->n && VG_(memcmp)(k->at, a->bytes, a->n) == 0)
			return k->at;
	k = VG_(malloc)("cachepeek.stub", sizeof(*k));
	*k = (struct kept){*first, take_room(a->n), a->n};
	if (!k->at) {
		VG_(free)(k);
		return NULL;
	}
	VG_(memcpy)(k->at, a->bytes, a->n);
	*first = k;
	return k->at;
}

Bool native_keep_registers(
	IRSB *out, enum registers_kept what, const struct native *n, IRExpr *address)
{
	(void)out, (void)what, (void)n, (void)address;
	return False;
}
