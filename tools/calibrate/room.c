/* SPDX-License-Identifier: MIT
 *
 * How much of the last level one CPU gets, and for how long, where a hypervisor gives it
 * a part or others use it, too.  A piece of memory is read all over until the last level
 * has it, and then the lines that were not read for the longest, each load after the one
 * before: larger and larger pieces at once, and a small one that was left alone for
 * longer and longer.  Up to some size and some time they are nearer to the last level
 * than to the memory.  Others only ever take room away: of each the best round counts.
 */
#include <math.h>
#include <stddef.h>

#include "tools/calibrate/calibrate.h"

/* Points of either curve for each double of bytes, or of time. */
#define SIZES_PER_DOUBLE 8
#define WAITS_PER_DOUBLE 4
#define FIRST_WAIT_NS 500000.0 /* the last is 181 ms */

static size_t bytes_of(const struct cp_host *host, size_t point)
{
	double bytes = 2.0 * (double)cp_host_level(host, CP_L2) *
		       exp2((double)point / SIZES_PER_DOUBLE);

	return (size_t)bytes / CP_LINE * CP_LINE;
}

static double wait_of(double point)
{
	return FIRST_WAIT_NS * exp2(point / WAITS_PER_DOUBLE);
}

/* Up to twice the last level. */
static size_t count_sizes(const struct cp_host *host)
{
	size_t count = 0, most = 2 * cp_host_level(host, CP_LLC);

	if (!cp_host_level(host, CP_L2))
		return 0;
	while (count < CP_ROOM_POINTS && bytes_of(host, count) <= most &&
		bytes_of(host, count) <= host->bytes)
		count++;
	return count;
}

/* Nearer to two L2s, which are in the last level if there is any of it. */
static bool is_near(const struct cp_kept *kept, double latency, double memory)
{
	return latency > 0 && latency < (kept->room[0] + memory) / 2;
}

static size_t last_near(
	const struct cp_kept *kept, const double curve[], size_t count, double memory)
{
	size_t last = 0;

	for (size_t i = 1; i < count; i++)
		if (is_near(kept, curve[i], memory))
			last = i;
	return last;
}

/* ---- how much ---- */

static void find_room(
	const struct cp_host *host, const struct cp_kept *kept, struct cp_round *round)
{
	size_t count = count_sizes(host),
	       at = last_near(kept, kept->room, count, round->value[CP_FIGURE_MEMORY]);
	double kib = (double)bytes_of(host, at) / 1024,
	       next = (double)bytes_of(host, at + 1) / 1024;

	if (at > 0)
		cp_found_between(round, CP_FIGURE_ROOM, kib, kib,
			at + 1 < count ? next : INFINITY);
}

static double measure_size(const struct cp_host *host, size_t point)
{
	return cp_walk(host, bytes_of(host, point));
}

/* ---- for how long ---- */

static void find_stay(
	const struct cp_host *host, const struct cp_kept *kept, struct cp_round *round)
{
	size_t at = last_near(
		kept, kept->stay, CP_STAY_POINTS, round->value[CP_FIGURE_MEMORY]);
	double low = at ? wait_of((double)at) / host->ns : 0;

	if (at + 1 == CP_STAY_POINTS) /* most are still there */
		cp_found_between(round, CP_FIGURE_STAY, low, low, INFINITY);
	else
		cp_found_between(round, CP_FIGURE_STAY,
			wait_of((double)at + 0.5) / host->ns, low,
			wait_of((double)at + 1) / host->ns);
}

/* Twice as large as the first size: some may leave. */
static double measure_wait(const struct cp_host *host, size_t point)
{
	return cp_walk_later(
		host, 4 * cp_host_level(host, CP_L2), wait_of((double)point));
}

/* ---- both ---- */

typedef double measure_point(const struct cp_host *host, size_t point);

/* Upwards from what this half of the rounds has found, in steps that double until there
 * is no room, and then from there again.  at: of the first point, in what is kept. */
static void climb(struct cp_host *host, size_t at, size_t count, double memory,
	measure_point *measure)
{
	const struct cp_kept *half = &host->kept_half[host->round % 2];
	const double *its = (const double *)half + at, *all = (double *)&host->kept + at;
	size_t low = last_near(half, its, count, memory), high = count, step = 1;

	while (low + step < high && !cp_host_is_late(host)) {
		cp_keep(host, &all[low + step], measure(host, low + step));
		if (is_near(half, its[low + step], memory)) {
			low += step;
			step *= 2;
		} else {
			high = low + step;
			step = 1;
		}
		if (low + step >= high)
			step = 1;
	}
}

void cp_measure_room(struct cp_host *host, struct cp_round *round)
{
	double memory = round->value[CP_FIGURE_MEMORY];
	size_t count = count_sizes(host);

	if (count < 2 || !(memory > 0))
		return;
	cp_keep(host, &host->kept.room[0], measure_size(host, 0));
	climb(host, offsetof(struct cp_kept, room) / sizeof(double), count, memory,
		measure_size);
	if (cp_host_is_late(host))
		return;
	cp_find_both(host, round, find_room);
	climb(host, offsetof(struct cp_kept, stay) / sizeof(double), CP_STAY_POINTS,
		memory, measure_wait);
	if (!cp_host_is_late(host))
		cp_find_both(host, round, find_stay);
}
