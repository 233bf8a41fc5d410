/* SPDX-License-Identifier: MIT
 *
 * Measurements: what a profile is asked for.  They are data files
 * (output/measurements) in the language of groups (output/metrics/group.h).  Names in
 * their formulas are the counters of the simulated PMU (tools/sim/request.h), and
 *
 *     load_from_l2, load_from_llc, load_from_memory     lines, by where they came
 *     fetch_from_l2, fetch_from_llc, fetch_from_memory  from; loads or code
 *     load_from_local       of the lines from memory, those of the own socket's; where
 *                           there are several, with loads_one_hop, loads_two_hop and
 *                           loads_cache_to_cache (else part of the level they came by)
 *     load_latency, fetch_latency      cycles in which the machine delivers those
 *     dtlb_from_second_level           pages that the first level did not have
 *
 * Those of samples (NAME-sampled.measurement) have the names of
 * tools/profile/model/sampled.h instead.
 *
 * The metric "misses" is what places are ordered by; "latency" and "average" are
 * the other orders.  What @need and @want name is the list of exact counts.
 */
#ifndef CACHEPEEK_TOOLS_MEASUREMENT_H
#define CACHEPEEK_TOOLS_MEASUREMENT_H

#include "output/metrics/group.h"
#include "output/metrics/value.h"
#include "tools/profile/model/profile.h"

enum cp_profile_order { CP_BY_MISSES, CP_BY_LATENCY, CP_BY_AVERAGE };

/* Counters, of which those outside CP_PROFILE_AT may be unknown. */
struct cp_tally {
	uint64_t count[CP_SIM_NCOUNTERS];
	bool only_kept, of_data, of_bursts;
	struct cp_burst_parts *parts; /* of a place of a sample (bursts.h) */
	struct cp_estimate estimates[CP_SAMPLED_EVENTS];
};

/* "dcache", …, as a profile of that kind has it: simulated, sampled, of a machine with
 * several sockets; NULL with one line in error. */
const struct cp_group *cp_measurement_find(const struct cp_profile *profile,
	const char *name, char *error, size_t error_size);

void cp_tally_site(struct cp_tally *tally, const struct cp_profiled_site *site);
void cp_tally_object(struct cp_tally *tally, const struct cp_profiled_object *object);
void cp_tally_thread(struct cp_tally *tally, const struct cp_profiled_thread *thread);

/* The value of a metric of the group, or of any other name. */
struct cp_value cp_measure(const struct cp_profile *profile,
	const struct cp_group *measurement, const char *name,
	const struct cp_tally *tally);

/* The same of the counts as they are, whatever they were sampled from. */
struct cp_value cp_measure_counts(const struct cp_profile *profile,
	const struct cp_group *measurement, const char *name,
	const struct cp_tally *tally);

/* Cycles that the lines of loads and stores take if nothing hides them. */
double cp_measure_cycles(const struct cp_profile *profile, const struct cp_tally *tally);
/* The same of misses of code. */
double cp_measure_fetches(const struct cp_profile *profile, const struct cp_tally *tally);

/* The key that places are sorted by; 0 where it is not known. */
double cp_measure_order(const struct cp_profile *profile,
	const struct cp_group *measurement, enum cp_profile_order order,
	const struct cp_tally *tally);

/* The value of a name that cp_sampled_is_name() knows. */
struct cp_value cp_sampled_value(
	const struct cp_profile *profile, const struct cp_tally *tally, const char *name);

/* ---- a sample of the simulated PMU: measurement_bursts.c ---- */

/* None yet; NULL: there is no such sample. */
struct cp_burst_parts *cp_bursts_new_parts(const struct cp_profile *profile);

/* Fills in the counts that a tally's parts stand for. */
void cp_bursts_fill(const struct cp_profile *profile, struct cp_tally *tally);

/* A value, and half of its 95 % interval; below 0 there is none. */
struct cp_burst_value {
	struct cp_value value;
	double error;
};
struct cp_burst_value cp_bursts_measure(const struct cp_profile *profile,
	const struct cp_group *measurement, const char *name,
	const struct cp_tally *tally);

/* The share of all misses that the place has, from 0 to 1. */
struct cp_burst_value cp_bursts_share(const struct cp_profile *profile,
	const struct cp_group *measurement, const struct cp_tally *tally);

#endif
