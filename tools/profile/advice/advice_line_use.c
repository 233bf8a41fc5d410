/* SPDX-License-Identifier: MIT
 *
 * The rule of unused bytes: of each line that is fetched for some data the same few bytes
 * are used, and most others are not.  Where any byte of it is used at some time, as of a
 * table that is looked up here and there, no order of its fields would help.
 */
#include "base/text/table.h"
#include "tools/profile/advice/advice.h"
#include "tools/profile/model/line_use.h"

#define COLD_SHARE                                                                       \
	0.625          /* of the line: more than what allocators leave between blocks    \
			*/
#define LEAST_LINES 64 /* of the data: less stays in any cache */

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

static struct cp_finding finding_of(const struct cp_profile *profile,
	const struct cp_profiled_object *object, const struct cp_line_use *use,
	uint64_t all)
{
	struct cp_arena *arena = profile->arena;
	uint64_t cold = cp_line_use_cold(use);
	double saved = (double)use->sparse * cp_line_use_count(use, cold) / use->line;

	return (struct cp_finding){
		.rule = "unused-bytes",
		.data = object->name,
		.evidence = cp_text_format(arena,
			"%s times L1D fetched a line of it of which %s of %u bytes were "
			"used until it went (%.1f %% of the run's misses): bytes %s; the "
			"other %u (nearly) never",
			cp_text_integer(arena, use->sparse),
			cp_text_decimal(arena, used_of_sparse(use)), use->line,
			100 * (double)use->sparse / (double)all,
			cp_line_use_ranges(arena, use, ~cold),
			cp_line_use_count(use, cold)),
		.threshold = cp_text_format(arena,
			"%.0f of %u bytes used an eighth as often as the mean or less, "
			"in "
			"%.0f %% of the run's misses",
			COLD_SHARE * use->line, use->line, 100 * CP_ADVICE_SHARE),
		.advice = cp_text_format(arena,
			"Split the structure: what is used, in an array of its own, "
			"saves %s of "
			"these misses, or more if it then fits L1D, where it is gone "
			"through "
			"in order.",
			cp_text_integer(arena, (uint64_t)saved)),
		.weight = saved,
	};
}

void cp_advise_line_use(const struct cp_profile *profile, uint64_t all,
	void (*add)(void *context, struct cp_finding finding), void *context)
{
	for (size_t i = 0; i < profile->nobjects; i++) {
		const struct cp_profiled_object *object = &profile->objects[i];
		struct cp_line_use use;

		if (!cp_line_use_is_first(profile, object) ||
			!cp_line_use_of(profile, object, &use) ||
			!can_be_split(object, &use) || use.sparse < CP_ADVICE_MISSES ||
			(double)use.sparse < CP_ADVICE_SHARE * (double)all)
			continue;
		if (cp_line_use_count(&use, cp_line_use_cold(&use)) >=
			COLD_SHARE * use.line)
			add(context, finding_of(profile, object, &use, all));
	}
}
