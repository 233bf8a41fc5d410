/* SPDX-License-Identifier: MIT
 *
 * From names to events on a machine that is not here: its sysfs lies in fake, its
 * /proc/cpuinfo is cpuinfo, its kernel is engine_world.h's, and an encoder stands
 * for libpfm.  In a test of its own object, for all of them are included.
 */
#ifndef CACHEPEEK_TESTS_UNIT_EVENTS_HERE_H
#define CACHEPEEK_TESTS_UNIT_EVENTS_HERE_H

#include <stdio.h>

static char fake[64] = "/tmp/events_here_XXXXXX", cpuinfo[80];
#define CP_SYSFS_DEVICES fake
#define CP_CPUINFO cpuinfo
#define CP_MIDR "/nonexistent"

/* The registers of its CPU stand for those of this one. */
#include "tests/unit/engine_world.h"

#include "base/counters/cores.c"
#include "base/counters/encode_sysfs.c"
#include "base/engine/sysfs.c"
#include "base/counters/events.c"
#include "base/counters/events_pass.c"
#include "base/counters/events_perf.c"
#include "base/counters/events_socket.c"
#include "tests/tap/tap.h"
#include "tests/unit/sysfs_tree.h"

static const char *core_pmu; /* that libpfm finds; NULL: none */

/* ---- as much of the encoder as the presets of these cores need ---- */

int cp_encode(const char *event, struct perf_event_attr *attr, const char **reason)
{
	static const char *const generic[] = {
		"perf::CYCLES", "perf::INSTRUCTIONS", "perf::PAGE-FAULTS", NULL};
	struct cp_sysfs_pmu pmu;
	const char *modes;

	memset(attr, 0, sizeof(*attr));
	*reason = "no such event";
	for (unsigned i = 0; generic[i]; i++)
		if (strcmp(event, generic[i]) == 0) {
			attr->type = i == 2 ? PERF_TYPE_SOFTWARE : PERF_TYPE_HARDWARE;
			attr->config = i;
			return 0;
		}
	attr->type = PERF_TYPE_RAW;
	if (sscanf(event, "perf_raw::r%llx", (unsigned long long *)&attr->config) == 1)
		return 0;
	if (!cp_sysfs_event_pmus(event, &pmu, 1))
		return -EINVAL;
	return cp_sysfs_encode(event, &pmu, attr, &modes, reason);
}

bool cp_event_is_raw(const char *event)
{
	(void)event;
	return false;
}

const char *cp_core_pmu(unsigned index)
{
	return index ? NULL : core_pmu;
}

/* ---- events ---- */

static struct cp_arena arena = {.give_up = tap_no_memory};
static struct cp_event_set set;

static void ignore(const char *line)
{
	diag("%s", line);
}

static void resolve(const char *events)
{
	struct cp_request request;

	memset(&cores, 0, sizeof(cores));
	cp_request_read(&request, &arena,
		&(struct cp_request_text){events, NULL, NULL, ""}, ignore);
	cp_events_for_perf(&set, &request, (struct cp_share){0, false}, &arena, ignore);
	cp_perf_probe_done();
}

/* A quantity as the types and configs of its terms: "4:20d1 10:81d0". */
static const char *terms_of(const char *name)
{
	static char text[200];
	size_t length = 0;

	text[0] = '\0';
	for (unsigned q = 0; q < set.nquantities; q++) {
		const struct cp_quantity *quantity = &set.quantities[q];

		if (strcmp(quantity->name, name) != 0)
			continue;
		for (unsigned t = 0; t < quantity->nterms; t++) {
			const struct perf_event_attr *attr =
				&set.counters[quantity->terms[t].counter].attr;

			length += (size_t)snprintf(text + length, sizeof(text) - length,
				"%s%u:%llx%s", t ? " " : "", attr->type,
				(unsigned long long)attr->config,
				attr->pinned ? "!" : "");
		}
		return quantity->available ? text : quantity->why.text;
	}
	return "absent";
}

#endif
