/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/sharing.h"

#include "base/random.h"
#include "model/every.h"
#include "profile/profile.h"
#include "table.h"

#define PARTS CP_PROFILE_PARTS

/* Lines that are looked after; beyond that references are counted as lost. */
#define MOST_LINES (4u << 20)

struct sharer {
	struct sharer *next; /* of the line */
	Bool in_file;
	UInt others;                   /* references of instructions that have no place */
	struct cp_profile_sharer *out; /* in the file, or behind this */
	/* Turns of the thread: twice their number, plus one if it wrote. */
	UInt *turns, nturns, room, at;
	Bool has; /* the line, as far as they are gone through */
};

struct line {
	ULong number; /* plus one; 0: free */
	UInt incarnation;
	Bool written, shared; /* shared: in the file */
	struct sharer *sharers;
};

/* A thread's first references to a line are asked for their instruction, and later ones
 * at random, so many apart at most. */
#define ASKED 16
#define SKIPPED 64

/* Where the running thread's last references went. */
#define RECENT 1024

struct recent {
	ULong number; /* of the line, plus one; 0: nothing */
	struct sharer *sharer;
	ULong index;
};

/* The deeds of all threads to each line, and the time by which their turns go. */
static struct {
	/* The running thread's time, and everybody's; in data references. */
	ULong clocks[CP_PROFILE_THREADS + 1], now, ended;
	ULong *born; /* by ThreadId */
	Bool begun[CP_PROFILE_THREADS + 1];
	struct table lines;
	UInt line_shift_of_l1d, line_shift_of_code, bit_shift, living, skip;
	uint64_t random;
	Int thread;
	struct cp_profile_slices *slices;
	struct recent recent[RECENT];
} sharing = {.living = 1, .skip = 1, .thread = -1};

static void forget_recent(void)
{
	VG_(memset)(sharing.recent, 0, sizeof(sharing.recent));
}

/* ---- lines ---- */

/* NULL: there are too many. */
static struct line *line_at(ULong number)
{
	ULong room = sharing.lines.room;
	struct line *line = table_find(&sharing.lines, sizeof(*line), number + 1);

	if (line || sharing.lines.used >= MOST_LINES)
		return line;
	line = table_add(&sharing.lines, sizeof(*line), number + 1);
	if (sharing.lines.room != room)
		forget_recent();
	return line;
}

static struct line *line_in(ULong i)
{
	return (struct line *)sharing.lines.slots + i;
}

/* ---- who uses them ---- */

static struct sharer *new_sharer(struct line *line)
{
	struct sharer *s = VG_(calloc)(
		"cachepeek.sharer", 1, sizeof(*s) + sizeof(struct cp_profile_sharer));

	s->out = (struct cp_profile_sharer *)(s + 1);
	s->out->line = (line->number - 1) << sharing.line_shift_of_l1d;
	s->out->incarnation = line->incarnation;
	s->out->thread = (UInt)sharing.thread;
	s->next = line->sharers;
	line->sharers = s;
	return s;
}

static struct sharer *sharer_of(struct line *line)
{
	for (struct sharer *s = line->sharers; s; s = s->next)
		if (s->out->thread == (UInt)sharing.thread)
			return s;
	return new_sharer(line);
}

/* One that has too many modules before it is not known. */
static void put_module(struct cp_profile_place *place)
{
	ULong module = profile_module_at(place->instruction);

	place->how &= CP_PLACE_WRITES | CP_PLACE_TIMES;
	if (module <= CP_PLACE_MODULES)
		place->how |= module << CP_PLACE_TIMES_BITS;
}

/* Into the file, where it is counted from here on. */
static void publish_sharer(struct sharer *s)
{
	struct cp_profile_sharer *out;

	if (s->in_file)
		return;
	for (UInt i = 0; i < CP_PROFILE_PLACES && s->out->place[i].instruction; i++)
		put_module(&s->out->place[i]);
	out = profile_allocate(sizeof(*out));
	if (!out)
		return;
	s->out->entry = out->entry;
	*out = *s->out;
	s->out = out;
	s->in_file = True;
	profile_publish(out, CP_PROFILE_SHARER);
}

/* Publishes the line once two threads use it, one of which writes. */
static void publish_all(struct line *line)
{
	if (!line->written || !line->sharers || !line->sharers->next)
		return;
	line->shared = True;
	for (struct sharer *s = line->sharers; s; s = s->next)
		publish_sharer(s);
}

/* ---- references ---- */

/* 64ths of the line. */
static ULong bits_of(UInt first, UInt last)
{
	first >>= sharing.bit_shift;
	last >>= sharing.bit_shift;
	return (~0ull >> (63 - (last - first))) << first;
}

/* Each turn once; writing counts for all of it. */
static void note_turn(struct sharer *s, Bool writes)
{
	UInt turn = (UInt)(sharing.now / tool_options.quantum) << 1;

	if (s->nturns && (s->turns[s->nturns - 1] & ~1u) == turn) {
		s->turns[s->nturns - 1] |= writes;
		return;
	}
	if (s->nturns == s->room) {
		s->room = s->room ? 2 * s->room : 4;
		s->turns = VG_(realloc)(
			"cachepeek.turns", s->turns, s->room * sizeof(*s->turns));
	}
	s->turns[s->nturns++] = turn | writes;
}

static ULong weight_of(const struct cp_profile_place *place)
{
	return place->how & (CP_PLACE_WRITES | CP_PLACE_TIMES);
}

/* A place that writes takes one that a reader had; others wait until those without one
 * have had more references than it. */
static UInt give_place(struct sharer *s, Addr instruction, ULong writes)
{
	struct cp_profile_place *place = s->out->place, *least = place;

	for (UInt i = 1; i < CP_PROFILE_PLACES; i++)
		if (weight_of(&place[i]) < weight_of(least))
			least = &place[i];
	if (least->how & CP_PLACE_WRITES & ~writes)
		return CP_PROFILE_PLACES;
	if (least->instruction && (least->how & CP_PLACE_WRITES) == writes &&
		++s->others <= (least->how & CP_PLACE_TIMES))
		return CP_PROFILE_PLACES;
	s->others = 0;
	least->instruction = instruction;
	least->how = writes;
	if (s->in_file)
		put_module(least);
	return (UInt)(least - place);
}

static void draw(void)
{
	sharing.skip = 1 + (UInt)cp_random(&sharing.random) % SKIPPED;
}

static __attribute__((noinline)) void note_place(struct sharer *s, Bool writes)
{
	Addr instruction = every_instruction(sharing.line_shift_of_code);
	struct cp_profile_place *place = s->out->place;
	ULong how = writes ? CP_PLACE_WRITES : 0;
	UInt i = 0;

	if (!sharing.skip)
		draw();
	if (!instruction)
		return;
	while (i < CP_PROFILE_PLACES && place[i].instruction != instruction)
		i++;
	if (i == CP_PROFILE_PLACES)
		i = give_place(s, instruction, how);
	if (i < CP_PROFILE_PLACES)
		place[i].how = (place[i].how + 1) | how;
}

static void count_reference(
	struct recent *at, ULong number, UInt first, UInt last, enum batch_kind kind)
{
	struct line *line = line_in(at->index);
	struct cp_profile_sharer *out = at->sharer->out;
	ULong bits = bits_of(first, last);
	UInt shift = sharing.line_shift_of_l1d - 3;
	Bool writes = kind == BATCH_WRITE || kind == BATCH_MODIFY || kind == BATCH_STREAM,
	     reads = !writes || kind == BATCH_MODIFY, news = !out->loads && !out->stores;

	if (tool_options.quantum)
		note_turn(at->sharer, writes);
	out->loads += reads;
	out->stores += writes;
	out->read |= reads ? bits : 0;
	out->written |= writes ? bits : 0;
	for (UInt part = first >> shift; part <= last >> shift; part++) {
		out->part[part]++;
		if (!out->object[part]) {
			UInt byte = part << shift > first ? part << shift : first;
			struct cp_profile_object *object = profile_object_at(
				(number << sharing.line_shift_of_l1d) + byte);

			out->object[part] = object ? object->id : 0;
		}
	}
	if (out->loads + out->stores <= ASKED || !--sharing.skip)
		note_place(at->sharer, writes);
	if (writes && !line->written) {
		line->written = True;
		news = True;
	}
	if (news)
		publish_all(line);
}

static void see_line(ULong number, UInt first, UInt last, enum batch_kind kind)
{
	struct recent *at = &sharing.recent[number & (RECENT - 1)];
	struct line *line;

	if (at->number != number + 1) {
		line = line_at(number);
		if (!line) {
			if (sharing.slices)
				sharing.slices->lost++;
			return;
		}
		*at = (struct recent){.number = number + 1,
			.sharer = sharer_of(line),
			.index = (ULong)(line - line_in(0))};
	}
	count_reference(at, number, first, last, kind);
}

static void see_data(uint64_t addr, uint32_t size, enum batch_kind kind)
{
	UInt bytes = 1u << sharing.line_shift_of_l1d;

	if (sharing.thread < 0)
		return;
	sharing.now++;
	if (sharing.living < 2)
		return;
	while (size) {
		UInt first = addr & (bytes - 1),
		     here = size < bytes - first ? size : bytes - first;

		see_line(
			addr >> sharing.line_shift_of_l1d, first, first + here - 1, kind);
		addr += here;
		size -= here;
	}
}

/* ---- turns ---- */

/* The thread whose turn is next; NULL: all are over.  Within a turn, in the order of the
 * threads. */
static struct sharer *next_turn(const struct line *line)
{
	struct sharer *next = NULL;

	for (struct sharer *s = line->sharers; s; s = s->next) {
		UInt turn;

		if (s->at == s->nturns)
			continue;
		turn = s->turns[s->at] >> 1;
		if (!next || turn < next->turns[next->at] >> 1 ||
			(turn == next->turns[next->at] >> 1 &&
				s->out->thread < next->out->thread))
			next = s;
	}
	return next;
}

/* Goes through the turns: the line is held by one that has modified it, or by readers. */
static void replay_line(struct line *line)
{
	const struct sharer *modified = NULL;
	struct sharer *s;

	for (s = line->sharers; s; s = s->next)
		s->has = False;
	while ((s = next_turn(line))) {
		Bool writes = s->turns[s->at++] & 1;

		if (modified && modified != s)
			s->out->hitm++;
		for (struct sharer *other = line->sharers; writes && other;
			other = other->next)
			if (other != s && other->has) {
				s->out->invalidations++;
				other->has = False;
			}
		s->has = True;
		if (writes)
			modified = s;
		else if (modified != s)
			modified = NULL;
	}
}

/* ---- new memory ---- */

static void free_sharers(struct line *line)
{
	while (line->sharers) {
		struct sharer *next = line->sharers->next;

		VG_(free)(line->sharers->turns);
		VG_(free)(line->sharers);
		line->sharers = next;
	}
}

static void renew_line(struct line *line)
{
	if (!line->sharers)
		return;
	if (line->shared && tool_options.quantum)
		replay_line(line);
	free_sharers(line);
	line->incarnation++;
	line->written = line->shared = False;
}

/* A line that is new in part keeps the rest; once it is shared, all of it. */
static void renew_part(struct line *line, UInt first, UInt last)
{
	ULong bits = bits_of(first, last);

	if (line->shared)
		return;
	line->written = False;
	for (struct sharer *s = line->sharers; s; s = s->next) {
		s->out->read &= ~bits;
		s->out->written &= ~bits;
		line->written |= s->out->written != 0;
		if (!(s->out->read | s->out->written))
			VG_(memset)(s->out->place, 0, sizeof(s->out->place));
	}
}

static void renew_in(ULong number, Addr a, Addr end)
{
	Addr start = number << sharing.line_shift_of_l1d;
	UInt bytes = 1u << sharing.line_shift_of_l1d;
	struct line *line = table_find(&sharing.lines, sizeof(*line), number + 1);

	if (line && a <= start && end >= start + bytes)
		renew_line(line);
	else if (line)
		renew_part(line, a > start ? a - start : 0,
			(end < start + bytes ? end - start : bytes) - 1);
}

void sharing_renew(Addr a, SizeT size)
{
	ULong first = a >> sharing.line_shift_of_l1d,
	      last = (a + size - 1) >> sharing.line_shift_of_l1d;

	if (!tool_options.sharing || !sharing.lines.used || !size)
		return;
	forget_recent();
	if (last - first >
		sharing.lines.used) { /* a reservation: look at what there is */
		for (ULong i = 0; i < sharing.lines.room; i++)
			if (line_in(i)->number > first && line_in(i)->number <= last + 1)
				renew_line(line_in(i));
		return;
	}
	for (; first <= last; first++)
		renew_in(first, a, a + size);
}

/* ---- its life ---- */

static void put_slices(void)
{
	if (sharing.slices)
		return;
	sharing.slices = profile_allocate(sizeof(*sharing.slices));
	if (!sharing.slices)
		return;
	sharing.slices->quantum = tool_options.quantum;
	sharing.slices->line = 1u << sharing.line_shift_of_l1d;
	profile_publish(sharing.slices, CP_PROFILE_SLICES);
}

static UInt clock_of(Int t)
{
	return t >= 0 && t < CP_PROFILE_THREADS ? (UInt)t : CP_PROFILE_THREADS;
}

/* A thread begins when it was created. */
static void switch_clock(Int t)
{
	if (sharing.thread >= 0)
		sharing.clocks[clock_of(sharing.thread)] = sharing.now;
	if (t < 0)
		return;
	if (!sharing.begun[clock_of(t)]) {
		sharing.begun[clock_of(t)] = True;
		sharing.clocks[clock_of(t)] = sharing.born[VG_(get_running_tid)()];
	}
	sharing.now = sharing.clocks[clock_of(t)];
}

void sharing_use(Int t)
{
	if (!tool_options.sharing || t == sharing.thread)
		return;
	if (t >= 0)
		put_slices();
	switch_clock(t);
	sharing.thread = t;
	forget_recent();
}

/* If nobody else lives, its creator has waited for those that did. */
void sharing_thread_begin(ThreadId tid)
{
	if (sharing.living++ == 1 && sharing.now < sharing.ended)
		sharing.now = sharing.ended;
	if (sharing.born)
		sharing.born[tid] = sharing.now;
}

void sharing_thread_end(void)
{
	if (sharing.living)
		sharing.living--;
	if (sharing.now > sharing.ended)
		sharing.ended = sharing.now;
}

void sharing_finish(void)
{
	if (!tool_options.sharing || !sharing.slices)
		return;
	for (ULong i = 0; tool_options.quantum && i < sharing.lines.room; i++)
		if (line_in(i)->shared)
			replay_line(line_in(i));
	sharing.slices->whole = 1;
}

void sharing_fork_child(void)
{
	if (!tool_options.sharing)
		return;
	for (ULong i = 0; i < sharing.lines.room; i++)
		free_sharers(line_in(i));
	VG_(free)(sharing.lines.slots);
	sharing.lines = (struct table){0};
	sharing.living = 1;
	sharing.slices = NULL;
	sharing.thread = -1;
	sharing.now = sharing.ended = 0;
	VG_(memset)(sharing.begun, 0, sizeof(sharing.begun));
	VG_(memset)(sharing.born, 0, VG_N_THREADS * sizeof(*sharing.born));
	forget_recent();
}

void sharing_start(void)
{
	if (!tool_options.sharing)
		return;
	sharing.born =
		VG_(calloc)("cachepeek.born", most_threads(), sizeof(*sharing.born));
	sharing.line_shift_of_l1d = log2_of(tool_options.machine.l1d.line);
	sharing.bit_shift =
		sharing.line_shift_of_l1d > 6 ? sharing.line_shift_of_l1d - 6 : 0;
	sharing.line_shift_of_code = log2_of(tool_options.machine.line);
	every_add(NULL, see_data);
}
