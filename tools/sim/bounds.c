/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The places where one piece of memory ends and the next one begins, in order.  A
 * thread's stack and what lies beside it may have no mapping in between: since Linux 6.13
 * a guard may be a mark in the page table (glibc 2.43 makes it so), and a program may
 * make stacks of one mapping.
 */
#include "bounds.h"
#include "base/search.h"

#include "tool.h"

#include "pub_tool_vki.h"

static struct {
	struct cut {
		Addr at;
		UChar why;
	} * cuts;
	UInt n, room;
} bounds;

/* The first that is not below a. */
static UInt first_from(Addr a)
{
	return (UInt)CP_IN_FRONT(bounds.n, i, bounds.cuts[i].at < a);
}

static void cut_at(Addr a, UChar why)
{
	UInt i = first_from(a);

	if (i < bounds.n && bounds.cuts[i].at == a) {
		bounds.cuts[i].why |= why;
		return;
	}
	if (bounds.n == bounds.room) {
		bounds.room = bounds.room ? 2 * bounds.room : 256;
		bounds.cuts = VG_(realloc)("cachepeek.bounds", bounds.cuts,
			bounds.room * sizeof(*bounds.cuts));
	}
	VG_(memmove)
	(&bounds.cuts[i + 1], &bounds.cuts[i], (bounds.n - i) * sizeof(*bounds.cuts));
	bounds.cuts[i] = (struct cut){a, why};
	bounds.n++;
}

/* From the first to the last place, both included. */
static void join(Addr first, Addr last)
{
	UInt from = first_from(first), to = from;

	while (to < bounds.n && bounds.cuts[to].at <= last)
		to++;
	if (to == from)
		return;
	VG_(memmove)
	(&bounds.cuts[from], &bounds.cuts[to], (bounds.n - to) * sizeof(*bounds.cuts));
	bounds.n -= to - from;
}

/* [a, end) is one piece, whatever it was. */
static void make_piece(Addr a, Addr end, UChar why)
{
	if (end <= a)
		return;
	if (end - a > 1)
		join(a + 1, end - 1);
	cut_at(a, why);
	cut_at(end, why);
}

void bounds_mapped(Addr a, SizeT size)
{
	make_piece(a, VG_PGROUNDUP(a + size), BOUNDS_MAPPED);
}

/* A mapping that will be there has its own bounds. */
void bounds_unmapped(Addr a, SizeT size)
{
	join(a, VG_PGROUNDUP(a + size));
}

void bounds_stack(Addr low, Addr high)
{
	make_piece(low, high, BOUNDS_STACK);
}

Bool bounds_of(Addr a, Addr *start, Addr *end)
{
	const NSegment *segment = VG_(am_find_nsegment)(a);
	UInt i = first_from(a + 1);

	if (!segment)
		return False;
	*start = segment->start;
	*end = segment->end + 1;
	if (i > 0 && bounds.cuts[i - 1].at > *start)
		*start = bounds.cuts[i - 1].at;
	if (i < bounds.n && bounds.cuts[i].at < *end)
		*end = bounds.cuts[i].at;
	return True;
}

UInt bounds_why(Addr a)
{
	UInt i = first_from(a);

	return i < bounds.n && bounds.cuts[i].at == a ? bounds.cuts[i].why : 0;
}

Bool bounds_same(Addr a, Addr b)
{
	Addr start, end;

	return bounds_of(a, &start, &end) && b >= start && b < end;
}
