/* SPDX-License-Identifier: MIT
 *
 * A profile as stacks, for those who draw flame graphs: its call paths, or without any
 * its functions behind their threads and modules.  Paths that have less of everything
 * than a share of the whole are left out, and what they have is their callers' own: the
 * stacks add up to the whole.
 */
#ifndef CACHEPEEK_TOOLS_STACKS_H
#define CACHEPEEK_TOOLS_STACKS_H

#include "base/out.h"
#include "tools/profile/calls/calls.h"
#include "tools/profile/model/rows.h"

/* The share, in percent, below which paths are left out unless the user says another. */
#define CP_STACKS_PERCENT 0.02

struct cp_stack_frame {
	const char *name, *module, *file; /* "": not known */
	unsigned line;
	bool is_statement; /* file and line are this part's of the function */
};

struct cp_stack {
	size_t parent, frame; /* the first is its own parent */
	uint64_t calls;
	uint64_t own[CP_CALLS_QUANTITIES];
};

struct cp_stacks {
	size_t n, nframes, nquantities;
	size_t misses;          /* the quantity that the measurement goes by */
	struct cp_stack *stack; /* parents before their children */
	struct cp_stack_frame *frame;
	const char *quantity[CP_CALLS_QUANTITIES];
	size_t left_out; /* paths */
	double percent;
	bool by_line;
};

/* by_line: without call paths, functions are in parts, one for each line of source. */
struct cp_stacks *cp_stacks_of(const struct cp_profile_view *view, bool by_line);

/* The stack's frames, from the outermost one on; how many.  list has room for all. */
size_t cp_stack_frames(const struct cp_stacks *stacks, size_t stack, size_t *list);

/* The program's command, and what is left out. */
const char *cp_stacks_title(
	const struct cp_profile_view *view, const struct cp_stacks *stacks);

/* For pages: {"percent", "left_out", "misses", "quantities", "frames": [[name, module],
 * ...], "stacks": [[parent, frame, calls, what it has by itself of each quantity...],
 * ...]}. */
void cp_stacks_write_json(struct cp_out *out, const struct cp_stacks *stacks);

#endif
