/* SPDX-License-Identifier: MIT
 *
 * Windows are not drawn from all of the time alike: while the machine is busy a shadow
 * takes longer, and so the next window comes later; where the program makes system calls
 * windows are lost.  So each has the weight of the time that is nearer to it than to
 * another one.  The total is a sum of rates by weight; how far rates are from their mean
 * tells how well it is known.
 */
#include "preload/shadow/estimate.h"

#include "output/report/report_parts.h"

#define LEAST_KEPT 0.1 /* of the time: more is not made slow */
#define COPY_ERROR 0.2 /* of the time of a copy of a page */

/* The share of the process's CPU time from the middle between this window and the one
 * before to the middle between this one and the next. */
static double weight_of(
	const struct cp_shadow_windows *windows, unsigned i, double cpu_ns)
{
	const struct cp_shadow_window *w = &windows->window[i];
	double at = (double)w->at_ns, from = 0, to = cpu_ns;

	if (i > 0)
		from = ((double)w[-1].at_ns + at) / 2;
	if (i + 1 < windows->n)
		to = (at + (double)w[1].at_ns) / 2;
	return to > from ? to - from : 0;
}

/* share: of the unknown misses, those that are taken for hits. */
static double rate_of(
	const struct cp_shadow_window *w, enum cp_shadow_counter counter, double share)
{
	return ((double)w->count[counter] - share * (double)w->unknown[counter]) /
	       (double)w->cpu_ns;
}

static double sum_of(const struct cp_shadow_windows *windows,
	enum cp_shadow_counter counter, double share, double cpu_ns)
{
	double sum = 0, weights = 0;

	for (unsigned i = 0; i < windows->n; i++) {
		double weight = weight_of(windows, i, cpu_ns);

		sum += weight * rate_of(&windows->window[i], counter, share);
		weights += weight;
	}
	return weights > 0 ? cpu_ns * sum / weights : 0;
}

/* Of all forks: by how much what followed them took longer than slices, which are
 * settled, have for as many instructions. */
struct slowed {
	double ns, error;
};

static struct slowed slowed_of(const struct cp_shadow_windows *windows)
{
	double ns = 0, instructions = 0, sum = 0, squares = 0, n = windows->n,
	       forks = windows->forks;

	for (unsigned i = 0; i < windows->n; i++) {
		ns += (double)windows->window[i].cpu_ns;
		instructions += (double)windows->window[i].count[CP_SHADOW_instructions];
	}
	for (unsigned i = 0; instructions > 0 && i < windows->n; i++) {
		const struct cp_shadow_window *w = &windows->window[i];
		double more =
			(double)w->settling_ns - (double)w->settling * ns / instructions;

		sum += more;
		squares += more * more;
	}
	if (windows->n < 2)
		return (struct slowed){0, 0};
	squares = squares > sum * sum / n ? (squares - sum * sum / n) / (n - 1) : 0;
	return (struct slowed){
		forks * sum / n, cp_student(n - 1) * forks * __builtin_sqrt(squares / n)};
}

static double error_of(const struct cp_shadow_windows *windows,
	enum cp_shadow_counter counter, double cpu_ns, double value)
{
	double n = windows->n, squares = 0;

	for (unsigned i = 0; i < windows->n; i++) {
		double off = rate_of(&windows->window[i], counter, 0.5) - value / cpu_ns;

		off *= weight_of(windows, i, cpu_ns);
		squares += off * off;
	}
	return cp_student(n - 1) * __builtin_sqrt(squares * n / (n - 1));
}

/* How long a copy of a page takes is measured on other pages than the program's. */
static double copies_error(const struct cp_shadow_windows *windows,
	enum cp_shadow_counter counter, double cpu_ns)
{
	double sum = 0, weights = 0;

	for (unsigned i = 0; i < windows->n; i++) {
		const struct cp_shadow_window *w = &windows->window[i];
		double weight = weight_of(windows, i, cpu_ns);

		sum += weight * rate_of(w, counter, 0.5) * COPY_ERROR *
		       (double)w->copied_ns / (double)w->cpu_ns;
		weights += weight;
	}
	return weights > 0 ? cpu_ns * sum / weights : 0;
}

/* Where nothing was counted, three may have been missed (as many as one misses in 5 % of
 * cases). */
static double least_error(const struct cp_shadow_windows *windows, double cpu_ns)
{
	double seen = 0;

	for (unsigned i = 0; i < windows->n; i++)
		seen += (double)windows->window[i].cpu_ns;
	return 3 * cpu_ns / seen;
}

static double held_of(
	const struct cp_shadow_windows *windows, enum cp_shadow_counter counter)
{
	double held = 0;

	for (unsigned i = 0; i < windows->n; i++)
		if ((double)windows->window[i].held[counter] > held)
			held = (double)windows->window[i].held[counter];
	return held;
}

static double kept_of(struct slowed slowed, double cpu_ns)
{
	double kept = 1 - slowed.ns / cpu_ns;

	return kept > LEAST_KEPT ? kept : LEAST_KEPT;
}

double cp_shadow_kept(const struct cp_shadow_windows *windows, double cpu_ns)
{
	return kept_of(slowed_of(windows), cpu_ns);
}

static void take_out(struct cp_shadow_estimate *e, struct slowed slowed, double cpu_ns)
{
	double kept = kept_of(slowed, cpu_ns), off = slowed.error / cpu_ns * e->value;

	e->error = __builtin_sqrt(e->error * e->error * kept * kept + off * off);
	e->value *= kept;
	e->low *= kept;
	e->high *= kept;
}

struct cp_shadow_estimate cp_shadow_total(const struct cp_shadow_windows *windows,
	enum cp_shadow_counter counter, double cpu_ns)
{
	struct cp_shadow_estimate e = {.value = sum_of(windows, counter, 0.5, cpu_ns),
		.low = sum_of(windows, counter, 1, cpu_ns),
		.high = sum_of(windows, counter, 0, cpu_ns)};
	double held = held_of(windows, counter);

	e.error = error_of(windows, counter, cpu_ns, e.value);
	if (!(e.high > 0))
		e.error = least_error(windows, cpu_ns);
	e.error += copies_error(windows, counter, cpu_ns) + (e.high - e.low) / 2 + held;
	e.high += held;
	take_out(&e, slowed_of(windows), cpu_ns);
	return e;
}
