/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Which memory of the program can be read, for those who read what it did not ask for.
 */
#ifndef CACHEPEEK_SIM_READABLE_H
#define CACHEPEEK_SIM_READABLE_H

#include "tool.h"

/* Behind the end of a file that has been cut there is nothing to read: what has no file
 * is readable as long as it is mapped. */
enum readable_of { READABLE_ANY, READABLE_WITHOUT_FILE, READABLE_KINDS };

/* The pages that can be read, by the low bits of their numbers; 0: none. */
#define READABLE_PAGES 1024
#define READABLE_PAGE_BITS 12
extern Addr readable_pages[READABLE_KINDS][READABLE_PAGES];

Bool readable_look_at(Addr page, enum readable_of of);

static inline Bool is_readable(Addr a, enum readable_of of)
{
	Addr page = a >> READABLE_PAGE_BITS;

	return readable_pages[of][page % READABLE_PAGES] == page
		       ? page != 0
		       : readable_look_at(page, of);
}

/* Pages have gone, or may not be read any more. */
void readable_forget(void);

#endif
