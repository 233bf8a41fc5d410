/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <string.h>

#include "base/format.h"
#include "output/report_parts.h"

#define MAX_WARNINGS 64
#define PLENTY 1000000  /* instructions: more than a program needs to touch memory */
#define SHORT_FACTOR 20 /* a region should last so many times its own cost */

void cp_report_warn(struct cp_report *report, const char *format, ...)
{
	char text[1024];
	size_t length;
	va_list args;

	va_start(args, format);
	length = cp_vformat(text, sizeof(text), format, args);
	va_end(args);
	for (size_t i = 0; i < report->nwarnings; i++)
		if (strcmp(report->warnings[i], text) == 0)
			return;
	if (!report->warnings)
		report->warnings = cp_arena_alloc(
			report->arena, MAX_WARNINGS * sizeof(*report->warnings));
	if (report->nwarnings == MAX_WARNINGS)
		report->warnings[MAX_WARNINGS - 1] =
			"there were more warnings than fit here";
	else
		report->warnings[report->nwarnings++] = cp_arena_copy(report->arena, text,
			length < sizeof(text) ? length : sizeof(text) - 1);
}

static void check_threads(struct cp_report *report)
{
	size_t lost = 0, adopted = 0, folded = 0;
	const char *reason = NULL;

	for (size_t i = 0; i < report->nprocesses; i++) {
		for (size_t j = 0; j < report->processes[i].nthreads; j++) {
			const struct cp_thread *thread = &report->processes[i].threads[j];

			adopted += (thread->state & CP_THREAD_ADOPTED) != 0;
			if (thread->reason)
				lost += thread->threads;
			else if (thread->state & CP_THREAD_FOLDS)
				folded += thread->threads;
			reason = thread->reason ? thread->reason : reason;
		}
	}
	if (lost)
		cp_report_warn(report,
			"%zu thread%s could not be counted (%s): sums lack %s", lost,
			lost == 1 ? "" : "s", reason, lost == 1 ? "it" : "them");
	if (folded)
		cp_report_warn(report,
			"%zu ended threads, folded: their counts are in the sums, least "
			"and "
			"most are over the others",
			folded);
	if (adopted)
		cp_report_warn(report,
			"%zu thread%s found running: counted from then on, not from the "
			"start",
			adopted, adopted == 1 ? " was" : "s were");
}

static void check_flags(struct cp_report *report, const struct cp_region *region)
{
	int length = (int)cp_slice_length(region->name);
	const char *name = region->name.at;

	/* Misplaced ENDs are warnings of the record already, with both names. */
	if (region->flags & CP_REGION_LEFT_OPEN)
		cp_report_warn(report,
			"region %.*s was open when its thread ended: closed there (is an "
			"END "
			"missing?)",
			length, name);
	if (region->flags & CP_REGION_READ_FAILED)
		cp_report_warn(report,
			"%s%.*s: a counter could not be read: counts are incomplete",
			length ? "region " : "whole run", length, name);
}

static uint64_t pair_cost(const struct cp_report *report)
{
	uint64_t cost = 0;

	for (size_t i = 0; i < report->nprocesses; i++)
		if (report->processes[i].pair_ns > cost)
			cost = report->processes[i].pair_ns;
	return cost;
}

static void check_length(
	struct cp_report *report, const struct cp_region *region, uint64_t pair_ns)
{
	if (!region->parent || !region->calls || !pair_ns ||
		region->seconds.status == CP_UNAVAILABLE ||
		region->time_ns / region->calls >= SHORT_FACTOR * pair_ns)
		return;
	cp_report_warn(report,
		"region %.*s lasts %lu ns per execution and its boundaries cost %lu ns: "
		"its counts are partly ours",
		(int)cp_slice_length(region->name), region->name.at,
		(unsigned long)(region->time_ns / region->calls), (unsigned long)pair_ns);
}

static void check_regions(struct cp_report *report)
{
	uint64_t pair_ns = pair_cost(report);

	for (const struct cp_region *region = report->total; region;
		region = cp_region_next(report->total, region)) {
		check_flags(report, region);
		check_length(report, region, pair_ns);
	}
}

/* Events that are rare, or about other things than memory, may well be 0. */
static bool may_be_zero(const char *name)
{
	static const char *const rare[] = {"perf::", "remote", "fault", "switches",
		"migrations", "itlb", "walk", "hitm", "invalidations", "evict",
		"writebacks", "wb_", "rejects", "full", "bus_", "node"};

	for (size_t i = 0; i < sizeof(rare) / sizeof(rare[0]); i++)
		if (strstr(name, rare[i]))
			return true;
	return false;
}

/* Hypervisors and firmware mask events that open all the same. */
static void check_zeros(struct cp_report *report)
{
	int instructions = cp_report_quantity(report, "instructions");
	const struct cp_count *counts = report->total->counts;

	if (report->engine != CP_ENGINE_PERF || instructions < 0 ||
		counts[instructions].status == CP_UNAVAILABLE ||
		counts[instructions].value < PLENTY)
		return;
	for (size_t i = 0; i < report->nquantities; i++)
		if (counts[i].status != CP_UNAVAILABLE && !counts[i].value &&
			!may_be_zero(report->quantities[i]))
			cp_report_warn(report,
				"%s stayed 0 over %lu instructions: this machine may not "
				"count it; "
				"cachepeek doctor --verify tells",
				report->quantities[i],
				(unsigned long)counts[instructions].value);
}

void cp_report_check(struct cp_report *report)
{
	check_threads(report);
	check_regions(report);
	check_zeros(report);
	cp_metrics_check(report);
}
