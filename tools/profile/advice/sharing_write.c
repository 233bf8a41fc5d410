/* SPDX-License-Identifier: MIT
 *
 * Writes what threads share, as text: each line.
 */
#include <string.h>

#include "base/text.h"
#include "base/text/table.h"
#include "tools/profile/advice/advice.h"
#include "tools/profile/advice/sharing.h"

static struct cp_arena *arena_of(const struct cp_sharing *sharing)
{
	return sharing->profile->arena;
}

/* Percent of all that the thread wrote. */
static double share_of_stores(const struct cp_line_user *user)
{
	uint64_t all = user->thread->count[CP_SIM_l1d_stores];

	return all ? 100.0 * (double)user->use->stores / (double)all : 0;
}

static const char *place_of(
	const struct cp_sharing *sharing, const struct cp_profiled_object *object)
{
	if (!*object->file)
		return "";
	return cp_text_format(
		arena_of(sharing), " (%s:%u)", cp_base_name(object->file), object->line);
}

static const char *names_of(
	const struct cp_sharing *sharing, const struct cp_line_user *user)
{
	const char *names = "";

	for (unsigned part = 0; part < CP_PROFILE_PARTS; part++)
		if (user->object[part] && !cp_sharing_named_before(user, part))
			names = cp_text_listed(arena_of(sharing), names,
				cp_text_format(arena_of(sharing), "%s%s",
					user->object[part]->name,
					place_of(sharing, user->object[part])));
	return *names ? names : "?";
}

static const char *places_of(
	const struct cp_sharing *sharing, const struct cp_line_user *user)
{
	const char *all = "", *done = "";

	for (size_t i = 0; i < user->nplaces; i++) {
		const char *what = user->places[i].writes ? "writes in " : "reads in ";

		all = cp_text_listed(arena_of(sharing), all,
			cp_text_format(arena_of(sharing), "%s%s",
				strcmp(what, done) == 0 ? "" : what,
				cp_sharing_place_text(
					arena_of(sharing), &user->places[i].at)));
		done = what;
	}
	return all;
}

/* ---- text ---- */

static void put_user(struct cp_out *out, const struct cp_sharing *sharing,
	const struct cp_line_user *user)
{
	struct cp_arena *arena = arena_of(sharing);
	unsigned first, last;

	cp_sharing_extent(sharing, user, &first, &last);
	cp_out_format(out, "  thread %d %s: bytes %u to %u\n", user->thread->tid,
		cp_text_safe(arena, cp_slice_of(user->thread->name)), first, last);
	cp_out_format(out, "    %s loads, %s stores (%.1f %% of the thread's stores)\n",
		cp_text_integer(arena, user->use->loads),
		cp_text_integer(arena, user->use->stores), share_of_stores(user));
	cp_out_text(out, "    ");
	cp_text_wrap(
		out, cp_text_safe(arena, cp_slice_of(names_of(sharing, user))), 4, 6, 80);
	if (!user->nplaces)
		return;
	cp_out_text(out, "    ");
	cp_text_wrap(out, places_of(sharing, user), 4, 6, 80);
}

static void put_line(struct cp_out *out, const struct cp_sharing *sharing,
	const struct cp_shared_line *line)
{
	struct cp_arena *arena = arena_of(sharing);

	cp_out_format(out, "line 0x%lx: up to %s transfers there and back",
		(unsigned long)line->address, cp_text_integer(arena, line->transfers));
	if (line->is_false && line->for_data)
		cp_out_format(out, ", %s for nothing",
			cp_text_integer(arena, line->for_nothing));
	cp_out_text(out, "\n");
	if (cp_sharing_quantum(sharing))
		cp_out_format(out, "  taking turns: %s HITM, %s invalidations\n",
			cp_text_integer(arena, line->hitm),
			cp_text_integer(arena, line->invalidations));
	for (size_t i = 0; i < line->nusers; i++)
		put_user(out, sharing, &line->users[i]);
}

static void put_header(struct cp_out *out, const struct cp_sharing *sharing)
{
	const struct cp_profile *profile = sharing->profile;

	cp_out_format(out, "cachepeek %s: %s\n", CP_VERSION, profile->command);
	if (profile->cut)
		cp_out_format(out, "ended     %s\n", profile->cut);
	cp_out_text(out, "engine    simulated PMU (sim)\nmachine   ");
	cp_text_wrap(out, cp_text_safe(profile->arena, cp_slice_of(profile->machine)), 10,
		10, 80);
	if (cp_sharing_quantum(sharing))
		cp_out_format(out,
			"turns     as if threads took turns "
			"after %u data references each "
			"(--quantum),\n"
			"          on a core of its own each, "
			"and did not wait for each other\n",
			cp_sharing_quantum(sharing));
	else
		cp_out_text(out,
			"turns     interleaving not simulated: "
			"--quantum N tells which thread takes lines from which\n");
	cp_out_text(out, "counted   while several threads lived\n");
}

static void put_lines(struct cp_out *out, const struct cp_sharing *sharing, bool is_false)
{
	for (size_t i = 0; i < sharing->nlines; i++)
		if (sharing->lines[i].is_false == is_false)
			put_line(out, sharing, &sharing->lines[i]);
}

static void put_heading(struct cp_out *out, const char *what, size_t n, const char *bytes)
{
	cp_out_format(out, "\n%s sharing: %zu line%s that threads use at %s bytes\n",
		what, n, n == 1 ? "" : "s", bytes);
}

void cp_sharing_write_text(struct cp_out *out, const struct cp_sharing *sharing)
{
	const struct cp_profile *profile = sharing->profile;
	struct cp_findings found = cp_advise_sharing(profile);

	put_header(out, sharing);
	put_heading(out, "False", sharing->nfalse, "different");
	put_lines(out, sharing, true);
	put_heading(out, "True", sharing->nlines - sharing->nfalse, "the same");
	put_lines(out, sharing, false);
	found.why_none = cp_sharing_why_nothing(sharing);
	cp_findings_write_text(out, profile->arena, &found);
	if (sharing->few)
		cp_out_format(out,
			"\n"
			"%zu shared lines with fewer "
			"than %lu transfers are left out (--least)\n",
			sharing->few, (unsigned long)sharing->least);
	for (size_t i = 0; i < profile->nwarnings; i++) {
		cp_out_text(out, "warning: ");
		cp_text_wrap(out, profile->warnings[i], 9, 9, 80);
	}
}
