/* SPDX-License-Identifier: MIT
 *
 * As in estimate.c, a window stands for the CPU time that is nearer to it than to another
 * one.  Windows are drawn into groups, as the bursts of a sample are: how much groups
 * differ tells how well their sum is known.
 */
#include "preload/shadow/places.h"

#include <string.h>
#include <sys/mman.h>

#include "base/counters/options.h"
#include "base/map.h"
#include "preload/planned.h"
#include "preload/run.h"
#include "preload/warn.h"

/* ---- whether ---- */

static bool has_floats_elsewhere(void)
{
	return cp_plan.machine[0].level[CP_L1D].fp_bypass;
}

/* NULL: shadows count by place what is asked for. */
static const char *why_not(void)
{
	if (cp_options.profile == CP_PROFILE_SHARING)
		return "CACHEPEEK_PROFILE=sharing is ignored: shadows do not see what "
		       "threads share (CACHEPEEK_ENGINE=sim)";
	if (cp_options.profile == CP_PROFILE_DTLB)
		return "CACHEPEEK_PROFILE=dtlb is ignored: estimates of shadows for the "
		       "DTLB were found off by more than their intervals "
		       "(CACHEPEEK_ENGINE=sim)";
	if (has_floats_elsewhere())
		return "CACHEPEEK_PROFILE is ignored: floating-point loads of this "
		       "machine go around L1D, which shadows do not tell by place "
		       "(CACHEPEEK_ENGINE=sim)";
	return NULL;
}

bool cp_places_wanted(void)
{
	return cp_run.shadows && cp_options.profile != CP_PROFILE_NONE && !why_not();
}

void cp_places_choose(void)
{
	if (cp_options.profile == CP_PROFILE_NONE)
		return;
	if (why_not())
		cp_warn(why_not());
	if (cp_options.call_paths)
		cp_warn("CACHEPEEK_CALL_PATHS is ignored: shadows do not follow calls "
			"(CACHEPEEK_ENGINE=sim does)");
}

struct cp_places *cp_places_new(void)
{
	struct cp_places *places = cp_map(sizeof(*places), -1, 0);

	if (places) {
		places->number = -1;
		places->random =
			(uint64_t)cp_runtime.pid << 32 ^ (uint64_t)(uintptr_t)places;
	}
	return places;
}

void cp_places_give_back(struct cp_places *places)
{
	if (places)
		munmap(places, sizeof(*places));
}

/* ---- sums ---- */

static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* Where there is no room, that of no address; NULL: nor for that. */
static struct cp_place_sum *find(
	struct cp_places *places, uint64_t address, uint32_t group)
{
	uint32_t slots = 2 * CP_PLACE_SUMS,
		 i = (uint32_t)((address * CP_SIM_GROUPS + group) * 0x9e3779b97f4a7c15u >>
				32);

	for (i %= slots; places->slot[i]; i = (i + 1) % slots) {
		struct cp_place_sum *sum = &places->of[places->slot[i] - 1];

		if (sum->address == address && sum->group == group)
			return sum;
	}
	if (places->n + (address ? CP_SIM_GROUPS : 0) >= CP_PLACE_SUMS) {
		places->beyond++;
		return address ? find(places, 0, group) : NULL;
	}
	places->of[places->n].address = address;
	places->of[places->n].group = group;
	places->slot[i] = ++places->n;
	return &places->of[places->n - 1];
}

/* Counts that no place has, but the window. */
static void add_window(struct cp_places *places, uint32_t group, double factor)
{
	static const uint8_t of[][2] = {
		{CP_SIM_BURST_instructions, CP_SHADOW_instructions},
		{CP_SIM_BURST_l1d_loads, CP_SHADOW_l1d_loads},
		{CP_SIM_BURST_l1d_stores, CP_SHADOW_l1d_stores},
	};

	for (unsigned i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		places->count[of[i][0]][group] +=
			factor * (double)places->last.count[of[i][1]];
	for (unsigned i = 0; i < CP_SIM_NBURST; i++)
		places->unknown[i] += factor * (double)places->last_misses.unknown[i];
}

static void add_misses(struct cp_places *places, uint32_t group, double factor)
{
	const struct cp_shadow_misses *misses = &places->last_misses;

	places->beyond += misses->beyond;
	for (uint32_t i = misses->beyond ? 0 : 1; i < misses->n; i++) {
		const struct cp_shadow_missed *in = &misses->of[i];
		struct cp_place_sum *sum = find(places, in->address, group);

		for (unsigned c = 0; sum && c < CP_SIM_NBURST; c++)
			sum->count[c] += factor * (double)in->count[c];
	}
}

/* The last window stands for the time until there. */
void cp_places_conclude(struct cp_places *places, double until_ns)
{
	double ns = until_ns - places->weighed_ns;
	uint32_t group = (uint32_t)(next_random(&places->random) % CP_SIM_GROUPS);

	if (!places->has_last || !places->last.cpu_ns)
		return;
	places->has_last = false;
	places->windows++;
	places->seen_ns += (double)places->last.cpu_ns;
	if (ns <= 0)
		return;
	places->weighed_ns = until_ns;
	places->stands_for_ns[group] += ns;
	add_window(places, group, ns / (double)places->last.cpu_ns);
	add_misses(places, group, ns / (double)places->last.cpu_ns);
}

void cp_places_scale(struct cp_places *places, double factor)
{
	for (unsigned group = 0; group < CP_SIM_GROUPS; group++) {
		places->stands_for_ns[group] *= factor;
		for (unsigned c = 0; c < CP_SIM_NBURST; c++)
			places->count[c][group] *= factor;
	}
	for (unsigned c = 0; c < CP_SIM_NBURST; c++)
		places->unknown[c] *= factor;
	for (unsigned i = 0; i < places->n; i++)
		for (unsigned c = 0; c < CP_SIM_NBURST; c++)
			places->of[i].count[c] *= factor;
}

void cp_places_take(struct cp_places *places, const struct cp_shadow_window *window,
	const struct cp_shadow_misses *misses)
{
	struct cp_shadow_misses *last = &places->last_misses;

	if (places->has_last)
		cp_places_conclude(
			places, ((double)places->last.at_ns + (double)window->at_ns) / 2);
	places->has_last = true;
	places->last = *window;
	/* The program may have written there, where it writes anywhere. */
	last->n = misses->n < CP_SHADOW_PLACES ? misses->n : CP_SHADOW_PLACES;
	last->beyond = misses->beyond;
	memcpy(last->unknown, misses->unknown, sizeof(last->unknown));
	memcpy(last->of, misses->of, last->n * sizeof(last->of[0]));
}
