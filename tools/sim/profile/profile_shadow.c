/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Which object each 16 bytes of the program's memory belong to, as far as that was
 * said: a table of pages, each with one number or one for each 16 bytes.
 */
#include "profile/profile.h"

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

/* A table with open addressing, by page number; a fork's child keeps it. */
static struct {
	struct page *pages;
	ULong room, used;
} shadow;

static ULong slot_of(ULong number)
{
	return (number * 0x9e3779b97f4a7c15ull >> 24) & (shadow.room - 1);
}

static struct page *find_page(ULong number)
{
	ULong i;

	if (!shadow.room)
		return NULL;
	for (i = slot_of(number); shadow.pages[i].number; i = (i + 1) & (shadow.room - 1))
		if (shadow.pages[i].number == number + 1)
			return &shadow.pages[i];
	return NULL;
}

static struct page *insert_page(ULong number)
{
	ULong i = slot_of(number);

	while (shadow.pages[i].number)
		i = (i + 1) & (shadow.room - 1);
	shadow.pages[i].number = number + 1;
	shadow.used++;
	return &shadow.pages[i];
}

static Bool is_empty(const struct page *page)
{
	return !page->granules && !page->all;
}

/* Pages of which nothing is known any more are left behind. */
static void make_room(void)
{
	struct page *old = shadow.pages;
	ULong n = shadow.room, kept = 0;

	for (ULong i = 0; i < n; i++)
		kept += old[i].number && !is_empty(&old[i]);
	shadow.room = 4096;
	while (shadow.room < 4 * kept)
		shadow.room *= 2;
	shadow.pages = VG_(calloc)("cachepeek.pages", shadow.room, sizeof(*shadow.pages));
	shadow.used = 0;
	for (ULong i = 0; i < n; i++)
		if (old[i].number && !is_empty(&old[i])) {
			struct page *page = insert_page(old[i].number - 1);

			page->granules = old[i].granules;
			page->all = old[i].all;
		}
	VG_(free)(old);
}

static struct page *find_or_add(ULong number)
{
	struct page *page = find_page(number);

	if (page)
		return page;
	if (shadow.used >= shadow.room / 2)
		make_room();
	return insert_page(number);
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
			if (shadow.pages[i].number > from && shadow.pages[i].number <= to)
				set_all(&shadow.pages[i], 0);
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
	static const struct page *table;

	if (table != shadow.pages || last_number != number || !last) {
		last = find_page(number);
		last_number = number;
		table = shadow.pages;
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
