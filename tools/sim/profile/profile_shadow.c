/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Which object each 16 bytes of the program's memory belong to, as far as that was
 * said: a table of pages, each with one number or one for each 16 bytes.
 */
#include "profile/profile.h"
#include "table.h"

#define GRANULE 16
#define PAGE_BYTES 4096
#define GRANULES (PAGE_BYTES / GRANULE)

/* The first 16 bytes of a block. */
#define FIRST (1u << 31)

struct page {
	ULong number; /* plus one; 0: free */
	UInt *granules;
	UInt all; /* if there are no granules */
};

/* By page; a fork's child keeps it. */
static struct table shadow;

static struct page *page_at(ULong i)
{
	return (struct page *)shadow.slots + i;
}

static struct page *find_page(ULong number)
{
	return table_find(&shadow, sizeof(struct page), number + 1);
}

static Bool is_empty(const struct page *page)
{
	return !page->granules && !page->all;
}

static Bool is_kept(const void *page, const void *of)
{
	(void)of;
	return !is_empty(page);
}

/* Pages of which nothing is known any more are left behind. */
static void make_room(void)
{
	ULong kept = 0, room = 4096;

	for (ULong i = 0; i < shadow.room; i++)
		kept += page_at(i)->number && !is_empty(page_at(i));
	while (room < 4 * kept)
		room *= 2;
	table_resize(&shadow, sizeof(struct page), room, is_kept, NULL);
}

static struct page *find_or_add(ULong number)
{
	if (shadow.used >= shadow.room / 2 && !find_page(number))
		make_room();
	return table_add(&shadow, sizeof(struct page), number + 1);
}

static void set_all(struct page *page, UInt object)
{
	VG_(free)(page->granules);
	page->granules = NULL;
	page->all = object;
}

static void split_page(struct page *page)
{
	if (page->granules)
		return;
	page->granules = VG_(malloc)("cachepeek.granules", GRANULES * sizeof(UInt));
	for (UInt i = 0; i < GRANULES; i++)
		page->granules[i] = page->all;
}

void shadow_set(Addr a, SizeT size, UInt object)
{
	Addr end = a + size;

	for (Addr at = a; at < end; at = (at / PAGE_BYTES + 1) * PAGE_BYTES) {
		Addr next = (at / PAGE_BYTES + 1) * PAGE_BYTES;
		struct page *page = find_or_add(at / PAGE_BYTES);

		if (at != a && next <= end) {
			set_all(page, object);
			continue;
		}
		split_page(page);
		for (Addr g = at; g < end && g < next; g += GRANULE)
			page->granules[g % PAGE_BYTES / GRANULE] =
				object | (g == a ? FIRST : 0);
	}
}

/* From at on, as long as it is this block; returns whether it ended. */
static Bool clear_in_page(struct page *page, Addr at, UInt object, Bool first)
{
	UInt i = at % PAGE_BYTES / GRANULE;

	if (!page->granules) {
		if (page->all != object)
			return True;
		page->all = 0;
		return False;
	}
	if (first)
		page->granules[i++] = 0;
	for (; i < GRANULES; i++) {
		if (page->granules[i] != object)
			return True;
		page->granules[i] = 0;
	}
	return False;
}

void shadow_clear_block(Addr a)
{
	struct page *page = find_page(a / PAGE_BYTES);
	UInt object =
		page && page->granules ? page->granules[a % PAGE_BYTES / GRANULE] : 0;
	Bool first = True;

	if (!(object & FIRST))
		return;
	object &= ~FIRST;
	while (page && !clear_in_page(page, a, object, first)) {
		a = (a / PAGE_BYTES + 1) * PAGE_BYTES;
		page = find_page(a / PAGE_BYTES);
		first = False;
	}
}

void shadow_clear(Addr a, SizeT size)
{
	ULong from = a / PAGE_BYTES, to = (a + size + PAGE_BYTES - 1) / PAGE_BYTES;

	if (to - from > shadow.used) { /* a reservation: look at what there is */
		for (ULong i = 0; i < shadow.room; i++)
			if (page_at(i)->number > from && page_at(i)->number <= to)
				set_all(page_at(i), 0);
		return;
	}
	for (; from < to; from++) {
		struct page *page = find_page(from);

		if (page)
			set_all(page, 0);
	}
}

void shadow_clear_part(Addr a, Addr end)
{
	for (Addr next; a < end; a = next) {
		struct page *page = find_page(a / PAGE_BYTES);

		next = (a / PAGE_BYTES + 1) * PAGE_BYTES;
		if (!page)
			continue;
		if (a % PAGE_BYTES == 0 && next <= end) {
			set_all(page, 0);
			continue;
		}
		split_page(page);
		for (; a < end && a < next; a += GRANULE)
			page->granules[a % PAGE_BYTES / GRANULE] = 0;
	}
}

static const struct page *find_again(ULong number)
{
	static ULong last_number;
	static struct page *last;
	static const UChar *slots;

	if (slots != shadow.slots || last_number != number || !last) {
		last = find_page(number);
		last_number = number;
		slots = shadow.slots;
	}
	return last;
}

UInt shadow_extent(Addr a, Addr *start, ULong *size)
{
	const struct page *page = find_again(a / PAGE_BYTES);

	*start = a & ~(Addr)(PAGE_BYTES - 1);
	*size = PAGE_BYTES;
	if (!page)
		return 0;
	if (!page->granules)
		return page->all;
	*start = a & ~(Addr)(GRANULE - 1);
	*size = GRANULE;
	return page->granules[a % PAGE_BYTES / GRANULE] & ~FIRST;
}

Bool shadow_has_blocks(Addr a)
{
	const struct page *page = find_page(a / PAGE_BYTES);

	return page && page->granules;
}
