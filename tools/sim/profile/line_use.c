/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Which bytes of each line that L1D fetches are used until it goes (--line-use).
 *
 * The model of the machine keeps no bytes.  Here is an L1D of that geometry for each
 * thread, with LRU and nothing else: it sees every data reference in the program's order,
 * and when a line goes, or when nothing comes any more, the bytes that were used are
 * added to those of the data that the line was fetched for: of a variable by where in it
 * the line is, so that fields of an array's elements can be told apart.
 */
#include "model/every.h"
#include "profile/profile.h"

/* The most recently used is the first of its set. */
struct way {
	ULong number; /* of the line, plus one; 0: nothing */
	ULong used;   /* a bit for each 64th, or each byte of a shorter line */
	UInt object;
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

static void account_for(const struct way *way)
{
	struct cp_profile_use *use = use_of(way);
	UInt sparse;

	if (!use)
		return;
	sparse = 4u * (UInt)__builtin_popcountll(way->used) <
		 3u << (used.shift - used.bit_shift);
	use->fetched++;
	use->sparse += sparse;
	for (ULong left = way->used; left; left &= left - 1) {
		use->used[__builtin_ctzll(left)]++;
		use->used_of_sparse[__builtin_ctzll(left)] += sparse;
	}
}

/* ---- references ---- */

static void fetch_line(struct way *set, ULong number, Addr a)
{
	const struct cp_profile_object *object = profile_object_at(a);

	if (set[used.ways - 1].number)
		account_for(&set[used.ways - 1]);
	VG_(memmove)(set + 1, set, (used.ways - 1) * sizeof(*set));
	set[0] = (struct way){number + 1, 0, object ? object->id : 0};
}

static void make_first(struct way *set, UInt at)
{
	struct way it = set[at];

	VG_(memmove)(set + 1, set, at * sizeof(*set));
	set[0] = it;
}

static void see_line(Addr a, UInt bytes, Bool used_too)
{
	ULong number = a >> used.shift;
	struct way *set =
		used.models[used.thread] + (number & (used.sets - 1)) * used.ways;
	UInt first = (a & ((1u << used.shift) - 1)) >> used.bit_shift,
	     last = ((a + bytes - 1) & ((1u << used.shift) - 1)) >> used.bit_shift, i = 0;

	while (i < used.ways && set[i].number != number + 1)
		i++;
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
	struct way *set =
		used.models[used.thread] + (number & (used.sets - 1)) * used.ways;
	UInt i = 0;

	while (i < used.ways && set[i].number != number + 1)
		i++;
	if (i == used.ways)
		return;
	account_for(&set[i]);
	VG_(memmove)(set + i, set + i + 1, (used.ways - 1 - i) * sizeof(*set));
	set[used.ways - 1] = (struct way){0};
}

static void see_data(uint64_t addr, uint32_t size, enum batch_kind kind)
{
	UInt line = 1u << used.shift;

	if (used.thread < 0 || (kind == BATCH_FLOAT && tool_options.float_loads))
		return;
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

/* ---- its life ---- */

void line_use_use(Int t)
{
	if (!tool_options.line_use)
		return;
	used.thread = t > CP_PROFILE_THREADS ? CP_PROFILE_THREADS : t;
	if (used.thread >= 0 && !used.models[used.thread])
		used.models[used.thread] = VG_(calloc)("cachepeek.lineuse",
			(SizeT)used.sets * used.ways, sizeof(struct way));
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
	if (!tool_options.line_use)
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
	if (!tool_options.line_use)
		return;
	used.sets = tool_options.machine.l1d.sets;
	used.ways = tool_options.machine.l1d.ways;
	used.shift = log2_of(tool_options.machine.l1d.line);
	used.bit_shift = used.shift > 6 ? used.shift - 6 : 0;
	every_add(NULL, see_data);
}
