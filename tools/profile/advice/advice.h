/* SPDX-License-Identifier: MIT
 *
 * What a profile says to somebody who knows the usual causes: rules, each with the
 * numbers that it rests on and the limit from which on it speaks.
 */
#ifndef CACHEPEEK_TOOLS_ADVICE_H
#define CACHEPEEK_TOOLS_ADVICE_H

#include "base/out.h"
#include "tools/profile/model/rows.h"

struct cp_finding {
	const char *rule;                  /* as the manual calls it */
	const struct cp_place_in_code *at; /* NULL: in no place of the code */
	const char *data;                  /* what it is about; "": not known */
	const char *evidence, *threshold, *advice;
	double weight; /* misses that it explains */
	unsigned more; /* others of the rule at its place, which explain less */
};

struct cp_findings {
	size_t n;
	struct cp_finding *finding;
	const char *not_looked_at; /* by which rule, and what to do; NULL: nothing */
	const char *below_limit;   /* which rule, and by how much; NULL: none */
};

#define CP_ADVICE_MOST 32 /* findings */

/* From here on a rule speaks. */
#define CP_ADVICE_SHARE 0.05 /* of the run's misses */
#define CP_ADVICE_MISSES 2000

#define CP_ADVICE_CODE_RATE 1.0 /* misses in L1I per thousand instructions */

/* The weightiest first. */
struct cp_findings cp_advise(const struct cp_profile_view *view);
/* The same of what threads share only. */
struct cp_findings cp_advise_sharing(const struct cp_profile *profile);

/* advice_sharing.c; misses: in L1D. */
void cp_advise_false_sharing(
	struct cp_findings *found, const struct cp_profile *profile, uint64_t misses);

/* advice_sets.c: whether the misses of a loop that goes in steps are for want of sets;
 * what that says replaces what a finding has about strides. */
struct cp_steps {
	uint64_t distance, misses, strided; /* of one instruction, in all threads */
	double share;                       /* of the run's misses */
};
bool cp_advise_sets(const struct cp_profile *profile, const struct cp_steps *steps,
	struct cp_finding *finding);

/* advice_updates.c; all: misses in L1D. */
void cp_advise_updates(const struct cp_profile *profile, uint64_t all,
	void (*add)(void *context, struct cp_finding finding), void *context);

/* advice_remote.c */
void cp_advise_remote(const struct cp_profile *profile,
	void (*add)(void *context, struct cp_finding finding), void *context);

/* advice_code.c */
void cp_advise_code(struct cp_findings *found, const struct cp_profile *profile);

/* advice_chase.c; all: misses in L1D. */
void cp_advise_chases(const struct cp_profile *profile, uint64_t all,
	void (*add)(void *context, struct cp_finding finding), void *context);

/* advice_line_use.c; all: misses in L1D. */
void cp_advise_line_use(const struct cp_profile *profile, uint64_t all,
	void (*add)(void *context, struct cp_finding finding), void *context);

/* findings.c */
void cp_findings_write_text(
	struct cp_out *out, struct cp_arena *arena, const struct cp_findings *found);
/* Without the limits, and what is not said. */
void cp_findings_write_short(
	struct cp_out *out, struct cp_arena *arena, const struct cp_findings *found);
/* Two members of an object. */
void cp_findings_write_json(struct cp_out *out, const struct cp_findings *found);

#endif
