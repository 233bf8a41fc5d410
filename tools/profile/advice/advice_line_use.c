/* SPDX-License-Identifier: MIT
 *
 * The rule of unused bytes: of each line that is fetched for some data the same few bytes
 * are used, and most others are not.  Where any byte of it is used at some time, as of a
 * table that is looked up here and there, no order of its fields would help; unless a
 * loop goes through it in order: then records that lines are no multiple of are at other
 * bytes of each.
 */
#include <string.h>

#include "base/text.h"
#include "base/text/table.h"
#include "tools/profile/advice/advice.h"
#include "tools/profile/model/fields.h"
#include "tools/profile/model/line_use.h"

#define COLD_SHARE                                                                       \
	0.625          /* of the line: more than what allocators leave between blocks    \
			*/
#define LEAST_LINES 64 /* of the data: less stays in any cache */
/* Lines from behind L2 per thousand instructions that a split would save: at the 2 cycles
 * and more that each keeps the way to L2 busy, a fiftieth of a cycle for each. */
#define SAVED_RATE 10.0
#define IN_ORDER 0.5   /* of an instruction's misses, or of the data's */
#define RECORD_LINES 8 /* of records no larger than that, a loop's steps */

static bool can_be_split(
	const struct cp_profiled_object *object, const struct cp_line_use *use)
{
	switch (object->data) {
	case CP_DATA_HEAP:
		return object->size
			       ? object->size * object->blocks / use->line >= LEAST_LINES
			       : object->blocks >= LEAST_LINES;
	case CP_DATA_VARIABLE:
	case CP_DATA_TLS:
	case CP_DATA_MMAP:
		return object->size / use->line >= LEAST_LINES;
	default:
		return false;
	}
}

static double used_of_sparse(const struct cp_line_use *use)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < use->bits; i++)
		sum += use->used_of_sparse[i];
	return (double)use->each * (double)sum / (double)use->sparse;
}

/* ---- the code that uses it ---- */

static uint64_t all_asked(const struct cp_asked *asked)
{
	return asked->l1d + asked->spared_l1d;
}

static bool is_in_order(
	const struct cp_profile *profile, const struct cp_profiled_site *site)
{
	uint64_t distance =
		site->stride < 0 ? 0 - (uint64_t)site->stride : (uint64_t)site->stride;
	double least = IN_ORDER * (double)site->asked;

	return ((double)site->strided >= least &&
		       distance <= RECORD_LINES * profile->line) ||
	       (site->steps && (double)site->steps->goes_on >= least);
}

/* Counts loads: stores that fill a line use all of it. */
static uint64_t loads_asked(const struct cp_profiled_site *site)
{
	return site->count[CP_PROFILE_AT(l1d_load_lines)] +
	       (site->spared ? site->spared[CP_SPARED_L1D_LOADS] : 0);
}

/* Instructions that fetch most of what they do of it. */
struct users {
	const struct cp_profiled_site *busiest; /* by loads; NULL: none is known */
	bool in_order;                          /* most of its lines */
};

static struct users users_of(
	const struct cp_profile *profile, const struct cp_profiled_object *object)
{
	struct cp_asked all = cp_asked_for(object);
	struct users users = {NULL, false};
	uint64_t in_order = 0, most = 0;

	for (size_t i = 0; i < profile->nsites; i++) {
		const struct cp_profiled_site *site = &profile->sites[i];
		struct cp_asked asked = cp_asked_of(site);
		const struct cp_profiled_object *data;

		if (all_asked(&asked) < CP_ADVICE_MISSES)
			continue;
		data = cp_missed_data(profile, site);
		if (!data || strcmp(data->name, object->name) != 0)
			continue;
		in_order += is_in_order(profile, site) ? all_asked(&asked) : 0;
		if (loads_asked(site) <= most)
			continue;
		most = loads_asked(site);
		users.busiest = site;
	}
	users.in_order =
		in_order && (double)in_order >= IN_ORDER * (double)all_asked(&all);
	return users;
}

/* ---- what of it is used ---- */

/* The cold share of an element's bytes, or of a line's. */
static double cold_share(const struct cp_line_use *use, const struct cp_fields *fields,
	const struct users *users)
{
	double cold = (double)cp_line_use_count(use, cp_line_use_cold(use)) / use->line,
	       unused = 1 - used_of_sparse(use) / use->line;

	if (fields)
		return 1 - cp_fields_hot_share(fields);
	return cold < COLD_SHARE && users->in_order ? unused : cold;
}

static double saved_lines(
	const struct cp_line_use *use, const struct cp_fields *fields, double share)
{
	double all = (double)use->sparse;

	return fields ? all - use->scale * cp_fields_hot_lines(fields, use->line)
		      : all * share;
}

static const char *names_of_fields(struct cp_arena *arena, const struct cp_fields *fields)
{
	return cp_text_format(arena, "of %s%s, %s; (nearly) never %s",
		*fields->type ? "struct " : "the structure", fields->type,
		cp_fields_names(arena, fields, false),
		cp_fields_names(arena, fields, true));
}

static const char *ranges_of_bytes(struct cp_arena *arena, const struct cp_line_use *use)
{
	uint64_t cold = cp_line_use_cold(use);

	if ((double)cp_line_use_count(use, cold) < COLD_SHARE * use->line)
		return "it is gone through in order, in records of a size that lines are "
		       "no multiple of";
	return cp_text_format(arena, "bytes %s; the other %u (nearly) never",
		cp_line_use_ranges(arena, use, ~cold), cp_line_use_count(use, cold));
}

/* Says what is counted, or how it is known. */
static const char *seen_text(struct cp_arena *arena, const struct cp_line_use *use)
{
	return use->seen ? cp_text_format(arena, "as of %s lines that were looked at; ",
				   cp_text_integer(arena, use->seen))
			 : "";
}

/* "; most in push (particles.f90:13)" */
static const char *most_in(struct cp_arena *arena, const struct users *users)
{
	const struct cp_place_in_code *at = users->busiest ? &users->busiest->at : NULL;

	if (!at || !*at->function)
		return "";
	return *at->file ? cp_text_format(arena, "; most in %s (%s:%u)", at->function,
				   cp_base_name(at->file), at->line)
			 : cp_text_format(arena, "; most in %s", at->function);
}

struct judged {
	const struct cp_profiled_object *object;
	struct cp_line_use use;
	const struct cp_fields *fields;
	struct users users;
	double share; /* of the bytes, that is cold */
};

static struct cp_finding finding_of(
	const struct cp_profile *profile, const struct judged *judged, uint64_t all)
{
	const struct cp_profiled_object *object = judged->object;
	const struct cp_line_use *use = &judged->use;
	const struct cp_fields *fields = judged->fields;
	struct cp_arena *arena = profile->arena;
	struct cp_asked asked = cp_asked_for(object);
	double saved = saved_lines(use, fields, judged->share);

	return (struct cp_finding){
		.rule = "unused-bytes",
		.data = object->name,
		.evidence = cp_text_format(arena,
			"%s%s times L1D fetched a line of it of "
			"which %s of %u bytes were used until it went "
			"(%s%.1f %% of the run's misses%s): %s%s%s",
			use->seen ? "about " : "", cp_text_integer(arena, use->sparse),
			cp_text_decimal(arena, used_of_sparse(use)), use->line,
			seen_text(arena, use), 100 * (double)use->sparse / (double)all,
			profile->prefetches ? CP_SPARED_TOO : "",
			fields ? names_of_fields(arena, fields)
			       : ranges_of_bytes(arena, use),
			most_in(arena, &judged->users),
			cp_unfollowed(profile, &asked,
				cp_is_followed(&asked) ? "the lines come all the same"
						       : "")),
		.threshold = cp_text_format(arena,
			"%.1f %% of the bytes used an eighth "
			"as often as the mean or less, "
			"in %.0f %% of the run's misses",
			100 * COLD_SHARE, 100 * CP_ADVICE_SHARE),
		.advice = cp_text_format(arena,
			"Split the structure: %s, in an array of its own, "
			"saves %s%s of these %s, or more if it then fits L1D, "
			"where it is gone through in order.",
			fields ? cp_fields_names(arena, fields, false) : "what is used",
			use->seen ? "about " : "",
			cp_text_integer(arena, (uint64_t)saved),
			profile->prefetches ? "fetches" : "misses"),
		.weight = saved,
	};
}

/* Prefetchers hide how long lines take, not how many come: those of L2 cost nothing. */
static bool costs_nothing(const struct cp_profile *profile, const struct judged *judged)
{
	struct cp_asked asked = cp_asked_for(judged->object);
	double saved = (double)(asked.l2 + asked.spared_l2) * judged->share;

	return cp_is_followed(&asked) &&
	       1000.0 * saved < SAVED_RATE * (double)cp_profile_totals(profile)
						     .count[CP_SIM_instructions];
}

static void judge(const struct cp_profile *profile, struct judged *judged, uint64_t all,
	void (*add)(void *context, struct cp_finding finding), void *context)
{
	judged->users = users_of(profile, judged->object);
	judged->fields = cp_fields_of(profile, judged->object);
	judged->share = cold_share(&judged->use, judged->fields, &judged->users);
	if (judged->share >= COLD_SHARE && !costs_nothing(profile, judged))
		add(context, finding_of(profile, judged, all));
}

void cp_advise_line_use(const struct cp_profile *profile, uint64_t all,
	void (*add)(void *context, struct cp_finding finding), void *context)
{
	/* Lines are fetched as without prefetchers. */
	for (size_t i = 0; i < profile->nsites; i++)
		all += cp_asked_of(&profile->sites[i]).spared_l1d;
	for (size_t i = 0; i < profile->nobjects; i++) {
		struct judged judged = {.object = &profile->objects[i]};

		if (cp_line_use_is_first(judged.object) &&
			cp_line_use_of(judged.object, &judged.use) &&
			can_be_split(judged.object, &judged.use) &&
			judged.use.sparse >= CP_ADVICE_MISSES &&
			(double)judged.use.sparse >= CP_ADVICE_SHARE * (double)all)
			judge(profile, &judged, all, add, context);
	}
}
