/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Tables with open addressing, by a key that is not 0.  Slots are all of one size, which
 * each call is given, and begin with their key; one that begins with 0 is free.
 */
#ifndef CACHEPEEK_SIM_TABLE_H
#define CACHEPEEK_SIM_TABLE_H

#include "pub_tool_basics.h"

#include "base/probe.h"

struct table {
	UChar *slots;
	ULong room, used; /* room: a power of two, or 0 at first */
};

static inline ULong *table_at(const struct table *table, SizeT size, ULong i)
{
	return (ULong *)(table->slots + i * size);
}

/* The slot with the key, or the free one where it would be; there is room. */
static inline void *table_slot(const struct table *table, SizeT size, ULong key)
{
	return table_at(table, size,
		CP_PROBE(table->room, cp_hash_word(key) >> 24, i,
			!*table_at(table, size, i) || *table_at(table, size, i) == key));
}

/* The slot with the key; NULL: there is none. */
static inline void *table_find(const struct table *table, SizeT size, ULong key)
{
	ULong *slot = table->room ? table_slot(table, size, key) : NULL;

	return slot && *slot ? slot : NULL;
}

/* Gives the table so many slots, of which those used are less than half, without those
 * that are not kept, which is asked of each; NULL: all are. */
void table_resize(struct table *table, SizeT size, ULong room,
	Bool (*is_kept)(const void *slot, const void *of), const void *of);

/* The slot with the key, which is added if it is not there: zeros behind the key. */
void *table_add(struct table *table, SizeT size, ULong key);

/* Without keys in [lo, hi). */
void table_drop(struct table *table, SizeT size, ULong lo, ULong hi);

#endif
