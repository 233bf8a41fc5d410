/* SPDX-License-Identifier: MIT
 *
 * The rule of unused bytes: of each line that is fetched for some data the same few bytes
 * are used, and most others are not.  Where any byte of it is used at some time, as of a
 * table that is looked up here and there, no order of its fields would help.
 */
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

/* The cold share of an element's bytes, or of a line's. */
static double cold_share(const struct cp_line_use *use, const struct cp_fields *fields)
{
	if (fields)
		return 1 - cp_fields_hot_share(fields);
	return (double)cp_line_use_count(use, cp_line_use_cold(use)) / use->line;
}

static double saved_lines(const struct cp_line_use *use, const struct cp_fields *fields)
{
	double all = (double)use->sparse;

	return fields ? all - use->scale * cp_fields_hot_lines(fields, use->line)
		      : all * cold_share(use, NULL);
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

static struct cp_finding finding_of(const struct cp_profile *profile,
	const struct cp_profiled_object *object, const struct cp_line_use *use,
	const struct cp_fields *fields, uint64_t all)
{
	struct cp_arena *arena = profile->arena;
	struct cp_asked asked = cp_asked_for(object);
	double saved = saved_lines(use, fields);

	return (struct cp_finding){
		.rule = "unused-bytes",
		.data = object->name,
		.evidence = cp_text_format(arena,
			"%s%s times L1D fetched a line of it of "
			"which %s of %u bytes were used until it went "
			"(%s%.1f %% of the run's misses%s): %s%s",
			use->seen ? "about " : "", cp_text_integer(arena, use->sparse),
			cp_text_decimal(arena, used_of_sparse(use)), use->line,
			seen_text(arena, use), 100 * (double)use->sparse / (double)all,
			profile->prefetches ? CP_SPARED_TOO : "",
			fields ? names_of_fields(arena, fields)
			       : ranges_of_bytes(arena, use),
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
static bool costs_nothing(const struct cp_profile *profile,
	const struct cp_profiled_object *object, const struct cp_line_use *use)
{
	struct cp_asked asked = cp_asked_for(object);
	double far = (double)(asked.l2 + asked.spared_l2),
	       saved = far * (double)cp_line_use_count(use, cp_line_use_cold(use)) /
		       use->line;

	return cp_is_followed(&asked) &&
	       1000.0 * saved < SAVED_RATE * (double)cp_profile_totals(profile)
						     .count[CP_SIM_instructions];
}

void cp_advise_line_use(const struct cp_profile *profile, uint64_t all,
	void (*add)(void *context, struct cp_finding finding), void *context)
{
	/* Lines are fetched as without prefetchers. */
	for (size_t i = 0; i < profile->nsites; i++)
		all += cp_asked_of(&profile->sites[i]).spared_l1d;
	for (size_t i = 0; i < profile->nobjects; i++) {
		const struct cp_profiled_object *object = &profile->objects[i];
		const struct cp_fields *fields;
		struct cp_line_use use;

		if (!cp_line_use_is_first(object) || !cp_line_use_of(object, &use) ||
			!can_be_split(object, &use) || use.sparse < CP_ADVICE_MISSES ||
			(double)use.sparse < CP_ADVICE_SHARE * (double)all ||
			costs_nothing(profile, object, &use))
			continue;
		fields = cp_fields_of(profile, object);
		if (cold_share(&use, fields) >= COLD_SHARE)
			add(context, finding_of(profile, object, &use, fields, all));
	}
}
