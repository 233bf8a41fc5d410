/* SPDX-License-Identifier: MIT
 *
 * Finds the usual causes in a profile: rules, each with the numbers that it rests on and
 * the limit from which on it speaks.
 */
#ifndef CACHEPEEK_TOOLS_ADVICE_H
#define CACHEPEEK_TOOLS_ADVICE_H

#include "base/out.h"
#include "tools/profile/model/rows.h"

/* The events of a finding, counted, and what they take if nothing hides it; less than 0:
 * not known. */
struct cp_finding_cost {
	double count;
	const char *of;         /* what is counted, as reports call it */
	double cycles, share;   /* of the run's data misses, walks, or misses of code */
	double per_instruction; /* cycles */
};

struct cp_finding {
	const char *rule;                  /* as the manual calls it */
	const struct cp_place_in_code *at; /* NULL: in no place of the code */
	const char *data;                  /* what it is about; "": not known */
	const char *evidence, *threshold, *advice;
	double weight; /* misses that it explains */
	const struct cp_place_in_code
		*script; /* the line of Python it is for; NULL: none */
	/* The program's own line that at was inlined into, from a library; NULL: at is
	 * its own, or that is not known. */
	const struct cp_place_in_code *caller;
	bool of_runtime; /* it is about data that serves the runtime alone */
	unsigned more;   /* others of the rule at its place, which explain less */
	const char *cause, *expected; /* in a sentence; of a mend */
	struct cp_finding_cost cost;
};

struct cp_findings {
	size_t n;
	struct cp_finding *finding;
	const char *not_looked_at; /* by which rule, and what to do; NULL: nothing */
	const char *below_limit;   /* which rule, and by how much; NULL: none */
	const char *why_none;      /* where there is no finding; NULL: another says it */
};

#define CP_ADVICE_MOST 32 /* findings */

/* From here on a rule speaks. */
#define CP_ADVICE_SHARE 0.05 /* of the run's misses */
#define CP_ADVICE_MISSES 2000

/* The costs that output/groups/cache.group takes. */
#define CP_WALK_CYCLES 30.0 /* of one whose entries the caches have */
#define CP_TRANSFER_CYCLES 100.0

/* Advice about objects here and there, where the place is a line of Python. */
#define CP_ADVICE_FOR_PYTHON                                                             \
	"Python's objects lie where they were made, and each use writes the count of "   \
	"references beside it: go through them in the order in which they were made, "   \
	"or keep numbers in an array of values (array, numpy)."

#define CP_ADVICE_CODE_RATE 1.0 /* misses in L1I per thousand instructions */

/* The weightiest first. */
struct cp_findings cp_advise(const struct cp_profile_view *view);
/* The same of what threads share only. */
struct cp_findings cp_advise_sharing(const struct cp_profile *profile);

/* The reason why there is no finding: rules go by the simulated PMU's counters of places,
 * which perf's samples do not have, and bursts have of the whole run only. */
const char *cp_advice_why_none(bool sampled, bool bursts);

/* causes.c: sets what the finding's rule, weight and place say; and which command shows
 * whether it is mended. */
void cp_finding_price(const struct cp_profile *profile, struct cp_finding *finding,
	const struct cp_tally *place);
const char *cp_finding_shown_by(const struct cp_finding *finding);

/* advice_sharing.c; misses: in L1D. */
void cp_advise_false_sharing(
	struct cp_findings *found, const struct cp_profile *profile, uint64_t misses);

/* advice_contended.c; is it a finding of that rule? */
bool cp_is_contended(const struct cp_finding *finding);
void cp_advise_contended(struct cp_findings *found, const struct cp_profile *profile);

/* advice_sets.c: whether the misses of a loop that goes in steps are for want of sets;
 * what that says replaces what a finding has about strides. */
struct cp_steps {
	uint64_t distance, misses, strided; /* of one instruction, in all threads */
	double share;                       /* of the run's misses */
};
bool cp_advise_sets(const struct cp_profile *profile, const struct cp_steps *steps,
	struct cp_finding *finding);

/* The same instruction, in whichever thread or process. */
bool cp_is_same_instruction(
	const struct cp_place_in_code *one, const struct cp_place_in_code *other);

/* advice_updates.c; all: misses in L1D. */
void cp_advise_updates(const struct cp_profile *profile, uint64_t all,
	void (*add)(void *context, struct cp_finding finding), void *context);

/* Loads p = p->next; reads of what is written again.  By the code near it. */
bool cp_is_chase(const struct cp_profiled_site *site);
bool cp_is_update(const struct cp_profiled_site *site);

/* advice_prefetch.c: lines that an instruction asked for and L1D, or L2, had not; and
 * those that they had because a prefetcher brought them. */
struct cp_asked {
	uint64_t l1d, l2, spared_l1d, spared_l2;
};
struct cp_asked cp_asked_of(const struct cp_profiled_site *site);
void cp_asked_add(struct cp_asked *sum, const struct cp_profiled_site *site);
/* All data of the object's name (model/line_use.h). */
struct cp_asked cp_asked_for(const struct cp_profiled_object *object);
/* Behind misses that a share is of. */
#define CP_SPARED_TOO ", with those that prefetchers spare it"
/* Is there nothing to mend, since prefetchers bring most of it? */
bool cp_is_followed(const struct cp_asked *asked);
/* The end of a sentence: how much they bring, and why no more; "": there are none. */
const char *cp_unfollowed(
	const struct cp_profile *profile, const struct cp_asked *asked, const char *why);
/* Why they do not follow steps of this distance; "": they might. */
const char *cp_unfollowed_step(const struct cp_profile *profile, uint64_t distance);
void cp_advise_prefetch(const struct cp_profile *profile,
	void (*add)(void *context, struct cp_finding finding), void *context);

/* advice_remote.c */
void cp_advise_remote(const struct cp_profile *profile,
	void (*add)(void *context, struct cp_finding finding), void *context);

/* advice_code.c */
void cp_advise_code(struct cp_findings *found, const struct cp_profile_view *view);

/* advice_chase.c; all: misses in L1D. */
void cp_advise_chases(const struct cp_profile *profile, uint64_t all,
	void (*add)(void *context, struct cp_finding finding), void *context);

/* advice_steps.c: streams in step, and records on two lines; all: misses in L1D. */
/* Are most of its misses the next lines of such streams?  They stay until they are
 * used. */
bool cp_goes_in_step(const struct cp_profiled_site *site);
/* The data that most of its misses are in; NULL: not known. */
const struct cp_profiled_object *cp_missed_data(
	const struct cp_profile *profile, const struct cp_profiled_site *site);
/* By --line-use: are most of its data's lines that so many misses fetched used as a
 * whole?  false: not known, too. */
bool cp_uses_whole_lines(const struct cp_profile *profile,
	const struct cp_profiled_site *site, uint64_t misses);
void cp_advise_streams(const struct cp_profile *profile,
	void (*add)(void *context, struct cp_finding finding), void *context);
void cp_advise_pairs(const struct cp_profile *profile, uint64_t all,
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
/* "module::function (file:line), for function (file.py:line)", or its data. */
const char *cp_finding_place(struct cp_arena *arena, const struct cp_finding *finding);
/* "file:line" of code with lines; with a caller (NULL: none) "file:line, inlined
 * file:line", the program's own first. */
const char *cp_place_line(struct cp_arena *arena, const struct cp_place_in_code *at,
	const struct cp_place_in_code *caller);
/* The members of its object. */
void cp_finding_write_json(struct cp_out *out, const struct cp_finding *finding);
/* Three members of an object. */
void cp_findings_write_json(struct cp_out *out, const struct cp_findings *found);

#endif
