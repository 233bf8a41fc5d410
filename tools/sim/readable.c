/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "readable.h"

#include "valgrind/core.h"

Addr readable_pages[READABLE_KINDS][READABLE_PAGES];

static Bool has_file(Addr a)
{
	const NSegment *segment = VG_(am_find_nsegment)(a);

	return !segment || segment->kind == SkFileC;
}

Bool readable_look_at(Addr page, enum readable_of of)
{
	Addr a = page << READABLE_PAGE_BITS;

	if (!VG_(am_is_valid_for_client)(a, 1ul << READABLE_PAGE_BITS, VKI_PROT_READ) ||
		(of == READABLE_WITHOUT_FILE && has_file(a)))
		return False;
	readable_pages[of][page % READABLE_PAGES] = page;
	return True;
}

void readable_forget(void)
{
	VG_(memset)(readable_pages, 0, sizeof(readable_pages));
}
