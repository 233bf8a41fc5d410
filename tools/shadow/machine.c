/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The machine that a shadow runs on: the simulated PMU's own model, one core of it.  It
 * is private memory of the program that is never touched there, so each fork begins with
 * empty caches.
 *
 * In an empty LRU cache a hit is a hit of the true one, too, and so is a miss in a set
 * that is full.  Misses that fill an empty way are unknown: the true cache may have had
 * that line.  There are as many of them as there are lines in the cache at the end.
 */
#include "tools/shadow/parts.h"

#include "machine_options.h"
#include "machines/front.h"
#include "model/model.h"
#include "model/span.h"

struct tool_options tool_options = {.native = False};

static struct uncore uncore;
static const HChar *refused;

/* ---- what machine_options.c needs of options.c ---- */

/* The words are the library's own: what cannot be taken is a mistake in there. */
void refuse_option(const HChar *name, const HChar *why)
{
	(void)name, (void)why;
	shadow_finish(CP_SHADOW_BROKEN, 0, 0);
}

static Bool parse_number(const HChar **at, ULong *out)
{
	const HChar *digit = *at;

	for (*out = 0; *digit >= '0' && *digit <= '9'; digit++)
		*out = *out * 10 + (ULong)(*digit - '0');
	if (digit == *at)
		return False;
	*at = digit;
	return True;
}

Bool parse_numbers(const HChar **at, HChar separator, ULong *out, UInt n)
{
	for (UInt i = 0; i < n; i++) {
		if (i && *(*at)++ != separator)
			return False;
		if (!parse_number(at, &out[i]))
			return False;
	}
	return True;
}

Bool option_has_value(const HChar *arg, const struct option_value *rows)
{
	for (; rows->name; rows++) {
		SizeT length = VG_(strlen)(rows->name);

		if (VG_(strncmp)(arg, rows->name, length) != 0)
			continue;
		rows->parse(arg + length);
		return True;
	}
	return False;
}

/* ---- the machine ---- */

static void use_core(struct core *core)
{
	running = core;
	if (!tool_options.has_front)
		return;
	front = host_alloc(sizeof(*front));
	if (!front) {
		refused = "no memory for the simulated caches";
		return;
	}
	front_init(front, tool_options.machines, 1);
	front_use(front, &core, 1);
}

/* Time is not simulated. */
const HChar *machine_start(void)
{
	struct core *core;

	for (UInt i = 0; i < shadow_plan.nwords; i++)
		machine_options_parse(shadow_plan.words[i]);
	machine_options_add();
	tool_options.machines[0].time.memory = 0;
	tool_options.machine = tool_options.machines[0];
	tool_options.float_loads = tool_options.machine.l1d.fp_bypass;
	tool_options.has_front = !machine_is_plain(&tool_options.machine);
	core = uncore_init(&uncore, &tool_options.machine) == 0
		       ? core_new(&tool_options.machine, &uncore)
		       : NULL;
	if (!core)
		return "no memory for the simulated caches";
	core_attach(core);
	use_core(core);
	return refused;
}

/* ---- what it has counted ---- */

/* Counts so far.  The model adds up its misses for that, which is undone, as it goes on.
 */
static void collect(ULong n[CP_SIM_NALL])
{
	if (tool_options.has_front)
		front_collect(front);
	core_collect(running);
	VG_(memcpy)(n, running->count, CP_SIM_NALL * sizeof(*n));
	for (UInt i = 0; i < SPAN_LEVELS; i++)
		for (UInt store = 0; store < 2; store++)
			running->count[span_levels[i].misses + store] -=
				running->count[span_levels[i].lines + store];
}

ULong machine_instructions(void)
{
	ULong clock = tool_options.has_front ? front->clock : running->clock;

	return running->count[CP_SIM_instructions] + (clock >> 32);
}

static ULong lines_in(const struct cache *c)
{
	ULong n = 0;

	for (UInt set = 0; set < c->sets; set++)
		for (UInt way = 0; way < c->ways; way++)
			n += row_tags(cache_row(c, set))[way] != 0;
	return n;
}

static void store_unknown(ULong *to)
{
	to[CP_SHADOW_l1i_misses] = lines_in(&running->l1i);
	to[CP_SHADOW_l1d_misses] = lines_in(&running->l1d);
	to[CP_SHADOW_l2_accesses] = to[CP_SHADOW_l1i_misses] + to[CP_SHADOW_l1d_misses];
	to[CP_SHADOW_l2_misses] = lines_in(&running->l2);
	to[CP_SHADOW_llc_accesses] = to[CP_SHADOW_l2_misses];
	to[CP_SHADOW_llc_misses] = lines_in(&uncore.llc);
	to[CP_SHADOW_dtlb_misses] = lines_in(&running->dtlb);
	to[CP_SHADOW_dtlb_walks] = lines_in(&running->dtlb) + lines_in(&running->stlb);
	to[CP_SHADOW_itlb_misses] = lines_in(&running->itlb);
	to[CP_SHADOW_itlb_walks] = lines_in(&running->itlb) + lines_in(&running->stlb);
}

/* Where there is nothing behind L2, that is the last level. */
static void end_at_l2(ULong count[CP_SHADOW_NCOUNTERS])
{
	count[CP_SHADOW_llc_accesses] = count[CP_SHADOW_l2_accesses];
	count[CP_SHADOW_llc_misses] = count[CP_SHADOW_l2_misses];
}

/* As output/presets/sim.events has them. */
void machine_count(ULong to[CP_SHADOW_NCOUNTERS])
{
	ULong n[CP_SIM_NALL];

	collect(n);
	to[CP_SHADOW_instructions] = n[CP_SIM_instructions];
	to[CP_SHADOW_l1d_accesses] = n[CP_SIM_l1d_loads] + n[CP_SIM_l1d_stores];
	to[CP_SHADOW_l1d_loads] = n[CP_SIM_l1d_loads];
	to[CP_SHADOW_l1d_stores] = n[CP_SIM_l1d_stores];
	to[CP_SHADOW_l1i_misses] = n[CP_SIM_l1i_misses];
	to[CP_SHADOW_l1d_misses] = n[CP_SIM_l1d_load_misses] + n[CP_SIM_l1d_store_misses];
	to[CP_SHADOW_l2_accesses] = n[CP_SIM_l2_accesses];
	to[CP_SHADOW_llc_accesses] = n[CP_SIM_llc_accesses];
	to[CP_SHADOW_l2_misses] = n[CP_SIM_l2_ifetch_misses] + n[CP_SIM_l2_load_lines] +
				  n[CP_SIM_l2_store_lines] + n[CP_SIM_l2_prefetch_misses];
	to[CP_SHADOW_llc_misses] = n[CP_SIM_llc_ifetch_misses] +
				   n[CP_SIM_llc_load_lines] + n[CP_SIM_llc_store_lines] +
				   n[CP_SIM_llc_prefetch_misses];
	to[CP_SHADOW_dtlb_misses] =
		n[CP_SIM_dtlb_load_misses] + n[CP_SIM_dtlb_store_misses];
	to[CP_SHADOW_dtlb_walks] = n[CP_SIM_dtlb_load_walks] + n[CP_SIM_dtlb_store_walks];
	to[CP_SHADOW_itlb_misses] = n[CP_SIM_itlb_misses];
	to[CP_SHADOW_itlb_walks] = n[CP_SIM_itlb_walks];
	if (!tool_options.machine.llc.sets)
		end_at_l2(to);
}

void machine_store(struct cp_shadow_window *window)
{
	machine_count((ULong *)window->count);
	if (!running->flex)
		store_unknown((ULong *)window->unknown);
	if (!tool_options.machine.llc.sets)
		end_at_l2((ULong *)window->unknown);
	for (UInt i = 0; i < CP_SHADOW_NCOUNTERS; i++)
		if (window->unknown[i] > window->count[i])
			window->unknown[i] = window->count[i];
}
