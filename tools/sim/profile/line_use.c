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

Bool line_use_wanted;

/* The most recently used is the first of its set. */
struct way {
	ULong number; /* of the line, plus one; 0: nothing */
	ULong used;   /* a bit for each 64th, or each byte of a shorter line */
	UInt object;
};

/* By thread. */
static struct way *models[CP_PROFILE_THREADS + 1];
static Int thread = -1;

/* By object: one for each slot of a variable, one of other data. */
static struct cp_profile_use ***uses;
static UInt nuses;

static UInt sets, ways, shift, bit_shift;

/* ---- what was used ---- */

static struct cp_profile_use **uses_of(UInt object, Addr start)
{
	if (object >= nuses) {
		UInt more = 2 * object + 64;

		uses = VG_(realloc)("cachepeek.uses", uses, more * sizeof(*uses));
		VG_(memset)(uses + nuses, 0, (more - nuses) * sizeof(*uses));
		nuses = more;
	}
	if (!uses[object])
		uses[object] = VG_(calloc)("cachepeek.slots",
			start ? CP_PROFILE_USE_LAST + 1 : 1, sizeof(**uses));
	return uses[object];
}

static UInt slot_of(const struct way *way, Addr *start)
{
	ULong size, line, last;

	*start = way->object ? profile_variable_at(way->object, &size) : 0;
	if (!*start)
		return 0;
	line = way->number - 1 - (*start >> shift);
	last = ((*start + size - 1) >> shift) - (*start >> shift);
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
	(*use)->line = 1u << shift;
	(*use)->slot = slot;
	(*use)->begin = start & ((1u << shift) - 1);
	profile_publish(*use, CP_PROFILE_USE);
	return *use;
}

static void account_for(const struct way *way)
{
	struct cp_profile_use *use = use_of(way);
	UInt sparse;

	if (!use)
		return;
	sparse = 4u * (UInt)__builtin_popcountll(way->used) < 3u << (shift - bit_shift);
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

	if (set[ways - 1].number)
		account_for(&set[ways - 1]);
	VG_(memmove)(set + 1, set, (ways - 1) * sizeof(*set));
	set[0] = (struct way){number + 1, 0, object ? object->id : 0};
}

static void make_first(struct way *set, UInt at)
{
	struct way it = set[at];

	VG_(memmove)(set + 1, set, at * sizeof(*set));
	set[0] = it;
}

static void see_line(Addr a, UInt bytes)
{
	ULong number = a >> shift;
	struct way *set = models[thread] + (number & (sets - 1)) * ways;
	UInt first = (a & ((1u << shift) - 1)) >> bit_shift,
	     last = ((a + bytes - 1) & ((1u << shift) - 1)) >> bit_shift, i = 0;

	while (i < ways && set[i].number != number + 1)
		i++;
	if (i == ways)
		fetch_line(set, number, a);
	else if (i)
		make_first(set, i);
	set[0].used |= (~0ull >> (63 - (last - first))) << first;
}

static void see_data(uint64_t addr, uint32_t size, enum batch_kind kind)
{
	UInt line = 1u << shift;

	if (thread < 0 || (kind == BATCH_FLOAT && tool_float_loads))
		return;
	while (size) {
		UInt here = line - (addr & (line - 1));

		here = size < here ? size : here;
		see_line(addr, here);
		addr += here;
		size -= here;
	}
}

/* ---- its life ---- */

void line_use_use(Int t)
{
	if (!line_use_wanted)
		return;
	thread = t > CP_PROFILE_THREADS ? CP_PROFILE_THREADS : t;
	if (thread >= 0 && !models[thread])
		models[thread] = VG_(calloc)(
			"cachepeek.lineuse", (SizeT)sets * ways, sizeof(struct way));
}

void line_use_finish(void)
{
	for (UInt t = 0; line_use_wanted && t <= CP_PROFILE_THREADS; t++)
		for (ULong i = 0; models[t] && i < (ULong)sets * ways; i++)
			if (models[t][i].number)
				account_for(&models[t][i]);
}

/* Its file has none of what its parent used; its caches begin empty, as its counts do. */
void line_use_fork_child(void)
{
	if (!line_use_wanted)
		return;
	for (UInt i = 0; i < nuses; i++)
		VG_(free)(uses[i]);
	VG_(memset)(uses, 0, nuses * sizeof(*uses));
	for (UInt t = 0; t <= CP_PROFILE_THREADS; t++) {
		VG_(free)(models[t]);
		models[t] = NULL;
	}
	thread = -1;
}

void line_use_start(void)
{
	line_use_wanted = line_use_wanted && profile_sites;
	if (!line_use_wanted)
		return;
	sets = tool_machine.l1d.sets;
	ways = tool_machine.l1d.ways;
	shift = log2_of(tool_machine.l1d.line);
	bit_shift = shift > 6 ? shift - 6 : 0;
	every_add(NULL, see_data);
}
