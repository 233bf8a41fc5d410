/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "scanned.h"

struct scanned {
	struct scanned *next;
	Addr start, end;
};

const NSegment *scanned_new(struct scanned **list, Addr a)
{
	const NSegment *segment;
	struct scanned *s;

	for (s = *list; s; s = s->next)
		if (a >= s->start && a < s->end)
			return NULL;
	segment = VG_(am_find_nsegment)(a);
	if (!segment || segment->kind != SkFileC)
		return NULL;
	s = VG_(malloc)("cachepeek.scanned", sizeof(*s));
	s->start = segment->start;
	s->end = segment->end + 1;
	s->next = *list;
	*list = s;
	return segment;
}

Bool scanned_forget(struct scanned **list, Addr a, SizeT len)
{
	Bool any = False;

	for (struct scanned **at = list; *at;) {
		struct scanned *s = *at;

		if (s->start >= a + len || s->end <= a) {
			at = &s->next;
			continue;
		}
		*at = s->next;
		VG_(free)(s);
		any = True;
	}
	return any;
}
