/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "table.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"

#define FIRST_ROOM 256

void table_resize(struct table *table, SizeT size, ULong room,
	Bool (*is_kept)(const void *slot, const void *of), const void *of)
{
	struct table old = *table;

	table->slots = VG_(calloc)("cachepeek.table", room, size);
	table->room = room;
	table->used = 0;
	for (UChar *slot = old.slots; slot < old.slots + old.room * size; slot += size) {
		ULong key = *(ULong *)slot;

		if (!key || (is_kept && !is_kept(slot, of)))
			continue;
		VG_(memcpy)(table_slot(table, size, key), slot, size);
		table->used++;
	}
	VG_(free)(old.slots);
}

void *table_add(struct table *table, SizeT size, ULong key)
{
	ULong *slot;

	if (table->used >= table->room / 2)
		table_resize(table, size, table->room ? 2 * table->room : FIRST_ROOM,
			NULL, NULL);
	slot = table_slot(table, size, key);
	table->used += !*slot;
	*slot = key;
	return slot;
}

static Bool is_outside(const void *slot, const void *of)
{
	const ULong *range = of, *key = slot;

	return *key < range[0] || *key >= range[1];
}

void table_drop(struct table *table, SizeT size, ULong lo, ULong hi)
{
	const ULong range[] = {lo, hi};

	if (table->room)
		table_resize(table, size, table->room, is_outside, range);
}
