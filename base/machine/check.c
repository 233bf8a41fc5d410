/* SPDX-License-Identifier: MIT
 *
 * Whether the levels of a machine file fit together.
 */
#include <string.h>

#include "base/machine/file.h"

/* Second-level TLBs of their own stand in place of the common one. */
static bool replace_stlb(
	struct place *at, struct cp_machine *machine, const struct stated *stated)
{
	struct cp_cache *level = machine->level;

	if (!level[CP_ITLB2].sets && !level[CP_DTLB2].sets)
		return true;
	at->line = stated->line[CP_STLB];
	if (at->line && level[CP_STLB].sets)
		return cp_machine_wrong(
			at, "stlb is in place of itlb2 and dtlb2: leave one out", NULL);
	memset(&level[CP_STLB], 0, sizeof(level[CP_STLB]));
	return true;
}

/* A level behind others, none of which may have larger lines, and what an
 * exclusive one demands of those whose victims fill it. */
static bool check_outer(
	struct place *at, const struct cp_cache *cache, const struct cp_cache *front[2])
{
	for (int i = 0; i < 2; i++) {
		if (cache->line < front[i]->line)
			return cp_machine_wrong(
				at, "its line is smaller than one in front of it", NULL);
		if (cache->inclusion != CP_EXCLUSIVE)
			continue;
		if (cache->line != front[i]->line)
			return cp_machine_wrong(at,
				"exclusive wants the lines of the level in front", NULL);
		if (front[i]->write_through || front[i]->no_allocate)
			return cp_machine_wrong(at,
				"exclusive wants a level in front "
				"that is write-back and allocates",
				NULL);
	}
	if (cache->inclusion == CP_EXCLUSIVE &&
		(cache->write_through || cp_has_prefetcher(cache)))
		return cp_machine_wrong(at,
			"exclusive wants write-back and no prefetcher: "
			"only victims fill it",
			NULL);
	return true;
}

static bool check_caches(
	struct place *at, const struct cp_machine *machine, const struct stated *stated)
{
	const struct cp_cache *level = machine->level, *l2 = &level[CP_L2],
			      *llc = &level[CP_LLC];
	const struct cp_cache *front[2] = {&level[CP_L1I], &level[CP_L1D]};

	at->line = stated->line[CP_L1D];
	if (level[CP_L1D].fp_bypass && (!level[CP_L1D].write_through || !l2->sets))
		return cp_machine_wrong(
			at, "fp-bypass wants a write-through L1D and an L2", NULL);
	at->line = stated->line[CP_L2];
	if (l2->sets && !check_outer(at, l2, front))
		return false;
	if (l2->shared > machine->cores)
		return cp_machine_wrong(at, "shared by more cores than there are", NULL);
	if (l2->sets)
		front[0] = front[1] = l2;
	at->line = stated->line[CP_LLC];
	if (llc->shared > machine->cores)
		return cp_machine_wrong(at, "shared by more cores than there are", NULL);
	if (llc->shared && l2->shared > 1 && llc->shared % l2->shared)
		return cp_machine_wrong(
			at, "cores that share an L2 need the same last level", NULL);
	return !llc->sets || check_outer(at, llc, front);
}

/* Huge pages are 512 pages of 4 KB, in a level that the machine has. */
static bool check_huge(
	struct place *at, const struct cp_machine *machine, const struct stated *stated)
{
	for (int level = CP_ITLB_2M; level < CP_NLEVELS; level++) {
		const struct cp_cache *small =
			&machine->level[CP_ITLB + level - CP_ITLB_2M];

		at->line = stated->line[level];
		if (at->line && machine->page != 4096)
			return cp_machine_wrong(at,
				"wants page = 4K: pages of 2 MB are 512 of them", NULL);
		if (machine->level[level].sets && !small->sets)
			return cp_machine_wrong(at,
				"the machine has no such level for small pages", NULL);
	}
	return true;
}

/* Each has as many cores as the others, and what is shared is on one. */
static bool check_sockets(
	struct place *at, const struct cp_machine *machine, const struct stated *stated)
{
	uint32_t each, l2 = machine->level[CP_L2].shared,
		       llc = machine->level[CP_LLC].shared;

	if (machine->sockets <= 1)
		return true;
	at->line = stated->sockets;
	if (machine->cores % machine->sockets)
		return cp_machine_wrong(
			at, "the cores cannot be divided into so many sockets", NULL);
	each = machine->cores / machine->sockets;
	at->line = stated->line[CP_L2];
	if (l2 && each % l2)
		return cp_machine_wrong(at,
			"an L2 belongs to one socket: shared must divide its cores",
			NULL);
	at->line = stated->line[CP_LLC];
	if (llc && each % llc)
		return cp_machine_wrong(at,
			"a last level belongs to one socket: "
			"shared must divide its cores",
			NULL);
	return true;
}

static bool check_prefetchers(
	struct place *at, const struct cp_machine *machine, const struct stated *stated)
{
	for (int i = CP_L1I; i <= CP_L2; i++) {
		at->line = stated->line[i];
		if (!cp_prefetch_check(at, machine, &machine->level[i]))
			return false;
	}
	return true;
}

bool cp_machine_check(
	struct place *at, struct cp_machine *machine, const struct stated *stated)
{
	at->line = stated->page;
	if (!is_power_of_two(machine->page) || machine->page < 1024)
		return cp_machine_wrong(
			at, "page must be a power of two from 1024", NULL);
	return replace_stlb(at, machine, stated) &&
	       check_prefetchers(at, machine, stated) &&
	       check_huge(at, machine, stated) && check_caches(at, machine, stated) &&
	       check_sockets(at, machine, stated);
}
