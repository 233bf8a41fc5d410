/* SPDX-License-Identifier: MIT
 *
 * Events of the kernel: libpfm4's names, raw codes and breakpoints in perf's
 * own spelling, and presets by the PMUs that are present.
 */
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <string.h>

#include "base/format.h"
#include "base/text.h"
#include "output/preset.h"
#include "preload/events_internal.h"
#include "preload/pfm.h"

/* ---- spellings that libpfm does not know ---- */

/* rHEX: a raw code of the core PMU. */
static bool encode_raw(const char *event, struct perf_event_attr *attr)
{
	char hex[32];

	if (event[0] != 'r' || strlen(event) > 20)
		return false;
	cp_format(hex, sizeof(hex), "0x%s", event + 1);
	if (cp_parse_u64(hex, (uint64_t *)&attr->config) < 0)
		return false;
	attr->type = PERF_TYPE_RAW;
	return true;
}

static bool breakpoint_access(const char *letters, struct perf_event_attr *attr)
{
	attr->bp_type = 0;
	for (; *letters; letters++) {
		if (*letters == 'x')
			attr->bp_type |= HW_BREAKPOINT_X;
		else if (*letters == 'r')
			attr->bp_type |= HW_BREAKPOINT_R;
		else if (*letters == 'w')
			attr->bp_type |= HW_BREAKPOINT_W;
		else
			return false;
	}
	return attr->bp_type != 0;
}

/* mem:ADDRESS[/LENGTH][:rwx], perf's spelling; without access: rw. */
static bool encode_breakpoint(const char *event, struct perf_event_attr *attr)
{
	const char *at = event + 4, *access = "rw";
	uint64_t address, length = 0;

	if (!cp_starts_with(event, "mem:") || cp_parse_u64_prefix(at, &at, &address) < 0)
		return false;
	if (*at == '/' && cp_parse_u64_prefix(at + 1, &at, &length) < 0)
		return false;
	if (*at == ':')
		access = at + 1;
	else if (*at)
		return false;
	if (!breakpoint_access(access, attr))
		return false;
	attr->type = PERF_TYPE_BREAKPOINT;
	attr->bp_addr = address;
	attr->bp_len = length ? length : attr->bp_type == HW_BREAKPOINT_X ? sizeof(long) : 4;
	return true;
}

static bool is_breakpoint(const char *event)
{
	return cp_starts_with(event, "mem:");
}

/* 0, or -EINVAL with a phrase in *reason. */
static int encode(const char *event, struct perf_event_attr *attr, const char **reason)
{
	memset(attr, 0, sizeof(*attr));
	if (is_breakpoint(event)) {
		*reason = "breakpoints are written mem:ADDRESS[/LENGTH][:rwx]";
		if (!encode_breakpoint(event, attr))
			return -EINVAL;
	} else if (!encode_raw(event, attr)) {
		return cp_pfm_encode(event, attr, reason);
	}
	attr->exclude_kernel = 1;
	attr->exclude_hv = 1;
	return 0;
}

bool cp_request_is_software(const struct cp_request *request)
{
	struct perf_event_attr attr;
	const char *reason;

	for (size_t i = 0; i < request->nnames; i++) {
		if (cp_preset_known(request->names[i])) {
			struct cp_arena arena = {0};
			struct cp_preset preset;
			int missing = cp_preset_lookup(&arena, "perf", request->names[i], &preset);

			if (missing || encode(preset.alternatives[0].terms[0].event, &attr, &reason))
				attr.type = PERF_TYPE_RAW;
			cp_arena_free(&arena);
		} else if (encode(request->names[i], &attr, &reason) < 0) {
			return false;
		}
		if (attr.type != PERF_TYPE_SOFTWARE && attr.type != PERF_TYPE_BREAKPOINT)
			return false;
	}
	return request->nnames > 0;
}

/* ---- counters and quantities ---- */

/* The counter of this event, made if need be; -errno with *why. */
static int counter_for(struct cp_event_set *set, const char *event, struct cp_why *why)
{
	struct perf_event_attr attr;
	const char *reason;
	int index = cp_set_counter(set, event), error;

	if (index >= 0)
		return index;
	if (encode(event, &attr, &reason) < 0) {
		cp_format(why->text, sizeof(why->text), "%s", reason);
		return -EINVAL;
	}
	if (set->ncounters == CP_MAX_COUNTERS) {
		cp_format(why->text, sizeof(why->text), "more than %d counters: ask for fewer events",
			CP_MAX_COUNTERS);
		return -ENOSPC;
	}
	error = cp_perf_probe(&attr, why);
	if (error)
		return error;
	cp_set_add_counter(set, event)->attr = attr;
	return (int)set->ncounters - 1;
}

/* All terms or nothing. */
static bool try_alternative(struct cp_event_set *set, struct cp_quantity *quantity,
	const struct cp_preset_alternative *alternative)
{
	quantity->nterms = 0;
	for (size_t i = 0; i < alternative->nterms; i++) {
		int counter = counter_for(set, alternative->terms[i].event, &quantity->why);

		if (counter < 0)
			return false;
		cp_quantity_add_term(quantity, alternative->terms[i].sign, (unsigned)counter);
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

	cp_format(quantity->why.text, sizeof(quantity->why.text),
		"no event for it is known on this machine's PMU");
	for (unsigned i = 0; (pmu = cp_pfm_core_pmu(i)); i++)
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

	if (encode(quantity->name, &attr, &reason) < 0) {
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
	cp_quantity_add_term(quantity, 1, (unsigned)counter);
	return true;
}

void cp_events_for_perf(struct cp_event_set *set, const struct cp_request *request,
	struct cp_arena *arena, cp_complaint *complain)
{
	memset(set, 0, sizeof(*set));
	for (size_t i = 0; i < request->nnames; i++) {
		struct cp_quantity *quantity = cp_set_quantity(set, request->names[i]);

		quantity->available = cp_preset_known(quantity->name)
					      ? resolve_preset(set, quantity, arena)
					      : resolve_event(set, quantity, arena, complain);
		if (!quantity->available)
			quantity->nterms = 0;
	}
	cp_perf_arrange(set);
}
