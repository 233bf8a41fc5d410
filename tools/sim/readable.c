/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "readable.h"

#include "valgrind/core.h"

Addr readable_pages[READABLE_PAGES];

Bool readable_look_at(Addr page)
{
	if (!VG_(am_is_valid_for_client)(
		    page << READABLE_PAGE_BITS, 1ul << READABLE_PAGE_BITS, VKI_PROT_READ))
		return False;
	readable_pages[page % READABLE_PAGES] = page;
	return True;
}

void readable_forget(void)
{
	VG_(memset)(readable_pages, 0, sizeof(readable_pages));
}
