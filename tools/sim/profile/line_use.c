/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Which bytes of each line that L1D fetches are used until it goes: of all (--line-use),
 * or, where misses are profiled, of a sample.
 *
 * The model of the machine keeps no bytes.  Here is an L1D of that geometry for each
 * thread, with LRU and nothing else: it sees every data reference in the program's order,
 * and when a line goes, or when nothing comes any more, the bytes that were used are
 * added to those of the data that the line was fetched for: of a variable by where in it
 * the line is, so that fields of an array's elements can be told apart.
 *
 * A sample is of windows of the references, each of which begins with an empty cache.
 * Lines that it fetches into a set that is not full are not counted, since L1D may have
 * had them, nor those that are there at its end; the others stand for those of the time
 * since the window before.  A window ends when it has fetched what L1D holds LINES_TIMES
 * times, is LONGEST, or QUIET with few lines: these cost little.
 */
#include "base/random.h"
#include "model/every.h"
#include "profile/profile.h"

#define LINES_TIMES 8
#define LONGEST (1u << 18)
#define QUIET (1u << 16)
#define QUIET_LINES 256 /* references for each line, from which on there are few */
/* Times as long until the next one, in the mean; after the first ones, fewer: of what
 * runs for short, enough is seen. */
#define REST 15

/* The most recently used is the first of its set. */
struct way {
	ULong number; /* of the line, plus one; 0: nothing */
	ULong used;   /* a bit for each 64th, or each byte of a shorter line */
	UInt object;
	UInt window : 31; /* it is of; of another one: it is gone */
	UInt part : 1;    /* L1D may have had it before */
};

/* One for the process: the models of all threads, and the uses that they counted. */
static struct {
	/* By thread. */
	struct way *models[CP_PROFILE_THREADS + 1];
	Int thread;
	/* By object: one for each slot of a variable, one of other data. */
	struct cp_profile_use ***uses;
	UInt nuses;
	UInt sets, ways, shift, bit_shift;
	UInt window;        /* the sample's latest; 0: all references are one */
	UInt seen, fetched; /* in it */
	Bool in_window;
	uint64_t random;
} used = {.thread = -1};

/* ---- what was used ---- */

static struct cp_profile_use **uses_of(UInt object, Addr start)
{
	if (object >= used.nuses) {
		UInt more = 2 * object + 64;

		used.uses = VG_(realloc)(
			"cachepeek.uses", used.uses, more * sizeof(*used.uses));
		VG_(memset)
		(used.uses + used.nuses, 0, (more - used.nuses) * sizeof(*used.uses));
		used.nuses = more;
	}
	if (!used.uses[object])
		used.uses[object] = VG_(calloc)("cachepeek.slots",
			start ? CP_PROFILE_USE_LAST + 1 : 1, sizeof(**used.uses));
	return used.uses[object];
}

static UInt slot_of(const struct way *way, Addr *start)
{
	ULong size, line, last;

	*start = way->object ? profile_variable_at(way->object, &size) : 0;
	if (!*start)
		return 0;
	line = way->number - 1 - (*start >> used.shift);
	last = ((*start + size - 1) >> used.shift) - (*start >> used.shift);
	if (last >= CP_PROFILE_USE_SLOTS && (line == 0 || line == last))
		return line ? CP_PROFILE_USE_LAST : CP_PROFILE_USE_FIRST;
	return line % CP_PROFILE_USE_SLOTS;
}

static struct cp_profile_use *use_of(const struct way *way)
{
	Addr start = 0;
	UInt slot = slot_of(way, &start);
	struct cp_profile_use **use = uses_of(way->object, start) + slot;

	if (*use)
		return *use;
	*use = profile_allocate(sizeof(**use));
	if (!*use)
		return NULL;
	(*use)->object = way->object;
	(*use)->line = 1u << used.shift;
	(*use)->slot = slot;
	(*use)->begin = start & ((1u << used.shift) - 1);
	profile_publish(*use, CP_PROFILE_USE);
	return *use;
}

/* Times its length that the latest window waited for the end of the one before, in the
 * mean. */
static UInt rest_before(UInt window)
{
	return window - 1 < REST ? window - 1 : REST;
}

static void account_for(const struct way *way)
{
	struct cp_profile_use *use = use_of(way);
	UInt stands_for = used.window ? 1 + rest_before(used.window) : 1, sparse;

	if (!use)
		return;
	sparse = 4u * (UInt)__builtin_popcountll(way->used) <
		 3u << (used.shift - used.bit_shift);
	sparse *= stands_for;
	use->seen += used.window > 0;
	use->fetched += stands_for;
	use->sparse += sparse;
	for (ULong left = way->used; left; left &= left - 1) {
		use->used[__builtin_ctzll(left)] += stands_for;
		use->used_of_sparse[__builtin_ctzll(left)] += sparse;
	}
}

/* ---- references ---- */

static Bool is_there(const struct way *way)
{
	return way->number && way->window == used.window;
}

static void fetch_line(struct way *set, ULong number, Addr a)
{
	const struct cp_profile_object *object = profile_object_at(a);
	const struct way *last = &set[used.ways - 1];
	Bool full = is_there(last);

	if (full && !last->part)
		account_for(last);
	VG_(memmove)(set + 1, set, (used.ways - 1) * sizeof(*set));
	set[0] = (struct way){.number = number + 1,
		.object = object ? object->id : 0,
		.window = used.window,
		.part = used.window && !full};
	used.fetched++;
}

static void make_first(struct way *set, UInt at)
{
	struct way it = set[at];

	VG_(memmove)(set + 1, set, at * sizeof(*set));
	set[0] = it;
}

/* Where it is, or would be, in its set; its number of ways: it is not there. */
static UInt find_line(ULong number, struct way **set)
{
	UInt i = 0;

	*set = used.models[used.thread] + (number & (used.sets - 1)) * used.ways;
	while (i < used.ways && !((*set)[i].number == number + 1 && is_there(*set + i)))
		i++;
	return i;
}

static void see_line(Addr a, UInt bytes, Bool used_too)
{
	struct way *set;
	ULong number = a >> used.shift;
	UInt i = find_line(number, &set);
	UInt first = (a & ((1u << used.shift) - 1)) >> used.bit_shift,
	     last = ((a + bytes - 1) & ((1u << used.shift) - 1)) >> used.bit_shift;

	if (i == used.ways)
		fetch_line(set, number, a);
	else if (i)
		make_first(set, i);
	if (used_too)
		set[0].used |= (~0ull >> (63 - (last - first))) << first;
}

/* It leaves the cache, or is not fetched. */
static void pass_line(ULong number)
{
	struct way *set;
	UInt i = find_line(number, &set);

	if (i == used.ways)
		return;
	if (!set[i].part)
		account_for(&set[i]);
	VG_(memmove)(set + i, set + i + 1, (used.ways - 1 - i) * sizeof(*set));
	set[used.ways - 1] = (struct way){0};
}

static void see_data(uint64_t addr, uint32_t size, enum batch_kind kind)
{
	UInt line = 1u << used.shift;

	if (used.thread < 0 || (kind == BATCH_FLOAT && tool_options.float_loads))
		return;
	if (!used.models[used.thread])
		used.models[used.thread] = VG_(calloc)("cachepeek.lineuse",
			(SizeT)used.sets * used.ways, sizeof(struct way));
	while (size) {
		UInt here = line - (addr & (line - 1));

		here = size < here ? size : here;
		if (kind == BATCH_STREAM)
			pass_line(addr >> used.shift);
		else
			see_line(addr, here, kind != BATCH_PREFETCH);
		addr += here;
		size -= here;
	}
}

/* ---- windows ---- */

static Bool goes_on(void)
{
	return used.fetched < LINES_TIMES * used.sets * used.ways &&
	       used.seen < LONGEST &&
	       (used.seen < QUIET || used.fetched >= used.seen / QUIET_LINES);
}

/* Somewhere in twice the rest. */
static void await_window(void)
{
	ULong most = 2ul * rest_before(used.window + 1) * used.seen;

	every_part_await(EVERY_LINE_USE, (int64_t)(cp_random(&used.random) % most));
}

static int wants_part(uint32_t references)
{
	if (!used.in_window) {
		used.in_window = True;
		used.window++;
		used.seen = used.fetched = 0;
	}
	used.seen += references;
	used.in_window = goes_on();
	if (!used.in_window)
		await_window();
	return used.in_window;
}

/* ---- its life ---- */

static Bool is_looked_at(void)
{
	return tool_options.line_use || every_parts.of[EVERY_LINE_USE].wants;
}

void line_use_use(Int t)
{
	used.thread = t > CP_PROFILE_THREADS ? CP_PROFILE_THREADS : t;
}

void line_use_finish(void)
{
	for (UInt t = 0; tool_options.line_use && t <= CP_PROFILE_THREADS; t++)
		for (ULong i = 0; used.models[t] && i < (ULong)used.sets * used.ways; i++)
			if (used.models[t][i].number)
				account_for(&used.models[t][i]);
}

/* Its file has none of what its parent used; its caches begin empty, as its counts do. */
void line_use_fork_child(void)
{
	if (!is_looked_at())
		return;
	for (UInt i = 0; i < used.nuses; i++)
		VG_(free)(used.uses[i]);
	VG_(memset)(used.uses, 0, used.nuses * sizeof(*used.uses));
	for (UInt t = 0; t <= CP_PROFILE_THREADS; t++) {
		VG_(free)(used.models[t]);
		used.models[t] = NULL;
	}
	used.thread = -1;
}

void line_use_start(void)
{
	if (!tool_options.sites || tool_options.sample.sets || tool_options.nmachines > 1)
		return;
	used.sets = tool_options.machine.l1d.sets;
	used.ways = tool_options.machine.l1d.ways;
	used.shift = log2_of(tool_options.machine.l1d.line);
	used.bit_shift = used.shift > 6 ? used.shift - 6 : 0;
	if (tool_options.line_use) {
		every_add(NULL, see_data);
		return;
	}
	every_parts.of[EVERY_LINE_USE].wants = wants_part;
	every_parts.of[EVERY_LINE_USE].see = see_data;
	every_part_await(EVERY_LINE_USE, 0);
}
