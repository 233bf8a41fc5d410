/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The first level's paths, compiled for the common shapes of caches, and for any.
 * Included once for each set of vector instructions (l1.c, l1_avx2.c).
 */
#ifndef CACHEPEEK_SIM_L1_SHAPES_H
#define CACHEPEEK_SIM_L1_SHAPES_H

#include "model/l1_quick.h"

/* Lanes of L1 and TLB: ways rounded up to four.  FEW_SHAPES: for builds that take long,
 * as those with sanitizers; quick: whose L1D may have the usual sets. */
#ifdef FEW_SHAPES
#define QUICK_SHAPES(X) X(8, 4) X(12, 4)
#define SHAPES(X) QUICK_SHAPES(X)
#else
#define QUICK_SHAPES(X) X(8, 4) X(8, 8) X(8, 16) X(12, 4) X(12, 8) X(12, 16)
#define SHAPES(X) X(4, 4) X(4, 8) QUICK_SHAPES(X)
#endif
/* With the usual L2, lines and pages; and with any. */
#define USUAL_SHAPE(l1, tlb, l2)                                                         \
	{                                                                                \
		l1, tlb, l2, 1, l1 > 4 ? USUAL_SETS : 0                                  \
	}
#define LANES_SHAPE(l1, tlb)                                                             \
	{                                                                                \
		l1, tlb, 0, 0, 0                                                         \
	}

#define PATHS(name, ...)                                                                 \
	static void data_##name(struct core *core, uint64_t line, enum access kind,      \
		int writes, uint32_t stamp)                                              \
	{                                                                                \
		static const struct shape s = __VA_ARGS__;                               \
                                                                                         \
		data_touch(core, s, line, kind, writes, stamp);                          \
	}                                                                                \
                                                                                         \
	static void code_##name(struct core *core, uint64_t line, uint32_t stamp)        \
	{                                                                                \
		static const struct shape s = __VA_ARGS__;                               \
                                                                                         \
		code_touch(core, s, line, stamp);                                        \
	}
#define X(l1, tlb)                                                                       \
	PATHS(l1##_##tlb##_8, USUAL_SHAPE(l1, tlb, 8))                                   \
	PATHS(l1##_##tlb##_16, USUAL_SHAPE(l1, tlb, 16))                                 \
	PATHS(l1##_##tlb##_any, LANES_SHAPE(l1, tlb))
SHAPES(X)
#undef X
PATHS(any, LANES_SHAPE(0, 0))

#define LOG(name, ...)                                                                   \
	static void log_##name(                                                          \
		struct core *core, const uint64_t *at, const uint64_t *end)              \
	{                                                                                \
		static const struct shape s = __VA_ARGS__;                               \
                                                                                         \
		log_run(core, s, at, end);                                               \
	}
LOG(any, {0, 0, 0, 0, 0})
LOG(8, {8, 0, 0, 0, 0})
LOG(12, {12, 0, 0, 0, 0})
LOG(usual_8, {8, 0, 0, 1, USUAL_SETS})
LOG(usual_12, {12, 0, 0, 1, USUAL_SETS})

#define QUICK(l1, tlb, l2)                                                               \
	static __attribute__((noinline)) void touch_##l1##_##tlb##_##l2(                 \
		struct core *core, const struct batch_place *p, uint64_t line,           \
		uint32_t stamp)                                                          \
	{                                                                                \
		static const struct shape s = USUAL_SHAPE(l1, tlb, l2);                  \
                                                                                         \
		touch_place(core, s, p, line, stamp);                                    \
	}                                                                                \
                                                                                         \
	static __attribute__((noinline)) void slow_alone_##l1##_##tlb##_##l2(            \
		struct core *core, const struct batch *b, uint64_t line, uint64_t at,    \
		uint64_t clock)                                                          \
	{                                                                                \
		slow_alone(core, b, line, at, clock, touch_##l1##_##tlb##_##l2);         \
	}                                                                                \
                                                                                         \
	static void only_##l1##_##tlb##_##l2(struct core *core, const struct batch *b,   \
		uint64_t line, uint64_t at, uint64_t clock)                              \
	{                                                                                \
		static const struct shape s = USUAL_SHAPE(l1, tlb, l2);                  \
		const struct batch_place *p = &b->place[0];                              \
                                                                                         \
		if (!is_alone(core, p, at))                                              \
			batch_only(core, b, line, at, clock);                            \
		else if (quick_alone(core, s, p, at >> USUAL_LINE,                       \
				 (uint32_t)clock + p->tick))                             \
			batch_finish_alone(core, b, line, at, clock);                    \
		else                                                                     \
			slow_alone_##l1##_##tlb##_##l2(core, b, line, at, clock);        \
	}
#define X(l1, tlb)                                                                       \
	QUICK(l1, tlb, 8)                                                                \
	QUICK(l1, tlb, 16)
QUICK_SHAPES(X)
#undef X

static void place_any(
	struct core *core, const struct batch_place *p, uint64_t line, uint32_t stamp)
{
	core->paths.data(core, line, p->first_kind, p->writes, stamp);
}

/* All of them but the last are for that much only. */
static int is_usual(const struct core *core, uint32_t l2)
{
	return core->l2_lanes == l2 && core->line_shift == USUAL_LINE &&
	       core->line_shift + core->page_shift == USUAL_PAGE;
}

/* An L1 and its TLB of so many lanes. */
static int has_shapes(const struct cache *l1, uint32_t lanes, const struct cache *tlb,
	uint32_t tlb_lanes)
{
	return cache_has_shape(l1, lanes) && cache_has_shape(tlb, tlb_lanes);
}

static void choose_data(struct core *core)
{
	const struct cache *l1d = &core->l1d, *dtlb = &core->dtlb;

	core->paths.data = data_any;
#define X(l1, tlb)                                                                       \
	if (has_shapes(l1d, l1, dtlb, tlb)) {                                            \
		core->paths.data = data_##l1##_##tlb##_any;                              \
		if (is_usual(core, 8) && (l1 <= 4 || l1d->sets == USUAL_SETS))           \
			core->paths.data = data_##l1##_##tlb##_8;                        \
		if (is_usual(core, 16) && (l1 <= 4 || l1d->sets == USUAL_SETS))          \
			core->paths.data = data_##l1##_##tlb##_16;                       \
	}
	SHAPES(X)
#undef X
}

static void choose_code(struct core *core)
{
	core->paths.code = code_any;
#define X(l1, tlb)                                                                       \
	if (has_shapes(&core->l1i, l1, &core->itlb, tlb))                                \
		core->paths.code = is_usual(core, 8)    ? code_##l1##_##tlb##_8          \
				   : is_usual(core, 16) ? code_##l1##_##tlb##_16         \
							: code_##l1##_##tlb##_any;
	SHAPES(X)
#undef X
}

static void choose_log(struct core *core)
{
	const struct cache *l1d = &core->l1d;
	int usual = l1d->sets == USUAL_SETS && core->line_shift == USUAL_LINE;

	core->paths.log = log_any;
	if (cache_has_shape(l1d, 8))
		core->paths.log = usual ? log_usual_8 : log_8;
	if (cache_has_shape(l1d, 12))
		core->paths.log = usual ? log_usual_12 : log_12;
}

static void choose_paths(struct core *core)
{
	choose_page(core);
	choose_log(core);
	choose_data(core);
	choose_code(core);
	core->paths.place = place_any;
	core->paths.only = batch_only;
#define CHOOSE(l1, tlb, l2)                                                              \
	if (core->paths.data == data_##l1##_##tlb##_##l2) {                              \
		core->paths.place = touch_##l1##_##tlb##_##l2;                           \
		core->paths.only = only_##l1##_##tlb##_##l2;                             \
	}
#define X(l1, tlb) CHOOSE(l1, tlb, 8) CHOOSE(l1, tlb, 16)
	QUICK_SHAPES(X)
#undef X
}

#endif
