/* SPDX-License-Identifier: MIT
 *
 * Writes what threads share, as JSON (doc/cachepeek-sharing-1.schema.json).
 */
#include "output/json.h"
#include "output/json_lines.h"
#include "tools/profile/advice/advice.h"
#include "tools/profile/advice/sharing.h"
#include "tools/profile/model/write.h"

#define SCHEMA "cachepeek-sharing/1"

static void put_objects(struct cp_out *out, const struct cp_line_user *user)
{
	const char *comma = "";

	cp_out_text(out, ", \"data\": [");
	for (unsigned part = 0; part < CP_PROFILE_PARTS; part++) {
		const struct cp_profiled_object *object = user->object[part];

		if (!object || cp_sharing_named_before(user, part))
			continue;
		cp_out_format(out, "%s{\"name\": ", comma);
		cp_json_quoted(out, object->name);
		cp_out_text(out, ", \"file\": ");
		cp_json_quoted(out, object->file);
		cp_out_format(out, ", \"line\": %u}", object->line);
		comma = ", ";
	}
	cp_out_text(out, "]");
}

static void put_places(struct cp_out *out, const struct cp_line_user *user)
{
	cp_out_text(out, ", \"places\": [");
	for (size_t i = 0; i < user->nplaces; i++) {
		const struct cp_place_in_code *at = &user->places[i].at;

		cp_out_format(out, "%s{\"writes\": %s, \"module\": ", i ? ", " : "",
			user->places[i].writes ? "true" : "false");
		cp_json_quoted(out, at->module->path);
		cp_out_text(out, ", \"function\": ");
		cp_json_quoted(out, at->function);
		cp_out_text(out, ", \"file\": ");
		cp_json_quoted(out, at->file);
		cp_out_format(out, ", \"line\": %u, \"address\": \"0x%lx\"}", at->line,
			(unsigned long)at->address);
	}
	cp_out_text(out, "]");
}

/* Runs of bytes of the line. */
static void put_bytes(struct cp_out *out, const struct cp_sharing *sharing,
	const char *name, uint64_t bits)
{
	unsigned line = sharing->profile->slices->line, each = line > 64 ? line / 64 : 1;
	const char *comma = "";

	cp_out_format(out, ", \"%s\": [", name);
	for (unsigned at = 0, end; at < 64; at = end + 1) {
		for (end = at; end < 64 && bits >> end & 1;)
			end++;
		if (end == at)
			continue;
		cp_out_format(out, "%s[%u, %u]", comma, at * each, end * each - 1);
		comma = ", ";
	}
	cp_out_text(out, "]");
}

static void put_user_json(struct cp_out *out, const struct cp_sharing *sharing,
	const struct cp_line_user *user)
{
	unsigned first, last;

	cp_sharing_extent(sharing, user, &first, &last);
	cp_out_format(out, "{\"pid\": %d, \"tid\": %d, \"name\": ", user->thread->pid,
		user->thread->tid);
	cp_json_quoted(out, user->thread->name);
	cp_out_format(out, ", \"loads\": %lu, \"stores\": %lu",
		(unsigned long)user->use->loads, (unsigned long)user->use->stores);
	cp_out_format(out, ", \"thread_stores\": %lu",
		(unsigned long)user->thread->count[CP_SIM_l1d_stores]);
	cp_out_format(out, ", \"same_bytes\": %lu, \"other_bytes\": %lu",
		(unsigned long)user->same, (unsigned long)user->apart);
	cp_out_format(out, ", \"first_byte\": %u, \"last_byte\": %u", first, last);
	put_bytes(out, sharing, "read_bytes", user->use->read);
	put_bytes(out, sharing, "written_bytes", user->use->written);
	put_objects(out, user);
	put_places(out, user);
	cp_out_text(out, "}");
}

static void put_line_json(struct cp_out *out, const struct cp_sharing *sharing,
	const struct cp_shared_line *line)
{
	bool interleaved = cp_sharing_quantum(sharing) != 0;

	cp_out_format(out, "{\"address\": \"0x%lx\", \"sharing\": \"%s\", \"data\": ",
		(unsigned long)line->address, line->is_false ? "false" : "true");
	cp_json_quoted(out, cp_sharing_data(sharing->profile->arena, line));
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

static void put_answers(struct cp_out *out, const struct cp_sharing *sharing)
{
	struct cp_answer answer = {.count = 0};

	cp_sharing_answer(sharing, &answer);
	cp_out_text(out, ",\n \"answers\": [{\"group\": null, \"lines\": ");
	cp_json_answer(out, &answer);
	cp_out_text(out, "}]");
}

static void put_head(struct cp_out *out, const struct cp_sharing *sharing)
{
	const struct cp_profile *profile = sharing->profile;

	cp_out_format(out, "{\n \"schema\": \"%s\",\n \"cachepeek\": \"%s\"", SCHEMA,
		CP_VERSION);
	cp_out_text(out, ",\n \"command\": ");
	cp_json_quoted(out, profile->command);
	cp_profile_write_command(out, profile);
	put_answers(out, sharing);
	cp_out_text(out, ",\n \"machine\": ");
	cp_json_quoted(out, profile->machine);
	cp_out_format(out, ",\n \"line\": %u, \"quantum\": ",
		profile->slices ? profile->slices->line : 0);
	if (cp_sharing_quantum(sharing))
		cp_out_format(out, "%u", cp_sharing_quantum(sharing));
	else
		cp_out_text(out, "null");
	cp_out_format(out, ", \"least\": %lu, \"left_out\": %zu",
		(unsigned long)sharing->least, sharing->few);
}

void cp_sharing_write_json(struct cp_out *out, const struct cp_sharing *sharing)
{
	const struct cp_profile *profile = sharing->profile;
	const struct cp_findings found = cp_advise_sharing(profile);

	put_head(out, sharing);
	cp_out_text(out, ",\n \"lines\": [");
	for (size_t i = 0; i < sharing->nlines; i++) {
		cp_out_text(out, i ? ",\n  " : "\n  ");
		put_line_json(out, sharing, &sharing->lines[i]);
	}
	cp_out_text(out, "],\n");
	cp_findings_write_json(out, &found);
	cp_out_text(out, ",\n \"warnings\": [");
	for (size_t i = 0; i < profile->nwarnings; i++) {
		cp_out_text(out, i ? ", " : "");
		cp_json_quoted(out, profile->warnings[i]);
	}
	cp_out_text(out, "]\n}\n");
}
