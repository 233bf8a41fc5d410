/* SPDX-License-Identifier: MIT
 *
 * Events of the kernel by name, and presets by the PMUs that are present.
 */
#include <errno.h>
#include <string.h>

#include "base/format.h"
#include "base/text.h"
#include "output/metrics/preset.h"
#include "base/counters/cores.h"
#include "base/counters/encode.h"
#include "base/engine/proof.h"
#include "base/engine/rusage.h"
#include "base/counters/events_internal.h"

static bool needs_no_pmu(const char *event)
{
	struct perf_event_attr attr;
	const char *reason;

	/* Only libpfm knows what else "perf::" names, and that is hardware. */
	if (cp_event_is_software(event))
		return true;
	return cp_starts_with(event, "mem:") && cp_encode(event, &attr, &reason) == 0;
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

static struct cp_cores cores;

/* The event on one kind of core: codes that name no PMU are anybody's. */
static void bind_to_core(struct perf_event_attr *attr, unsigned core)
{
	uint64_t type = core ? cores.core[core - 1].device.type : 0;

	if (attr->type == PERF_TYPE_RAW && core)
		attr->type = (uint32_t)type;
	else if (attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE)
		attr->config |= type << 32;
}

/* The kernel's accounts stand for an event that this user may not open. */
static int try_accounts(const struct perf_event_attr *attr, int error, bool *rusage)
{
	*rusage = (error == -EACCES || error == -EPERM) && cp_rusage_has(attr);
	return *rusage ? 0 : error;
}

/* The counter of this event, on a kind of core (0: all are alike), made if need
 * be; -errno with *why. */
static int counter_for(
	struct cp_event_set *set, const char *event, unsigned core, struct cp_why *why)
{
	struct perf_event_attr attr;
	const char *reason;
	char name[CP_NAME_SIZE];
	int index, error;
	bool rusage;
	enum cp_proof proof = CP_PROOF_COUNTS;
	struct cp_counter *counter;

	cp_format(name, sizeof(name), "%s%s%s", event, core ? "@" : "",
		core ? cores.core[core - 1].device.name : "");
	index = cp_set_counter(set, name);
	if (index >= 0)
		return index;
	error = cp_encode(event, &attr, &reason);
	if (error) {
		cp_format(why->text, sizeof(why->text), "%s", reason);
		return error;
	}
	if (set->ncounters == CP_MAX_COUNTERS) {
		cp_format(why->text, sizeof(why->text),
			"more than %d counters: ask for fewer events", CP_MAX_COUNTERS);
		return -ENOSPC;
	}
	bind_to_core(&attr, core);
	error = cp_perf_probe(&attr, wants_proof(event, &attr) ? &proof : NULL, why);
	error = try_accounts(&attr, error, &rusage);
	if (error)
		return error;
	counter = cp_set_add_counter(set, name);
	counter->attr = attr;
	counter->rusage = rusage;
	counter->core = core;
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
	const struct cp_preset_alternative *alternative, unsigned core)
{
	unsigned counters_before = set->ncounters, terms_before = quantity->nterms;

	for (size_t i = 0; i < alternative->nterms; i++) {
		int counter = quantity->nterms == CP_MAX_TERMS
				      ? -ENOSPC
				      : counter_for(set, alternative->terms[i].event,
						core, &quantity->why);

		if (counter < 0) {
			set->ncounters = counters_before;
			quantity->nterms = terms_before;
			return false;
		}
		add_term(set, quantity, alternative->terms[i].sign, (unsigned)counter);
	}
	return true;
}

static bool try_pmu(struct cp_event_set *set, struct cp_quantity *quantity,
	struct cp_arena *arena, const char *pmu, unsigned core)
{
	struct cp_preset preset;

	if (!pmu || cp_preset_lookup(arena, pmu, quantity->name, &preset) < 0)
		return false;
	quantity->unproven = false;
	for (size_t i = 0; i < preset.nalternatives; i++)
		if (try_alternative(set, quantity, &preset.alternatives[i], core))
			return true;
	return false;
}

static void no_event_on(struct cp_quantity *quantity, unsigned core)
{
	struct cp_why last = quantity->why;
	const char *name = cores.core[core - 1].device.name;

	quantity->nterms = 0;
	if (*last.text)
		cp_format(quantity->why.text, sizeof(quantity->why.text), "%s cores: %s",
			name, last.text);
	else
		cp_format(quantity->why.text, sizeof(quantity->why.text),
			"no event for it is known on the %s cores, "
			"and the others are not all",
			name);
}

/* On all kinds of core, or not at all. */
static bool resolve_everywhere(
	struct cp_event_set *set, struct cp_quantity *quantity, struct cp_arena *arena)
{
	unsigned counters_before = set->ncounters;

	for (unsigned core = 1; core <= cores.count; core++) {
		quantity->why.text[0] = '\0';
		if (try_pmu(set, quantity, arena, cores.core[core - 1].pmu, core) ||
			try_pmu(set, quantity, arena, "perf", core))
			continue;
		set->ncounters = counters_before;
		no_event_on(quantity, core);
		return false;
	}
	return true;
}

static bool on_sockets(
	struct cp_event_set *set, struct cp_quantity *quantity, struct cp_arena *arena)
{
	for (unsigned i = 0; i < cores.count; i++)
		if (cores.core[i].pmu &&
			cp_socket_preset(set, quantity, arena, cores.core[i].pmu))
			return true;
	return false;
}

static bool resolve_preset(
	struct cp_event_set *set, struct cp_quantity *quantity, struct cp_arena *arena)
{
	/* Software events need no PMU. */
	if (is_software_preset(quantity->name, arena))
		return try_pmu(set, quantity, arena, "perf", 0);
	if (!cores.count && !cores.hybrid)
		cp_cores_find(&cores, arena);
	if (cores.hybrid)
		return resolve_everywhere(set, quantity, arena) ||
		       on_sockets(set, quantity, arena);
	cp_format(quantity->why.text, sizeof(quantity->why.text),
		"no event for it is known on this machine's PMU");
	for (unsigned i = 0; i < cores.count; i++)
		if (try_pmu(set, quantity, arena, cores.core[i].pmu, 0))
			return true;
	return try_pmu(set, quantity, arena, "perf", 0) ||
	       on_sockets(set, quantity, arena);
}

/* The kernel's generic events mean the first kind of core unless told. */
static bool is_generic(const char *event)
{
	struct perf_event_attr attr;
	const char *reason;

	return cp_encode(event, &attr, &reason) == 0 &&
	       (attr.type == PERF_TYPE_HARDWARE || attr.type == PERF_TYPE_HW_CACHE);
}

/* One term, or one for each kind of core. */
static int add_event(struct cp_event_set *set, struct cp_quantity *quantity)
{
	unsigned last = cores.hybrid && is_generic(quantity->name) ? cores.count : 0;

	for (unsigned core = last ? 1 : 0; core <= last; core++) {
		int counter = counter_for(set, quantity->name, core, &quantity->why);

		if (counter < 0)
			return counter;
		add_term(set, quantity, 1, (unsigned)counter);
	}
	return 0;
}

/* Under the preset's name, which is what the tables of PMUs have. */
static bool resolve_as(struct cp_event_set *set, struct cp_quantity *quantity,
	struct cp_arena *arena, const char *preset)
{
	char asked[CP_NAME_SIZE];
	bool available;

	cp_format(asked, sizeof(asked), "%s", quantity->name);
	cp_format(quantity->name, sizeof(quantity->name), "%s", preset);
	available = resolve_preset(set, quantity, arena);
	cp_format(quantity->name, sizeof(quantity->name), "%s", asked);
	return available;
}

static bool resolve_event(struct cp_event_set *set, struct cp_quantity *quantity,
	struct cp_arena *arena, cp_complaint *complain)
{
	struct perf_event_attr attr;
	const char *reason, *preset;
	bool socket;
	char line[CP_WHY_SIZE + CP_NAME_SIZE + 32];

	if (cp_socket_event(set, quantity, &socket))
		return true;
	if (socket) {
		cp_format(line, sizeof(line), "%s is not counted: %s", quantity->name,
			quantity->why.text);
		complain(line);
		return false;
	}
	if (cp_encode(quantity->name, &attr, &reason) == -EINVAL) {
		preset = cp_read_as(quantity->name, arena, complain);
		if (preset)
			return resolve_as(set, quantity, arena, preset);
		cp_complain_unknown(quantity->name, arena, reason, quantity, complain);
		return false;
	}
	if (!cores.count && !cores.hybrid && cp_perf_needs_pmu(&attr))
		cp_cores_find(&cores, arena);
	if (add_event(set, quantity) < 0) {
		cp_format(line, sizeof(line), "%s is not counted: %s", quantity->name,
			quantity->why.text);
		complain(line);
		return false;
	}
	return true;
}

/* ---- several kinds of core ---- */

/* Pinned, so that it never shares a counter: how long it runs is how long the
 * thread was on such a core. */
static int residency_counter(struct cp_event_set *set, unsigned core, struct cp_why *why)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.pinned = 1};
	struct cp_counter *counter;
	int error;

	bind_to_core(&attr, core);
	error = cp_perf_probe(&attr, NULL, why);
	if (error)
		return error;
	counter = cp_set_add_counter(set, cores.core[core - 1].device.name);
	counter->attr = attr;
	counter->core = core;
	return (int)set->ncounters - 1;
}

static void add_residency(struct cp_event_set *set, unsigned core)
{
	struct cp_quantity *quantity;
	char name[CP_NAME_SIZE];
	int counter;

	if (set->nquantities == CP_MAX_QUANTITIES)
		return;
	cp_format(name, sizeof(name), "%s::cycles", cores.core[core - 1].device.name);
	quantity = cp_set_quantity(set, name);
	if (set->ncounters == CP_MAX_COUNTERS) {
		cp_format(quantity->why.text, sizeof(quantity->why.text),
			"more than %d counters: ask for fewer events", CP_MAX_COUNTERS);
		return;
	}
	counter = residency_counter(set, core, &quantity->why);
	if (counter < 0)
		return;
	quantity->available = true;
	add_term(set, quantity, 1, (unsigned)counter);
}

/* By group, the group of the pinned counter of the same kind of core. */
static void find_references(struct cp_event_set *set)
{
	for (unsigned i = 0; i < set->ncounters; i++)
		for (unsigned j = 0; j < set->ncounters && set->counters[i].core; j++)
			if (set->counters[j].attr.pinned &&
				set->counters[j].core == set->counters[i].core)
				set->reference[set->counters[i].group] =
					(unsigned char)(set->counters[j].group + 1);
}

void cp_events_for_perf(struct cp_event_set *set, const struct cp_request *request,
	struct cp_share share, struct cp_arena *arena, cp_complaint *complain)
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
	/* Nobody asked for it, so nobody misses it. */
	if (request->common && !set->quantities[set->nquantities - 1].available)
		set->nquantities--;
	if (share.number)
		cp_events_take_pass(set, share);
	for (unsigned core = 1; core <= cores.count && cores.hybrid; core++)
		add_residency(set, core);
	cp_perf_arrange(set);
	find_references(set);
}
