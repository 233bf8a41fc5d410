/* SPDX-License-Identifier: MIT
 *
 * What shadows (preload/shadow/) estimate: presets that the simulated PMU counts, too.
 */
#include "base/counters/events_internal.h"

#include <string.h>

#include "base/format.h"
#include "base/text.h"
#include "tools/shadow/shadow.h"

int cp_shadow_counter(const char *name)
{
	static const char *const names[] = {
#define X(name) #name,
		CP_SHADOW_COUNTERS(X)
#undef X
	};

	for (int i = 0; i < CP_SHADOW_NCOUNTERS; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	return -1;
}

bool cp_shadows_estimate(struct cp_quantity *quantity, const struct cp_machine *machine)
{
	if (cp_shadow_counter(quantity->name) < 0) {
		cp_format(quantity->why.text, sizeof(quantity->why.text),
			"shadows do not estimate it (CACHEPEEK_ENGINE=sim counts more)");
		return false;
	}
	if (cp_starts_with(quantity->name, "l2_") && !machine->level[CP_L2].sets) {
		cp_format(quantity->why.text, sizeof(quantity->why.text),
			"machine %s has no L2", machine->name);
		return false;
	}
	quantity->shadowed = true;
	return true;
}
