/* SPDX-License-Identifier: MIT
 *
 * Each cycle of a part is waited for one figure: a part is off by no more than the
 * figure with the largest spread.
 */
#include "base/machine/spreads.h"

#include "base/format.h"

#define NOTHING_SAID "the machine file does not say how far its figures may be off"

/* A part that calibration never measures may be off by all of it. */
#define UNMEASURED 100 /* percent */

static uint32_t latency_of(const struct cp_machine *machine, enum cp_level level)
{
	return machine->level[level].sets ? machine->level[level].latency : 0;
}

/* Is the figure in the file, and so in the model? */
static bool is_said(const struct cp_machine *machine, unsigned figure)
{
	const struct cp_ooo *ooo = &machine->ooo;
	const uint32_t said[CP_NASSUMED] = {
		[CP_OF_L1] = ooo->on ? latency_of(machine, CP_L1D) : 0,
		[CP_OF_L2] = latency_of(machine, CP_L2),
		[CP_OF_L3] = latency_of(machine, CP_LLC),
		[CP_OF_MEMORY] = machine->memory_latency,
		[CP_OF_ONE_HOP] = machine->one_hop_latency,
		[CP_OF_TWO_HOPS] = machine->two_hop_latency,
		[CP_OF_NEAR_CACHE] = machine->cache_to_cache_latency,
		[CP_OF_FAR_CACHE] = machine->remote_cache_latency,
		[CP_ASSUMED_STLB] = latency_of(machine, CP_STLB) |
				    latency_of(machine, CP_DTLB2) |
				    latency_of(machine, CP_ITLB2),
		[CP_ASSUMED_WALK] = machine->walk_latency,
		[CP_ASSUMED_CLOCK] = machine->clock_mhz,
		[CP_ASSUMED_FILL_BUFFERS] = machine->fill_buffers,
		[CP_ASSUMED_WRITE_BUFFERS] = machine->write_buffers,
		[CP_ASSUMED_WIDTH] = ooo->width,
		[CP_ASSUMED_WINDOW] = ooo->window,
		[CP_ASSUMED_MISPREDICT] = ooo->mispredict,
		[CP_ASSUMED_LOADS] = ooo->loads,
		[CP_ASSUMED_STORES] = ooo->stores,
		[CP_ASSUMED_WALKERS] = ooo->walkers,
		[CP_ASSUMED_L2_FILL_BUFFERS] = ooo->l2_fill_buffers,
		[CP_ASSUMED_L2_LINE] = ooo->l2_line,
		[CP_ASSUMED_LLC_LINE] = ooo->llc_line,
		[CP_ASSUMED_MEMORY_LINE] = ooo->memory_line,
		[CP_ASSUMED_NEAR] = ooo->near,
		[CP_ASSUMED_STAY] = ooo->stay,
		[CP_ASSUMED_FLOAT_ADD] = ooo->float_add,
		[CP_ASSUMED_FLOAT_MULTIPLY] = ooo->float_multiply,
		[CP_ASSUMED_STORE_LINE] = ooo->store_line,
		[CP_ASSUMED_SET_LINE] = ooo->set_line,
		[CP_ASSUMED_LONE_LINE] = ooo->lone_line,
		[CP_ASSUMED_LOAD_SET_LINE] = ooo->load_set_line,
		[CP_ASSUMED_LLC_SET_LINE] = ooo->llc_set_line,
		[CP_ASSUMED_BANKS] = ooo->banks,
	};

	return said[figure] > 0;
}

#define PART(part) (1u << CP_PART_##part)

/* The parts that a figure is in.  How far ahead streams are fetched is in none: the file
 * has a common number for it. */
static const unsigned parts_of[CP_NASSUMED] = {
	[CP_OF_L1] = PART(ISSUE),
	[CP_OF_L2] = PART(L2),
	[CP_OF_L3] = PART(L3),
	[CP_OF_MEMORY] = PART(MEMORY),
	[CP_OF_ONE_HOP] = PART(MEMORY),
	[CP_OF_TWO_HOPS] = PART(MEMORY),
	[CP_OF_NEAR_CACHE] = PART(L3),
	[CP_OF_FAR_CACHE] = PART(L3),
	[CP_ASSUMED_STLB] = PART(TLB),
	[CP_ASSUMED_WALK] = PART(TLB),
	[CP_ASSUMED_CLOCK] = PART(CLOCK),
	[CP_ASSUMED_FILL_BUFFERS] = PART(BANDWIDTH),
	[CP_ASSUMED_WRITE_BUFFERS] = PART(STORE),
	[CP_ASSUMED_WIDTH] = PART(ISSUE),
	[CP_ASSUMED_WINDOW] = PART(ISSUE),
	[CP_ASSUMED_MISPREDICT] = PART(BRANCH),
	[CP_ASSUMED_LOADS] = PART(ISSUE),
	[CP_ASSUMED_STORES] = PART(ISSUE),
	[CP_ASSUMED_WALKERS] = PART(TLB),
	[CP_ASSUMED_L2_FILL_BUFFERS] = PART(BANDWIDTH),
	[CP_ASSUMED_L2_LINE] = PART(BANDWIDTH),
	[CP_ASSUMED_LLC_LINE] = PART(BANDWIDTH),
	[CP_ASSUMED_MEMORY_LINE] = PART(BANDWIDTH),
	[CP_ASSUMED_NEAR] = PART(L2),
	[CP_ASSUMED_STAY] = PART(L3) | PART(MEMORY),
	[CP_ASSUMED_FLOAT_ADD] = PART(ISSUE),
	[CP_ASSUMED_FLOAT_MULTIPLY] = PART(ISSUE),
	[CP_ASSUMED_STORE_LINE] = PART(STORE),
	[CP_ASSUMED_SET_LINE] = PART(STORE),
	[CP_ASSUMED_LONE_LINE] = PART(BANDWIDTH),
	[CP_ASSUMED_LOAD_SET_LINE] = PART(BANDWIDTH),
	[CP_ASSUMED_LLC_SET_LINE] = PART(BANDWIDTH),
	[CP_ASSUMED_BANKS] = PART(BANDWIDTH),
};

static void widen(struct cp_spreads *spreads, unsigned figure, double share)
{
	for (unsigned part = 0; part < CP_NPARTS; part++)
		if (parts_of[figure] >> part & 1 && share > spreads->of[part])
			spreads->of[part] = share;
}

static bool says_any(const struct cp_machine *machine)
{
	for (unsigned figure = 0; figure < CP_NASSUMED; figure++)
		if (machine->spread[figure])
			return true;
	return false;
}

static struct cp_spreads none(const char *why, const char *key)
{
	struct cp_spreads spreads = {.known = false};

	cp_format(spreads.why, sizeof(spreads.why), "%s%s", why, key);
	return spreads;
}

struct cp_spreads cp_spreads_of(const struct cp_machine *machine)
{
	struct cp_spreads spreads = {.known = false};

	if (!machine || !machine->timed)
		return spreads;
	if (!says_any(machine))
		return none(NOTHING_SAID, "");
	for (unsigned figure = 0; figure < CP_NASSUMED; figure++) {
		unsigned said = machine->spread[figure];

		if (!is_said(machine, figure))
			continue;
		if (figure == CP_ASSUMED_WRITE_BUFFERS && !said)
			said = UNMEASURED + 1;
		if (!said)
			return none("the machine file does not say how far it may be off "
				    "in ",
				cp_machine_figure(figure));
		widen(&spreads, figure, (said - 1) / 100.0);
	}
	spreads.known = true;
	return spreads;
}
