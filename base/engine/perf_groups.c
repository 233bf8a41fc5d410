/* SPDX-License-Identifier: MIT
 *
 * Which counters count together: what the kernel takes into one group and the
 * PMU then counts, tried out.
 */
#include <string.h>

#include "base/fd.h"
#include "base/engine/kernel.h"
#include "base/engine/perf_parts.h"

static bool needs_no_pmu(const struct cp_counter *counter)
{
	return !cp_perf_needs_pmu(&counter->attr);
}

static void renumber_terms(struct cp_quantity *quantity, const unsigned place[])
{
	for (unsigned i = 0; i < quantity->nterms; i++)
		quantity->terms[i].counter = place[quantity->terms[i].counter];
}

/* A thread may be refused it that others are granted: the process gave up its rights. */
static bool needs_rights(const struct cp_counter *counter)
{
	return counter->attr.type == PERF_TYPE_SOFTWARE && !counter->attr.exclude_kernel;
}

/* The order of the counters. */
enum place { HARDWARE, NO_PMU, NO_PMU_WITH_RIGHTS, RUSAGE, SOCKET, PLACES };

static enum place place_of(const struct cp_counter *counter)
{
	if (counter->socket)
		return SOCKET;
	if (counter->rusage)
		return RUSAGE;
	if (needs_rights(counter))
		return NO_PMU_WITH_RIGHTS;
	return needs_no_pmu(counter) ? NO_PMU : HARDWARE;
}

/*
 * Counters that need no PMU go to the end, into groups of their own: beside
 * hardware events they would count only while those have their turn.  Those of
 * sockets are no thread's.
 */
static void hardware_first(struct cp_event_set *set)
{
	static struct cp_counter sorted[CP_MAX_COUNTERS];
	unsigned place[CP_MAX_COUNTERS], n = 0;

	for (enum place pass = HARDWARE; pass < PLACES; pass++)
		for (unsigned i = 0; i < set->ncounters; i++)
			if (place_of(&set->counters[i]) == pass) {
				sorted[n] = set->counters[i];
				place[i] = n++;
			}
	memcpy(set->counters, sorted, n * sizeof(sorted[0]));
	for (unsigned i = 0; i < set->nquantities; i++)
		renumber_terms(&set->quantities[i], place);
	for (unsigned i = 0; i < set->nparts; i++)
		set->parts[i].counter = place[set->parts[i].counter];
}

/*
 * Opens the counters from first on, as many as the kernel takes into one
 * group; how many that are, at least 1.  A failure shows again in thread_open,
 * which explains it.
 */
static unsigned fill_group(const struct cp_event_set *set, unsigned first, int fds[])
{
	unsigned n = 1;

	fds[first] = cp_perf_open(&set->counters[first].attr, 0, -1);
	if (set->counters[first].attr.pinned)
		return n;
	for (; fds[first] >= 0 && first + n < set->ncounters; n++) {
		if (set->counters[first + n].attr.pinned ||
			place_of(&set->counters[first + n]) !=
				place_of(&set->counters[first]))
			break;
		fds[first + n] =
			cp_perf_open(&set->counters[first + n].attr, 0, fds[first]);
		if (fds[first + n] < 0)
			break;
	}
	return n;
}

/* Is the group put on the PMU when it is enabled?  The kernel takes groups
 * that never are: while its leader is disabled it does not count that. */
static bool gets_counters(int leader)
{
	struct cp_group_values values = {0};

	cp_kernel_enable(leader, true);
	for (unsigned i = 0; i < 1000 && values.enabled == 0; i++)
		if (cp_kernel_read(leader, &values, sizeof(values)) <= 0)
			break;
	cp_kernel_enable(leader, false);
	return values.running > 0;
}

/* Gives members back, from the end, until the rest has counters.  How many those
 * are; 0: not even one has. */
static unsigned shrink_group(const int fds[], unsigned n)
{
	while (n > 0 && !gets_counters(fds[0]))
		cp_fd_close(fds[--n]);
	return n;
}

static void close_group(const int fds[], unsigned n)
{
	while (n-- > 0)
		if (fds[n] >= 0)
			cp_fd_close(fds[n]);
}

bool cp_perf_fits(const struct perf_event_attr *const attrs[], unsigned n)
{
	int fds[CP_MAX_COUNTERS];
	unsigned opened = 0;
	bool fits;

	while (opened < n) {
		fds[opened] = cp_perf_open(attrs[opened], 0, opened ? fds[0] : -1);
		if (fds[opened] < 0)
			break;
		opened++;
	}
	fits = n == 0 || (opened == n && gets_counters(fds[0]));
	close_group(fds, opened);
	return fits;
}

/* Software events: any number of them fits.  One that needs rights is by itself, so
 * that it can be left out alone. */
static unsigned software_group(const struct cp_event_set *set, unsigned first)
{
	unsigned n = 0;

	if (needs_rights(&set->counters[first]))
		return !set->counters[first].rusage;
	while (first + n < set->ncounters && !needs_rights(&set->counters[first + n]) &&
		set->counters[first + n].attr.type == PERF_TYPE_SOFTWARE &&
		!set->counters[first + n].rusage)
		n++;
	return n;
}

/* On another kind of core than the one we are on nothing runs: what was opened
 * together is believed to run together. */
static unsigned hardware_group(struct cp_event_set *set, unsigned first, int fds[])
{
	unsigned opened, running;

	if (set->counters[first].socket || set->counters[first].rusage)
		return 1;
	opened = fill_group(set, first, fds);
	if (fds[first] < 0)
		return 1;
	running = shrink_group(fds + first, opened);
	close_group(fds + first, running);
	if (running > 0)
		return running;
	set->starved |= !set->counters[first].core;
	return set->counters[first].core ? opened : 1;
}

/* Greedy, in the order of the request, so that the events of one formula stay
 * together. */
void cp_perf_arrange(struct cp_event_set *set)
{
	int fds[CP_MAX_COUNTERS];
	unsigned first = 0, n;

	hardware_first(set);
	for (set->ngroups = 0; first < set->ncounters; set->ngroups++) {
		n = software_group(set, first);
		if (n == 0)
			n = hardware_group(set, first, fds);
		for (; n > 0; n--)
			set->counters[first++].group = set->ngroups;
	}
}

void cp_perf_rotate(struct cp_event_set *set)
{
	unsigned n = 0;

	for (unsigned i = 0; i < set->ncounters; i++)
		if (place_of(&set->counters[i]) == HARDWARE)
			n = set->counters[i].group + 1;
	set->nrotated = n > 1 && !set->reference[0] ? n : 0;
}
