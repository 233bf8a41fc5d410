/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The first level's paths, compiled for the common shapes of caches, and for any.
 * Included once for each set of vector instructions (l1.c, l1_avx2.c).
 */
#ifndef CACHEPEEK_SIM_L1_SHAPES_H
#define CACHEPEEK_SIM_L1_SHAPES_H

#include "l1_quick.h"

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
#define USUAL_SHAPE(l1, tlb)                                                             \
	{                                                                                \
		l1, tlb, 8, 1, l1 > 4 ? USUAL_SETS : 0                                   \
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
	PATHS(l1##_##tlb, USUAL_SHAPE(l1, tlb))                                          \
	PATHS(l1##_##tlb##_any, LANES_SHAPE(l1, tlb))
SHAPES(X)
#undef X
PATHS(any, LANES_SHAPE(0, 0))

#define QUICK(l1, tlb)                                                                   \
	static __attribute__((noinline)) void touch_##l1##_##tlb(struct core *core,      \
		const struct batch_place *p, uint64_t line, uint32_t stamp)              \
	{                                                                                \
		static const struct shape s = USUAL_SHAPE(l1, tlb);                      \
                                                                                         \
		touch(core, s, p, line, stamp);                                          \
	}                                                                                \
                                                                                         \
	static __attribute__((noinline)) void slow_alone_##l1##_##tlb(struct core *core, \
		const struct batch *b, uint64_t line, uint64_t at, uint64_t clock)       \
	{                                                                                \
		slow_alone(core, b, line, at, clock, touch_##l1##_##tlb);                \
	}                                                                                \
                                                                                         \
	static void only_##l1##_##tlb(struct core *core, const struct batch *b,          \
		uint64_t line, uint64_t at, uint64_t clock)                              \
	{                                                                                \
		static const struct shape s = USUAL_SHAPE(l1, tlb);                      \
		const struct batch_place *p = &b->place[0];                              \
                                                                                         \
		if (!is_alone(core, p, at))                                              \
			batch_only(core, b, line, at, clock);                            \
		else if (quick_alone(core, s, p, at >> USUAL_LINE,                       \
				 (uint32_t)clock + p->tick))                             \
			batch_finish_alone(core, b, line, at, clock);                    \
		else                                                                     \
			slow_alone_##l1##_##tlb(core, b, line, at, clock);               \
	}
QUICK_SHAPES(QUICK)

static void place_any(
	struct core *core, const struct batch_place *p, uint64_t line, uint32_t stamp)
{
	core->paths.data(core, line, p->first_kind, p->writes, stamp);
}

/* All of them but the last are for that much only. */
static int is_usual(const struct core *core)
{
	return core->l2_of_8 && core->line_shift == USUAL_LINE &&
	       core->line_shift + core->page_shift == USUAL_PAGE;
}

static void choose_paths(struct core *core)
{
	int usual = is_usual(core);

	choose_page(core);
	core->paths.data = data_any;
	core->paths.code = code_any;
	core->paths.place = place_any;
	core->paths.only = batch_only;
#define X(l1, tlb)                                                                       \
	if (cache_has_shape(&core->l1d, l1) && cache_has_shape(&core->dtlb, tlb))        \
		core->paths.data = usual && (l1 <= 4 || core->l1d.sets == USUAL_SETS)    \
					   ? data_##l1##_##tlb                           \
					   : data_##l1##_##tlb##_any;                    \
	if (cache_has_shape(&core->l1i, l1) && cache_has_shape(&core->itlb, tlb))        \
		core->paths.code = usual ? code_##l1##_##tlb : code_##l1##_##tlb##_any;
	SHAPES(X)
#undef X
#define X(l1, tlb)                                                                       \
	if (core->paths.data == data_##l1##_##tlb) {                                     \
		core->paths.place = touch_##l1##_##tlb;                                  \
		core->paths.only = only_##l1##_##tlb;                                    \
	}
	QUICK_SHAPES(X)
#undef X
}

#endif
