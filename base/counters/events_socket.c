/* SPDX-License-Identifier: MIT
 *
 * Events of what cores share (memory controllers, last-level caches): counted for
 * whole sockets, on the CPU that stands for each, by every PMU that has them.
 */
#include <errno.h>
#include <string.h>

#include "base/format.h"
#include "base/text.h"
#include "output/metrics/preset.h"
#include "base/counters/encode.h"
#include "base/counters/encode_sysfs.h"
#include "base/counters/events_internal.h"

#define MAX_PMUS 32
#define MAX_SOCKETS 16

static bool add_part(struct cp_event_set *set, unsigned counter,
	const struct perf_event_attr *attr, int cpu, struct cp_why *why)
{
	if (set->nparts == CP_MAX_PARTS) {
		cp_format(why->text, sizeof(why->text),
			"it takes more than %d counters of sockets", CP_MAX_PARTS);
		return false;
	}
	if (cp_perf_probe_cpu(attr, cpu, why) < 0)
		return false;
	set->parts[set->nparts++] = (struct cp_part){counter, cpu, *attr};
	return true;
}

/* The event on every socket; such PMUs know no modes. */
static bool add_pmu(struct cp_event_set *set, unsigned counter,
	const struct cp_sysfs_pmu *pmu, struct perf_event_attr attr, struct cp_why *why)
{
	int cpus[MAX_SOCKETS];
	unsigned count = cp_sysfs_cpus(pmu, cpus, MAX_SOCKETS);

	attr.exclude_user = attr.exclude_kernel = attr.exclude_hv = 0;
	if (count == 0 || count > MAX_SOCKETS) {
		cp_format(why->text, sizeof(why->text),
			"%s does not say which CPUs stand for its sockets", pmu->name);
		return false;
	}
	for (unsigned i = 0; i < count; i++)
		if (!add_part(set, counter, &attr, cpus[i], why))
			return false;
	return true;
}

static bool add_sysfs(struct cp_event_set *set, unsigned counter, const char *event,
	const struct cp_sysfs_pmu pmus[], unsigned count, struct cp_why *why)
{
	for (unsigned i = 0; i < count; i++) {
		struct perf_event_attr attr = {0};
		const char *modes, *reason;

		if (cp_sysfs_encode(event, &pmus[i], &attr, &modes, &reason) < 0) {
			cp_format(why->text, sizeof(why->text), "%s: %s", pmus[i].name,
				reason);
			return false;
		}
		if (!add_pmu(set, counter, &pmus[i], attr, why))
			return false;
	}
	return true;
}

/* Is the event one of sockets?  If so, its parts; *added tells whether all could
 * be. */
static bool add_parts_of(struct cp_event_set *set, unsigned counter, const char *event,
	struct cp_why *why, bool *added)
{
	struct cp_sysfs_pmu pmus[MAX_PMUS];
	struct perf_event_attr attr;
	const char *reason;
	unsigned count = cp_sysfs_event_pmus(event, pmus, MAX_PMUS);

	*added = false;
	if (count) {
		if (count <= MAX_PMUS && pmus[0].socket)
			*added = add_sysfs(set, counter, event, pmus, count, why);
		return pmus[0].socket;
	}
	if (cp_starts_with(event, "sysfs:") || cp_starts_with(event, "perf::") ||
		!strstr(event, "::") || cp_encode(event, &attr, &reason) < 0 ||
		attr.type < PERF_TYPE_MAX || !cp_sysfs_socket_pmu(attr.type, pmus))
		return false;
	*added = add_pmu(set, counter, pmus, attr, why);
	return true;
}

static int new_counter(struct cp_event_set *set, const char *name)
{
	if (set->ncounters == CP_MAX_COUNTERS)
		return -ENOSPC;
	cp_set_add_counter(set, name)->socket = true;
	return (int)set->ncounters - 1;
}

static void forget_counters(struct cp_event_set *set, struct cp_quantity *quantity,
	unsigned ncounters, unsigned nparts)
{
	set->ncounters = ncounters;
	set->nparts = nparts;
	quantity->nterms = 0;
}

bool cp_socket_event(struct cp_event_set *set, struct cp_quantity *quantity, bool *known)
{
	unsigned ncounters = set->ncounters, nparts = set->nparts;
	int counter = new_counter(set, quantity->name);
	bool added;

	*known = counter >= 0 && add_parts_of(set, (unsigned)counter, quantity->name,
					 &quantity->why, &added);
	if (*known && added) {
		cp_quantity_add_term(quantity, 1, (unsigned)counter);
		return true;
	}
	forget_counters(set, quantity, ncounters, nparts);
	return false;
}

/* The outcome of an alternative on one PMU. */
enum outcome { ABSENT, ADDED, FAILED };

/* A counter for each term, to which other PMUs of the same kind are added. */
static enum outcome add_alternative(struct cp_event_set *set,
	struct cp_quantity *quantity, const struct cp_preset_alternative *alternative)
{
	bool first = quantity->nterms == 0;

	for (size_t t = 0; t < alternative->nterms; t++) {
		const struct cp_preset_term *term = &alternative->terms[t];
		int counter = first ? new_counter(set, term->event)
				    : (int)quantity->terms[t].counter;
		bool added;

		if (counter < 0)
			return FAILED;
		if (!add_parts_of(
			    set, (unsigned)counter, term->event, &quantity->why, &added))
			return t ? FAILED : ABSENT;
		if (!added)
			return FAILED;
		if (first)
			cp_quantity_add_term(quantity, term->sign, (unsigned)counter);
	}
	return ADDED;
}

/* Do they name the same events, each of its own PMU? */
static bool are_alike(
	const struct cp_preset_alternative *a, const struct cp_preset_alternative *b)
{
	for (size_t t = 0; t < a->nterms && t < b->nterms; t++) {
		const char *of_a = strstr(a->terms[t].event, "::"),
			   *of_b = strstr(b->terms[t].event, "::");

		if (!of_a || !of_b || strcmp(of_a, of_b) != 0)
			return false;
	}
	return a->nterms == b->nterms;
}

/* One PMU per channel: all that are here.  Other kinds of PMU count the same
 * again. */
bool cp_socket_preset(struct cp_event_set *set, struct cp_quantity *quantity,
	struct cp_arena *arena, const char *core)
{
	unsigned ncounters = set->ncounters, nparts = set->nparts;
	struct cp_preset first = {.name = NULL}, preset;

	for (const char *const *pmu = cp_preset_beside(arena, core); *pmu; pmu++) {
		enum outcome outcome = ABSENT;

		if (cp_preset_lookup(arena, *pmu, quantity->name, &preset) < 0)
			continue;
		if (!first.name ||
			are_alike(&first.alternatives[0], &preset.alternatives[0]))
			outcome = add_alternative(set, quantity, &preset.alternatives[0]);
		if (outcome == ADDED && !first.name)
			first = preset;
		if (outcome == FAILED)
			first.name = NULL;
		if (outcome == FAILED || !first.name)
			forget_counters(set, quantity, ncounters, nparts);
		if (outcome == FAILED)
			break;
	}
	return first.name != NULL;
}
