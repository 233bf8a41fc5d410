/* SPDX-License-Identifier: MIT
 *
 * Gives each value its role in the answer: the cost and its parts, where it is, what
 * changed with it, or what says the same once more.
 */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "tools/diff/diff.h"

const char *cp_role_name(enum cp_role role)
{
	static const char *const names[] = {"cost", "part", "place", "also", "repeated"};

	return names[role];
}

/* ---- what others say already ---- */

/* Which level served references says what the parts of the cost say, and what the model
 * of time has of instructions is how it estimates. */
static const char *const starts[] = {"served_", "share_", "refs_from_", "refs_beyond_",
	"miss_time", "stall_cycles", "time_", "timed_", "untimed_", "load_from_",
	"fetch_from_"};
/* A level is asked for what the one before it missed, and gets that. */
static const char *const wholes[] = {"perfect_time", "time_s", "l2_accesses",
	"llc_accesses", "l1d_fills", "beyond_l2_fills"};

static bool is_named(const char *name)
{
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (cp_starts_with(name, starts[i]))
			return true;
	if (CP_IS_AMONG(name, wholes))
		return true;
	return cp_ends_with(name, "_variance") || cp_ends_with(name, "_lines") ||
	       cp_ends_with(name, "_latency") || cp_cost_is_any(name);
}

/* Shares and rates are quotients of counts, and volumes their lines. */
static bool is_of_counts(const struct cp_entry *entry)
{
	return strcmp(entry->unit, "ratio") == 0 || cp_starts_with(entry->unit, "1/") ||
	       strcmp(entry->unit, "MB/s") == 0 || strcmp(entry->unit, "GB") == 0;
}

/* ---- sizes ---- */

/* < 0: it counts none. */
static double events_of(const struct cp_difference *it)
{
	return it->entry->kind == CP_METRIC ? -1 : fabs(it->change);
}

/* One event in so many instructions changes nothing. */
#define FEW 1e-4

static double work_of(const struct cp_diff *diff)
{
	const struct cp_difference *work = cp_diff_of_run(diff, "instructions");

	if (!work || work->verdict == CP_ONE_SIDED)
		return 0;
	return fmax(work->entry->side[0].runs.mean, work->entry->side[1].runs.mean);
}

/* ---- roles ---- */

static bool is_part(const struct cp_diff *diff, const char *name)
{
	for (const struct cp_cost_part *part = diff->cost->parts; part->name; part++)
		if (strcmp(part->name, name) == 0)
			return true;
	return strcmp(name, "instructions") == 0;
}

static enum cp_role role_of(const struct cp_diff *diff, const struct cp_difference *it)
{
	const struct cp_entry *entry = it->entry;
	bool whole = !*entry->spot->path;

	if (diff->cost && strcmp(entry->name, diff->cost->name) == 0)
		return whole ? CP_COST : CP_PLACE;
	if (diff->cost && whole && is_part(diff, entry->name))
		return CP_PART;
	if (is_named(entry->name) || is_of_counts(entry))
		return CP_REPEATED;
	return whole || !diff->cost ? CP_ALSO : CP_REPEATED;
}

static double size_of(const struct cp_diff *diff, const struct cp_difference *it)
{
	switch (it->role) {
	case CP_COST:
	case CP_PART:
		return fabs(it->change);
	case CP_PLACE:
		return it->entry->spot->rank;
	case CP_ALSO:
		return diff->cost ? events_of(it) : it->size;
	default:
		return it->size;
	}
}

void cp_roles_give(struct cp_diff *diff)
{
	double work = work_of(diff);

	for (size_t i = 0; i < diff->count; i++) {
		struct cp_difference *it = &diff->differences[i];

		it->role = role_of(diff, it);
		if (it->role == CP_ALSO && diff->cost && events_of(it) >= 0 &&
			events_of(it) < FEW * work)
			it->role = CP_REPEATED;
		it->size = size_of(diff, it);
	}
}
