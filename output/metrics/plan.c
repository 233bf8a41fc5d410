/* SPDX-License-Identifier: MIT */
#include "output/metrics/plan.h"

#include <stdint.h>
#include <string.h>

#include "output/metrics/preset.h"

#define MAX_EVENTS 256
#define MAX_PASSES 32
#define NCOUNTERS 32

struct planner {
	struct cp_arena *arena;
	const char *const *pmus;
	cp_plan_usable *usable;
	void *context;
	struct cp_plan *plan;
	const char *events[MAX_EVENTS];
	uint32_t counters[MAX_EVENTS];
	bool counters_known;
};

/* ---- which events ---- */

static bool is_usable(
	const struct planner *planner, const struct cp_preset_alternative *alternative)
{
	for (size_t i = 0; planner->usable && i < alternative->nterms; i++)
		if (!planner->usable(planner->context, alternative->terms[i].event))
			return false;
	return true;
}

static void add_event(struct planner *planner, const char *pmu, const char *event)
{
	uint32_t counters = 0;
	size_t count = planner->plan->nevents;

	for (size_t i = 0; i < count; i++)
		/* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): all set */
		if (strcmp(planner->events[i], event) == 0)
			return;
	if (cp_preset_counters(pmu, event, &counters) < 0)
		planner->counters_known =
			planner->counters_known && strcmp(pmu, "perf") == 0;
	if (!counters || count == MAX_EVENTS)
		return;
	planner->events[count] = event;
	planner->counters[count] = counters;
	planner->plan->nevents++;
}

static bool find_on(struct planner *planner, const char *pmu, const char *name)
{
	struct cp_preset *preset = cp_arena_alloc(planner->arena, sizeof(*preset));
	size_t i = 0;

	if (cp_preset_lookup(planner->arena, pmu, name, preset) < 0)
		return false;
	while (i < preset->nalternatives && !is_usable(planner, &preset->alternatives[i]))
		i++;
	if (i == preset->nalternatives)
		return false;
	for (size_t j = 0; !(preset->includes & CP_INCLUDES_SOCKET) &&
			   j < preset->alternatives[i].nterms;
		j++)
		add_event(planner, pmu, preset->alternatives[i].terms[j].event);
	return true;
}

static bool find_name(struct planner *planner, const char *name)
{
	for (size_t i = 0; planner->pmus[i]; i++)
		if (find_on(planner, planner->pmus[i], name))
			return true;
	if (strstr(name, "::") && planner->usable)
		return planner->usable(planner->context, name);
	return false;
}

static bool find_all(struct planner *planner, const char *const *names, size_t count)
{
	size_t before = planner->plan->nmissing;

	for (size_t i = 0; i < count; i++)
		if (!find_name(planner, names[i]))
			planner->plan->missing[planner->plan->nmissing++] = names[i];
	return planner->plan->nmissing == before;
}

/* ---- how many passes ---- */

struct matching {
	const struct planner *planner;
	unsigned passes;
	int owner[NCOUNTERS * MAX_PASSES]; /* of a counter in a pass; -1: free */
	bool visited[NCOUNTERS * MAX_PASSES];
};

static bool place_event(struct matching *matching, int event)
{
	for (unsigned slot = 0; slot < NCOUNTERS * matching->passes; slot++) {
		uint32_t counter = 1U << slot / matching->passes;

		if (!(matching->planner->counters[event] & counter) ||
			matching->visited[slot])
			continue;
		matching->visited[slot] = true;
		if (matching->owner[slot] < 0 ||
			place_event(matching, matching->owner[slot])) {
			matching->owner[slot] = event;
			return true;
		}
	}
	return false;
}

static bool fits_passes(const struct planner *planner, unsigned passes)
{
	struct matching *matching = cp_arena_alloc(planner->arena, sizeof(*matching));

	matching->planner = planner;
	matching->passes = passes;
	memset(matching->owner, -1, sizeof(matching->owner));
	for (size_t i = 0; i < planner->plan->nevents; i++) {
		memset(matching->visited, 0, sizeof(matching->visited));
		if (!place_event(matching, (int)i))
			return false;
	}
	return true;
}

static unsigned count_passes(const struct planner *planner)
{
	for (unsigned passes = 1; planner->counters_known && passes <= MAX_PASSES;
		passes++)
		if (fits_passes(planner, passes))
			return passes;
	return 0;
}

void cp_plan_group(struct cp_arena *arena, const struct cp_group *group,
	const char *const *pmus, cp_plan_usable *usable, void *context,
	struct cp_plan *plan)
{
	struct planner *planner = cp_arena_alloc(arena, sizeof(*planner));

	memset(plan, 0, sizeof(*plan));
	*planner = (struct planner){.arena = arena,
		.pmus = pmus,
		.usable = usable,
		.context = context,
		.plan = plan,
		.counters_known = true};
	plan->usable = find_all(planner, group->need, group->nneed);
	plan->complete = find_all(planner, group->want, group->nwant) && plan->usable;
	plan->passes = count_passes(planner);
}
