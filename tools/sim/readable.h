/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Which memory of the program can be read, for those who read what it did not ask for.
 */
#ifndef CACHEPEEK_SIM_READABLE_H
#define CACHEPEEK_SIM_READABLE_H

#include "tool.h"

/* The pages that can be read, by the low bits of their numbers; 0: none. */
#define READABLE_PAGES 1024
#define READABLE_PAGE_BITS 12
extern Addr readable_pages[READABLE_PAGES];

Bool readable_look_at(Addr page);

static inline Bool is_readable(Addr a)
{
	Addr page = a >> READABLE_PAGE_BITS;

	return readable_pages[page % READABLE_PAGES] == page ? page != 0
							     : readable_look_at(page);
}

/* Pages have gone, or may not be read any more. */
void readable_forget(void);

#endif
