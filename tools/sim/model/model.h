/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The simulated machine: cores with private L1I, L1D, L2 and TLBs around one
 * last-level cache.  Freestanding, so that a unit test can drive it.
 *
 * Write-back, write-allocate, exact LRU, neither inclusive nor exclusive: a
 * miss fills every level it passed.  A store takes a line away from the other
 * cores (MESI without a bus: state changes at once).
 */
#ifndef CACHEPEEK_SIM_MODEL_H
#define CACHEPEEK_SIM_MODEL_H

#include "model/cache.h"
#include "model/numa.h"
#include "model/far_lines.h"
#include "model/streamed.h"
#include "request.h"

enum policy {
	POLICY_LRU,
	POLICY_PLRU,
	POLICY_ROUND_ROBIN,
	POLICY_RANDOM,
	POLICY_LRU_PLRU4, /* of first-level caches: trees of four ways, by age */
	POLICY_QLRU,      /* of caches behind them: ages of two bits */
	POLICY_MRU,       /* of one bit */
	POLICY_MRU_N,     /* the same, once a set is full */
};
enum inclusion { NON_INCLUSIVE, INCLUSIVE, EXCLUSIVE };
enum prefetch_kind {
	PREFETCH_NONE,
	PREFETCH_NEXT_LINE,
	PREFETCH_STREAM,
	PREFETCH_IP_STRIDE,
	PREFETCH_STREAMER,
	PREFETCH_ADJACENT,
	PREFETCH_REGION,
	PREFETCH_UP_DOWN,
};

/* flex_prefetchers.h says what each kind does, and with which numbers. */
#define PREFETCHERS 4
struct prefetcher {
	uint32_t kind, number[3];
};

/* Two ages for new lines: of each `of` sets (a power of two; 0: there is no duel), those
 * from `first` on give them POLICY_QLRU's, those from `second` on this age to all but
 * each DUEL_EXCEPTS-th, `count` sets each.  A counter of DUEL_BITS goes up where the
 * former miss, and down where the latter do; the other sets do as the former while its
 * highest bit is 0. */
enum { DUEL_EXCEPTS = 16, DUEL_BITS = 10 };
struct age_duel {
	uint32_t age, first, second, count, of;
};

/* A field of zero is as on the plain machine that this file describes; flex.h says
 * what the others mean. */
struct geometry {
	uint32_t sets, ways; /* 0, 0: this machine has none */
	uint32_t line;       /* bytes; 0: the machine's */
	uint32_t shared;     /* by how many cores: L2, 0: one; last level, 0: all */
	uint8_t policy, inclusion;
	uint8_t write_through, no_allocate;
	uint8_t halves;    /* L1D: a dirty bit for each half of a line */
	uint8_t fp_bypass; /* L1D: floating-point loads are L2's */
	uint8_t absent;    /* of those for huge pages, see there */
	/* POLICY_QLRU, by Abel's and Reineke's names H, M, R and U: the ages that 3 and 2
	 * become with a hit, and of a new line; which way is taken; who ages. */
	uint8_t hit3, hit2, miss, place, update;
	struct age_duel duel;
	uint64_t seed;
	struct prefetcher prefetch[PREFETCHERS]; /* the rest: none */
};

/* Latencies for timing.h, in cycles; memory 0: nothing is known. */
#define TIMING_BUFFERS 64
struct latencies {
	uint32_t l2, llc, memory, cache_to_cache, stlb, walk;
	uint32_t fill_buffers, write_buffers; /* 0: there is always one */
	/* Memory of other sockets, and what their caches had modified. */
	uint32_t one_hop, two_hops, remote_cache;
};

/* A core that executes out of order (ahead.h); window 0: in order.  Those of the second
 * line are in hundredths, of instructions and references a cycle, and cycles a line; 0:
 * no limit.  distance: look-ups that a stream is fetched ahead; near: what such a line
 * takes, 0: as one of L2; stay: cycles that a line is in the last level if nobody asks
 * for it, 0: for ever.  float_add, float_multiply: cycles, 0: as on most.  In hundredths,
 * cycles for each line that a store misses in L1D, and if 48 others of its set come
 * before it again; lone_line: of a line that is of no stream, of its half of the last
 * level; load_set_line, llc_set_line: of a line of L2, and of one that L2 has to get, of
 * its bank, of which there are so many. */
struct ooo {
	uint32_t l1, window, mispredict, walkers, l2_fill_buffers;
	uint32_t width, loads, stores, l2_line, llc_line, memory_line;
	uint32_t distance, near, stay;
	uint32_t float_add, float_multiply, store_line, set_line, lone_line;
	uint32_t load_set_line, llc_set_line, banks;
};

struct machine {
	struct geometry l1i, l1d, l2, llc, itlb, dtlb, stlb;
	/* Bytes, powers of two.  The line is the smallest unit that is told apart. */
	uint32_t line, page;
	struct geometry itlb2, dtlb2; /* in place of a common second level */
	uint32_t cores;               /* 0: as many as there are threads */
	struct latencies time;
	struct ooo ooo;
	struct sockets sockets; /* each with an equal part of the cores */
	/* Huge pages, where the page is 4 KB.  0, 0: they are in the array of the
	 * small ones; absent: there only small ones are, and in the first level (of
	 * either kind) this means that a huge page is many small ones. */
	struct geometry itlb_2m, dtlb_2m, stlb_2m, itlb2_2m, dtlb2_2m;
	uint32_t ignores_orders;    /* what instructions tell its caches (orders.h) */
	uint32_t stream_buffers;    /* 0: as many as usual (streamed.h) */
	uint32_t string_iterations; /* each of rep movs is an instruction */
};

/* Entries of the filters (see core.h); powers of two. */
#ifndef DATA_FILTER
#define DATA_FILTER 4096
#endif
#ifndef CODE_FILTER
#define CODE_FILTER 4096
#endif
/* A core's stamps are ranked anew when its clock has come this far: there is
 * room for everything that a time slice may add. */
#ifndef CLOCK_LIMIT
#define CLOCK_LIMIT (1u << 30)
#endif
/* The same for L2, LLC and STLB, which keep two flags below their stamps. */
#ifndef OUTER_CLOCK_LIMIT
#define OUTER_CLOCK_LIMIT (1u << 28)
#endif

#define NO_LINE (~0ull)

enum access { IFETCH, LOAD, STORE, PREFETCH };

/* L1D, L2, last level and DTLB (span.h). */
#define SPAN_LEVELS 4

/* By level, loads first; as profile_file.h has them. */
enum { SPARED_L1D, SPARED_L2 = 2, SPARED = 4 };

struct batch;
struct batch_place;
struct core;
struct sweep;
struct flex_core;
struct flex_shared;
struct timing;
struct ahead;
struct stays;
struct step;
struct sample_sets;
struct newest;

/* Where the stamps of a line and of its page are: offsets from the core, whose
 * first-level caches lie behind it. */
struct slot {
	uint32_t line, page;
};

/* The fast paths of a core: variants of the same code, compiled for the common shapes
 * of its caches and for any, and chosen by core_new. */
struct paths {
	void (*data)(struct core *core, uint64_t line, enum access kind, int writes,
		uint32_t stamp);
	void (*code)(struct core *core, uint64_t line, uint32_t stamp);
	int (*fetch)(struct core *core, uint64_t line, enum access kind);
	void (*page)(struct core *core, uint64_t page, enum access kind); /* outer_page */
	/* The first reference to a place that the filter has not. */
	void (*place)(struct core *core, const struct batch_place *p, uint64_t line,
		uint32_t stamp);
	/* A log of lines whose pages nobody asks for (sets.h); and what matters of it
	 * (sets.h), or NULL. */
	void (*log)(struct core *core, const uint64_t *at, const uint64_t *end);
	uint32_t (*pick)(struct newest *newest, const struct sample_sets *sets,
		const uint64_t *at, uint32_t n, uint64_t *to);
	/* The rest of a batch with one place, that one, and one line of code, which is
	 * known. */
	void (*only)(struct core *core, const struct batch *b, uint64_t line, uint64_t at,
		uint64_t clock);
};

/* The part of a machine that its cores share. */
struct uncore {
	struct far_lines far_lines;
	struct cache llc;
	struct core *cores; /* linked by core->next */
	uint32_t ncores;
	struct flex_shared *flex; /* NULL: a plain machine */
	struct stays *stays;      /* NULL: no line leaves the last level unasked */
	struct uncore *next;      /* of those that huge.c tells */
};

/* Flags of a way of the L1D.  FILTERED: the filter may have its line.  UNSURE: it may
 * have been there, and modified, before the core was emptied. */
enum { L1_FILTERED = 1, L1_OWNED = 2, L1_DIRTY = 4, L1_UNSURE = 8 };

/* Misses that filled a way that was empty since core_empty, so that a cache that was not
 * emptied might have had the line, or the page. */
enum unsure {
	UNSURE_CODE,
	UNSURE_LOADS,
	UNSURE_STORES,
	UNSURE_WRITEBACKS, /* of lines that may have been modified */
	UNSURE_CODE_PAGES,
	UNSURE_LOAD_PAGES,
	UNSURE_STORE_PAGES,
	UNSURE_CODE_WALKS,
	UNSURE_LOAD_WALKS,
	UNSURE_STORE_WALKS,
	NUNSURE
};

/* Lines have their full numbers in generated code and in the filters, short
 * ones (far_lines.h) in the caches.
 *
 * An entry of a filter is the line with that index if a reference to it needs
 * no more than new stamps: resident in L1 and its page in the first-level TLB;
 * for stores, also dirty and owned. */
struct entry {
	uint64_t line; /* its full number; with CLEAN, for loads only; or NO_LINE */
	struct slot at;
};

#define CLEAN (1ull << 63)

struct core {
	uint64_t clock;     /* low half: stamps; high half: instructions */
	uint64_t last_line; /* of the last instruction executed */
	/* Since the last core_collect.  Ports: by how much loads and stores take longer
	 * than as many instructions (ahead.h). */
	uint32_t loads, stores, rmw, ports;
	uint64_t clock_seen; /* the clock at the last core_collect */
	uint32_t idle_ticks; /* those of the clock since then that are no reference */
	/* From which clock on, and until which, ahead.h wants to have batches noted;
	 * where the next one is, and where there is no room for more. */
	uint64_t noting_from, noting_until;
	struct step *next_step, *end_step;
	uint32_t untold; /* for now batch_told.observe wants to hear of none of its misses
			  */

	struct entry data[DATA_FILTER + 1]; /* the last: what nobody looks at */
	struct entry code[CODE_FILTER];

	/* The rest belongs to the model. */
	struct paths paths;
	struct cache l1d, l1i, l2, dtlb, itlb, stlb;
	struct cache dtlb_2m, itlb_2m, stlb_2m; /* no sets: there are none */
	uint32_t line_shift;
	uint32_t page_shift;  /* from a line's number to its page's */
	uint32_t page_mask;   /* of a line's number: its place in its page */
	uint32_t group_shift; /* lines per bit of a TLB entry's mask, log 2 */
	uint32_t l2_misses;   /* since its last hit */
	uint64_t l2_missed;   /* the last line, short, of a plain core */
	uint32_t l2_lanes;    /* of an L2 of 8 or 16 that is all there is to ask; or 0 */
	uint32_t llc_of_16;   /* the same of the last level */
	uint32_t by_place;    /* may batches go place by place? (batch.c) */
	uint32_t area_shift;  /* from a line's number to its area's (huge.h), or 0 */
	uint32_t ignores_orders; /* of instructions to caches: it is the machine's */
	uint32_t stlb_is_small;  /* there are no huge pages in it */
	uint32_t newest_dropped; /* stamp of the small pages that a huge one replaces */
	uint32_t first_before; /* in a burst, stamps of lines that it has not used yet */
	struct uncore *uncore;
	struct core *next;
	uint64_t size;            /* of this and of what lies behind it */
	struct flex_core *flex;   /* NULL: a plain machine */
	struct sweep *sweep;      /* of its level (sweep.h), or NULL */
	struct sample_sets *sets; /* that L2 and what is behind it have; NULL: all */
	struct timing *timing;    /* NULL: nobody asks for time, or ahead has it */
	struct ahead *ahead;      /* NULL: the core is in order */
	uint64_t *hidden;         /* by prefetchers (hidden.h), or NULL */
	/* Lines of L1D, and those from beyond L2, that loads and stores were the first to
	 * ask for since a prefetcher brought them: since the core's beginning. */
	uint64_t spared[SPARED];
	uint64_t ported;               /* all that was in ports */
	uint64_t spanned[SPAN_LEVELS]; /* counts before the reference (span.h) */
	uint64_t unsure[NUNSURE];      /* the same; of a sample */
	uint64_t count[CP_SIM_NALL];   /* since the last core_collect */
	struct streamed streamed;
} __attribute__((aligned(64)));

LANES_INLINE uint32_t *stamp_at(struct core *core, uint32_t offset)
{
	return (uint32_t *)((char *)core + offset);
}

/* Makes a line and its page the newest of their sets. */
LANES_INLINE void put_stamps(struct core *core, struct slot at, uint32_t stamp)
{
	*stamp_at(core, at.line) = stamp;
	*stamp_at(core, at.page) = stamp;
}

/* The same where they may be newer already. */
LANES_INLINE void renew_stamp(struct core *core, uint32_t offset, uint32_t stamp)
{
	uint32_t *at = stamp_at(core, offset);

	*at = *at > stamp ? *at : stamp;
}

LANES_INLINE void renew_stamps(struct core *core, struct slot at, uint32_t stamp)
{
	renew_stamp(core, at.line, stamp);
	renew_stamp(core, at.page, stamp);
}

/* The memory behind a plain core: L1D first. */
LANES_INLINE uint8_t *core_first_level(struct core *core)
{
	return (uint8_t *)(core + 1);
}

/* Is it what this file describes, or something for flex.h? */
int machine_is_plain(const struct machine *m);

LANES_INLINE int geometry_prefetches(const struct geometry *g)
{
	return g->prefetch[0].kind != PREFETCH_NONE;
}

/* Has it prefetchers that go by the instruction? */
int machine_asks_who(const struct machine *m);

/* Are huge pages different from small ones there? */
int machine_knows_huge(const struct machine *m);

/* The fewest sets of any cache of lines. */
uint32_t machine_fewest_sets(const struct machine *m);

/* core.c */
int uncore_init(struct uncore *u, const struct machine *m);
void uncore_free(struct uncore *u);
struct core *core_new(const struct machine *m, struct uncore *u);
void core_free(struct core *core);
void core_attach(struct core *core);
void core_collect(struct core *core);
/* First levels and TLBs are as at the beginning, but for the sampled sets of L1.  What
 * was modified is not written back: L2 has none of it. */
void core_empty(struct core *core);
/* Derives the other counts of lines from some, as core_collect does on a plain machine;
 * linear. */
void core_derive_lines(const struct core *core, uint64_t *counts);

/* l1.c; after outer_choose_paths */
void l1_choose_paths(struct core *core);
/* Looks the page of a line up, and no more. */
void l1_page(struct core *core, uint64_t full, enum access kind, uint32_t stamp);
extern int l1_oldest_host; /* for tests: uses nothing that not all hosts have */
void data_access(struct core *core, uint64_t addr, uint32_t size, enum access kind,
	uint32_t stamp);

/* outer.c: behind the first level.  After core->sweep is set, the paths are to be
 * chosen again. */
void outer_choose_paths(struct core *core);
void outer_write_back(struct core *core, uint64_t line);
void outer_own(struct core *core, uint64_t line);
void outer_prefetch(struct core *core, uint64_t line); /* into L2, which has it not */
void outer_demote(struct core *core, uint64_t line, int dirty);
void outer_page(struct core *core, uint64_t page, enum access kind);
void outer_huge_page(struct core *core, uint64_t page, enum access kind);

/* For huge.c: the pages of an area leave the TLBs. */
void core_drop_small(struct core *core, uint64_t area);
void core_drop_huge(struct core *core, uint64_t area);
void l1_drop_page(struct core *core, struct cache *tlb, uint64_t key);
void outer_drop_page(struct cache *tlb, uint64_t key);

/* flex.c: machines that are not plain */
int flex_uncore_init(struct uncore *u, const struct machine *m);
void flex_uncore_free(struct uncore *u);
int flex_core_init(struct core *core, const struct machine *m, struct uncore *u);
void flex_core_free(struct core *core);
void flex_drop_small(struct core *core, uint64_t area);
void flex_drop_huge(struct core *core, uint64_t area);

#endif
