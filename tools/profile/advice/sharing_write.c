/* SPDX-License-Identifier: MIT
 *
 * What threads share, as text and as JSON (cachepeek-sharing/1).
 */
#include <stdio.h>
#include <string.h>

#include "output/json.h"
#include "base/text/table.h"
#include "tools/profile/advice/advice.h"
#include "tools/profile/advice/sharing.h"

#define SCHEMA "cachepeek-sharing/1"

/* ---- what both say ---- */

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

/* The first and the last byte that the thread touches. */
static void find_extent(const struct cp_sharing *sharing, const struct cp_line_user *user,
	unsigned *first, unsigned *last)
{
	uint64_t bits = user->use->read | user->use->written;
	unsigned line = sharing->profile->slices ? sharing->profile->slices->line : 64,
		 each = line > 64 ? line / 64 : 1;

	*first = bits ? (unsigned)__builtin_ctzll(bits) * each : 0;
	*last = bits ? (63 - (unsigned)__builtin_clzll(bits) + 1) * each - 1 : 0;
}

/* Each name once. */
static bool named_before(const struct cp_line_user *user, unsigned part)
{
	for (unsigned i = 0; i < part; i++)
		if (user->object[i] &&
			strcmp(user->object[i]->name, user->object[part]->name) == 0)
			return true;
	return false;
}

static const char *place_of(
	const struct cp_sharing *sharing, const struct cp_profiled_object *object)
{
	const char *slash = strrchr(object->file, '/');

	if (!*object->file)
		return "";
	return cp_text_format(arena_of(sharing), " (%s:%u)",
		slash ? slash + 1 : object->file, object->line);
}

static const char *names_of(
	const struct cp_sharing *sharing, const struct cp_line_user *user)
{
	const char *names = "";

	for (unsigned part = 0; part < CP_PROFILE_PARTS; part++)
		if (user->object[part] && !named_before(user, part))
			names = cp_text_format(arena_of(sharing), "%.600s%s%.200s%.100s",
				names, *names ? ", " : "", user->object[part]->name,
				place_of(sharing, user->object[part]));
	return *names ? names : "?";
}

/* ---- text ---- */

static void put_user(struct cp_out *out, const struct cp_sharing *sharing,
	const struct cp_line_user *user)
{
	struct cp_arena *arena = arena_of(sharing);
	unsigned first, last;

	find_extent(sharing, user, &first, &last);
	cp_out_format(out, "  thread %d %s: bytes %u to %u\n", user->thread->tid,
		cp_text_safe(arena, cp_slice_of(user->thread->name)), first, last);
	cp_out_format(out, "    %s loads, %s stores (%.1f %% of the thread's stores)\n",
		cp_text_integer(arena, user->use->loads),
		cp_text_integer(arena, user->use->stores), share_of_stores(user));
	cp_out_text(out, "    ");
	cp_text_wrap(
		out, cp_text_safe(arena, cp_slice_of(names_of(sharing, user))), 4, 6, 80);
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
	cp_out_text(out, "engine    simulated PMU (sim)\nmachine   ");
	cp_text_wrap(out, cp_text_safe(profile->arena, cp_slice_of(profile->machine)), 10,
		10, 80);
	if (cp_sharing_quantum(sharing))
		cp_out_format(out,
			"turns     as if threads took turns after %u data references "
			"each (--quantum),\n          on a core of its own each, and did "
			"not wait for each other\n",
			cp_sharing_quantum(sharing));
	else
		cp_out_text(out,
			"turns     interleaving not simulated: --quantum N tells "
			"which thread takes lines from which\n");
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
	const struct cp_findings found = cp_advise_sharing(profile);

	put_header(out, sharing);
	put_heading(out, "False", sharing->nfalse, "different");
	put_lines(out, sharing, true);
	put_heading(out, "True", sharing->nlines - sharing->nfalse, "the same");
	put_lines(out, sharing, false);
	cp_findings_write_text(out, profile->arena, &found);
	if (sharing->few)
		cp_out_format(out,
			"\n%zu shared lines with fewer than %lu transfers are left out "
			"(--least)\n",
			sharing->few, (unsigned long)sharing->least);
	for (size_t i = 0; i < profile->nwarnings; i++) {
		cp_out_text(out, "warning: ");
		cp_text_wrap(out, profile->warnings[i], 9, 9, 80);
	}
}

/* ---- JSON ---- */

static void put_string(struct cp_out *out, const char *text)
{
	cp_json_string(out, text, strlen(text));
}

static void put_objects(struct cp_out *out, const struct cp_line_user *user)
{
	const char *comma = "";

	cp_out_text(out, ", \"data\": [");
	for (unsigned part = 0; part < CP_PROFILE_PARTS; part++) {
		const struct cp_profiled_object *object = user->object[part];

		if (!object || named_before(user, part))
			continue;
		cp_out_format(out, "%s{\"name\": ", comma);
		put_string(out, object->name);
		cp_out_text(out, ", \"file\": ");
		put_string(out, object->file);
		cp_out_format(out, ", \"line\": %u}", object->line);
		comma = ", ";
	}
	cp_out_text(out, "]}");
}

static void put_user_json(struct cp_out *out, const struct cp_sharing *sharing,
	const struct cp_line_user *user)
{
	unsigned first, last;

	find_extent(sharing, user, &first, &last);
	cp_out_format(out, "{\"pid\": %d, \"tid\": %d, \"name\": ", user->thread->pid,
		user->thread->tid);
	put_string(out, user->thread->name);
	cp_out_format(out, ", \"loads\": %lu, \"stores\": %lu",
		(unsigned long)user->use->loads, (unsigned long)user->use->stores);
	cp_out_format(out, ", \"thread_stores\": %lu",
		(unsigned long)user->thread->count[CP_SIM_l1d_stores]);
	cp_out_format(out, ", \"same_bytes\": %lu, \"other_bytes\": %lu",
		(unsigned long)user->same, (unsigned long)user->apart);
	cp_out_format(out, ", \"first_byte\": %u, \"last_byte\": %u", first, last);
	put_objects(out, user);
}

static void put_line_json(struct cp_out *out, const struct cp_sharing *sharing,
	const struct cp_shared_line *line)
{
	bool interleaved = cp_sharing_quantum(sharing) != 0;

	cp_out_format(out, "{\"address\": \"0x%lx\", \"sharing\": \"%s\"",
		(unsigned long)line->address, line->is_false ? "false" : "true");
	cp_out_format(out, ", \"transfers_at_most\": %lu, \"for_nothing_at_most\": %lu",
		(unsigned long)line->transfers, (unsigned long)line->for_nothing);
	if (interleaved)
		cp_out_format(out, ", \"hitm\": %lu, \"invalidations\": %lu",
			(unsigned long)line->hitm, (unsigned long)line->invalidations);
	else
		cp_out_text(out, ", \"hitm\": null, \"invalidations\": null");
	cp_out_text(out, ", \"threads\": [");
	for (size_t i = 0; i < line->nusers; i++) {
		cp_out_text(out, i ? ",\n   " : "\n   ");
		put_user_json(out, sharing, &line->users[i]);
	}
	cp_out_text(out, "]}");
}

void cp_sharing_write_json(struct cp_out *out, const struct cp_sharing *sharing)
{
	const struct cp_profile *profile = sharing->profile;
	const struct cp_findings found = cp_advise_sharing(profile);

	cp_out_format(out, "{\n \"schema\": \"%s\",\n \"cachepeek\": \"%s\"", SCHEMA,
		CP_VERSION);
	cp_out_text(out, ",\n \"command\": ");
	put_string(out, profile->command);
	cp_out_text(out, ",\n \"machine\": ");
	put_string(out, profile->machine);
	cp_out_format(out, ",\n \"line\": %u, \"quantum\": ",
		profile->slices ? profile->slices->line : 0);
	if (cp_sharing_quantum(sharing))
		cp_out_format(out, "%u", cp_sharing_quantum(sharing));
	else
		cp_out_text(out, "null");
	cp_out_format(out, ", \"least\": %lu, \"left_out\": %zu,\n \"lines\": [",
		(unsigned long)sharing->least, sharing->few);
	for (size_t i = 0; i < sharing->nlines; i++) {
		cp_out_text(out, i ? ",\n  " : "\n  ");
		put_line_json(out, sharing, &sharing->lines[i]);
	}
	cp_out_text(out, "],\n");
	cp_findings_write_json(out, &found);
	cp_out_text(out, ",\n \"warnings\": [");
	for (size_t i = 0; i < profile->nwarnings; i++) {
		cp_out_text(out, i ? ", " : "");
		put_string(out, profile->warnings[i]);
	}
	cp_out_text(out, "]\n}\n");
}
