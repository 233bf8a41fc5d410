/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Which instruction had which misses, as tools/sim/profile has it: what the core's
 * counters grow by belongs to the reference that was made meanwhile.
 */
#include "tools/shadow/parts.h"

#include "model/span.h"
#include "profile_file.h"

/* By enum cp_sim_sampled: the counter of those that places have; 0 is none. */
static const UChar counter_of[CP_SIM_NBURST] = {
#define X(name) CP_SIM_##name,
	CP_SIM_BURST_COUNTERS(X)
#undef X
};

static struct {
	Bool on, idle; /* idle: what comes is not counted */
	ULong seen[CP_SIM_NBURST];
	Addr instruction; /* of the latest reference */
} misses;

static inline Bool is_placed(UInt i)
{
	return counter_of[i] >= CP_PROFILE_FIRST &&
	       counter_of[i] < CP_PROFILE_FIRST + CP_PROFILE_COUNTERS;
}

/* ---- the table ---- */

static struct cp_shadow_misses *table(void)
{
	return shadow_plan.shared->misses;
}

static void empty_table(void)
{
	struct cp_shadow_misses *t = table();

	VG_(memset)(t->slot, 0, sizeof(t->slot));
	VG_(memset)(t->of, 0, sizeof(t->of[0]));
	VG_(memset)(t->unknown, 0, sizeof(t->unknown));
	t->n = 1;
	t->beyond = 0;
}

static struct cp_shadow_missed *find(Addr instruction)
{
	struct cp_shadow_misses *t = table();
	UInt i = (UInt)(instruction * 0x9e3779b97f4a7c15ull >> 51);

	_Static_assert(CP_SHADOW_PLACE_SLOTS == 1 << 13, "as many as the hash has bits");
	for (; t->slot[i]; i = (i + 1) % CP_SHADOW_PLACE_SLOTS)
		if (t->of[t->slot[i]].address == instruction)
			return &t->of[t->slot[i]];
	if (!instruction || t->n == CP_SHADOW_PLACES) {
		t->beyond++;
		return &t->of[0];
	}
	t->slot[i] = (UShort)t->n;
	VG_(memset)(&t->of[t->n], 0, sizeof(t->of[0]));
	t->of[t->n].address = instruction;
	return &t->of[t->n++];
}

/* ---- what the model counts ---- */

/* As core_collect() would have it: of references, and not of lines and pages. */
static ULong count_now(UInt i)
{
	ULong n = running->count[counter_of[i]];

	for (UInt level = 0; level < SPAN_LEVELS; level++)
		for (UInt store = 0; store < 2; store++)
			if (counter_of[i] == span_levels[level].misses + store)
				n += running->count[span_levels[level].lines + store];
	return n;
}

static void see(void)
{
	for (UInt i = 0; i < CP_SIM_NBURST; i++)
		misses.seen[i] = is_placed(i) ? count_now(i) : 0;
}

static __attribute__((noinline)) void attribute_counts(void)
{
	struct cp_shadow_missed *of = find(misses.instruction);

	for (UInt i = 0; i < CP_SIM_NBURST; i++) {
		ULong now;

		if (!is_placed(i))
			continue;
		now = count_now(i);
		of->count[i] += (UInt)(now - misses.seen[i]);
		misses.seen[i] = now;
	}
}

/* None of these, none at all: references miss where lines and pages do. */
static inline Bool is_quiet(void)
{
	const uint64_t *n = running->count;
	ULong changed = 0;

#define X(name) changed |= n[CP_SIM_##name] ^ misses.seen[CP_SIM_BURST_##name];
	X(l1i_misses)
	X(l1d_load_lines)
	X(l1d_store_lines)
	X(l1d_writebacks)
	X(itlb_misses)
	X(itlb_walks)
	X(dtlb_load_pages)
	X(dtlb_store_pages)
	X(dtlb_load_walks)
	X(dtlb_store_walks)
#undef X
	return !changed;
}

static void settle(void)
{
	if (!misses.idle && !is_quiet())
		attribute_counts();
}

/* Before a reference, on plain machines; and after one, on others. */
static void announce(struct core *core, uint64_t instruction, uint64_t address)
{
	(void)address;
	if (core->flex)
		return;
	settle();
	misses.instruction = instruction;
}

static void observe(struct core *core, const struct batch_origin *origin)
{
	if (!core->flex)
		return;
	misses.instruction = origin->instruction;
	settle();
}

/* ---- steps ---- */

/* Translations that are kept have what tells of references in them, or have not. */
void misses_start(void)
{
	misses.on = table() != NULL;
	if (!misses.on)
		return;
	batch_told.announce = announce;
	if (tool_options.has_front)
		batch_told.observe = observe;
}

void misses_begin(void)
{
	if (!misses.on)
		return;
	misses.idle = True;
	empty_table();
}

void misses_pause(void)
{
	if (!misses.on)
		return;
	settle();
	misses.idle = True;
}

void misses_resume(void)
{
	if (!misses.on || shadow_plan.shared->is_region)
		return;
	see();
	misses.instruction = 0;
	misses.idle = False;
}

static ULong entries_of(const struct geometry *g)
{
	return (ULong)g->sets * g->ways;
}

/* A line that came into an empty way may have been there, and one that was there may have
 * been written back: no more than there are ways. */
static ULong unknown_in(
	const struct cp_shadow_window *window, enum cp_shadow_counter of, ULong ways)
{
	if (!running->flex)
		return window->unknown[of];
	return ways < window->count[of] ? ways : window->count[of];
}

static void store_unknown(const struct cp_shadow_window *w, uint64_t *to)
{
	const struct machine *m = &tool_options.machine;
	ULong data = entries_of(&m->dtlb) + entries_of(&m->dtlb_2m),
	      code = entries_of(&m->itlb) + entries_of(&m->itlb_2m),
	      second = entries_of(&m->stlb) + entries_of(&m->stlb_2m),
	      walks = data + second + entries_of(&m->dtlb2) + entries_of(&m->dtlb2_2m),
	      more = code + second + entries_of(&m->itlb2) + entries_of(&m->itlb2_2m),
	      lines = unknown_in(w, CP_SHADOW_l1d_misses, entries_of(&m->l1d));

	data = unknown_in(w, CP_SHADOW_dtlb_misses, data);
	walks = unknown_in(w, CP_SHADOW_dtlb_walks, walks);
	to[CP_SIM_BURST_l1i_misses] =
		unknown_in(w, CP_SHADOW_l1i_misses, entries_of(&m->l1i));
	to[CP_SIM_BURST_l1d_load_lines] = to[CP_SIM_BURST_l1d_store_lines] = lines;
	to[CP_SIM_BURST_l1d_load_misses] = to[CP_SIM_BURST_l1d_store_misses] = lines;
	to[CP_SIM_BURST_l1d_writebacks] = lines;
	to[CP_SIM_BURST_itlb_misses] = unknown_in(w, CP_SHADOW_itlb_misses, code);
	to[CP_SIM_BURST_itlb_walks] = unknown_in(w, CP_SHADOW_itlb_walks, more);
	to[CP_SIM_BURST_dtlb_load_pages] = to[CP_SIM_BURST_dtlb_store_pages] = data;
	to[CP_SIM_BURST_dtlb_load_misses] = to[CP_SIM_BURST_dtlb_store_misses] = data;
	to[CP_SIM_BURST_dtlb_load_walks] = to[CP_SIM_BURST_dtlb_store_walks] = walks;
}

void misses_end(const struct cp_shadow_window *window)
{
	if (!misses.on)
		return;
	settle();
	misses.idle = True;
	store_unknown(window, table()->unknown);
}
