/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/batch.h"
#include "model/span.h"

struct core *running;
struct batch_told batch_told;

void batch_place_first(struct batch_place *p, enum batch_kind kind, uint32_t tick)
{
	p->first_kind = kind == BATCH_WRITE ? STORE : LOAD;
	p->first_tick = (uint8_t)(kind == BATCH_MODIFY ? tick - 2 : tick);
}

void batch_place_writes(struct batch_place *p, int writes)
{
	p->writes = writes != 0;
	p->mask = writes ? ~0ull : ~CLEAN;
}

/* --- One by one --- */

/* A line of a reference; most are in the filter. */
LANES_INLINE void run_line(
	struct core *core, uint64_t line, enum access kind, uint32_t stamp)
{
	struct entry *e = &core->data[line & (DATA_FILTER - 1)];

	if (__builtin_expect((e->line & (kind == STORE ? ~0ull : ~CLEAN)) == line, 1))
		renew_stamps(core, e->at, stamp);
	else
		core->paths.data(core, line, kind, kind == STORE, stamp);
}

static __attribute__((noinline)) void run_span(struct core *core, uint64_t first,
	uint64_t last, enum access kind, uint32_t stamp)
{
	span_begin(core, kind);
	for (uint64_t line = first; line <= last; line++)
		run_line(core, line, kind, stamp++);
	span_end(core, kind);
}

LANES_INLINE void run_lines(struct core *core, uint64_t first, uint64_t last,
	enum access kind, uint32_t stamp)
{
	if (__builtin_expect(first == last, 1))
		run_line(core, first, kind, stamp);
	else
		run_span(core, first, last, kind, stamp);
}

static void run_data(
	struct core *core, const struct batch_item *i, uint64_t addr, uint32_t stamp)
{
	uint64_t first = addr >> core->line_shift;
	uint64_t last = (addr + i->size - 1) >> core->line_shift;

	if (__builtin_expect(i->kind == BATCH_FLOAT, 0)) {
		data_access(core, addr, i->size, LOAD, stamp);
		return;
	}
	if (i->kind == BATCH_MODIFY)
		run_lines(core, first, last, LOAD, stamp - 2);
	run_lines(core, first, last, i->kind == BATCH_READ ? LOAD : STORE, stamp);
}

LANES_INLINE struct entry *code_entry(const struct core *core, uint64_t line)
{
	return (struct entry *)&core->code[line & (CODE_FILTER - 1)];
}

/* Fetches a line that is in the filter. */
LANES_INLINE int fetch_known(struct core *core, uint64_t line, uint32_t stamp)
{
	struct entry *e = code_entry(core, line);

	if (e->line != line)
		return 0;
	put_stamps(core, e->at, stamp);
	return 1;
}

LANES_INLINE void run_code(struct core *core, uint64_t line, uint32_t stamp)
{
	struct entry *e = code_entry(core, line);

	if (__builtin_expect(e->line == line, 1))
		put_stamps(core, e->at, stamp);
	else
		core->paths.code(core, line, stamp);
}

/* ---- who is told ---- */

LANES_INLINE void announce_data(struct core *core, const struct batch_note *note,
	uint64_t first_line, uint64_t address)
{
	if (__builtin_expect(batch_told.announce != 0, 0))
		batch_told.announce(
			core, batch_instruction(core, note, first_line), address);
}

LANES_INLINE void announce_place(struct core *core, const struct batch_note *note,
	uint64_t first_line, uint64_t at)
{
	announce_data(core, note, first_line, at + (uint64_t)(int64_t)note->at);
}

/* The fetch of the second line. */
static __attribute__((noinline)) void announce_second_line(
	struct core *core, const struct batch *b, uint64_t first_line)
{
	for (uint32_t i = 0; i < b->items; i++)
		if (b->item[i].kind == BATCH_CODE && b->item[i].offset == 1)
			announce_data(core, &batch_notes(b)[i], first_line, 0);
}

static __attribute__((noinline)) void one_by_one(const struct batch *b, uint64_t line,
	uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3)
{
	const struct batch_item *i = b->item, *end = i + b->items;
	const uint64_t at[] = {a0, a1, a2, a3};
	struct core *core = running;
	uint64_t clock = batch_clock(core, line);

	for (; i < end; i++) {
		uint32_t stamp = (uint32_t)clock + i->tick;
		uint64_t offset = (uint64_t)(int64_t)i->offset;

		announce_data(core, &batch_notes(b)[i - b->item], line,
			i->kind == BATCH_CODE ? 0 : at[i->place] + offset);
		if (i->kind == BATCH_CODE)
			run_code(core, line + offset, stamp);
		else
			run_data(core, i, at[i->place] + offset, stamp);
		if (batch_is_told(core))
			batch_tell(core, &batch_notes(b)[i - b->item], line,
				i->kind == BATCH_CODE ? 0 : at[i->place] + offset,
				core->clock >> 32);
	}
	batch_finish(core, b, clock, line + b->more_lines);
}

/* The filter's entry for an address: base + index * size, in few instructions. */
LANES_INLINE struct entry *entry_for(struct core *core, uint64_t addr, uint32_t shift)
{
	enum { LOG = 4, MASK = DATA_FILTER - 1 };
	uint64_t offset = shift >= LOG ? addr >> (shift - LOG) & (uint64_t)MASK << LOG
				       : (addr >> shift & MASK) << LOG;

	_Static_assert(sizeof(struct entry) == 1 << LOG, "scale");
	return (struct entry *)((char *)core->data + offset);
}

/* --- Place by place --- */

LANES_INLINE int code_is_known(const struct core *core, uint64_t line)
{
	return code_entry(core, line)->line == line &&
	       code_entry(core, line + 1)->line == line + 1;
}

LANES_INLINE int data_is_known(struct core *core, const struct batch *b,
	const uint64_t *at, uint32_t places, uint32_t shift)
{
	uint64_t other = 0;

	for (uint32_t i = 0; i < places; i++)
		other |= (entry_for(core, at[i], shift)->line ^ at[i] >> shift) &
			 b->place[i].mask;
	return !other;
}

/* The observer is told of a place's first reference: no store behind a load there may
 * take a line away from other cores. */
static __attribute__((noinline)) int stores_come_later(
	const struct core *core, const struct batch *b, uint32_t places)
{
	int later = 0;

	for (uint32_t i = 0; i < places; i++)
		later |= b->place[i].writes && b->place[i].first_kind == LOAD;
	return later && core->uncore->ncores > 1;
}

/* Not 0: some place is not a single line. */
LANES_INLINE uint64_t straddling_places(
	const struct batch *b, const uint64_t *at, uint32_t places, uint32_t shift)
{
	uint64_t straddles = 0;

	for (uint32_t i = 0; i < places; i++)
		straddles |= at[i] ^ (at[i] + b->place[i].last);
	return straddles >> shift;
}

/* May a batch be run so?  Only if it is the same as one by one.  It is if
 * everything that it comes to stays until its end: in L1D and DTLB of at least
 * as many ways as there are places, nothing that is newer than the batch is a
 * victim.  And places must be single lines; and if there are two lines of code, L2 and
 * STLB must not be asked for code and data: code or data must be known, and a huge
 * page that is noticed at a fetch may take the data's. */
LANES_INLINE int can_go_by_place(struct core *core, const struct batch *b, uint64_t line,
	const uint64_t *at, uint32_t places, uint32_t lines, uint32_t shift)
{
	int no = !core->by_place || straddling_places(b, at, places, shift);

	if (__builtin_expect(batch_told.announce != 0, 0))
		no |= stores_come_later(core, b, places);
	if (lines == 2 && !code_is_known(core, line))
		no |= core->area_shift || !data_is_known(core, b, at, places, shift);
	return !no;
}

/* A place's line is as new as its last reference, whichever place comes later.  What
 * happens is the first one's doing. */
LANES_INLINE void run_place(struct core *core, const struct batch *b, uint32_t n,
	uint64_t first_line, uint64_t at, uint32_t clock, uint32_t shift)
{
	const struct batch_place *p = &b->place[n];
	struct entry *e = entry_for(core, at, shift);
	uint64_t line = at >> shift;
	uint32_t stamp = clock + p->tick;

	if (!((e->line ^ line) & p->mask)) {
		renew_stamps(core, e->at, stamp);
		return;
	}
	announce_place(core, &batch_notes(b)[b->items + n], first_line, at);
	core->paths.place(core, p, line, stamp);
	if (batch_is_told(core))
		batch_tell_place(core, b, n, first_line, at);
}

/* The first line of code; the second one is in the filter. */
LANES_INLINE void run_first_line(
	struct core *core, const struct batch *b, uint64_t line, uint32_t stamp)
{
	if (core->last_line == line)
		return;
	announce_data(core, &batch_notes(b)[0], line, 0);
	run_code(core, line, stamp);
	if (batch_is_told(core))
		batch_tell(core, &batch_notes(b)[0], line, 0, core->clock >> 32);
}

/* Makes all references after the first line of code; the places are single lines. */
LANES_INLINE void run_rest(struct core *core, const struct batch *b, uint64_t line,
	const uint64_t *at, uint32_t places, uint32_t lines, uint32_t shift)
{
	uint64_t clock = batch_clock(core, line);

#pragma GCC unroll 4
	for (uint32_t i = 0; i < places; i++) {
		uint32_t n = places > 1 ? batch_order(b, i) : 0;

		run_place(core, b, n, line, at[n], (uint32_t)clock, shift);
	}
	if (lines == 2) {
		if (__builtin_expect(batch_told.announce != 0, 0))
			announce_second_line(core, b, line);
		run_code(core, line + 1, (uint32_t)clock + b->second_line_tick);
	}
	batch_finish(core, b, clock, line + lines - 1);
}

LANES_INLINE void by_place(const struct batch *b, uint64_t line, const uint64_t *at,
	uint32_t places, uint32_t lines, uint32_t shift)
{
	struct core *core = running;

	if (__builtin_expect(
		    !can_go_by_place(core, b, line, at, places, lines, shift), 0)) {
		one_by_one(b, line, at[0], at[1], at[2], at[3]);
		return;
	}
	run_first_line(core, b, line, (uint32_t)batch_clock(core, line));
	run_rest(core, b, line, at, places, lines, shift);
}

/* --- All at once --- */

/* Whether the filter has all of a batch; if not, what it has not. */
enum known { ALL, NOT_CODE, NOT_DATA };

/* Indexed by the line of the first byte, compared with the line of the last:
 * they differ when a reference straddles. */
LANES_INLINE enum known run_batch(const struct batch *b, uint64_t line,
	const uint64_t *at, uint32_t places, uint32_t lines, uint32_t shift)
{
	struct core *core = running;
	struct entry *second = code_entry(core, line + 1), *e[BATCH_PLACES];
	uint64_t clock = core->clock;

	if (core->last_line != line && !fetch_known(core, line, (uint32_t)++clock))
		return NOT_CODE;
	if (lines == 2 && second->line != line + 1)
		return NOT_CODE;
#pragma GCC unroll 4
	for (uint32_t i = 0; i < places; i++) {
		e[i] = entry_for(core, at[i], shift);
		if (!((e[i]->line ^ (at[i] + b->place[i].last) >> shift) &
			    b->place[i].mask))
			continue;
		if (places != 1 || lines != 1)
			return NOT_DATA;
		core->paths.only(core, b, line, at[0], clock);
		return ALL;
	}
	if (lines == 2)
		put_stamps(core, second->at, (uint32_t)clock + b->second_line_tick);
#pragma GCC unroll 4
	for (uint32_t i = 0; i < places; i++)
		put_stamps(core, e[i]->at, (uint32_t)clock + b->place[i].tick);
	batch_finish(core, b, clock, line + lines - 1);
	return ALL;
}

void batch_tell_place(
	struct core *core, const struct batch *b, uint32_t n, uint64_t line, uint64_t at)
{
	batch_tell(core, &batch_notes(b)[b->items + n], line, at, core->clock >> 32);
}

/* Makes the references of any place; those of the code are made. */
void batch_only(struct core *core, const struct batch *b, uint64_t line, uint64_t at,
	uint64_t clock)
{
	const uint64_t all[BATCH_PLACES] = {at};

	(void)clock;
	by_place(b, line, all, 1, 1, core->line_shift);
}

/* May the rest of a batch go place by place, when its code is known? */
LANES_INLINE int can_rest(const struct core *core, const struct batch *b,
	const uint64_t *at, uint32_t places, uint32_t shift)
{
	return __builtin_expect(!straddling_places(b, at, places, shift) &&
					core->by_place && !batch_told.announce,
		1);
}

#define RUN(name, places, lines, shift)                                                  \
	static __attribute__((noinline)) void name##_by_place(const struct batch *b,     \
		uint64_t line, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3)       \
	{                                                                                \
		const uint64_t at[] = {a0, a1, a2, a3};                                  \
                                                                                         \
		by_place(b, line, at, places, lines, shift);                             \
	}                                                                                \
                                                                                         \
	static __attribute__((noinline)) void name##_rest(const struct batch *b,         \
		uint64_t line, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3)       \
	{                                                                                \
		const uint64_t at[] = {a0, a1, a2, a3};                                  \
		struct core *core = running;                                             \
                                                                                         \
		if (can_rest(core, b, at, places, shift))                                \
			run_rest(core, b, line, at, places, lines, shift);               \
		else                                                                     \
			name##_by_place(b, line, a0, a1, a2, a3);                        \
	}                                                                                \
                                                                                         \
	LANES_INLINE void name##_all(const struct batch *b, uint64_t line, uint64_t a0,  \
		uint64_t a1, uint64_t a2, uint64_t a3)                                   \
	{                                                                                \
		const uint64_t at[] = {a0, a1, a2, a3};                                  \
		enum known known = run_batch(b, line, at, places, lines, shift);         \
                                                                                         \
		if (__builtin_expect(known == NOT_CODE, 0))                              \
			name##_by_place(b, line, places > 0 ? a0 : 0,                    \
				places > 1 ? a1 : 0, places > 2 ? a2 : 0,                \
				places > 3 ? a3 : 0);                                    \
		else if (__builtin_expect(known == NOT_DATA, 0))                         \
			name##_rest(b, line, places > 0 ? a0 : 0, places > 1 ? a1 : 0,   \
				places > 2 ? a2 : 0, places > 3 ? a3 : 0);               \
	}                                                                                \
                                                                                         \
	static void name(const struct batch *b, uint64_t line, uint64_t a0, uint64_t a1, \
		uint64_t a2, uint64_t a3)                                                \
	{                                                                                \
		name##_all(b, line, a0, a1, a2, a3);                                     \
	}                                                                                \
                                                                                         \
	static __attribute__((noinline)) void name##_full(const struct batch *b,         \
		uint64_t line, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3)       \
	{                                                                                \
		batch_told.follow(running);                                              \
		name(b, line, a0, a1, a2, a3);                                           \
	}                                                                                \
                                                                                         \
	static void noting_##name(const struct batch *b, uint64_t line, uint64_t a0,     \
		uint64_t a1, uint64_t a2, uint64_t a3)                                   \
	{                                                                                \
		if (batch_note_step(running, running->clock, b, line))                   \
			name##_full(b, line, a0, a1, a2, a3);                            \
		else                                                                     \
			name##_all(b, line, a0, a1, a2, a3);                             \
	}

BATCH_RUNS(run_64, 6)
BATCH_RUNS(run_any, running->line_shift)

batch_function *batch_function_for(uint32_t line_shift, uint32_t places, uint32_t lines)
{
	static batch_function *const function[2][2][2][BATCH_PLACES + 1] = {
		{BATCH_NAMES(run_any), BATCH_NAMES(noting_run_any)},
		{BATCH_NAMES(run_64), BATCH_NAMES(noting_run_64)}};

	return function[line_shift == 6][batch_told.follow != 0][lines - 1][places];
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
