/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "machines/front.h"
#include "flex/flex.h"
#include "model/span.h"

struct front *front;

#define EPOCH (1ull << 40)

static uint64_t unit_of(struct front *f, uint64_t line)
{
	return far_lines_shorten(&f->far_lines, line);
}

/* ---- facts that leave the filter ---- */

/* 0: everyone has heard of it. */
static uint64_t news_of(
	const struct front *f, const struct front_entry *e, uint32_t known)
{
	return e->stamp == known ? 0 : front_stamp(f, e->stamp);
}

static void tell_data(struct front *f, struct front_entry *e, uint32_t known)
{
	uint64_t unit;

	if (e->line == NO_LINE)
		return;
	unit = unit_of(f, e->line);
	for (uint32_t i = 0; i < f->nmembers; i++)
		flex_learn_data(f->member[i], unit, news_of(f, e, known));
}

static void tell_code(struct front *f, struct front_entry *e, uint32_t known)
{
	uint64_t unit;

	if (e->line == NO_LINE)
		return;
	unit = unit_of(f, e->line);
	for (uint32_t i = 0; i < f->nmembers; i++)
		if (!(f->code_aware >> i & 1))
			flex_learn_code(f->member[i], unit, news_of(f, e, known));
}

static void forget_all(struct front *f)
{
	for (uint32_t i = 0; i < DATA_FILTER; i++) {
		tell_data(f, &f->data[i], f->data_known[i]);
		f->data[i].line = NO_LINE;
	}
	for (uint32_t i = 0; i < CODE_FILTER; i++) {
		tell_code(f, &f->code[i], f->code_known[i]);
		f->code[i].line = NO_LINE;
	}
}

/* ---- what the members say and ask ---- */

static void need_units(struct front_entry *filter, uint32_t mask, uint32_t bit,
	uint64_t first, uint64_t count)
{
	uint64_t entries = count < mask ? count : mask + 1;

	if (count == 1 && first < FAR_LINES_FROM) {
		if (filter[first & mask].line == first)
			front_lost_slot(filter, (uint32_t)(first & mask) + 1, bit);
		return;
	}
	for (uint64_t i = first; i < first + entries; i++) {
		struct front_entry *e = &filter[i & mask];

		if (e->line != NO_LINE && unit_of(front, e->line) - first < count) {
			e->need[0] |= (uint16_t)bit;
			e->need[1] |= (uint16_t)bit;
		}
	}
}

void front_lost_data(struct core *core, uint64_t first, uint64_t count)
{
	uint32_t bit = core->flex->bit;

	if (bit)
		need_units(front->data, DATA_FILTER - 1, bit, first, count);
}

void front_lost_code(struct core *core, uint64_t first, uint64_t count)
{
	uint32_t bit = core->flex->bit;

	if (bit)
		need_units(front->code, CODE_FILTER - 1, bit, first, count);
}

/* The newest stamp of units next to each other, no more than the filter has room for. */
LANES_INLINE uint32_t newest_stamp(struct front *f, const struct front_entry *filter,
	uint32_t mask, uint64_t first, uint64_t count, uint64_t entries)
{
	uint32_t stamp = 0;

	for (uint64_t i = first; i < first + entries; i++) {
		const struct front_entry *e = &filter[i & mask];

		if (e->stamp > stamp && e->line != NO_LINE &&
			unit_of(f, e->line) - first < count)
			stamp = e->stamp;
	}
	return stamp;
}

uint64_t front_newest(const struct core *core, int code, uint64_t first, uint64_t count)
{
	const struct front_entry *filter = code ? front->code : front->data;
	uint32_t mask = (code ? CODE_FILTER : DATA_FILTER) - 1, stamp;

	if (!core->flex->bit)
		return 0;
	if (count == 1)
		stamp = newest_stamp(front, filter, mask, first, 1, 1);
	else
		stamp = newest_stamp(front, filter, mask, first, count,
			count < mask ? count : mask + 1);
	return stamp ? front_stamp(front, stamp) : 0;
}

/* ---- references that some member needs to be told of ---- */

/* Tells the members in `to`; returns what each has said of the next references. */
struct said {
	uint32_t readable, writable, passed_on;
};

static struct said tell_members(
	struct front *f, uint32_t to, uint64_t unit, enum access kind, uint32_t stamp)
{
	uint64_t now = front_stamp(f, stamp);
	struct said all = {0, 0, 0};

	for (uint32_t rest = to; kind != IFETCH && rest; rest &= rest - 1)
		flex_expect_data(f->member[__builtin_ctz(rest)], unit);
	for (; to; to &= to - 1) {
		uint32_t i = (uint32_t)__builtin_ctz(to);
		uint32_t said = kind == IFETCH ? flex_code(f->member[i], unit, now)
					       : flex_data(f->member[i], unit, kind, now);

		all.readable |= said & FLEX_READABLE ? 1u << i : 0;
		all.writable |= said & FLEX_WRITABLE ? 1u << i : 0;
		all.passed_on |= said & FLEX_PASSED_ON ? 1u << i : 0;
	}
	return all;
}

static void note_need(struct front_entry *e, uint32_t told, struct said said)
{
	e->need[0] = (uint16_t)((e->need[0] | told) & ~said.readable);
	e->need[1] = (uint16_t)((e->need[1] | told) & ~said.writable);
}

/* Another reference to a line of which there is a fact. */
static void known_line(
	struct front *f, uint32_t index, uint64_t unit, enum access kind, uint32_t stamp)
{
	struct front_entry *e = &f->data[index];
	uint32_t told = e->need[kind == STORE], passed_on = 0;
	struct said said;

	e->stamp = stamp;
	if (kind == STORE)
		passed_on = told & f->passed_on[index] & ~(uint32_t)e->need[0];
	told &= ~passed_on;
	for (; passed_on; passed_on &= passed_on - 1)
		flex_pass_on(f->member[__builtin_ctz(passed_on)], unit);
	if (!told)
		return;
	said = tell_members(f, told, unit, kind, stamp);
	note_need(e, told, said);
	f->passed_on[index] = (uint16_t)((f->passed_on[index] & ~told) | said.passed_on);
}

static void data_line(struct front *f, uint64_t line, enum access kind, uint32_t stamp)
{
	uint32_t index = line & (DATA_FILTER - 1);
	struct front_entry *e = &f->data[index];
	uint64_t unit = unit_of(f, line);
	struct said said;

	if (e->line == line) {
		known_line(f, index, unit, kind, stamp);
		return;
	}
	said = tell_members(f, f->all, unit, kind, stamp);
	if (!said.readable)
		return;
	tell_data(f, e, f->data_known[index]);
	*e = (struct front_entry){.line = line, .stamp = stamp};
	f->data_known[index] = stamp;
	f->passed_on[index] = (uint16_t)said.passed_on;
	note_need(e, f->all, said);
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

/* Those that were in this line when they last ran: it is no new access. */
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
	struct said said;

	if (e->line == line) {
		e->stamp = stamp;
		told &= e->need[0];
		said = tell_members(f, told, unit, IFETCH, stamp);
		note_need(e, told, said);
		return;
	}
	said = tell_members(f, told, unit, IFETCH, stamp);
	if (!said.readable)
		return;
	tell_code(f, e, f->code_known[index]);
	*e = (struct front_entry){.line = line, .stamp = stamp};
	f->code_known[index] = told == f->all ? stamp : 0;
	note_need(e, f->all, said);
}

/* ---- batches ---- */

/* Both return whether anybody was told.  Still in the line of the last instruction?
 * Then nobody's clock ticks. */
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

static int run_data(
	struct front *f, const struct batch_item *i, uint64_t addr, uint32_t stamp)
{
	uint64_t first = addr >> f->line_shift;
	uint64_t last = (addr + i->size - 1) >> f->line_shift;
	uint32_t writes = i->kind != BATCH_READ;
	struct front_entry *e = &f->data[first & (DATA_FILTER - 1)];

	if (i->kind == BATCH_FLOAT) {
		run_floats(f, first, last, stamp);
		return 1;
	}
	if (e->line == last && !e->need[writes]) {
		e->stamp = stamp;
		return 0;
	}
	if (i->kind == BATCH_MODIFY)
		run_lines(f, first, last, LOAD, stamp - 2);
	run_lines(f, first, last, writes ? STORE : LOAD, stamp);
	return 1;
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

/* Who makes the item's reference, where prefetchers ask. */
LANES_INLINE void say_who(struct front *f, const struct batch *b,
	const struct batch_item *i, uint64_t line, uint64_t address)
{
	if (!f->asks_who)
		return;
	f->instruction = (line << f->line_shift) +
			 (uint64_t)(int64_t)batch_notes(b)[i - b->item].offset;
	f->address = address;
}

static __attribute__((noinline)) void make_one_by_one(const struct batch *b,
	uint64_t line, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3)
{
	const struct batch_item *i = b->item, *end = i + b->items;
	const uint64_t at[] = {a0, a1, a2, a3};
	struct front *f = front;
	uint64_t clock = clock_for(f, line);

	for (; i < end; i++) {
		uint32_t stamp = (uint32_t)clock + i->tick;
		uint64_t offset = (uint64_t)(int64_t)i->offset;
		int asked;

		if (i->kind != BATCH_CODE)
			say_who(f, b, i, line, at[i->place] + offset);
		asked = i->kind == BATCH_CODE
				? run_code(f, line + offset, stamp)
				: run_data(f, i, at[i->place] + offset, stamp);

		if (asked && __builtin_expect(batch_told.observe != 0, 0))
			observe_members(f, b, i, line,
				i->kind == BATCH_CODE ? 0 : at[i->place] + offset);
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

#define RUN(name, places, lines, shift)                                                  \
	static void name(const struct batch *b, uint64_t line, uint64_t a0, uint64_t a1, \
		uint64_t a2, uint64_t a3)                                                \
	{                                                                                \
		const uint64_t at[] = {a0, a1, a2, a3};                                  \
                                                                                         \
		if (__builtin_expect(!run_batch(b, line, at, places, lines, shift), 0))  \
			make_one_by_one(b, line, places > 0 ? a0 : 0,                    \
				places > 1 ? a1 : 0, places > 2 ? a2 : 0,                \
				places > 3 ? a3 : 0);                                    \
	}

BATCH_RUNS(run_64, 6)
BATCH_RUNS(run_any, front->line_shift)

batch_function *front_function_for(uint32_t line_shift, uint32_t places, uint32_t lines)
{
	static batch_function *const of_64[2][BATCH_PLACES + 1] = BATCH_NAMES(run_64);
	static batch_function *const of_any[2][BATCH_PLACES + 1] = BATCH_NAMES(run_any);

	return (line_shift == 6 ? of_64 : of_any)[lines - 1][places];
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

/* Those that do not hear that it is streamed have an ordinary store. */
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

/* ---- its life ---- */

void front_init(struct front *f, const struct machine *machines, uint32_t nmachines)
{
	uint32_t sets = ~0u;

	for (uint32_t i = 0; i < nmachines; i++)
		if (machine_fewest_sets(&machines[i]) < sets)
			sets = machine_fewest_sets(&machines[i]);
	for (uint32_t i = 0; i < nmachines; i++)
		f->asks_who |= (uint32_t)machine_asks_who(&machines[i]);
	far_lines_init(&f->far_lines, sets);
	f->line_shift = log2_of(machines[0].line);
	f->clock = f->clock_seen = 1;
	f->last_line = NO_LINE;
	for (uint32_t i = 0; i < DATA_FILTER; i++)
		f->data[i].line = NO_LINE;
	for (uint32_t i = 0; i < CODE_FILTER; i++)
		f->code[i].line = NO_LINE;
}

static int same_members(
	const struct front *f, struct core *const *members, uint32_t nmembers)
{
	for (uint32_t i = 0; i < nmembers; i++)
		if (f->member[i] != members[i])
			return 0;
	return f->nmembers == nmembers;
}

static void leave_filter(struct front *f)
{
	front_collect(f);
	forget_all(f);
	for (uint32_t i = 0; i < f->nmembers; i++) {
		f->member[i]->last_line = f->last_line;
		f->member[i]->flex->bit = 0;
	}
}

void front_use(struct front *f, struct core *const *members, uint32_t nmembers)
{
	if (same_members(f, members, nmembers))
		return;
	leave_filter(f);
	f->nmembers = nmembers;
	f->all = (1u << nmembers) - 1;
	f->code_aware = f->resuming = 0;
	f->last_line = nmembers ? members[0]->last_line : NO_LINE;
	for (uint32_t i = 0; i < nmembers; i++) {
		f->member[i] = members[i];
		members[i]->flex->bit = 1u << members[i]->flex->number;
		f->code_aware |= (uint32_t)flex_is_code_aware(members[i]) << i;
		f->resuming |= members[i]->last_line != f->last_line;
	}
	if (f->resuming)
		f->last_line = NO_LINE;
}

static void add_to(struct front *f, uint32_t i, uint64_t lines)
{
	uint64_t *count = f->member[i]->count;

	count[CP_SIM_instructions] += f->clock >> 32;
	count[CP_SIM_l1d_loads] += f->loads;
	count[CP_SIM_l1d_stores] += f->stores;
	count[CP_SIM_l1d_rmw] += f->rmw;
	f->member[i]->ported += f->ports;
	if (!(f->code_aware >> i & 1)) /* which counts by itself */
		count[CP_SIM_l1i_accesses] += lines;
}

void front_collect(struct front *f)
{
	uint32_t ticks = (uint32_t)f->clock - (uint32_t)f->clock_seen;
	uint64_t lines = ticks - f->idle_ticks - 2 * ((uint64_t)f->loads + f->stores);

	for (uint32_t i = 0; i < f->nmembers; i++)
		add_to(f, i, lines);
	f->clock = (uint32_t)f->clock;
	f->loads = f->stores = f->rmw = f->ports = f->idle_ticks = 0;
	if (f->clock > CLOCK_LIMIT) {
		forget_all(f);
		f->epoch += EPOCH;
		f->clock = 1;
	}
	f->clock_seen = f->clock;
}
