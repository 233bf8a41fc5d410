/* SPDX-License-Identifier: MIT
 *
 * How long a line stays in the last level that nobody asks for, where others use it, too:
 * some lines are read, left alone for longer and longer, and read again.
 */
#include <math.h>
#include <time.h>

#include "tools/calibrate/calibrate.h"

/* Few, so that reading them takes little of the time that they are left alone for. */
enum { LINES = 2048, POINTS = 14 };
#define FIRST_NS 250000.0 /* each point that of the last times the root of two: 23 ms */

struct lines {
	void **at;
};

static void run_lines(void *context)
{
	struct lines *lines = context;

	for (unsigned i = 0; i < LINES; i++)
		lines->at = *(void **volatile *)lines->at;
}

static double now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* They are read, and others of the L2 behind them, so that only the last level has them;
 * then for a while nothing is. */
static double read_after(const struct cp_host *host, struct lines *lines, double ns)
{
	size_t front = 4 * cp_host_level(host, CP_L2), all = 2 * front;
	double begin;

	run_lines(lines);
	for (size_t at = 0; at < all; at += CP_LINE)
		(void)*(const volatile uint64_t *)(const void *)(host->memory +
								 at % front);
	begin = now_ns();
	while (now_ns() - begin < ns)
		;
	return cp_best(1, LINES, run_lines, lines) / host->ns;
}

/* Of two tries the one that was disturbed less. */
static double point_of(const struct cp_host *host, struct lines *lines, double ns)
{
	double one = read_after(host, lines, ns), other = read_after(host, lines, ns);

	return fmin(one, other);
}

void cp_measure_stay(struct cp_host *host, double found[CP_NFIGURES])
{
	struct lines lines = {cp_chain_link(host->scratch, LINES, CP_LINE)};
	double curve[POINTS], ns = FIRST_NS;
	size_t at;

	if (!lines.at || !cp_host_level(host, CP_L2) || !cp_host_level(host, CP_LLC) ||
		4 * cp_host_level(host, CP_L2) > host->bytes)
		return;
	for (unsigned i = 0; i < POINTS; i++, ns *= M_SQRT2)
		curve[i] = point_of(host, &lines, ns);
	/* Where the half of them comes from memory. */
	at = cp_curve_step(curve, POINTS, curve[0], found[CP_FIGURE_MEMORY]);
	if (at < POINTS - 1)
		found[CP_FIGURE_STAY] =
			FIRST_NS * pow(M_SQRT2, (double)at + 0.5) / host->ns;
}
