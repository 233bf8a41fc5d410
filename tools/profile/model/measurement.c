/* SPDX-License-Identifier: MIT */
#include "tools/profile/model/measurement.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/embedded.h"
#include "output/metrics/metric.h"

const struct cp_profile_counter cp_profile_counters[CP_SIM_NCOUNTERS] = {
#define X(name, meaning) {#name, meaning},
	CP_SIM_COUNTERS (X)
#undef X
};

static bool is_name(const char *name)
{
	static const char *const derived[] = {"load_from_l2", "load_from_llc",
		"load_from_memory", "load_latency", "fetch_from_l2", "fetch_from_llc",
		"fetch_from_memory", "fetch_latency", "dtlb_from_second_level",
		"load_from_local"};

	if (CP_IS_AMONG(name, derived))
		return true;
	for (size_t i = 0; i < CP_SIM_NCOUNTERS; i++)
		if (strcmp(cp_profile_counters[i].name, name) == 0)
			return true;
	return cp_sampled_is_name(name);
}

/* The machine has no such level. */
static bool has_no_weight(const struct cp_profile *profile, enum cp_weight_of of)
{
	return profile->weights.of[of].from == CP_WEIGHT_NONE;
}

const struct cp_group *cp_measurement_find(const struct cp_profile *profile,
	const char *name, char *error, size_t error_size)
{
	const char *const kinds[] = {
		has_no_weight(profile, CP_OF_ONE_HOP) ? "" : "-sockets",
		profile->sampled ? "-sampled" : ""};
	char file[64];

	for (unsigned i = profile->sampled; i < 2; i++) {
		const char *text;

		snprintf(file, sizeof(file), "%s%s.measurement", name, kinds[i]);
		text = cp_embedded_find(file);
		if (text)
			return cp_group_parse_with(
				profile->arena, file, text, is_name, error, error_size);
	}
	snprintf(error, error_size, "there is no measurement %s", name);
	return NULL;
}

static void add_estimates(struct cp_tally *tally, const struct cp_estimate *estimates)
{
	for (unsigned i = 0; estimates && i < CP_SAMPLED_EVENTS; i++) {
		tally->estimates[i].value += estimates[i].value;
		tally->estimates[i].variance += estimates[i].variance;
	}
}

/* Counts of a sample belong to one part. */
void cp_tally_site(struct cp_tally *tally, const struct cp_profiled_site *site)
{
	for (unsigned i = 0; !site->part && i < CP_PROFILE_COUNTERS; i++)
		tally->count[CP_PROFILE_FIRST + i] += site->count[i];
	if (site->part && tally->parts)
		cp_burst_parts_add(tally->parts, site->part, site->count);
	add_estimates(tally, site->estimates);
	tally->only_kept = true;
}

static void add_parts(struct cp_burst_parts *to, const struct cp_burst_parts *from)
{
	for (unsigned p = 0; p < CP_SIM_PARTS; p++)
		for (unsigned i = 0; i < CP_SIM_NBURST; i++)
			to->of[p][i] += from->of[p][i];
}

void cp_tally_object(struct cp_tally *tally, const struct cp_profiled_object *object)
{
	for (unsigned i = 0; !tally->parts && i < CP_PROFILE_COUNTERS; i++)
		tally->count[CP_PROFILE_FIRST + i] += object->count[i];
	if (tally->parts && object->parts)
		add_parts(tally->parts, object->parts);
	add_estimates(tally, object->estimates);
	tally->only_kept = tally->of_data = true;
}

void cp_tally_thread(struct cp_tally *tally, const struct cp_profiled_thread *thread)
{
	for (unsigned i = 0; i < CP_SIM_NCOUNTERS; i++)
		tally->count[i] += thread->count[i];
	add_estimates(tally, thread->estimates);
}

/* ---- where lines came from ---- */

struct served {
	uint64_t l1; /* not from there: misses, and what goes around it */
	uint64_t l2, llc, memory;
	/* Loads on a machine of several sockets; `memory` is the own socket's. */
	uint64_t one_hop, two_hops, near, far;
	const char *wrong; /* NULL, or why they cannot be told apart */
};

static uint64_t subtract_served(struct served *served, uint64_t from, uint64_t what)
{
	if (what > from)
		served->wrong = "more misses behind a level than in front of it";
	return what > from ? 0 : from - what;
}

static struct served count_served(const struct cp_profile *profile, const uint64_t *count,
	uint64_t l1, enum cp_sim_counter l2_misses, enum cp_sim_counter llc_misses)
{
	struct served served = {.l1 = l1};
	uint64_t left = l1;

	if (!has_no_weight(profile, CP_OF_L2)) {
		served.l2 = subtract_served(&served, left, count[l2_misses]);
		left = count[l2_misses];
	}
	if (!has_no_weight(profile, CP_OF_L3)) {
		served.llc = subtract_served(&served, left, count[llc_misses]);
		left = count[llc_misses];
	}
	served.memory = left;
	return served;
}

/* Lines that other cores had modified came through the last level, if there is one. */
static void tell_sockets_apart(
	const struct cp_profile *profile, const uint64_t *n, struct served *served)
{
	uint64_t *by = has_no_weight(profile, CP_OF_L3) ? &served->memory : &served->llc;

	served->one_hop = n[CP_SIM_loads_one_hop];
	served->two_hops = n[CP_SIM_loads_two_hop];
	served->far = n[CP_SIM_loads_remote_cache];
	served->near =
		subtract_served(served, n[CP_SIM_loads_cache_to_cache], served->far);
	*by = subtract_served(served, *by, n[CP_SIM_loads_cache_to_cache]);
	served->memory = subtract_served(
		served, served->memory, served->one_hop + served->two_hops);
}

static struct served serve_loads(
	const struct cp_profile *profile, const struct cp_tally *tally)
{
	const uint64_t *n = tally->count;

	struct served served = count_served(profile, n,
		n[CP_SIM_l1d_load_lines] + n[CP_SIM_l1d_bypasses], CP_SIM_l2_load_lines,
		CP_SIM_llc_load_lines);

	if (!has_no_weight(profile, CP_OF_ONE_HOP))
		tell_sockets_apart(profile, n, &served);
	return served;
}

static struct served serve_fetches(
	const struct cp_profile *profile, const struct cp_tally *tally)
{
	return count_served(profile, tally->count, tally->count[CP_SIM_l1i_misses],
		CP_SIM_l2_ifetch_misses, CP_SIM_llc_ifetch_misses);
}

static struct cp_value simulated_value(uint64_t value)
{
	return (struct cp_value){.value = (double)value, .status = CP_SIMULATED};
}

static struct cp_value latency_of(
	const struct cp_profile *profile, const struct served *served)
{
	const uint64_t lines[CP_NWEIGHTS] = {
		[CP_OF_L2] = served->l2,
		[CP_OF_L3] = served->llc,
		[CP_OF_MEMORY] = served->memory,
		[CP_OF_ONE_HOP] = served->one_hop,
		[CP_OF_TWO_HOPS] = served->two_hops,
		[CP_OF_NEAR_CACHE] = served->near,
		[CP_OF_FAR_CACHE] = served->far,
	};
	double cycles = 0;

	for (enum cp_weight_of of = CP_OF_L1; of < CP_NWEIGHTS; of++)
		cycles += (double)lines[of] * profile->weights.of[of].cycles;
	return (struct cp_value){.value = cycles, .status = CP_ESTIMATED};
}

double cp_measure_cycles(const struct cp_profile *profile, const struct cp_tally *tally)
{
	const uint64_t *n = tally->count;
	struct served loads = serve_loads(profile, tally),
		      stores = count_served(profile, n, n[CP_SIM_l1d_store_lines],
			      CP_SIM_l2_store_lines, CP_SIM_llc_store_lines);

	return latency_of(profile, &loads).value + latency_of(profile, &stores).value;
}

double cp_measure_fetches(const struct cp_profile *profile, const struct cp_tally *tally)
{
	struct served fetches = serve_fetches(profile, tally);

	return latency_of(profile, &fetches).value;
}

#define NOT_APART                                                                        \
	"sampled: a level's misses, and those in front of it, are not known well "       \
	"enough to subtract one from the other"

static struct cp_value from_level(
	const struct cp_profile *profile, const struct served *served, const char *level)
{
	if (served->wrong)
		return cp_unavailable(profile->bursts ? NOT_APART : served->wrong);
	if (strcmp(level, "latency") == 0)
		return latency_of(profile, served);
	if (strcmp(level, "from_l2") == 0)
		return has_no_weight(profile, CP_OF_L2)
			       ? cp_unavailable("the machine has no L2")
			       : simulated_value(served->l2);
	if (strcmp(level, "from_llc") == 0)
		return has_no_weight(profile, CP_OF_L3)
			       ? cp_unavailable("the machine has no last level")
			       : simulated_value(served->llc);
	if (strcmp(level, "from_local") == 0)
		return has_no_weight(profile, CP_OF_ONE_HOP)
			       ? cp_unavailable("the machine has one socket")
			       : simulated_value(served->memory);
	if (strcmp(level, "from_memory") == 0)
		return simulated_value(
			served->memory + served->one_hop + served->two_hops);
	return cp_unavailable("no such name");
}

/* ---- names ---- */

struct scope {
	const struct cp_profile *profile;
	const struct cp_tally *tally;
};

/* Why a sample does not tell it, or NULL. */
static const char *why_not_sampled(
	const struct cp_profile *profile, const struct cp_tally *tally, unsigned index)
{
	if (!profile->bursts || index == CP_SIM_l1d_bypasses)
		return NULL; /* machines that can be sampled have none of these */
	if (tally->of_bursts && !cp_bursts_has(index))
		return "sampled: not counted in bursts";
	if (!tally->only_kept)
		return tally->of_bursts || profile->bursts->has_total[index]
			       ? NULL
			       : "sampled: it cannot be, or there were too few bursts";
	return (tally->of_data ? cp_bursts_has_data : cp_bursts_has_place)(index)
		       ? NULL
		       : "sampled: not told by place";
}

static struct cp_value counter_value(
	const struct cp_profile *profile, const struct cp_tally *tally, unsigned index)
{
	bool kept = index >= CP_PROFILE_FIRST &&
		    index < CP_PROFILE_FIRST + CP_PROFILE_COUNTERS;
	const char *why = why_not_sampled(profile, tally, index);

	if (tally->only_kept && !kept)
		return cp_unavailable("not counted by instruction");
	return why ? cp_unavailable(why) : simulated_value(tally->count[index]);
}

/* Why a value that is made of these is not known of a sample, or NULL. */
static const char *why_not_made(
	const struct scope *scope, const unsigned inputs[], unsigned n)
{
	const char *why = NULL;

	for (unsigned i = 0; i < n && !why; i++)
		why = why_not_sampled(scope->profile, scope->tally, inputs[i]);
	return why;
}

#define WHY_NOT_MADE(scope, ...)                                                         \
	why_not_made(scope, (const unsigned[]){__VA_ARGS__},                             \
		sizeof((const unsigned[]){__VA_ARGS__}) / sizeof(unsigned))

/* Machines that can be sampled have an L2, and no L3 counts nothing there. */
static const char *why_not_derived(const struct scope *scope, const char *name)
{
	if (strcmp(name, "dtlb_from_second_level") == 0)
		return WHY_NOT_MADE(scope, CP_SIM_dtlb_load_pages,
			CP_SIM_dtlb_store_pages, CP_SIM_dtlb_load_walks,
			CP_SIM_dtlb_store_walks);
	if (strncmp(name, "load_", 5) == 0)
		return WHY_NOT_MADE(scope, CP_SIM_l1d_load_lines, CP_SIM_l2_load_lines,
			CP_SIM_llc_load_lines);
	return WHY_NOT_MADE(scope, CP_SIM_l1i_misses, CP_SIM_l2_ifetch_misses,
		CP_SIM_llc_ifetch_misses);
}

static struct cp_value from_second_level(const struct cp_tally *tally)
{
	const uint64_t *n = tally->count;
	struct served served = {.wrong = NULL};
	uint64_t found = subtract_served(&served,
		n[CP_SIM_dtlb_load_pages] + n[CP_SIM_dtlb_store_pages],
		n[CP_SIM_dtlb_load_walks] + n[CP_SIM_dtlb_store_walks]);

	return served.wrong ? cp_unavailable(served.wrong) : simulated_value(found);
}

static struct cp_value look_up_simulated(const struct scope *scope, const char *name)
{
	struct served served;
	const char *why;

	for (unsigned i = 0; i < CP_SIM_NCOUNTERS; i++)
		if (strcmp(cp_profile_counters[i].name, name) == 0)
			return counter_value(scope->profile, scope->tally, i);
	why = why_not_derived(scope, name);
	if (why)
		return cp_unavailable(why);
	if (strcmp(name, "dtlb_from_second_level") == 0)
		return from_second_level(scope->tally);
	if (strncmp(name, "load_", 5) == 0) {
		served = serve_loads(scope->profile, scope->tally);
		return from_level(scope->profile, &served, name + 5);
	}
	if (strncmp(name, "fetch_", 6) == 0) {
		served = serve_fetches(scope->profile, scope->tally);
		return from_level(scope->profile, &served, name + 6);
	}
	return cp_unavailable("no such name");
}

static struct cp_value look_up(void *context, const char *name)
{
	const struct scope *scope = context;
	struct cp_value value;

	if (scope->profile->sampled)
		return cp_sampled_value(scope->profile, scope->tally, name);
	value = look_up_simulated(scope, name);
	if (scope->profile->bursts && value.status == CP_SIMULATED &&
		strcmp(name, "instructions") != 0 && strcmp(name, "l1d_bypasses") != 0)
		value.status = CP_ESTIMATED;
	return value;
}

struct cp_value cp_measure(const struct cp_profile *profile,
	const struct cp_group *measurement, const char *name,
	const struct cp_tally *tally)
{
	if (profile->bursts)
		return cp_bursts_measure(profile, measurement, name, tally).value;
	return cp_measure_counts(profile, measurement, name, tally);
}

struct cp_value cp_measure_counts(const struct cp_profile *profile,
	const struct cp_group *measurement, const char *name,
	const struct cp_tally *tally)
{
	const struct cp_metric *metric = cp_group_metric(measurement, name);
	struct scope scope = {profile, tally};

	if (!metric)
		return look_up(&scope, name);
	return cp_metric_evaluate(
		profile->arena, measurement, metric->formula, look_up, &scope);
}

double cp_measure_order(const struct cp_profile *profile,
	const struct cp_group *measurement, enum cp_profile_order order,
	const struct cp_tally *tally)
{
	static const char *const names[] = {"misses", "latency", "average"};
	struct cp_value value =
		cp_measure_counts(profile, measurement, names[order], tally);

	return value.status == CP_UNAVAILABLE ? 0 : value.value;
}
