/* SPDX-License-Identifier: MIT
 *
 * Which share of the time a counter was counting, and for how long it was wanted.
 */
#include "base/format.h"
#include "output/report/report_raw.h"

#define KERNEL_SLICE_NS 4e6 /* perf_event_mux_interval_ms, its default */
#define MIN_SLICES 8        /* without an event, to say 0 */

double cp_scaling_error(double value, double coverage, double running_ns)
{
	double slices = running_ns / KERNEL_SLICE_NS, seen = value * coverage;

	if (slices < 1)
		slices = 1;
	if (seen < 1)
		return 3 / coverage;
	return 2 * value * __builtin_sqrt((1 - coverage) * (1 / slices + 1 / seen));
}

const char *cp_raw_not_seen(struct cp_report *report, const struct cp_cover *cover)
{
	char text[120];
	size_t length;

	if (cover->coverage > 1 - CP_MIN_COVERAGE ||
		cover->running >= MIN_SLICES * KERNEL_SLICE_NS)
		return NULL;
	length = cp_format(text, sizeof(text),
		"none seen, but counted only %.2g %% of the time: too little to say 0",
		100 * cover->coverage);
	return cp_arena_copy(report->arena, text, length);
}

static const char *too_little(struct cp_report *report, double coverage)
{
	char text[100];
	size_t length = cp_format(text, sizeof(text),
		"counted %.2g %% of the time: too little to scale", 100 * coverage);

	return cp_arena_copy(report->arena, text, length);
}

bool cp_raw_takes_turns(const struct cp_raw *raw, uint32_t counter)
{
	return raw->record->counters[counter]->perf_group < raw->record->header->nrotated;
}

bool cp_raw_any_takes_turns(
	const struct cp_raw *raw, const struct cp_quantity_item *quantity)
{
	for (uint32_t i = 0; i < quantity->nterms; i++)
		if (cp_raw_takes_turns(raw, quantity->terms[i].counter))
			return true;
	return false;
}

/* The times of the counter that tells for how long this one's kind of core was in
 * use; NULL: all cores are alike. */
static const struct cp_times *residency_of(const struct cp_raw *raw, uint32_t counter)
{
	const struct cp_record_header *header = raw->record->header;
	uint32_t reference =
		header->reference[raw->record->counters[counter]->perf_group];

	return reference && reference <= header->nperf_groups ? &raw->times[reference - 1]
							      : NULL;
}

/* Groups that take turns are wanted for as long as any of them counts; those of
 * one kind of core for as long as the thread is on it. */
static struct cp_times times_of(const struct cp_raw *raw, uint32_t counter)
{
	struct cp_times times = raw->times[raw->record->counters[counter]->perf_group];
	const struct cp_times *on_core = residency_of(raw, counter);

	if (cp_raw_takes_turns(raw, counter))
		times.enabled = raw->turns_ns;
	if (on_core)
		times.enabled = on_core->running;
	return times;
}

/* It is 0 then, and no part of the time is missing. */
static bool was_elsewhere(const struct cp_raw *raw, uint32_t counter)
{
	const struct cp_times *on_core = residency_of(raw, counter);

	return on_core && on_core->enabled && !on_core->running &&
	       !times_of(raw, counter).running;
}

struct cp_cover cp_raw_cover(
	const struct cp_raw *raw, const struct cp_quantity_item *quantity)
{
	struct cp_cover cover = {.coverage = 1};

	for (uint32_t i = 0; !raw->sim && i < quantity->nterms; i++) {
		uint32_t counter = quantity->terms[i].counter;
		struct cp_times times = times_of(raw, counter);
		double coverage =
			times.enabled ? (double)times.running / (double)times.enabled : 0;

		if (was_elsewhere(raw, counter))
			continue;
		if (!times.enabled && residency_of(raw, counter))
			cover.reason = "for how long it ran on such cores is not known";
		else if (!times.enabled)
			cover.reason = "the counter was not enabled";
		else if (!times.running)
			cover.reason = cp_raw_takes_turns(raw, counter)
					       ? "groups of events take turns: "
						 "this one had none"
					       : "never scheduled on the PMU, "
						 "or refused to the user "
						 "that the process became";
		if (i && coverage >= cover.coverage)
			continue;
		cover.coverage = coverage > 1 ? 1 : coverage;
		cover.enabled = (double)times.enabled;
		cover.running = (double)times.running;
	}
	if (!cover.reason && cover.coverage < CP_MIN_COVERAGE)
		cover.reason = too_little(raw->report, cover.coverage);
	return cover;
}

double cp_raw_factor(const struct cp_raw *raw, uint32_t counter)
{
	struct cp_times times;

	if (raw->sim)
		return 1;
	times = times_of(raw, counter);
	if (times.running >= times.enabled)
		return 1;
	return (double)times.enabled / (double)times.running;
}

const struct cp_times *cp_raw_tells_residency(
	const struct cp_raw *raw, const struct cp_quantity_item *quantity)
{
	uint32_t counter = quantity->terms[0].counter;

	if (raw->sim || quantity->nterms != 1 ||
		residency_of(raw, counter) !=
			&raw->times[raw->record->counters[counter]->perf_group])
		return NULL;
	return residency_of(raw, counter);
}
