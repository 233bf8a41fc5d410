/* SPDX-License-Identifier: MIT
 *
 * What a profile says to somebody who knows the usual causes: rules, each with the
 * numbers that it rests on and the limit from which on it speaks.
 */
#ifndef CACHEPEEK_TOOLS_ADVICE_H
#define CACHEPEEK_TOOLS_ADVICE_H

#include "tools/profile/rows.h"

struct cp_finding {
	const char *rule;                  /* as the manual calls it */
	const struct cp_place_in_code *at; /* NULL: in no place of the code */
	const char *data;                  /* what it is about; "": not known */
	const char *evidence, *threshold, *advice;
	double weight; /* misses that it explains */
};

struct cp_findings {
	size_t n;
	struct cp_finding *finding;
};

/* The weightiest first. */
struct cp_findings cp_advise(const struct cp_profile_view *view);

#endif
