/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <signal.h>
#include <string.h>

#include "base/format.h"
#include "base/text/table.h"
#include "output/report/report_parts.h"

#define MAX_WARNINGS 64
#define PLENTY 1000000  /* instructions: more than a program needs to touch memory */
#define SHORT_FACTOR 20 /* a region should last so many times its own cost */

void cp_report_warn(struct cp_report *report, const char *format, ...)
{
	const char *text;
	va_list args;

	va_start(args, format);
	text = cp_text_vformat(report->arena, format, args);
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
		report->warnings[report->nwarnings++] = text;
}

static void check_threads(struct cp_report *report)
{
	size_t lost = 0, adopted = 0, folded = 0;
	const char *reason = NULL;

	for (size_t i = 0; i < report->nprocesses; i++) {
		for (size_t j = 0; j < report->processes[i].nthreads; j++) {
			const struct cp_thread *thread = &report->processes[i].threads[j];

			adopted += (thread->state & CP_THREAD_ADOPTED) != 0;
			if (report->processes[i].folded)
				continue;
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
			"%zu ended threads, folded: their counts are in the sums, "
			"least and most are over the others",
			folded);
	if (adopted)
		cp_report_warn(report,
			"%zu thread%s found running: counted from then on, "
			"not from the start",
			adopted, adopted == 1 ? " was" : "s were");
}

static size_t put_end(char *to, size_t size, const struct cp_ends *end)
{
	unsigned long long n = end->processes;

	switch (end->how) {
	case CP_HOW_EXIT:
		return cp_format(to, size, ", %llu exit %d", n, end->code);
	case CP_HOW_SIGNAL:
		return cp_format(to, size, ", %llu signal %d", n, end->code);
	case CP_HOW_EXEC:
		return cp_format(to, size, ", %llu exec", n);
	case CP_HOW_KILLED:
		return cp_format(to, size, ", %llu killed", n);
	case CP_HOW_RUNNING: /* when it was folded its writer had gone */
		return cp_format(to, size, ", %llu not seen to end", n);
	default:
		return cp_format(to, size, ", %llu otherwise", n);
	}
}

static void check_folded(struct cp_report *report)
{
	for (size_t i = 0; i < report->nprocesses; i++) {
		const struct cp_process *process = &report->processes[i];
		char ends[400] = "";
		size_t length = 0;

		if (!process->folded)
			continue;
		for (unsigned e = 0; e < CP_MAX_ENDS && length < sizeof(ends); e++)
			if (process->ends[e].processes)
				length += put_end(ends + length, sizeof(ends) - length,
					&process->ends[e]);
		cp_report_warn(report,
			"%llu ended processes of %s, folded: "
			"their counts are in the sums, "
			"least and most are over the others (they ended: %s)",
			(unsigned long long)process->folded, process->exe,
			length ? ends + 2 : "");
	}
}

static size_t put_unrecorded(char *to, size_t size, uint64_t n, const char *what)
{
	return n ? cp_format(to, size, ", %llu %s%s", (unsigned long long)n, what,
			   n == 1 ? "" : "s")
		 : 0;
}

static void check_unrecorded(struct cp_report *report)
{
	static const char *const what[CP_UNRECORDED_KINDS] = {
		"region execution", "thread", "note"};
	uint64_t n[CP_UNRECORDED_KINDS] = {0};
	char text[120] = "";
	size_t length = 0;

	for (size_t i = 0; i < report->nprocesses; i++)
		for (unsigned k = 0; k < CP_UNRECORDED_KINDS; k++)
			n[k] += report->processes[i].unrecorded[k];
	for (unsigned k = 0; k < CP_UNRECORDED_KINDS; k++)
		length += put_unrecorded(
			text + length, sizeof(text) - length, n[k], what[k]);
	if (length)
		cp_report_warn(report,
			"%s could not be recorded: no memory, "
			"or no room for the run's records. Free some, "
			"or set CACHEPEEK_DIR to a larger place",
			text + 2);
}

/* A thread's last microseconds are in nobody's account. */
#define TAIL_NS 100000
#define SLACK_NS 10000000

static void check_cpu_time(struct cp_report *report, const struct cp_process *process)
{
	uint64_t ns = process->unattributed_ns;

	if (ns > SLACK_NS + cp_process_threads(process) * TAIL_NS &&
		ns > process->cpu_ns / 100)
		cp_report_warn(report,
			"<unattributed>: "
			"%lu of %lu ms of CPU time of process %d went "
			"to threads that were not seen: "
			"what they counted is in no sum",
			(unsigned long)(ns / 1000000),
			(unsigned long)(process->cpu_ns / 1000000), process->pid);
}

/* The simulated PMU knows them all; one quantity is enough to say so. */
static void check_counts(struct cp_report *report, const struct cp_process *process)
{
	for (size_t i = 0; i < report->nquantities; i++) {
		const struct cp_count *count = &process->unattributed[i],
				      *whole = &process->whole[i];

		if (count->status == CP_UNAVAILABLE || whole->status == CP_UNAVAILABLE ||
			count->value <= whole->value / 100)
			continue;
		cp_report_warn(report,
			"<unattributed>: "
			"%lu of %lu %s of process %d are "
			"of threads that were not seen: in no sum",
			(unsigned long)count->value, (unsigned long)whole->value,
			report->quantities[i], process->pid);
		return;
	}
}

static void check_unattributed(struct cp_report *report)
{
	for (size_t i = 0; i < report->nprocesses; i++) {
		check_cpu_time(report, &report->processes[i]);
		check_counts(report, &report->processes[i]);
	}
}

static void check_jumps(struct cp_report *report)
{
	for (size_t i = 0; i < report->nprocesses; i++)
		if (report->processes[i].jumped)
			cp_report_warn(report,
				"process %d: regions of a thread are counted up to where "
				"a signal handler left the beginning or end of one by "
				"longjmp(3): let the handler return, or block its signal "
				"there",
				report->processes[i].pid);
}

static void check_flags(struct cp_report *report, const struct cp_region *region)
{
	int length = (int)cp_slice_length(region->name);
	const char *name = region->name.at;

	/* Misplaced ENDs are warnings of the record already, with both names. */
	if (region->flags & CP_REGION_LEFT_OPEN)
		cp_report_warn(report,
			"region %.*s was open when its thread ended: closed there "
			"(is an END missing?)",
			length, name);
	if (region->flags & CP_REGION_AT_EXEC)
		cp_report_warn(report,
			"region %.*s was open when its process executed another program: "
			"counted to there",
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

/* Our boundaries' cost is subtracted, as well as it is known; where it is large
 * what remains is not well known. */
static bool is_short(const struct cp_region *region, uint64_t pair_ns)
{
	return region->parent && region->calls && pair_ns &&
	       region->seconds.status != CP_UNAVAILABLE &&
	       region->time_ns / region->calls < SHORT_FACTOR * pair_ns;
}

static void check_regions(struct cp_report *report)
{
	uint64_t pair_ns = pair_cost(report);

	for (struct cp_region *region = report->total; region;
		region = (struct cp_region *)(uintptr_t)cp_region_next(
			report->total, region)) {
		check_flags(report, region);
		if (is_short(region, pair_ns))
			region->flags |= CP_REGION_SHORT;
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
				"%s stayed 0 over %lu instructions: "
				"this machine may not count it; "
				"cachepeek doctor --verify tells",
				report->quantities[i],
				(unsigned long)counts[instructions].value);
}

/* On each kind of core, where there are several. */
static void tell_cores(struct cp_report *report)
{
	char text[200];
	size_t length = 0;

	for (size_t i = 0; i < report->nquantities; i++) {
		const struct cp_count *count = &report->total->counts[i];
		const char *end = strstr(report->quantities[i], "::cycles");

		if (!end || count->status != CP_EXACT || count->coverage >= 1 ||
			length >= sizeof(text))
			continue;
		length += cp_format(text + length, sizeof(text) - length,
			"%s%.0f %% of the time on %.*s", length ? ", " : "",
			100 * count->coverage, (int)(end - report->quantities[i]),
			report->quantities[i]);
	}
	if (length)
		cp_report_warn(report,
			"this machine has several kinds of core: %s. "
			"Counts are those of each kind, added up",
			text);
}

static void tell_sockets(struct cp_report *report)
{
	for (size_t i = 0; i < report->nquantities; i++)
		if (report->total->counts[i].socket &&
			report->total->counts[i].status != CP_UNAVAILABLE)
			cp_report_warn(report,
				"%s: all that the machine's sockets did during "
				"the region, other programs included",
				report->quantities[i]);
}

static const char simulated_limits[] =
	"the kernel's accesses and other processes' are not seen, "
	"each process has the last level to itself; "
	"lines are those of virtual addresses; threads take turns; "
	"programs that ask are ";

void cp_report_limits(const struct cp_report *report, char *to, size_t size)
{
	unsigned long long huge = 0, shown = 0;
	const char *cpu = NULL;
	bool is_hosts;
	size_t used;

	for (size_t i = 0; i < report->nprocesses; i++) {
		if (report->processes[i].cpu)
			cpu = report->processes[i].cpu;
		huge += report->processes[i].huge_pages;
		shown += report->processes[i].shown_host;
	}
	is_hosts = cpu && strcmp(cpu, "host") == 0;
	used = cp_format(to, size, "%s%s%s%s", simulated_limits,
		cpu ? "shown " : "not shown AVX-512",
		!cpu || is_hosts ? "" : "the processor of ",
		is_hosts ? "this machine's processor"
		: cpu    ? cpu
			 : "");
	if (shown && used < size)
		used += cp_format(to + used, size - used,
			" (%llu marked x86-64-v4 %s this machine's processor)", shown,
			shown == 1 ? "was shown" : "were shown");
	if (huge && used < size)
		cp_format(to + used, size - used,
			"; %llu huge pages of 2 MB seen, each one page in the TLBs",
			huge);
}

/* The core sends this for what it does not know, too. */
static void check_instructions(struct cp_report *report)
{
	for (size_t i = 0; i < report->nprocesses; i++) {
		const struct cp_process *process = &report->processes[i];

		if (report->engine != CP_ENGINE_SIM ||
			strcmp(process->how, "signal") != 0 || process->code != SIGILL)
			continue;
		cp_report_warn(report,
			"process %d ended with SIGILL%s%s: "
			"an instruction that this machine does not have, "
			"or that the simulated PMU cannot execute. "
			"Use a program built for less, or CACHEPEEK_ENGINE=perf",
			process->pid, process->illegal ? " of " : "",
			process->illegal ? process->illegal : "");
	}
}

static void check_x87(struct cp_report *report)
{
	size_t met = 0;

	for (size_t i = 0; i < report->nprocesses; i++)
		met += report->processes[i].x87;
	if (met)
		cp_report_warn(report, CP_X87_WARNING
			" (long double) were computed with 64 bits, not 80, "
			"and raised no exceptions: last digits may differ from those of the program alone, "
			"which CACHEPEEK_ENGINE=perf has");
}

void cp_report_check(struct cp_report *report)
{
	check_instructions(report);
	check_x87(report);
	tell_sockets(report);
	tell_cores(report);
	check_threads(report);
	check_folded(report);
	check_unrecorded(report);
	check_jumps(report);
	check_unattributed(report);
	check_regions(report);
	check_zeros(report);
	cp_metrics_check(report);
}
