/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "tools/profile/model/measurement.h"
#include "base/text.h"

/* ---- names ---- */

static const char *const names[CP_SAMPLED_NCOUNTERS] = {
#define X(name, meaning) #name,
	CP_SAMPLED_COUNTERS(X)
#undef X
};

const char *cp_sampled_counter_name(unsigned index)
{
	return index < CP_SAMPLED_NCOUNTERS ? names[index] : NULL;
}

static const char *const estimates[] = {"page_faults", "memory_misses", "places",
	"page_faults_error", "memory_misses_error", "places_error"};

bool cp_sampled_is_name(const char *name)
{
	if (CP_IS_AMONG(name, names))
		return true;
	return CP_IS_AMONG(name, estimates);
}

/* ---- values ---- */

static bool is_sampled(const struct cp_profile *profile, unsigned event)
{
	const struct cp_sampling *sampling = &profile->sampling[event];

	return sampling->event && sampling->event->name[0] && sampling->threads;
}

static const char *why_not(const struct cp_profile *profile, unsigned event)
{
	const struct cp_samples_event *e = profile->sampling[event].event;

	if (!e)
		return "this measurement does not sample it";
	return e->why[0] ? e->why : "it could not be opened";
}

/* Each event was sampled and is there: no error bar, and no scale. */
static bool is_exact(const struct cp_profile *profile, unsigned event)
{
	const struct cp_sampling *sampling = &profile->sampling[event];

	return sampling->event->exact && sampling->total <= sampling->periods;
}

static struct cp_value estimate_of(const struct cp_profile *profile,
	const struct cp_tally *tally, unsigned event, bool error)
{
	const struct cp_estimate *estimate = &tally->estimates[event];

	if (!is_sampled(profile, event))
		return cp_unavailable(why_not(profile, event));
	return (struct cp_value){
		.value = error ? cp_estimate_error(
					 estimate, profile->sampling[event].total)
			       : estimate->value,
		.status = is_exact(profile, event) ? CP_EXACT : CP_SCALED,
	};
}

/* The sum over all sampled events; unavailable where none is sampled. */
static struct cp_value sum_of(
	const struct cp_profile *profile, const struct cp_tally *tally, bool error)
{
	struct cp_value sum = cp_unavailable(why_not(profile, CP_SAMPLED_MEMORY));

	for (unsigned i = 0; i < CP_SAMPLED_EVENTS; i++) {
		struct cp_value one = estimate_of(profile, tally, i, error);

		if (one.status == CP_UNAVAILABLE)
			continue;
		if (sum.status == CP_UNAVAILABLE)
			sum = (struct cp_value){.status = CP_EXACT};
		sum.value += one.value;
		if (one.status > sum.status)
			sum.status = one.status;
	}
	return sum;
}

static struct cp_value counter_value(const struct cp_profile *profile,
	const struct cp_tally *tally, enum cp_sampled_counter counter)
{
	unsigned event =
		counter == CP_page_faults_sampled ? CP_SAMPLED_FAULTS : CP_SAMPLED_MEMORY;

	if (!is_sampled(profile, event))
		return cp_unavailable(why_not(profile, event));
	return (struct cp_value){
		.value = (double)tally->count[CP_PROFILE_FIRST + counter],
		.status = CP_EXACT,
	};
}

struct cp_value cp_sampled_value(
	const struct cp_profile *profile, const struct cp_tally *tally, const char *name)
{
	bool error = strlen(name) > 6 && strcmp(name + strlen(name) - 6, "_error") == 0;

	for (unsigned i = 0; i < CP_SAMPLED_NCOUNTERS; i++)
		if (strcmp(name, cp_sampled_counter_name(i)) == 0)
			return counter_value(profile, tally, (enum cp_sampled_counter)i);
	if (strncmp(name, "page_faults", 11) == 0)
		return estimate_of(profile, tally, CP_SAMPLED_FAULTS, error);
	if (strncmp(name, "memory_misses", 13) == 0)
		return estimate_of(profile, tally, CP_SAMPLED_MEMORY, error);
	if (strncmp(name, "places", 6) == 0)
		return sum_of(profile, tally, error);
	return cp_unavailable("no such name");
}
