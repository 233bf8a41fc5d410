/* SPDX-License-Identifier: MIT */
#include "tools/profile/model/measurement.h"

#include <math.h>
#include <string.h>

#include "base/counts.h"

#define WIDE "sampled: its 95 % interval is as wide as the value"
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

/* Finds what a sum of counters is in each part; false: it is none of those that bursts
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

/* A request for a value of these counts. */
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
	return tally->only_kept ? measure_place(profile, measurement, name, tally)
				: measure_all(profile, measurement, name, tally);
}

struct cp_burst_value cp_bursts_share(const struct cp_profile *profile,
	const struct cp_group *measurement, const struct cp_tally *tally)
{
	struct cp_burst_value out =
		cp_bursts_measure(profile, measurement, "misses", tally);
	struct of_place pools;

	if (out.value.status == CP_UNAVAILABLE ||
		!find_pools(profile, measurement, "misses", tally, &pools))
		return out;
	return value_of(cp_pool_share(&pools.place, &pools.all));
}
