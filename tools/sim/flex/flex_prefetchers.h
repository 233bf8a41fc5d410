/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The prefetchers of a level: what each sees, and which lines it wants.
 *
 * They see what their level is asked for and either has not, or has because one of them
 * brought it, and was not asked for since.  L1's see references; L2's see the requests of
 * L1, for references, for prefetch instructions and for L1's prefetchers.  Each sees it
 * in the order of the list, when it has come, and what it wants comes at once; nothing
 * leaves the page of what it saw.  By numbers, in the order of machine files; line and
 * page are those of what is seen.
 *
 * NEXT_LINE (recent): the line after it; if recent is not 0, only where the line before
 *     it is among the latest `recent` ones that were seen.
 * STREAM (degree, distance): of each of the 16 latest pages it knows the last line and
 *     the last step from line to line.  When a step is repeated, it wants `degree` lines,
 *     from `distance` such steps on.
 * IP_STRIDE (entries, steps, bytes): loads, each by the entry of its instruction's
 *     address modulo `entries`, which another instruction takes over.  It knows the last
 *     address and the last step, in bytes and in lines; 0 bytes are no step, and more
 * than `bytes` none that it follows.  When a step is repeated, be it in bytes or else in
 *     lines, it wants the line `steps` such steps on.
 * STREAMER (ahead, each, streams): of each of the latest `streams` pages it knows the
 *     last line, the direction, and how far in that it has fetched.  Two steps of one or
 *     two lines in one direction make a stream.  From then on it wants `each` more lines
 *     at a time, up to `ahead` beyond what was seen.
 * ADJACENT: the other line of the pair that is twice as long, and as aligned.
 * REGION (lines, entries): of each of the 16 latest regions of so many lines it knows
 *     which were asked for, and where and by which instruction the first one was.  When
 *     a region is forgotten, that is kept in the entry of the instruction's address and
 *     the place of the first line, their sum modulo `entries`.  If it is the same as
 *     before, all its lines are wanted when that instruction begins a region there.
 * UP_DOWN (recent): how much more often the line before it than the one after it was
 *     among the latest `recent` ones, from -8 to 8; where neither or both were, that goes
 *     toward 0.  From 4 on it wants the next line, from -4 on the previous one.
 */
#ifndef CACHEPEEK_SIM_FLEX_PREFETCHERS_H
#define CACHEPEEK_SIM_FLEX_PREFETCHERS_H

#include "model/model.h"

struct flex_cache;

struct flex_prefetcher {
	struct prefetcher of;
	void *state; /* by the kind, so large */
	uint64_t size;
};

/* Makes the prefetchers of a level; -1: no memory. */
int flex_prefetchers_init(
	struct flex_prefetcher all[PREFETCHERS], const struct prefetcher of[PREFETCHERS]);
void flex_prefetchers_free(struct flex_prefetcher all[PREFETCHERS]);

/* They see the unit, for whatever reference front->instruction made; `fetch` brings one
 * line. */
void flex_prefetch(struct core *core, struct flex_prefetcher all[PREFETCHERS],
	const struct flex_cache *c, uint64_t unit, enum access kind,
	void (*fetch)(struct core *core, uint64_t unit));

#endif
