/* SPDX-License-Identifier: MIT */
#include "tools/profile/model/measurement.h"

#include <math.h>
#include <string.h>

#include "base/counts.h"

#define WIDE "sampled: its 95 % interval is as wide as the value"
#define MIN_GROUPS 14 /* as in report_bursts.c: of about 30 windows */
#define SHADOWS_WIDE "shadows: its 95 % interval is as wide as the value"
#define FEW_WINDOWS                                                                      \
	"shadows: it was seen in fewer than about 30 windows (a longer run, or a "       \
	"larger CACHEPEEK_BUDGET, has more)"
#define NO_INTERVAL "sampled: there is no interval of it by place"
#define NOT_KNOWN                                                                        \
	"sampled: a count that it is made of may be such that there is none, as far as " \
	"is known of that"

struct cp_burst_parts *cp_bursts_new_parts(const struct cp_profile *profile)
{
	return profile->bursts
		       ? cp_arena_alloc(profile->arena, sizeof(struct cp_burst_parts))
		       : NULL;
}

/* ---- parts ---- */

/* A number of a place in each part. */
struct parts {
	double of[CP_SIM_PARTS];
};

/* The pool of all, with the parts of a place in it. */
static struct cp_pool pool_with(
	const struct cp_profile *profile, const struct parts *parts)
{
	struct cp_pool pool = profile->bursts->pool;

	pool.in_bursts = true;
	memcpy(pool.bursts, parts->of, sizeof(pool.bursts));
	return pool;
}

/* The counts of one part, as of a place. */
static struct cp_tally tally_of_part(
	const struct cp_bursts *bursts, const struct cp_tally *tally, unsigned part)
{
	struct cp_tally one = {.only_kept = tally->only_kept,
		.of_data = tally->of_data,
		.of_bursts = true};

	for (unsigned i = 0; i < CP_SIM_NBURST; i++)
		one.count[cp_bursts_counters[i]] =
			tally->parts ? tally->parts->of[part][i]
				     : (uint64_t)bursts->count[i][part];
	return one;
}

/* What a sum of counters is in each part; false: it is none of those that bursts
 * count. */
static bool find_parts(const struct cp_profile *profile, const struct cp_group *m,
	const char *name, const struct cp_tally *tally, struct parts *parts)
{
	static const char *const sums[] = {"misses", "lines", "pages", "walks"};
	const struct cp_metric *metric = cp_group_metric(m, name);
	bool is_sum = !metric;

	for (unsigned i = 0; metric && i < sizeof(sums) / sizeof(sums[0]); i++)
		is_sum |= strcmp(metric->unit, sums[i]) == 0;
	for (unsigned p = 0; is_sum && p < CP_SIM_PARTS; p++) {
		struct cp_tally one = tally_of_part(profile->bursts, tally, p);
		struct cp_value value = cp_measure_counts(profile, m, name, &one);

		is_sum = value.status != CP_UNAVAILABLE;
		parts->of[p] = value.value;
	}
	return is_sum;
}

/* ---- values ---- */

void cp_bursts_fill(const struct cp_profile *profile, struct cp_tally *tally)
{
	for (unsigned i = 0; i < CP_SIM_NBURST; i++) {
		struct parts parts;
		struct cp_pool pool;

		for (unsigned p = 0; p < CP_SIM_PARTS; p++)
			parts.of[p] = (double)tally->parts->of[p][i];
		pool = pool_with(profile, &parts);
		tally->count[cp_bursts_counters[i]] =
			cp_count_of(cp_pool_without(&pool, -1, -1) + 0.5);
	}
}

static struct cp_burst_value none_for(const char *reason)
{
	return (struct cp_burst_value){cp_unavailable(reason), -1};
}

/* ---- windows ---- */

static double sum_of(const struct parts *parts)
{
	double sum = 0;

	for (unsigned g = 0; g < CP_SIM_GROUPS; g++)
		sum += parts->of[g];
	return sum;
}

static unsigned groups_with(const struct parts *parts)
{
	unsigned n = 0;

	for (unsigned g = 0; g < CP_SIM_GROUPS; g++)
		n += parts->of[g] > 0;
	return n;
}

/* Half of the 95 % interval: of how much groups differ from what the time that they stand
 * for lets expect. */
static double error_of(const struct cp_pool *pool, const struct parts *parts)
{
	double all = pool->instructions, sum = sum_of(parts), squares = 0, groups = 0;

	for (unsigned g = 0; all > 0 && g < CP_SIM_GROUPS; g++) {
		double off = parts->of[g] - sum / all * pool->in[g];

		squares += off * off;
		groups += pool->in[g] > 0;
	}
	return groups < 2
		       ? 0
		       : cp_student(groups - 1) * sqrt(squares * groups / (groups - 1));
}

/* The part of it that may not have been: misses of lines that caches would have had. */
static double unknown_of(
	const struct cp_profile *profile, const struct cp_group *m, const char *name)
{
	struct cp_tally unknown = {.of_bursts = true};
	struct cp_value value;

	for (unsigned i = 0; i < CP_SIM_NBURST; i++)
		unknown.count[cp_bursts_counters[i]] =
			cp_count_of(profile->bursts->unknown[i] + 0.5);
	value = cp_measure_counts(profile, m, name, &unknown);
	return value.status == CP_UNAVAILABLE ? 0 : value.value;
}

/* All of what is unknown may be the place's. */
static double window_error(
	const struct cp_bursts *bursts, const struct parts *parts, double unknown)
{
	double error = error_of(&bursts->pool, parts), sum = sum_of(parts),
	       all = bursts->pool.instructions;

	if (sum < 1 && bursts->seen_ns > 0) /* the rule of three */
		error = 3 * all / bursts->seen_ns;
	return error + (unknown < sum ? unknown : sum);
}

/* place: NULL: of the whole run. */
static const char *why_no_window(const struct cp_bursts *bursts,
	const struct parts *place, double unknown, double whole)
{
	const char *why = cp_bursts_no_windows(bursts);

	if (why)
		return why;
	if (unknown > CP_BURSTS_MOST_UNKNOWN * whole)
		return CP_BURSTS_UNKNOWN;
	return place && groups_with(place) < MIN_GROUPS ? FEW_WINDOWS : NULL;
}

static struct cp_burst_value without_parts(const struct cp_profile *profile,
	const struct cp_group *m, const char *name, const struct cp_tally *tally)
{
	struct cp_value value = cp_measure_counts(profile, m, name, tally);

	if (value.status == CP_UNAVAILABLE)
		return none_for(value.reason);
	return tally->only_kept ? none_for(NO_INTERVAL)
				: (struct cp_burst_value){value, -1};
}

static struct cp_burst_value measure_windows(const struct cp_profile *profile,
	const struct cp_group *m, const char *name, const struct cp_tally *tally)
{
	const struct cp_tally all = {.only_kept = false};
	struct cp_burst_value out = {.value = {.status = CP_ESTIMATED}};
	bool is_place = tally->only_kept;
	struct parts whole, place;
	double unknown;
	const char *why;

	if (!find_parts(profile, m, name, &all, &whole) ||
		(is_place &&
			(!tally->parts || !find_parts(profile, m, name, tally, &place))))
		return without_parts(profile, m, name, tally);
	unknown = unknown_of(profile, m, name);
	why = why_no_window(
		profile->bursts, is_place ? &place : NULL, unknown, sum_of(&whole));
	if (why)
		return none_for(why);
	out.value.value = sum_of(is_place ? &place : &whole);
	out.error = window_error(profile->bursts, is_place ? &place : &whole, unknown);
	return is_place && out.error >= out.value.value ? none_for(SHADOWS_WIDE) : out;
}

/* Unknown ones may be all of one place, or all of others. */
static struct cp_burst_value share_of_windows(const struct cp_profile *profile,
	const struct cp_group *m, struct parts own, const struct parts *whole)
{
	double total = sum_of(whole), share = sum_of(&own) / total,
	       unknown = unknown_of(profile, m, "misses") / total;
	struct cp_burst_value out = {.value = {.value = share, .status = CP_ESTIMATED}};

	for (unsigned p = 0; p < CP_SIM_PARTS; p++)
		own.of[p] -= share * whole->of[p];
	out.error = error_of(&profile->bursts->pool, &own) / total +
		    (share > 0.5 ? share : 1 - share) * unknown / (1 - unknown);
	return out.error < share ? out : none_for(SHADOWS_WIDE);
}

/* ---- bursts ---- */

/* The pools of a sum of counters at a place, and of all. */
struct of_place {
	struct cp_pool place, all;
};

static bool find_pools(const struct cp_profile *profile, const struct cp_group *m,
	const char *name, const struct cp_tally *tally, struct of_place *pools)
{
	const struct cp_tally all = {.only_kept = false};
	struct parts parts, whole;

	if (!tally->parts || !find_parts(profile, m, name, tally, &parts) ||
		!find_parts(profile, m, name, &all, &whole))
		return false;
	pools->place = pool_with(profile, &parts);
	pools->all = pool_with(profile, &whole);
	return true;
}

static struct cp_burst_value value_of(struct cp_pooled part)
{
	double error = sqrt(part.square);

	if (part.none || error >= part.value)
		return none_for(part.none ? part.none : WIDE);
	return (struct cp_burst_value){
		{.status = CP_ESTIMATED, .value = part.value}, error};
}

static struct cp_burst_value measure_place(const struct cp_profile *profile,
	const struct cp_group *m, const char *name, const struct cp_tally *tally)
{
	struct of_place pools;

	if (!find_pools(profile, m, name, tally, &pools)) {
		struct cp_value value = cp_measure_counts(profile, m, name, tally);

		return none_for(
			value.status == CP_UNAVAILABLE ? value.reason : NO_INTERVAL);
	}
	return value_of(cp_pool_of_place(&pools.place, &pools.all));
}

/* ---- of the whole run ---- */

/* Which of those that sets count it is; -1: none. */
static int find_set(const char *name)
{
	static const char *const names[] = {
#define X(counter) #counter,
		CP_SIM_SET_COUNTERS(X)
#undef X
	};

	for (int i = 0; i < CP_SIM_SET_SWEEP - CP_SIM_NBURST; i++)
		if (strcmp(name, names[i]) == 0)
			return CP_SIM_NBURST + i;
	return -1;
}

/* What is asked for, of these counts. */
struct made {
	const struct cp_profile *profile;
	const struct cp_group *m;
	const char *name;
	struct cp_tally at;
};

static bool evaluate(struct made *made, unsigned counter, uint64_t count, double *value)
{
	uint64_t before = made->at.count[counter];
	struct cp_value now;

	made->at.count[counter] = count;
	now = cp_measure_counts(made->profile, made->m, made->name, &made->at);
	made->at.count[counter] = before;
	*value = now.value;
	return now.status != CP_UNAVAILABLE;
}

/* By how much it is more where that count is.  false: as far as that count is known there
 * may be no such value. */
static bool find_slope(
	struct made *made, unsigned counter, const struct cp_pool *pool, double *slope)
{
	enum { PARTS = 10000 }; /* small enough for a formula to be a line */
	uint64_t count = made->at.count[counter], step = count / PARTS + 1,
		 less = count > step ? step : 0;
	double high, low, none, error = sqrt(cp_pool_estimate(pool).square);

	if (!evaluate(made, counter, count + step, &high) ||
		!evaluate(made, counter, count - less, &low))
		return false;
	*slope = (high - low) / (double)(step + less);
	return error < (double)count || evaluate(made, counter, 0, &none);
}

/* Half of the interval of what is made of several counts, which are all of one sample:
 * what that has too much of, each may have (output/report/report_metrics.c). */
static bool find_error(struct made *made, double *error)
{
	struct cp_pool mix = {.nsets = 0};
	double square = 0, unsure = 0, slope;

	for (unsigned i = CP_SIM_BURST_instructions + 1; i < CP_SIM_SET_SWEEP; i++) {
		unsigned counter = cp_bursts_counter(i);
		struct cp_pool pool = cp_bursts_pool(made->profile->bursts, i);

		if (!made->profile->bursts->has_total[counter])
			continue;
		if (!find_slope(made, counter, &pool, &slope))
			return false;
		if (!(fabs(slope) > 0))
			continue;
		cp_pool_mix(&mix, &pool, slope);
		square += slope * slope * cp_pool_unseen(&pool);
		unsure += fabs(slope) * cp_pool_unsure(&pool);
	}
	*error = sqrt(square + cp_pool_mixed_square(&mix)) + unsure;
	return mix.nsets > 0;
}

static struct cp_burst_value measure_made(const struct cp_profile *profile,
	const struct cp_group *m, const char *name, const struct cp_tally *tally,
	struct cp_value value)
{
	struct made made = {profile, m, name, *tally};
	struct cp_burst_value out = {.value = value};

	return find_error(&made, &out.error) ? out : none_for(NOT_KNOWN);
}

static struct cp_burst_value measure_all(const struct cp_profile *profile,
	const struct cp_group *m, const char *name, const struct cp_tally *tally)
{
	struct cp_burst_value out = {cp_measure_counts(profile, m, name, tally), -1};
	int set = find_set(name);
	struct cp_pooled part;
	struct cp_pool pool;
	struct parts parts;

	if (out.value.status != CP_ESTIMATED)
		return out;
	if (set >= 0)
		pool = cp_bursts_pool(profile->bursts, (unsigned)set);
	else if (find_parts(profile, m, name, tally, &parts))
		pool = pool_with(profile, &parts);
	else
		return measure_made(profile, m, name, tally, out.value);
	part = cp_pool_estimate(&pool);
	if (part.none)
		return none_for(part.none);
	out.value.value = part.value;
	out.error = sqrt(part.square);
	return out;
}

struct cp_burst_value cp_bursts_measure(const struct cp_profile *profile,
	const struct cp_group *measurement, const char *name,
	const struct cp_tally *tally)
{
	if (strcmp(name, "l1d_bypasses") ==
		0) /* machines that can be sampled have none */
		return (struct cp_burst_value){{.status = CP_SIMULATED}, 0};
	if (profile->bursts->of_windows)
		return measure_windows(profile, measurement, name, tally);
	return tally->only_kept ? measure_place(profile, measurement, name, tally)
				: measure_all(profile, measurement, name, tally);
}

struct cp_burst_value cp_bursts_share(const struct cp_profile *profile,
	const struct cp_group *measurement, const struct cp_tally *tally)
{
	struct cp_burst_value out =
		cp_bursts_measure(profile, measurement, "misses", tally);
	const struct cp_tally all = {.only_kept = false};
	struct of_place pools;
	struct parts own, whole;

	if (out.value.status == CP_UNAVAILABLE)
		return out;
	if (profile->bursts->of_windows &&
		find_parts(profile, measurement, "misses", tally, &own) &&
		find_parts(profile, measurement, "misses", &all, &whole))
		return share_of_windows(profile, measurement, own, &whole);
	if (profile->bursts->of_windows ||
		!find_pools(profile, measurement, "misses", tally, &pools))
		return out;
	return value_of(cp_pool_share(&pools.place, &pools.all));
}
