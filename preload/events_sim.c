/* SPDX-License-Identifier: MIT
 *
 * Events of the simulated PMU: its presets (output/presets/sim.events) and its
 * raw counters by name.
 */
#include <string.h>

#include "base/format.h"
#include "output/preset.h"
#include "preload/events_internal.h"
#include "tools/sim/request.h"

static const char *const raw_names[] = {
#define X(name, meaning) #name,
	CP_SIM_COUNTERS (X)
#undef X
		NULL,
};

static int raw_index(const char *name)
{
	for (int i = 0; raw_names[i]; i++)
		if (strcmp(raw_names[i], name) == 0)
			return i;
	return -1;
}

static bool add_term(
	struct cp_event_set *set, struct cp_quantity *quantity, int sign, const char *raw)
{
	int mirror = raw_index(raw), counter;

	if (mirror < 0 || quantity->nterms == CP_MAX_TERMS)
		return false;
	counter = cp_set_counter(set, raw);
	if (counter < 0) {
		counter = (int)set->ncounters;
		cp_set_add_counter(set, raw)->mirror = (unsigned)mirror;
	}
	cp_quantity_add_term(quantity, sign, (unsigned)counter);
	return true;
}

static bool resolve(
	struct cp_event_set *set, struct cp_quantity *quantity, struct cp_arena *arena)
{
	const struct cp_preset_alternative *alternative;
	struct cp_preset preset;

	if (cp_preset_lookup(arena, "sim", quantity->name, &preset) < 0)
		return add_term(set, quantity, 1, quantity->name);
	alternative = &preset.alternatives[0];
	for (size_t i = 0; i < alternative->nterms; i++)
		if (!add_term(set, quantity, alternative->terms[i].sign,
			    alternative->terms[i].event))
			return false;
	return true;
}

void cp_events_for_sim(struct cp_event_set *set, const struct cp_request *request,
	struct cp_arena *arena, cp_complaint *complain)
{
	memset(set, 0, sizeof(*set));
	set->ngroups = 1;
	for (size_t i = 0; i < request->nnames; i++) {
		struct cp_quantity *quantity = cp_set_quantity(set, request->names[i]);

		quantity->available = resolve(set, quantity, arena);
		if (quantity->available)
			continue;
		quantity->nterms = 0;
		if (cp_preset_known(quantity->name) || strchr(quantity->name, ':'))
			cp_format(quantity->why.text, sizeof(quantity->why.text),
				"not counted by the simulated PMU");
		else
			cp_complain_unknown(quantity->name, arena,
				"neither a preset nor a counter of the simulated PMU",
				quantity, complain);
	}
}
