/* SPDX-License-Identifier: MIT
 *
 * Events of the kernel by name, and presets by the PMUs that are present.
 */
#include <errno.h>
#include <string.h>

#include "base/format.h"
#include "base/text.h"
#include "output/preset.h"
#include "preload/encode.h"
#include "preload/engine/proof.h"
#include "preload/events_internal.h"

static bool needs_no_pmu(const char *event)
{
	struct perf_event_attr attr;
	const char *reason;

	/* Only libpfm knows what else "perf::" names, and that is hardware. */
	if (!cp_starts_with(event, "mem:") && !cp_starts_with(event, "perf::"))
		return false;
	return cp_encode(event, &attr, &reason) == 0 &&
	       (attr.type == PERF_TYPE_SOFTWARE || attr.type == PERF_TYPE_BREAKPOINT);
}

static bool is_software_preset(const char *name, struct cp_arena *arena)
{
	struct cp_preset preset;

	return cp_preset_lookup(arena, "perf", name, &preset) == 0 &&
	       needs_no_pmu(preset.alternatives[0].terms[0].event);
}

bool cp_request_is_software(const struct cp_request *request, struct cp_arena *arena)
{
	for (size_t i = 0; i < request->nnames; i++)
		if (!needs_no_pmu(request->names[i]) &&
			!is_software_preset(request->names[i], arena))
			return false;
	return request->nnames > 0;
}

/* ---- counters and quantities ---- */

/* Arm PMUs take every code; others take too many of those that are no names. */
static bool wants_proof(const char *event, const struct perf_event_attr *attr)
{
#ifdef __aarch64__
	(void)event;
	return attr->type == PERF_TYPE_RAW;
#else
	return attr->type == PERF_TYPE_RAW && cp_event_is_raw(event);
#endif
}

/* The counter of this event, made if need be; -errno with *why. */
static int counter_for(struct cp_event_set *set, const char *event, struct cp_why *why)
{
	struct perf_event_attr attr;
	const char *reason;
	int index = cp_set_counter(set, event), error;
	enum cp_proof proof = CP_PROOF_COUNTS;
	struct cp_counter *counter;

	if (index >= 0)
		return index;
	if (cp_encode(event, &attr, &reason) < 0) {
		cp_format(why->text, sizeof(why->text), "%s", reason);
		return -EINVAL;
	}
	if (set->ncounters == CP_MAX_COUNTERS) {
		cp_format(why->text, sizeof(why->text),
			"more than %d counters: ask for fewer events", CP_MAX_COUNTERS);
		return -ENOSPC;
	}
	error = cp_perf_probe(&attr, wants_proof(event, &attr) ? &proof : NULL, why);
	if (error)
		return error;
	counter = cp_set_add_counter(set, event);
	counter->attr = attr;
	counter->unproven = proof == CP_PROOF_NONE;
	return (int)set->ncounters - 1;
}

static void add_term(struct cp_event_set *set, struct cp_quantity *quantity, int sign,
	unsigned counter)
{
	cp_quantity_add_term(quantity, sign, counter);
	if (!set->counters[counter].unproven)
		return;
	quantity->unproven = true;
	cp_explain_unproven(&set->counters[counter].attr, &quantity->why);
}

/* All terms or nothing. */
static bool try_alternative(struct cp_event_set *set, struct cp_quantity *quantity,
	const struct cp_preset_alternative *alternative)
{
	quantity->nterms = 0;
	quantity->unproven = false;
	for (size_t i = 0; i < alternative->nterms; i++) {
		int counter =
			counter_for(set, alternative->terms[i].event, &quantity->why);

		if (counter < 0)
			return false;
		add_term(set, quantity, alternative->terms[i].sign, (unsigned)counter);
	}
	return true;
}

static bool try_pmu(struct cp_event_set *set, struct cp_quantity *quantity,
	struct cp_arena *arena, const char *pmu)
{
	struct cp_preset preset;

	if (cp_preset_lookup(arena, pmu, quantity->name, &preset) < 0)
		return false;
	for (size_t i = 0; i < preset.nalternatives; i++) {
		unsigned counters_before = set->ncounters;

		if (try_alternative(set, quantity, &preset.alternatives[i]))
			return true;
		set->ncounters = counters_before;
	}
	return false;
}

static bool resolve_preset(
	struct cp_event_set *set, struct cp_quantity *quantity, struct cp_arena *arena)
{
	const char *pmu;

	/* What the kernel counts in software needs no PMU to be looked for. */
	if (is_software_preset(quantity->name, arena))
		return try_pmu(set, quantity, arena, "perf");
	cp_format(quantity->why.text, sizeof(quantity->why.text),
		"no event for it is known on this machine's PMU");
	for (unsigned i = 0; (pmu = cp_core_pmu(i)); i++)
		if (try_pmu(set, quantity, arena, pmu))
			return true;
	return try_pmu(set, quantity, arena, "perf");
}

static bool resolve_event(struct cp_event_set *set, struct cp_quantity *quantity,
	struct cp_arena *arena, cp_complaint *complain)
{
	struct perf_event_attr attr;
	const char *reason;
	char line[CP_WHY_SIZE + CP_NAME_SIZE + 32];
	int counter;

	if (cp_encode(quantity->name, &attr, &reason) < 0) {
		cp_complain_unknown(quantity->name, arena, reason, quantity, complain);
		return false;
	}
	counter = counter_for(set, quantity->name, &quantity->why);
	if (counter < 0) {
		cp_format(line, sizeof(line), "%s is not counted: %s", quantity->name,
			quantity->why.text);
		complain(line);
		return false;
	}
	add_term(set, quantity, 1, (unsigned)counter);
	return true;
}

void cp_events_for_perf(struct cp_event_set *set, const struct cp_request *request,
	unsigned pass, struct cp_arena *arena, cp_complaint *complain)
{
	memset(set, 0, sizeof(*set));
	for (size_t i = 0; i < request->nnames; i++) {
		struct cp_quantity *quantity = cp_set_quantity(set, request->names[i]);

		quantity->available =
			cp_preset_known(quantity->name)
				? resolve_preset(set, quantity, arena)
				: resolve_event(set, quantity, arena, complain);
		if (!quantity->available)
			quantity->nterms = 0;
	}
	if (pass)
		cp_events_take_pass(set, pass);
	cp_perf_arrange(set);
}
