/* SPDX-License-Identifier: MIT
 *
 * The call paths of two runs as one tree: each path with what it had before and what it
 * has after.  Paths are the same if the names of their functions are; load modules may
 * have moved, or be other versions.
 */
#ifndef CACHEPEEK_TOOLS_CHANGES_H
#define CACHEPEEK_TOOLS_CHANGES_H

#include "base/out.h"
#include "tools/profile/calls/calls.h"

enum { CP_BEFORE, CP_AFTER };

struct cp_changed_path {
	uint64_t calls[2];
	/* By quantity: by itself, and with all that it calls. */
	uint64_t own[2][CP_CALLS_QUANTITIES], all[2][CP_CALLS_QUANTITIES];
};

struct cp_changes {
	struct cp_arena *arena;
	const struct cp_profile *profile[2];
	const char *label[2];       /* as they were named */
	size_t nquantities, misses; /* which of them the measurement goes by */
	const struct cp_calls_quantity *quantity[CP_CALLS_QUANTITIES];
	struct cp_calls *tree;        /* without counts */
	struct cp_changed_path *path; /* by call of the tree */
	uint64_t folded[2];           /* calls that had no room */
	double percent; /* of the larger whole, of smaller changes: not shown */
};

/* Changes below this share are not shown unless the user asks for them. */
#define CP_CHANGES_PERCENT 1

/* Quantities that the measurement has on both machines; profiles are resolved, and have
 * call paths. */
struct cp_changes *cp_changes_of(const struct cp_profile *const profile[2],
	const char *const label[2], const struct cp_group *measurement);

/* After less before, of a path with all that it calls. */
double cp_change_of(const struct cp_changes *changes, size_t path, size_t quantity);
/* The whole of the side that has more. */
double cp_changes_whole(const struct cp_changes *changes, size_t quantity);

typedef void cp_changes_writer(struct cp_out *out, const struct cp_changes *changes);
cp_changes_writer cp_changes_write_text;
cp_changes_writer cp_changes_write_json;
/* "a;b;c before after", as difffolded.pl writes and flamegraph.pl reads. */
cp_changes_writer cp_changes_write_folded;
cp_changes_writer cp_changes_write_html;

/* For pages: the JSON without paths; and as cp_stacks_write_json(): each quantity twice,
 * after and before ("pairs": how many there are of each). */
cp_changes_writer cp_changes_write_head;
cp_changes_writer cp_changes_write_stacks;

#endif
