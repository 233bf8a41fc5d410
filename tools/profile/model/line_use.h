/* SPDX-License-Identifier: MIT
 *
 * How much of the lines that L1D fetched for some data was used until they went: counted
 * where a profile was asked for it (--line-use), else estimated from a sample of lines.
 */
#ifndef CACHEPEEK_TOOLS_PROFILE_MODEL_LINE_USE_H
#define CACHEPEEK_TOOLS_PROFILE_MODEL_LINE_USE_H

#include "tools/profile/model/profile.h"

#define CP_LINE_BITS 64

struct cp_line_use {
	uint64_t seen;             /* of a sample, so many lines; 0: all were seen */
	double scale;              /* what stands here is what was counted, times this */
	uint64_t fetched, sparse;  /* sparse: less than three quarters of it used */
	unsigned line, bits, each; /* bytes; parts of a line, and bytes of each */
	uint64_t used[CP_LINE_BITS], used_of_sparse[CP_LINE_BITS];
};

/* Links the objects of each name, of which there may be a million; for profiles that
 * know of lines. */
void cp_line_use_link(struct cp_profile *profile);

/* Sums up all data of the object's name; false: nothing is known, nothing was fetched, or
 * too little was seen of it. */
bool cp_line_use_of(const struct cp_profiled_object *object, struct cp_line_use *use);

/* Whether data of that name is in no object before this one; false: nothing is known. */
bool cp_line_use_is_first(const struct cp_profiled_object *object);

/* Bytes of a line that were used, in the mean. */
double cp_line_use_bytes(const struct cp_line_use *use);

/* Parts of the sparsely used lines that are used at an eighth of the mean rate or less,
 * as bits, and how many bytes that is. */
uint64_t cp_line_use_cold(const struct cp_line_use *use);
unsigned cp_line_use_count(const struct cp_line_use *use, uint64_t bits);

/* "0 to 7, 16 to 23": bytes of the line; "none". */
const char *cp_line_use_ranges(
	struct cp_arena *arena, const struct cp_line_use *use, uint64_t bits);

#endif
