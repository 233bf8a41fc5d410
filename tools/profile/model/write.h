/* SPDX-License-Identifier: MIT */
#ifndef CACHEPEEK_TOOLS_PROFILE_MODEL_WRITE_H
#define CACHEPEEK_TOOLS_PROFILE_MODEL_WRITE_H

#include "base/out.h"
#include "tools/profile/model/rows.h"

#define CP_PROFILE_SCHEMA "cachepeek-profile/1"

typedef void cp_profile_writer(struct cp_out *out, const struct cp_profile_view *view);

cp_profile_writer cp_profile_write_text;
/* The same on one screen. */
cp_profile_writer cp_profile_write_screen;
/* Whether something of it rests on what lines cost; and what they cost, who says so. */
bool cp_profile_has_estimates(const struct cp_profile_view *view);
cp_profile_writer cp_profile_write_weights;
/* Members of the JSON's head behind the command: its words, unless they are not known,
 * and how, when and where the run ended, began and was; with a comma in front. */
void cp_profile_write_command(struct cp_out *out, const struct cp_profile *profile);
/* Everything, whatever the view cuts off (doc/cachepeek-profile-1.schema.json). */
cp_profile_writer cp_profile_write_json;
/* The same with a row for each module, thread, function, statement, instruction. */
cp_profile_writer cp_profile_write_csv;
cp_profile_writer cp_profile_write_callgrind;
/* Stacks (tools/profile/calls/stacks.h). */
cp_profile_writer cp_profile_write_folded;
cp_profile_writer cp_profile_write_speedscope;
cp_profile_writer cp_profile_write_pprof;
/* A page with that JSON, and the source as it is now. */
cp_profile_writer cp_profile_write_html;

/* Where there are call paths: those, or the callers of the view's function, or false if
 * nothing of that name was called. */
bool cp_profile_write_calls(struct cp_out *out, const struct cp_profile_view *view);
/* Functions, and the calls between them, in place of cp_profile_write_callgrind. */
void cp_profile_write_callgrind_calls(
	struct cp_out *out, const struct cp_profile_view *view);
/* The beginning of both, with the subpositions that costs have ("instr line"). */
void cp_callgrind_head(
	struct cp_out *out, const struct cp_profile_view *view, const char *positions);
/* A key of the JSON with all of them. */
void cp_profile_write_calls_json(struct cp_out *out, const struct cp_profile_view *view);

#endif
