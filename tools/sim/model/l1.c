/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The first level's paths for any host, and the choice between them and those for a
 * newer one.
 */
#include "model/l1_newer.h"
#include "model/l1_shapes.h"
#include "model/sets.h"
#include "model/span.h"

int l1_oldest_host;

/* The same for any reference; the lines it touches have successive stamps. */
void data_access(
	struct core *core, uint64_t addr, uint32_t size, enum access kind, uint32_t stamp)
{
	uint64_t line = addr >> core->line_shift;
	uint64_t last = (addr + size - 1) >> core->line_shift;

	span_begin(core, kind);
	for (; line <= last; line++, stamp++)
		core->paths.data(core, line, kind, kind == STORE, stamp);
	span_end(core, kind);
}

void l1_page(struct core *core, uint64_t full, enum access kind, uint32_t stamp)
{
	static const struct shape any;
	uint64_t line = far_lines_shorten(&core->uncore->far_lines, full);
	uint32_t at;

	while (page_touch(core, any, full, line, kind, stamp, &at) == IN_HUGE &&
		huge_touch(core, full, line, kind, stamp, &at) == IN_HUGE)
		;
}

void l1_drop_page(struct core *core, struct cache *tlb, uint64_t key)
{
	int code = tlb == &core->itlb || tlb == &core->itlb_2m;
	struct cache_place p = cache_place(tlb, key);
	int way = cache_find(tlb, p);
	struct way w = way_of(p, (unsigned)way);
	uint32_t *stamp;

	if (way < 0)
		return;
	if (code)
		drop_page(core, tlb, w, core->code, CODE_FILTER);
	else
		drop_page(core, tlb, w, core->data, DATA_FILTER);
	stamp = &row_stamps(tlb, p.row)[w.n];
	if (!code && *stamp > core->newest_dropped)
		core->newest_dropped = *stamp;
	*stamp = row_tags(p.row)[w.n] = 0;
	row_masks(tlb, p.row)[w.n] = 0;
	*way_byte(tlb, w) = 0;
}

#if L1_HAS_AVX2
static int host_has_avx2(void)
{
	__builtin_cpu_init();
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
}

/* Where the number of sets is no power of two, the set of a far line hangs on when it was
 * first used (far_lines.h). */
static int any_order_will_do(const struct core *core)
{
	return !core->l2.reciprocal && !core->uncore->llc.reciprocal;
}

static int choose_newer(struct core *core)
{
	if (l1_oldest_host || !host_has_avx2())
		return 0;
	l1_choose_paths_avx2(core);
	if (core->sets && any_order_will_do(core))
		core->paths.pick = pick_newer(core->sets);
	return 1;
}
#else
static int choose_newer(struct core *core)
{
	(void)core;
	return 0;
}
#endif

void l1_choose_paths(struct core *core)
{
	if (!choose_newer(core))
		choose_paths(core);
}
