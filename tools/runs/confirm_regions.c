/* SPDX-License-Identifier: MIT
 *
 * The regions of both runs side by side, and how well the one explains the other.
 */
#include <string.h>

#include "base/text/table.h"
#include "tools/runs/confirm.h"

const char *cp_confirmed_name(enum cp_confirmed verdict)
{
	static const char *const names[CP_NCONFIRMED] = {
		"well", "badly", "too short", "other work", "not told"};

	return names[verdict];
}

static const struct cp_cell *cell_of(const struct cp_values *values,
	const struct cp_spot *spot, unsigned side, enum cp_kind kind, const char *name)
{
	const struct cp_entry *entry = cp_values_find(values, spot, kind, name);

	return entry ? &entry->side[side] : NULL;
}

static bool has_value(const struct cp_cell *cell)
{
	return cell && cell->runs.n > 0;
}

/* Its CPU time where the kernel counts that: waiting is nothing that a model of the
 * processor predicts. */
static void take_native(const struct cp_values *values, struct cp_confirm *region)
{
	const struct cp_cell *cpu = cell_of(
				     values, region->spot, 0, CP_COUNT, "task_clock"),
			     *wall = cell_of(values, region->spot, 0, CP_TIME, "time_s");

	region->of_cpu = has_value(cpu);
	region->has_native = has_value(cpu) || has_value(wall);
	if (region->has_native)
		region->native = region->of_cpu ? cpu->runs.mean / 1e9 : wall->runs.mean;
	else
		region->native_reason = wall && wall->reason
						? wall->reason
						: "the native run did not get there";
}

static void take_predicted(const struct cp_values *values, struct cp_confirm *region)
{
	const struct cp_cell *time = cell_of(values, region->spot, 1, CP_TIME, "time_s");

	region->has_predicted = has_value(time);
	region->off = -1;
	if (region->has_predicted) {
		region->predicted = time->runs.mean;
		region->off = cp_cell_error(time);
		return;
	}
	region->predicted_reason = time && time->reason
					   ? time->reason
					   : "the simulated run did not get there";
}

static bool is_other_work(const struct cp_values *values, struct cp_confirm *region)
{
	const struct cp_cell *native =
				     cell_of(values, region->spot, 0, CP_CALLS, "calls"),
			     *predicted =
				     cell_of(values, region->spot, 1, CP_CALLS, "calls");

	region->calls = has_value(native) ? native->runs.mean : -1;
	return has_value(native) && has_value(predicted) &&
	       native->runs.mean != predicted->runs.mean;
}

static bool is_short(const struct cp_confirm *region)
{
	return region->native < CP_CONFIRM_LEAST ||
	       (region->calls > 0 &&
		       region->native < CP_CONFIRM_LEAST_CALL * region->calls);
}

static enum cp_confirmed judge_region(const struct cp_confirm *region, bool other_work)
{
	double native = region->native, predicted = region->predicted;

	if (!region->has_native || !region->has_predicted)
		return CP_NOT_TOLD;
	if (other_work)
		return CP_OTHER_WORK;
	if (is_short(region))
		return CP_TOO_SHORT;
	return predicted > CP_CONFIRM_FACTOR * native ||
			       native > CP_CONFIRM_FACTOR * predicted
		       ? CP_BADLY
		       : CP_WELL;
}

void cp_confirm_regions(struct cp_confirmation *confirmation)
{
	const struct cp_values *values = confirmation->values;

	confirmation->regions = cp_arena_alloc(confirmation->arena,
		(values->nspots + 1) * sizeof(*confirmation->regions));
	confirmation->model = cp_text_format(confirmation->arena,
		"timing model of machine %s", confirmation->machine->name);
	for (size_t i = 0; i < values->nspots; i++) {
		struct cp_confirm *region = &confirmation->regions[confirmation->count++];
		bool other_work;

		memset(region, 0, sizeof(*region));
		region->spot = values->spots[i];
		take_native(values, region);
		take_predicted(values, region);
		other_work = is_other_work(values, region);
		region->verdict = judge_region(region, other_work);
	}
}
