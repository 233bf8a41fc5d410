/* SPDX-License-Identifier: MIT
 *
 * Lines that several threads use, of a profile that was asked for them: which threads,
 * which bytes, which data; false sharing told from true.
 *
 * Two threads conflict in a part of a line (an eighth of it) where they touch the same
 * bytes and one of them writes these.  References to such parts are the thread's true
 * sharing, all others to the line its false sharing.  Whatever the order in which the
 * threads ran, the line goes from one to another and back at most min(a, b) times
 * where they refer to it a and b times; of more threads, at most half of all
 * references, and as often as all but the busiest one refer to it.
 */
#ifndef CACHEPEEK_TOOLS_SHARING_H
#define CACHEPEEK_TOOLS_SHARING_H

#include "base/out.h"
#include "base/text/table.h"
#include "tools/profile/model/profile.h"

struct cp_line_user {
	const struct cp_profiled_thread *thread;
	const struct cp_profile_sharer *use;
	uint64_t same, apart; /* of its references: true sharing, false sharing */
	const struct cp_profiled_object *object[CP_PROFILE_PARTS]; /* NULL: none */
	/* Statements that use it most, as far as they are known: those that write, then
	 * those that only read, the busiest first. */
	size_t nplaces;
	const struct cp_profiled_place *places;
};

struct cp_shared_line {
	uint64_t address;
	bool is_false;                  /* most transfers are for nothing */
	bool of_runtime;                /* all data in it is, that has a name */
	uint64_t transfers;             /* upper bound, there and back */
	uint64_t for_nothing, for_data; /* the same of what is apart, and the same */
	uint64_t hitm, invalidations;   /* as the threads took turns */
	size_t nusers;
	struct cp_line_user *users; /* the busiest first */
};

struct cp_sharing {
	const struct cp_profile *profile;
	size_t nlines, nfalse;
	struct cp_shared_line *lines; /* false sharing first, then by transfers */
	size_t few;                   /* lines with fewer transfers than asked for */
	uint64_t least;
};

/* After cp_profile_resolve; least: fewer transfers than that are not shown. */
const struct cp_sharing *cp_sharing_find(
	const struct cp_profile *profile, uint64_t least);

/* The data in the line, in its order, each once; one by itself with its place. */
const char *cp_sharing_data(struct cp_arena *arena, const struct cp_shared_line *line);

/* The first and the last byte of the line that the thread touches. */
void cp_sharing_extent(const struct cp_sharing *sharing, const struct cp_line_user *user,
	unsigned *first, unsigned *last);
/* Whether the data in that part of the line is in an earlier one, too. */
bool cp_sharing_named_before(const struct cp_line_user *user, unsigned part);

/* sharing_places.c: the places of a user, from its instructions. */
void cp_sharing_find_places(struct cp_arena *arena,
	const struct cp_profiled_sharer *sharer, struct cp_line_user *user);
/* A function with its line; of a module, if it has none. */
const char *cp_sharing_place_text(
	struct cp_arena *arena, const struct cp_place_in_code *at);
/* The end of a sentence: the same of two threads; "": not known of both. */
const char *cp_sharing_both_text(struct cp_arena *arena, const struct cp_line_user *one,
	const struct cp_line_user *other);

/* Data references of a turn; 0: nobody asked, or the run was cut. */
unsigned cp_sharing_quantum(const struct cp_sharing *sharing);
/* Says in its warnings what was not seen. */
void cp_sharing_warn(struct cp_profile *profile);

/* sharing_screen.c: the answer, of which the lines of totals alone; width 0: of no
 * terminal */
void cp_sharing_answer(const struct cp_sharing *sharing, struct cp_answer *answer);
void cp_sharing_write_screen(
	struct cp_out *out, const struct cp_sharing *sharing, size_t width);
/* The reason why no rule finds anything. */
const char *cp_sharing_why_nothing(const struct cp_sharing *sharing);
/* sharing_write.c: each line */
void cp_sharing_write_text(struct cp_out *out, const struct cp_sharing *sharing);
/* sharing_json.c */
void cp_sharing_write_json(struct cp_out *out, const struct cp_sharing *sharing);

#endif
