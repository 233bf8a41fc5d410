/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Huge pages: which areas of 2 MB a TLB holds as one page.
 *
 * Machines with pages of 4 KB look a page up as a small one first.  Where no TLB
 * way has it, the area is looked up here; whoever knows (the kernel) is asked about
 * it at the first miss, and again at the 2nd, 4th, 8th ... since the kernel makes
 * huge pages of small ones, and small ones of huge ones, unseen.  When an area has
 * become one page its small pages leave all TLBs, and the other way round.
 *
 * The page of an area is kept in an array of its own, by the area's number, or if
 * the machine has none in that of the small pages, as one of its 512: the one whose
 * lowest bits are those of the area's number, so that areas spread over the sets.
 */
#ifndef CACHEPEEK_SIM_HUGE_H
#define CACHEPEEK_SIM_HUGE_H

#include "lines/lanes.h"

#define HUGE_SHIFT 21
#define HUGE_PAGES_SHIFT 9 /* small pages in a huge one */
#define HUGE_PAGES (1u << HUGE_PAGES_SHIFT)

/* Absent: the kernel has no memory there yet, so nobody can tell. */
enum huge_answer { HUGE_ABSENT, HUGE_SMALL, HUGE_ONE };

#define HUGE_MARK (1ull << 63)

struct huge_area {
	uint64_t name; /* 0: a free slot; else number + 1; with MARK: it is one page */
	uint32_t left; /* misses until somebody is asked again */
	uint32_t next; /* and after that */
};

struct uncore;

struct huge {
	/* Is there one page at the address, which is about to be loaded or was stored
	 * to?  NULL: huge pages are counted as small ones. */
	enum huge_answer (*ask)(uint64_t address, int load);
	struct huge_area *areas; /* a power of two of slots, at most half of them used */
	uint64_t slots, used;
	uint64_t seen; /* areas that have become one page */
	struct uncore *uncores;
};
extern struct huge huge;

/* -1: no memory */
int huge_init(enum huge_answer (*ask)(uint64_t address, int load));
void huge_free(void);

/* Adds and removes a machine that is told of changes. */
void huge_add(struct uncore *u);
void huge_remove(struct uncore *u);

/* Forgets what is known of these addresses. */
void huge_forget(uint64_t address, uint64_t size);
void huge_forget_all(void);

/* The rest of huge_is_small; and a huge page was missed: is it still one? */
int huge_ask_again(uint64_t area, uint64_t address, int load);
int huge_is_still(uint64_t area, uint64_t address, int load);
/* Without asking. */
int huge_is_known(uint64_t area);

/* A page of this area, with this address, is in no way of a TLB as a small one: is
 * it one? */
LANES_INLINE int huge_is_small(uint64_t area, uint64_t address, int load)
{
	struct huge_area *a = &huge.areas[area & (huge.slots - 1)];

	if (__builtin_expect(a->name == area + 1 && --a->left, 1))
		return 1;
	return !huge_ask_again(area, address, load);
}

/* The key of a huge page, from the number of any small one in it. */
LANES_INLINE uint64_t huge_key(uint64_t page, int array_of_its_own)
{
	uint64_t area = page >> HUGE_PAGES_SHIFT;

	return array_of_its_own ? area
				: area << HUGE_PAGES_SHIFT | (area & (HUGE_PAGES - 1));
}

#endif
