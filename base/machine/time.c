/* SPDX-License-Identifier: MIT
 *
 * Reads what a machine file says of time, for the simulated PMU's timing model.
 */
#include "base/format.h"
#include "base/machine/machine.h"

struct list {
	char *text;
	size_t size, used;
};

static void name_missing(struct list *list, bool missing, const char *what)
{
	if (missing && list->used < list->size)
		list->used += cp_format(list->text + list->used, list->size - list->used,
			"%s%s", list->used ? ", " : "", what);
}

/* Does the machine have that level, and the file no latency of it? */
static bool lacks_latency(const struct cp_machine *machine, enum cp_level level)
{
	return machine->level[level].sets && !machine->level[level].latency;
}

uint32_t cp_machine_latency(const struct cp_machine *machine, enum cp_weight_of of)
{
	const uint32_t said[CP_NWEIGHTS] = {
		[CP_OF_L1] = machine->level[CP_L1D].latency,
		[CP_OF_L2] = machine->level[CP_L2].latency,
		[CP_OF_L3] = machine->level[CP_LLC].latency,
		[CP_OF_MEMORY] = machine->memory_latency,
		[CP_OF_ONE_HOP] = machine->one_hop_latency,
		[CP_OF_TWO_HOPS] = machine->two_hop_latency,
		[CP_OF_NEAR_CACHE] = machine->cache_to_cache_latency,
		[CP_OF_FAR_CACHE] = machine->remote_cache_latency,
	};

	return said[of];
}

bool cp_machine_tells_time(const struct cp_machine *machine, char *missing, size_t size)
{
	struct list list = {missing, size, 0};

	*missing = '\0';
	name_missing(&list, lacks_latency(machine, CP_L2), "l2");
	name_missing(&list, lacks_latency(machine, CP_LLC), "llc");
	name_missing(&list, lacks_latency(machine, CP_STLB), "stlb");
	name_missing(&list, lacks_latency(machine, CP_ITLB2), "itlb2");
	name_missing(&list, lacks_latency(machine, CP_DTLB2), "dtlb2");
	name_missing(&list, !machine->memory_latency, "memory-latency");
	name_missing(&list, !machine->walk_latency, "walk-latency");
	name_missing(&list, cp_machine_hops(machine) > 0 && !machine->one_hop_latency,
		"one-hop-latency");
	name_missing(&list, cp_machine_hops(machine) > 1 && !machine->two_hop_latency,
		"two-hop-latency");
	if (machine->ooo.on) {
		name_missing(&list, !machine->level[CP_L1D].latency, "l1d");
		name_missing(&list, !machine->ooo.width, "width");
		name_missing(&list, !machine->ooo.window, "window");
		name_missing(&list, !machine->ooo.mispredict, "mispredict-latency");
	}
	return !*missing;
}

const char *cp_machine_model(const struct cp_machine *machine)
{
	return machine->ooo.on ? "out-of-order" : "in-order";
}

/* ---- sockets ---- */

int cp_machine_hops(const struct cp_machine *machine)
{
	if (machine->sockets <= 1)
		return 0;
	return machine->ring && machine->sockets > 3 ? 2 : 1;
}

uint32_t cp_machine_llc_cores(const struct cp_machine *machine)
{
	const struct cp_cache *llc = &machine->level[CP_LLC];

	if (llc->shared || machine->sockets <= 1)
		return llc->shared;
	return machine->cores / machine->sockets;
}

void cp_machine_sockets_option(const struct cp_machine *machine, char *to, size_t size)
{
	cp_format(to, size, "--sockets=%u,%u,%u,%u%s%s",
		machine->sockets ? machine->sockets : 1,
		machine->timed ? machine->one_hop_latency : 0,
		machine->timed ? machine->two_hop_latency : 0,
		machine->timed ? machine->remote_cache_latency : 0,
		machine->ring ? ",ring" : "", machine->close ? ",close" : "");
}

/* ---- time ---- */

/* The slower one, of two. */
static uint32_t second_tlb(const struct cp_machine *machine)
{
	const struct cp_cache *level = machine->level;
	uint32_t code = level[CP_ITLB2].latency, data = level[CP_DTLB2].latency;

	if (level[CP_STLB].sets)
		return level[CP_STLB].latency;
	return code > data ? code : data;
}

void cp_machine_timing_option(const struct cp_machine *machine, char *to, size_t size)
{
	const struct cp_cache *level = machine->level;

	if (!machine->timed)
		cp_format(to, size, "--timing=no");
	else
		cp_format(to, size, "--timing=%u,%u,%u,%u,%u,%u,%u,%u",
			level[CP_L2].latency, level[CP_LLC].latency,
			machine->memory_latency, machine->cache_to_cache_latency,
			second_tlb(machine), machine->walk_latency, machine->fill_buffers,
			machine->write_buffers);
}

/* Cycles of L1D come first. */
void cp_machine_ooo_option(const struct cp_machine *machine, char *to, size_t size)
{
	const struct cp_ooo *ooo = &machine->ooo;

	if (!machine->timed || !ooo->on)
		cp_format(to, size, "--out-of-order=no");
	else
		cp_format(to, size,
			"--out-of-order=%u,%u,%u,%u,%u,%u,%u,%u,%u,%u,%u,%u,%u,%u,%u,%u,%u,%u,%u,"
			"%u,%u,%u",
			machine->level[CP_L1D].latency, ooo->window, ooo->mispredict,
			ooo->walkers, ooo->l2_fill_buffers, ooo->width, ooo->loads,
			ooo->stores, ooo->l2_line, ooo->llc_line, ooo->memory_line,
			ooo->distance, ooo->near, ooo->stay, ooo->float_add,
			ooo->float_multiply, ooo->store_line, ooo->set_line,
			ooo->lone_line, ooo->load_set_line, ooo->llc_set_line,
			ooo->banks);
}

/* "" where time is modelled in full, or not at all. */
void cp_machine_time_sample_option(
	const struct cp_machine *machine, char *to, size_t size)
{
	*to = '\0';
	if (machine->timed && machine->ooo.on && machine->time_sampled)
		cp_format(to, size, "--time-sample=%u,%u,%u,%u,%u", CP_TIME_FULL,
			CP_TIME_PERIOD, CP_TIME_BRANCHES, CP_TIME_WARM, CP_TIME_UNIT);
}
