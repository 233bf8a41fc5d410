/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "batch.h"

struct core *running;

/* --- One by one --- */

static void run_code(struct core *core, uint64_t line, uint32_t stamp)
{
	struct code_entry *e = &core->code[line & (CODE_FILTER - 1)];

	if (e->line == line)
		e->stamp = stamp;
	else
		core->paths.code(core, line, stamp);
}

LANES_INLINE void run_lines(struct core *core, uint64_t first, uint64_t last,
	enum access kind, uint32_t stamp)
{
	core->paths.data(core, first, kind, stamp);
	for (uint64_t line = first + 1; __builtin_expect(line <= last, 0); line++)
		core->paths.data(core, line, kind, ++stamp);
}

static void run_data(
	struct core *core, const struct batch_item *i, uint64_t addr, uint32_t stamp)
{
	uint64_t first = addr >> core->line_shift;
	uint64_t last = (addr + i->size - 1) >> core->line_shift;
	struct data_entry *e = &core->data[first & (DATA_FILTER - 1)];

	if (__builtin_expect(i->kind == BATCH_FLOAT, 0)) {
		data_access(core, addr, i->size, LOAD, stamp);
		return;
	}
	if (last == (i->kind == BATCH_READ ? e->read : e->write)) {
		*e->stamp_at = stamp;
		return;
	}
	if (i->kind == BATCH_MODIFY)
		run_lines(core, first, last, LOAD, stamp - 2);
	run_lines(core, first, last, i->kind == BATCH_READ ? LOAD : STORE, stamp);
}

typedef uint32_t tallies __attribute__((vector_size(16), may_alias));

LANES_INLINE uint64_t clock_for(const struct core *core, uint64_t line)
{
	return core->clock + (core->last_line != line);
}

LANES_INLINE void finish(
	struct core *core, const struct batch *b, uint64_t clock, uint64_t last_line)
{
	core->clock = clock + b->clock;
	core->last_line = last_line;
	*(tallies *)&core->loads += *(const tallies *)&b->loads;
}

static __attribute__((noinline)) void one_by_one(const struct batch *b, uint64_t line,
	uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3)
{
	const struct batch_item *i = b->item, *end = i + b->items;
	const uint64_t at[] = {a0, a1, a2, a3};
	struct core *core = running;
	uint64_t clock = clock_for(core, line);

	for (; i < end; i++) {
		uint32_t stamp = (uint32_t)clock + i->tick;
		uint64_t offset = (uint64_t)(int64_t)i->offset;

		if (i->kind == BATCH_CODE)
			run_code(core, line + offset, stamp);
		else
			run_data(core, i, at[i->place] + offset, stamp);
	}
	finish(core, b, clock, line + b->more_lines);
}

/* --- All at once --- */

/* The filter's entry for an address: base + index * size, in few instructions. */
LANES_INLINE struct data_entry *entry_for(
	struct core *core, uint64_t addr, uint32_t shift)
{
	enum { LOG = 5, MASK = DATA_FILTER - 1 };
	uint64_t offset = shift >= LOG ? addr >> (shift - LOG) & (uint64_t)MASK << LOG
				       : (addr >> shift & MASK) << LOG;

	_Static_assert(sizeof(struct data_entry) == 1 << LOG, "scale");
	return (struct data_entry *)((char *)core->data + offset);
}

/* Its line for loads or for stores, which are `filter` bytes from the start. */
LANES_INLINE uint64_t known_line(const struct data_entry *e, uint32_t filter)
{
	return *(const uint64_t *)((const char *)e + filter);
}

/* Indexed by the line of the first byte, compared with the line of the last:
 * they differ when a reference straddles. */
LANES_INLINE int run(const struct batch *b, uint64_t line, const uint64_t *at,
	uint32_t places, uint32_t lines, uint32_t shift)
{
	struct core *core = running;
	struct code_entry *code = &core->code[line & (CODE_FILTER - 1)];
	struct code_entry *second = &core->code[(line + 1) & (CODE_FILTER - 1)];
	struct data_entry *e[BATCH_PLACES];
	uint64_t clock;

	if (code->line != line || (lines == 2 && second->line != line + 1))
		return 0;
#pragma GCC unroll 4
	for (uint32_t i = 0; i < places; i++) {
		e[i] = entry_for(core, at[i], shift);
		if (known_line(e[i], b->place[i].filter) !=
			(at[i] + b->place[i].last) >> shift)
			return 0;
	}
	clock = clock_for(core, line);
	code->stamp = (uint32_t)clock;
	if (lines == 2)
		second->stamp = (uint32_t)clock + b->second_line_tick;
#pragma GCC unroll 4
	for (uint32_t i = 0; i < places; i++)
		*e[i]->stamp_at = (uint32_t)clock + b->place[i].tick;
	finish(core, b, clock, line + lines - 1);
	return 1;
}

#define RUN(name, places, lines, shift)                                                  \
	static void name(const struct batch *b, uint64_t line, uint64_t a0, uint64_t a1, \
		uint64_t a2, uint64_t a3)                                                \
	{                                                                                \
		const uint64_t at[] = {a0, a1, a2, a3};                                  \
                                                                                         \
		if (__builtin_expect(!run(b, line, at, places, lines, shift), 0))        \
			one_by_one(b, line, places > 0 ? a0 : 0, places > 1 ? a1 : 0,    \
				places > 2 ? a2 : 0, places > 3 ? a3 : 0);               \
	}
#define RUNS(name, shift)                                                                \
	RUN(name##_01, 0, 1, shift)                                                      \
	RUN(name##_11, 1, 1, shift)                                                      \
	RUN(name##_21, 2, 1, shift)                                                      \
	RUN(name##_31, 3, 1, shift)                                                      \
	RUN(name##_41, 4, 1, shift)                                                      \
	RUN(name##_02, 0, 2, shift)                                                      \
	RUN(name##_12, 1, 2, shift)                                                      \
	RUN(name##_22, 2, 2, shift)                                                      \
	RUN(name##_32, 3, 2, shift)                                                      \
	RUN(name##_42, 4, 2, shift)
#define NAMES(name)                                                                      \
	{                                                                                \
		{name##_01, name##_11, name##_21, name##_31, name##_41},                 \
			{name##_02, name##_12, name##_22, name##_32, name##_42},         \
	}

RUNS(run_64, 6)
RUNS(run_any, running->line_shift)

batch_function *batch_function_for(uint32_t line_shift, uint32_t places, uint32_t lines)
{
	static batch_function *const of_64[2][BATCH_PLACES + 1] = NAMES(run_64);
	static batch_function *const of_any[2][BATCH_PLACES + 1] = NAMES(run_any);

	return (line_shift == 6 ? of_64 : of_any)[lines - 1][places];
}

/* Each line of the reference has a tick of its own. */
void batch_direct(uint64_t addr, uint32_t size, enum access kind)
{
	struct core *core = running;
	uint32_t ticks = 2 + (size >> core->line_shift);

	data_access(core, addr, size, kind, (uint32_t)core->clock);
	core->clock += ticks;
	core->idle_ticks += ticks - 2;
	if (kind == STORE)
		core->stores++;
	else
		core->loads++;
}
