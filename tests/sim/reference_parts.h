/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The parts of the reference: one cache, the lines between caches, and the ways to them.
 */
#ifndef CACHEPEEK_TESTS_SIM_REFERENCE_PARTS_H
#define CACHEPEEK_TESTS_SIM_REFERENCE_PARTS_H

#include "reference.h"

/* The levels of prefetchers. */
enum { L1I, L1D, L2 };

/* reference.c */
void ref_translate_store(struct ref_system *s, struct ref_core *c, uint64_t addr);
void ref_translate_load(struct ref_system *s, struct ref_core *c, uint64_t addr);

/* ---- reference_cache.c ---- */

void ref_make(struct ref_cache *c, const struct geometry *g, uint64_t line);
void ref_unmake(struct ref_cache *c);
uint64_t ref_set_of(const struct ref_cache *c, uint64_t addr);
struct ref_way *ref_find(struct ref_cache *c, uint64_t addr);
void ref_use(struct ref_system *s, struct ref_cache *c, struct ref_way *w);
struct ref_way *ref_victim(struct ref_cache *c, uint64_t addr);
void ref_put(struct ref_system *s, struct ref_cache *c, struct ref_way *w, uint64_t addr,
	int dirty, int prefetched);

/* The line leaves the cache, for what this core does. */
void ref_leave(struct ref_core *by, const struct ref_cache *c, struct ref_way *w);
/* It is asked for; returns whether a prefetcher brought it and it was not used yet. */
int ref_first_use(struct ref_core *by, const struct ref_cache *c, struct ref_way *w);

/* ---- reference_lines.c ---- */

/* The socket of the page, which the core touches. */
int ref_touch_page(struct ref_system *s, struct ref_core *c, uint64_t addr);

/* Steps from one to the other, either way round if they stand in a ring; two is as far
 * as it gets. */
int ref_hops(const struct sockets *s, int from, int to);

struct ref_cache *ref_l2_of(struct ref_system *s, struct ref_core *c);
struct ref_cache *ref_llc_of(struct ref_system *s, struct ref_core *c);
int ref_is_exclusive(const struct ref_cache *c);
void ref_count_l1d_writeback(
	struct ref_core *c, const struct ref_cache *l1d, const struct ref_way *w);
void ref_llc_victim(struct ref_system *s, struct ref_core *c, uint64_t addr, int dirty);
/* Has the L1D of a core that shares our L2 the line? */
int ref_siblings_have(struct ref_system *s, const struct ref_core *c, uint64_t addr);

/* The size that other cores are told of at once: the longest line. */
uint64_t ref_granule_of(const struct ref_system *s, const struct ref_core *c);

/* Counts who has the line, and gets it from behind L2, for L2 or past it. */
int ref_get(struct ref_system *s, struct ref_core *c, uint64_t addr, enum access kind,
	int keeps, int modified, int into_l2);

void ref_l2_put(struct ref_system *s, struct ref_core *c, uint64_t addr, int dirty,
	int prefetched);
/* L1 evicts a line. */
void ref_l2_victim(struct ref_system *s, struct ref_core *c, uint64_t addr, int dirty);

/* L1D passes a store on. */
void ref_l2_store(struct ref_system *s, struct ref_core *c, uint64_t addr);

/* ---- reference_fetch.c ---- */

void ref_tell_siblings(
	struct ref_system *s, struct ref_core *c, uint64_t addr, enum access kind);
/* Returns whether any had it modified, past our L2: 2 and more, on another socket. */
int ref_tell_others(
	struct ref_system *s, struct ref_core *c, uint64_t addr, enum access kind);

/* Returns whether L1 gets it modified.  *seen: L2's prefetcher is to know. */
int ref_fetch(struct ref_system *s, struct ref_core *c, uint64_t addr, enum access kind,
	int *seen);

void ref_l1_put(struct ref_system *s, struct ref_core *c, struct ref_cache *l1,
	uint64_t addr, int dirty, int prefetched);

/* ---- reference_prefetch.c ---- */

/* Prefetches for an instruction, if not by hardware. */
void ref_prefetch_line(struct ref_system *s, struct ref_core *c, int level, uint64_t addr,
	int by_hardware);
void ref_train(struct ref_system *s, struct ref_core *c, int level, uint64_t addr,
	enum access kind);

#endif
