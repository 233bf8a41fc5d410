/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The functions that generated code calls where there is a front: they find the members
 * that a reference concerns.
 */
#include "machines/front_parts.h"
#include "model/ahead.h"
#include "model/span.h"

/* ---- references that some member needs to be told of ---- */

/* The answers of members about the next references: a bit for each, in a number because
 * the host is slow to read what it has just written in parts. */
typedef uint64_t said;

LANES_INLINE uint32_t readable(said all)
{
	return (uint16_t)all;
}

LANES_INLINE uint32_t writable(said all)
{
	return (uint16_t)(all >> 16);
}

LANES_INLINE uint32_t passed_on(said all)
{
	return (uint16_t)(all >> 32);
}

LANES_INLINE said said_by(uint32_t i, uint64_t flags)
{
	return ((flags & FLEX_READABLE) | (flags & FLEX_WRITABLE) << 15 |
		       (flags & FLEX_PASSED_ON) << 30)
	       << i;
}

static said tell_many(
	struct front *f, uint32_t to, uint64_t unit, enum access kind, uint64_t now)
{
	said all = 0;

	for (uint32_t rest = to; kind != IFETCH && rest; rest &= rest - 1)
		flex_expect_data(f->member[__builtin_ctz(rest)], unit);
	for (; to; to &= to - 1) {
		uint32_t i = (uint32_t)__builtin_ctz(to);

		all |= said_by(i, kind == IFETCH
					  ? flex_code(f->member[i], unit, now)
					  : flex_data(f->member[i], unit, kind, now));
	}
	return all;
}

/* Tells the members in `to` of a load or a store, or (tell_code) of a fetch. */
LANES_INLINE said tell_data(
	struct front *f, uint32_t to, uint64_t unit, enum access kind, uint32_t stamp)
{
	uint64_t now = front_stamp(f, stamp);

	if (__builtin_expect(to != 1, 0))
		return tell_many(f, to, unit, kind, now);
	flex_expect_data(f->member[0], unit);
	return said_by(0, flex_data(f->member[0], unit, kind, now));
}

LANES_INLINE said tell_code(struct front *f, uint32_t to, uint64_t unit, uint32_t stamp)
{
	uint64_t now = front_stamp(f, stamp);

	if (__builtin_expect(to != 1, 0))
		return tell_many(f, to, unit, IFETCH, now);
	return said_by(0, flex_code(f->member[0], unit, now));
}

static void note_need(struct front_entry *e, uint32_t told, said all)
{
	e->need[0] = (uint16_t)((e->need[0] | told) & ~readable(all));
	e->need[1] = (uint16_t)((e->need[1] | told) & ~writable(all));
}

/* Another reference to a line of which there is a fact. */
static void known_line(
	struct front *f, uint32_t index, uint64_t unit, enum access kind, uint32_t stamp)
{
	struct front_entry *e = &f->data[index];
	uint32_t told = e->need[kind == STORE], passed = 0;
	said all;

	e->stamp = stamp;
	if (kind == STORE)
		passed = told & f->passed_on[index] & ~(uint32_t)e->need[0];
	told &= ~passed;
	for (; passed; passed &= passed - 1)
		flex_pass_on(f->member[__builtin_ctz(passed)], unit);
	if (!told)
		return;
	all = tell_data(f, told, unit, kind, stamp);
	note_need(e, told, all);
	f->passed_on[index] = (uint16_t)((f->passed_on[index] & ~told) | passed_on(all));
}

static void data_line(struct front *f, uint64_t line, enum access kind, uint32_t stamp)
{
	uint32_t index = line & (DATA_FILTER - 1);
	struct front_entry *e = &f->data[index];
	uint64_t unit = unit_of(f, line);
	said all;

	if (e->line == line) {
		known_line(f, index, unit, kind, stamp);
		return;
	}
	all = tell_data(f, f->all, unit, kind, stamp);
	if (!readable(all))
		return;
	front_tell_data(f, e, f->data_known[index]);
	*e = (struct front_entry){.line = line, .stamp = stamp};
	f->data_known[index] = stamp;
	f->passed_on[index] = (uint16_t)passed_on(all);
	note_need(e, f->all, all);
}

/* Floating-point loads, which are no references to some members' L1D: they leave
 * no fact. */
static void float_line(struct front *f, uint64_t line, uint32_t stamp)
{
	int has_fact = f->data[line & (DATA_FILTER - 1)].line == line;
	uint64_t unit = unit_of(f, line), now = front_stamp(f, stamp);

	for (uint32_t i = 0; i < f->nmembers; i++) {
		if (f->member[i]->flex->l1d.g.fp_bypass) {
			flex_bypass(f->member[i], unit, now);
			continue;
		}
		flex_data(f->member[i], unit, LOAD, now);
		if (!has_fact)
			flex_learn_data(f->member[i], unit, 0);
	}
}

/* Finds members that were in this line when they last ran: it is no new access. */
static uint32_t resume_members(struct front *f, uint64_t line)
{
	uint32_t in = 0;

	for (uint32_t i = 0; f->resuming && i < f->nmembers; i++) {
		if (f->member[i]->last_line != line || f->code_aware >> i & 1)
			continue;
		in |= 1u << i;
		f->member[i]->count[CP_SIM_l1i_accesses]--;
	}
	f->resuming = 0;
	return in;
}

static void code_line(struct front *f, uint64_t line, uint32_t stamp)
{
	uint32_t index = line & (CODE_FILTER - 1),
		 told = f->all & ~resume_members(f, line);
	struct front_entry *e = &f->code[index];
	uint64_t unit = unit_of(f, line);
	said all;

	if (e->line == line) {
		e->stamp = stamp;
		told &= e->need[0];
		if (!told)
			return;
		all = tell_code(f, told, unit, stamp);
		note_need(e, told, all);
		return;
	}
	all = tell_code(f, told, unit, stamp);
	if (!readable(all))
		return;
	front_tell_code(f, e, f->code_known[index]);
	*e = (struct front_entry){.line = line, .stamp = stamp};
	f->code_known[index] = told == f->all ? stamp : 0;
	note_need(e, f->all, all);
}

/* ---- batches ---- */

/* Returns whether anybody was told.  Still in the line of the last instruction?  Then
 * nobody's clock ticks. */
static int run_code(struct front *f, uint64_t line, uint32_t stamp)
{
	if (line == f->last_line && stamp == (uint32_t)f->clock)
		return 0;
	code_line(f, line, stamp);
	return 1;
}

static void begin_span(const struct front *f, enum access kind)
{
	for (uint32_t i = 0; i < f->nmembers; i++)
		span_begin(f->member[i], kind);
}

static void end_span(const struct front *f, enum access kind)
{
	for (uint32_t i = 0; i < f->nmembers; i++)
		span_end(f->member[i], kind);
}

static void run_lines(
	struct front *f, uint64_t first, uint64_t last, enum access kind, uint32_t stamp)
{
	if (first == last) {
		data_line(f, first, kind, stamp);
		return;
	}
	begin_span(f, kind);
	for (uint64_t line = first; line <= last; line++)
		data_line(f, line, kind, stamp++);
	end_span(f, kind);
}

static void run_floats(struct front *f, uint64_t first, uint64_t last, uint32_t stamp)
{
	begin_span(f, LOAD);
	for (uint64_t line = first; line <= last; line++)
		float_line(f, line, stamp++);
	end_span(f, LOAD);
}

/* Is nobody to be told of the reference? */
LANES_INLINE int is_known(
	struct front *f, const struct batch_item *i, uint64_t addr, uint32_t stamp)
{
	uint64_t last = (addr + i->size - 1) >> f->line_shift;
	struct front_entry *e = &f->data[addr >> f->line_shift & (DATA_FILTER - 1)];

	if (e->line != last || e->need[i->kind != BATCH_READ] || i->kind == BATCH_FLOAT)
		return 0;
	e->stamp = stamp;
	return 1;
}

static void run_data(
	struct front *f, const struct batch_item *i, uint64_t addr, uint32_t stamp)
{
	uint64_t first = addr >> f->line_shift;
	uint64_t last = (addr + i->size - 1) >> f->line_shift;

	if (i->kind == BATCH_FLOAT) {
		run_floats(f, first, last, stamp);
		return;
	}
	if (i->kind == BATCH_MODIFY)
		run_lines(f, first, last, LOAD, stamp - 2);
	run_lines(f, first, last, i->kind == BATCH_READ ? LOAD : STORE, stamp);
}

static void observe_members(const struct front *f, const struct batch *b,
	const struct batch_item *i, uint64_t line, uint64_t address)
{
	for (uint32_t k = 0; k < f->nmembers; k++)
		batch_tell(f->member[k], &batch_notes(b)[i - b->item], line, address,
			f->clock >> 32);
}

typedef uint32_t tallies __attribute__((vector_size(16), may_alias));

LANES_INLINE uint64_t clock_for(const struct front *f, uint64_t line)
{
	return f->clock + (f->last_line != line);
}

LANES_INLINE void finish_batch(
	struct front *f, const struct batch *b, uint64_t clock, uint64_t last_line)
{
	f->clock = clock + b->clock;
	f->last_line = last_line;
	*(tallies *)&f->loads += *(const tallies *)&b->loads;
}

/* Where prefetchers ask who makes a reference: the item did last. */
LANES_INLINE void say_who(struct front *f, const struct batch *b,
	const struct batch_item *i, uint64_t line, uint64_t address)
{
	if (!f->asks_who || !i)
		return;
	f->instruction = (line << f->line_shift) +
			 (uint64_t)(int64_t)batch_notes(b)[i - b->item].offset;
	f->address = address;
}

static __attribute__((noinline)) void make_one_by_one(const struct batch *b,
	uint64_t line, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3)
{
	const struct batch_item *i = b->item, *end = i + b->items, *by = 0;
	const uint64_t at[] = {a0, a1, a2, a3};
	struct front *f = front;
	uint64_t clock = clock_for(f, line), address = 0;

	for (; i < end; i++) {
		uint32_t stamp = (uint32_t)clock + i->tick;
		uint64_t offset = (uint64_t)(int64_t)i->offset;

		if (i->kind != BATCH_CODE) {
			by = i;
			address = at[i->place] + offset;
			if (is_known(f, i, address, stamp))
				continue;
		}
		say_who(f, b, by, line, address);
		if (i->kind != BATCH_CODE)
			run_data(f, i, address, stamp);
		else if (!run_code(f, line + offset, stamp))
			continue;
		if (__builtin_expect(batch_told.observe != 0, 0))
			observe_members(
				f, b, i, line, i->kind == BATCH_CODE ? 0 : address);
	}
	f->instruction = 0;
	finish_batch(f, b, clock, line + b->more_lines);
}

/* Does nobody need to be told of anything?  Indexed by the line of the first byte,
 * compared with the line of the last: they differ when a reference straddles. */
LANES_INLINE int run_batch(const struct batch *b, uint64_t line, const uint64_t *at,
	uint32_t places, uint32_t lines, uint32_t shift)
{
	struct front *f = front;
	struct front_entry *code = &f->code[line & (CODE_FILTER - 1)];
	struct front_entry *second = &f->code[(line + 1) & (CODE_FILTER - 1)];
	struct front_entry *e[BATCH_PLACES];
	uint64_t clock;

	if (b->has_floats) /* which some members must be told of */
		return 0;
	if (code->line != line || code->need[0] ||
		(lines == 2 && (second->line != line + 1 || second->need[0])))
		return 0;
#pragma GCC unroll 4
	for (uint32_t i = 0; i < places; i++) {
		e[i] = &f->data[at[i] >> shift & (DATA_FILTER - 1)];
		if (e[i]->line != (at[i] + b->place[i].last) >> shift ||
			e[i]->need[b->place[i].writes])
			return 0;
	}
	clock = clock_for(f, line);
	code->stamp = (uint32_t)clock;
	if (lines == 2)
		second->stamp = (uint32_t)clock + b->second_line_tick;
#pragma GCC unroll 4
	for (uint32_t i = 0; i < places; i++)
		e[i]->stamp = (uint32_t)clock + b->place[i].tick;
	finish_batch(f, b, clock, line + lines - 1);
	return 1;
}

static __attribute__((noinline)) void begin_many(const struct batch *b, uint64_t line)
{
	for (uint32_t i = 0; i < front->nmembers; i++)
		ahead_begin(front->member[i], b, line);
}

/* Notes the batch for whoever follows it; does the only member want to be asked first? */
LANES_INLINE int notes_full(const struct batch *b, uint64_t line)
{
	if (__builtin_expect(front->nmembers == 1, 1))
		return batch_note_step(front->member[0], front->clock, b, line);
	begin_many(b, line);
	return 0;
}

#define RUN(name, places, lines, shift)                                                  \
	LANES_INLINE void name##_all(const struct batch *b, uint64_t line, uint64_t a0,  \
		uint64_t a1, uint64_t a2, uint64_t a3)                                   \
	{                                                                                \
		const uint64_t at[] = {a0, a1, a2, a3};                                  \
                                                                                         \
		if (__builtin_expect(!run_batch(b, line, at, places, lines, shift), 0))  \
			make_one_by_one(b, line, places > 0 ? a0 : 0,                    \
				places > 1 ? a1 : 0, places > 2 ? a2 : 0,                \
				places > 3 ? a3 : 0);                                    \
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
		batch_told.follow(front->member[0]);                                     \
		name(b, line, a0, a1, a2, a3);                                           \
	}                                                                                \
                                                                                         \
	static void noting_##name(const struct batch *b, uint64_t line, uint64_t a0,     \
		uint64_t a1, uint64_t a2, uint64_t a3)                                   \
	{                                                                                \
		if (notes_full(b, line))                                                 \
			name##_full(b, line, a0, a1, a2, a3);                            \
		else                                                                     \
			name##_all(b, line, a0, a1, a2, a3);                             \
	}

BATCH_RUNS(run_64, 6)
BATCH_RUNS(run_any, front->line_shift)

batch_function *front_function_for(uint32_t line_shift, uint32_t places, uint32_t lines)
{
	static batch_function *const function[2][2][2][BATCH_PLACES + 1] = {
		{BATCH_NAMES(run_any), BATCH_NAMES(noting_run_any)},
		{BATCH_NAMES(run_64), BATCH_NAMES(noting_run_64)}};

	return function[line_shift == 6][batch_told.follow != 0][lines - 1][places];
}

/* Each line of the reference has a tick of its own. */
void front_direct(uint64_t addr, uint32_t size, enum access kind)
{
	uint32_t ticks = 2 + (size >> front->line_shift);

	front->address = addr;
	run_lines(front, addr >> front->line_shift,
		(addr + size - 1) >> front->line_shift, kind, (uint32_t)front->clock);
	front->clock += ticks;
	front->idle_ticks += ticks - 2;
	if (kind == STORE)
		front->stores++;
	else
		front->loads++;
	front->instruction = 0;
}

void front_order(uint64_t addr, enum cache_order order)
{
	struct front *f = front;
	uint64_t unit = unit_of(f, addr >> f->line_shift);

	for (uint32_t i = 0; i < f->nmembers; i++)
		if (!f->member[i]->ignores_orders)
			flex_order(f->member[i], unit, order,
				front_stamp(f, (uint32_t)f->clock));
	f->clock += 2;
	f->idle_ticks += 2;
}

/* Members that do not hear that it is streamed have an ordinary store. */
static void stream_line(struct front *f, uint64_t line, uint32_t stamp)
{
	int has_fact = f->data[line & (DATA_FILTER - 1)].line == line;
	uint64_t unit = unit_of(f, line), now = front_stamp(f, stamp);

	for (uint32_t i = 0; i < f->nmembers; i++) {
		if (!f->member[i]->ignores_orders) {
			flex_stream(f->member[i], unit, now);
			continue;
		}
		flex_data(f->member[i], unit, STORE, now);
		if (!has_fact)
			flex_learn_data(f->member[i], unit, 0);
	}
}

void front_stream(uint64_t addr, uint32_t size, int is_masked)
{
	struct front *f = front;
	uint32_t ticks = 2 + (size >> f->line_shift), stamp = (uint32_t)f->clock;

	begin_span(f, STORE);
	for (uint64_t line = addr >> f->line_shift;
		line <= (addr + size - 1) >> f->line_shift; line++)
		stream_line(f, line, stamp++);
	end_span(f, STORE);
	for (uint32_t i = 0; i < f->nmembers; i++)
		if (!f->member[i]->ignores_orders)
			stream_note(f->member[i], &f->member[i]->streamed, addr, size,
				is_masked);
	f->clock += ticks;
	f->idle_ticks += ticks - 2;
	f->stores++;
}

void front_modify(void)
{
	front->rmw++;
}
