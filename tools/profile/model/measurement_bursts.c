/* SPDX-License-Identifier: MIT */
#include "tools/profile/model/measurement.h"

#include <math.h>
#include <string.h>

#include "base/counts.h"

#define MIN_GROUPS 14 /* as in report_bursts.c: of about 30 bursts */
#define FEW                                                                              \
	"sampled: it was seen in fewer than about 30 bursts (CACHEPEEK_SAMPLE with a "   \
	"shorter period, or without)"
#define WIDE "sampled: its 95 % interval is as wide as the value"
/* As there: of the instructions, and of the value. */
#define UNSEEN_RATE 0.00003
#define UNSEEN_SHARE 0.005
#define NO_INTERVAL "sampled: there is no interval of it by place"

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

static double instructions_in(const struct cp_pool *pool)
{
	double sum = 0;

	for (unsigned g = 0; g < CP_SIM_GROUPS; g++)
		sum += pool->in[g];
	return sum;
}

/* So many instructions are there for each in a burst. */
static double factor_of(const struct cp_pool *pool)
{
	double in = instructions_in(pool), all = pool->instructions - pool->full;

	return all > 0 && in > 0 ? all / in : 0;
}

static double sum_of(const struct parts *parts)
{
	double sum = 0;

	for (unsigned g = 0; g < CP_SIM_GROUPS; g++)
		sum += parts->of[g];
	return sum;
}

static double estimate_of(const struct cp_pool *pool, const struct parts *parts)
{
	return parts->of[CP_SIM_IN_FULL] + factor_of(pool) * sum_of(parts);
}

/* Half of the 95 % interval, as of the whole run's counts. */
static double error_of(const struct cp_pool *pool, const struct parts *parts)
{
	double factor = factor_of(pool), sum = sum_of(parts), squares = 0, groups = 0,
	       in = instructions_in(pool), error;

	for (unsigned g = 0; in > 0 && g < CP_SIM_GROUPS; g++) {
		double off = parts->of[g] - sum / in * pool->in[g];

		squares += off * off;
		groups += pool->in[g] > 0;
	}
	if (groups < 2)
		return 0;
	error = cp_student(groups - 1) * factor * sqrt(squares * groups / (groups - 1));
	return error < 3 * factor && sum < 1 ? 3 * factor : error; /* the rule of three */
}

static unsigned groups_with(const struct parts *parts)
{
	unsigned n = 0;

	for (unsigned g = 0; g < CP_SIM_GROUPS; g++)
		n += parts->of[g] > 0;
	return n;
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

		for (unsigned p = 0; p < CP_SIM_PARTS; p++)
			parts.of[p] = (double)tally->parts->of[p][i];
		tally->count[cp_bursts_counters[i]] =
			cp_count_of(estimate_of(&profile->bursts->pool, &parts) + 0.5);
	}
}

/* What may be wrong with the whole run's estimate, a place has its share of. */
static double error_with_allowance(const struct cp_bursts *bursts,
	const struct parts *parts, double value, double whole)
{
	double error = error_of(&bursts->pool, parts),
	       share = whole > 0 ? value / whole : 0,
	       rate = UNSEEN_RATE * bursts->pool.instructions * share,
	       part = UNSEEN_SHARE * value;

	return sqrt(error * error + rate * rate + part * part);
}

/* The bursts tell nothing of what is outside of them. */
static bool has_too_few(const struct cp_pool *pool)
{
	unsigned groups = 0;

	for (unsigned g = 0; g < CP_SIM_GROUPS; g++)
		groups += pool->in[g] > 0;
	return pool->instructions > pool->full && groups < MIN_GROUPS;
}

static const char *why_none(const struct cp_bursts *bursts, const struct parts *parts,
	double value, double error)
{
	if (has_too_few(&bursts->pool))
		return FEW;
	if (bursts->pool.instructions > bursts->pool.full &&
		groups_with(parts) < MIN_GROUPS && 2 * parts->of[CP_SIM_IN_FULL] <= value)
		return FEW;
	return error >= value ? WIDE : NULL;
}

static struct cp_burst_value none_for(const char *reason)
{
	return (struct cp_burst_value){cp_unavailable(reason), -1};
}

static double whole_of(
	const struct cp_profile *profile, const struct cp_group *m, const char *name)
{
	const struct cp_tally all = {.only_kept = false};
	struct parts parts;

	return find_parts(profile, m, name, &all, &parts)
		       ? estimate_of(&profile->bursts->pool, &parts)
		       : 0;
}

static struct cp_burst_value measure_place(const struct cp_profile *profile,
	const struct cp_group *m, const char *name, const struct cp_tally *tally)
{
	struct parts parts;
	struct cp_burst_value out = {.value = {.status = CP_ESTIMATED}};
	const char *why;

	if (!tally->parts || !find_parts(profile, m, name, tally, &parts)) {
		struct cp_value value = cp_measure_counts(profile, m, name, tally);

		return none_for(
			value.status == CP_UNAVAILABLE ? value.reason : NO_INTERVAL);
	}
	out.value.value = estimate_of(&profile->bursts->pool, &parts);
	out.error = error_with_allowance(
		profile->bursts, &parts, out.value.value, whole_of(profile, m, name));
	why = why_none(profile->bursts, &parts, out.value.value, out.error);
	return why ? none_for(why) : out;
}

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
			return i;
	return -1;
}

static struct cp_burst_value measure_all(const struct cp_profile *profile,
	const struct cp_group *m, const char *name, const struct cp_tally *tally)
{
	struct cp_burst_value out = {cp_measure_counts(profile, m, name, tally), -1};
	struct cp_pool pool = profile->bursts->pool;
	int set = find_set(name);
	struct cp_pooled part;
	struct parts parts;

	pool.in_sets = set >= 0;
	if (pool.in_sets)
		memcpy(pool.sets, profile->bursts->count[CP_SIM_NBURST + set],
			sizeof(pool.sets));
	pool.in_bursts = !pool.in_sets && find_parts(profile, m, name, tally, &parts);
	if (pool.in_bursts)
		memcpy(pool.bursts, parts.of, sizeof(pool.bursts));
	if (out.value.status != CP_ESTIMATED || (!pool.in_sets && !pool.in_bursts))
		return out;
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
	const struct cp_tally all = {.only_kept = false};
	struct cp_burst_value out =
		cp_bursts_measure(profile, measurement, "misses", tally);
	struct parts own, whole;
	double total, share, unseen;

	if (out.value.status == CP_UNAVAILABLE ||
		!find_parts(profile, measurement, "misses", tally, &own) ||
		!find_parts(profile, measurement, "misses", &all, &whole))
		return out;
	total = estimate_of(&profile->bursts->pool, &whole);
	share = out.value.value / total;
	for (unsigned p = 0; p < CP_SIM_PARTS; p++)
		own.of[p] -= share * whole.of[p];
	/* Who has what no sample shows is not known. */
	unseen = UNSEEN_RATE * profile->bursts->pool.instructions / total *
		 sqrt(share < 1 ? share * (1 - share) : 0);
	out.value.value = share;
	out.error = sqrt(pow(error_of(&profile->bursts->pool, &own) / total, 2) +
			 pow(UNSEEN_SHARE * share, 2) + unseen * unseen);
	return out.error < share ? out : none_for(WIDE);
}
