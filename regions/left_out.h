/* SPDX-License-Identifier: MIT
 *
 * Begins that the filter leaves out (CACHEPEEK_REGIONS).  The end of most tools' markers
 * has no name and means the innermost region of its kind: which may be one that was left
 * out.
 */
#ifndef CACHEPEEK_REGIONS_LEFT_OUT_H
#define CACHEPEEK_REGIONS_LEFT_OUT_H

#include <stdbool.h>
#include <stdint.h>

struct cp_name;
struct cp_tree;

/* So many open ones of a thread are told apart; of more, those that begin later end
 * first. */
#define CP_MOST_LEFT_OUT 64

struct cp_left_out {
	unsigned n;          /* open ones that are known */
	unsigned more;       /* open ones beyond these */
	unsigned more_depth; /* open regions when the first of them began */
	struct {
		const struct cp_name *name;
		uint64_t tag;
		unsigned depth; /* open regions when it began */
	} open[CP_MOST_LEFT_OUT];
};

/* A region that is left out begins.  By its thread alone, as all of these. */
void cp_left_out_begin(struct cp_left_out *left, const struct cp_tree *tree,
	const struct cp_name *name, uint64_t tag);

/* An end of that tag: of a region that was left out?  name NULL: of the innermost of the
 * tag, left out or not. */
bool cp_left_out_end(struct cp_left_out *left, const struct cp_tree *tree,
	const struct cp_name *name, uint64_t tag);

#endif
