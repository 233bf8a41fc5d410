/* SPDX-License-Identifier: MIT */
#include "tools/profile/model/sampled.h"

#include <string.h>

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
	for (unsigned i = 0; i < CP_SAMPLED_NCOUNTERS; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	for (unsigned i = 0; i < sizeof(estimates) / sizeof(estimates[0]); i++)
		if (strcmp(name, estimates[i]) == 0)
			return true;
	return false;
}
