/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * How long a value takes, from each of its sources (model/flow.h).
 */
#ifndef CACHEPEEK_SIM_TRAILS_H
#define CACHEPEEK_SIM_TRAILS_H

#include "model/ahead.h"
#include "tool.h"

#define MAX_PATH 250

/* Sources, a bit each: registers, and loads. */
enum { OF_REGISTERS, OF_LOADS, SOURCE_WORDS };
struct sources {
	ULong of[SOURCE_WORDS];
};

/* Cycles + 1 of the way from each source that there is, and 0 beside these in their
 * lanes.  Most values have a few: what is in other lanes is neither set nor looked at.
 * ready: ticks from the superblock's beginning, if nothing is late. */
typedef UChar lanes __attribute__((vector_size(16)));
#define LANE 16
#define LANES (FLOW_SOURCES / LANE)
struct trails {
	struct sources sources;
	UInt ready;
	union {
		lanes lane[LANES];
		UChar from[FLOW_SOURCES];
	};
};

static inline Bool is_source(const struct sources *sources, UInt source)
{
	return sources->of[source / 64] >> source % 64 & 1;
}

/* Cycles + 1; 0: there is no such way. */
static inline UInt trail_from(const struct trails *trails, UInt source)
{
	return is_source(&trails->sources, source) ? trails->from[source] : 0;
}

/* The first of some, which is one of them no more. */
static inline UInt take_source(ULong *sources)
{
	UInt first = (UInt)__builtin_ctzll(*sources);

	*sources &= *sources - 1;
	return first;
}

static inline void no_trails(struct trails *trails, UInt ready)
{
	trails->sources = (struct sources){{0, 0}};
	trails->ready = ready;
}

static inline Bool has_lane(const struct trails *trails, UInt lane)
{
	return (trails->sources.of[lane * LANE / 64] >> lane * LANE % 64 & 0xffff) != 0;
}

static inline void add_source(struct trails *trails, UInt source)
{
	if (!has_lane(trails, source / LANE))
		trails->lane[source / LANE] = (lanes){0};
	trails->sources.of[source / 64] |= 1ull << source % 64;
	trails->from[source] = 1;
}

static inline lanes later_lane(lanes lane, UInt cycles)
{
	UChar by = cycles < MAX_PATH ? (UChar)cycles : MAX_PATH;
	lanes over, any;

	if (!cycles)
		return lane;
	over = (lanes)(lane > (UChar)(MAX_PATH - by));
	any = (lanes)(lane != 0);
	return ((over & MAX_PATH) | (~over & (lane + by))) & any;
}

static inline lanes longer_lane(lanes a, lanes b)
{
	lanes longer = (lanes)(a > b);

	return (a & longer) | (b & ~longer);
}

/* Merges two sets of 64 sources: those that either has. */
static inline void merge_lanes(
	lanes *to, ULong have, const lanes *from, ULong come, UInt cycles)
{
	for (; come; come >>= LANE, have >>= LANE, to++, from++)
		if (come & 0xffff) {
			lanes later = later_lane(*from, cycles);

			*to = have & 0xffff ? longer_lane(*to, later) : later;
		}
}

/* Merges trails that come so many cycles later. */
static inline void merge_later(struct trails *to, const struct trails *from, UInt cycles)
{
	UInt ready = from->ready + cycles * AHEAD_TICKS;

	for (UInt i = 0; i < SOURCE_WORDS; i++) {
		merge_lanes(to->lane + 64 / LANE * i, to->sources.of[i],
			from->lane + 64 / LANE * i, from->sources.of[i], cycles);
		to->sources.of[i] |= from->sources.of[i];
	}
	to->ready = to->ready > ready ? to->ready : ready;
}

static inline void merge_trails(struct trails *to, const struct trails *from)
{
	merge_later(to, from, 0);
}

static inline Bool are_same(const struct trails *a, const struct trails *b)
{
	for (UInt i = 0; i < SOURCE_WORDS; i++)
		if (a->sources.of[i] != b->sources.of[i])
			return False;
	for (UInt i = 0; i < LANES; i++)
		if (has_lane(a, i) && VG_(memcmp)(&a->lane[i], &b->lane[i], LANE) != 0)
			return False;
	return True;
}

static inline void set_later(struct trails *to, const struct trails *from, UInt cycles)
{
	no_trails(to, 0);
	merge_later(to, from, cycles);
}

static inline void set_trails(struct trails *to, const struct trails *from)
{
	set_later(to, from, 0);
}

static inline void lengthen_trails(struct trails *trails, UInt cycles)
{
	if (cycles)
		merge_later(trails, trails, cycles);
}

#endif
