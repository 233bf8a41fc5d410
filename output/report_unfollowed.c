/* SPDX-License-Identifier: MIT
 *
 * Programs that processes of the run were seen to start, and of which there is
 * no record: what they did is in no sum.
 */
#include <string.h>

#include "base/text.h"
#include "output/report_parts.h"

/* A "program" note of a record: see regions/record.h. */
struct note {
	uint64_t pid;
	const char *why;
	bool comes; /* as far as its parent could tell */
	const char *path;
};

static bool find_chance(const char *text, struct note *note)
{
	static const struct {
		const char *word, *why;
	} chances[] = {
		{" kept ",
			"the library was not loaded (a static or privileged program?)"},
		{" changed ", "its environment was changed"},
		{" refused ", "the simulated PMU runs no program that is set-user-ID or "
			      "set-group-ID, has file capabilities, or may not be read"},
	};

	for (size_t i = 0; i < sizeof(chances) / sizeof(chances[0]); i++) {
		if (!cp_starts_with(text, chances[i].word))
			continue;
		note->why = chances[i].why;
		note->comes = i == 0;
		return true;
	}
	return false;
}

static bool parse(const char *text, struct note *note)
{
	if (cp_parse_u64_prefix(text, &text, &note->pid) < 0 || note->pid > INT32_MAX)
		return false;
	if (!find_chance(text, note))
		return false;
	note->path = strchr(text + 1, ' ') + 1;
	return true;
}

/* A record of the program: the writer's next image, or another process. */
static bool is_there(struct cp_source *const *sources, size_t nsources,
	const struct cp_record_header *writer, const struct note *note)
{
	for (size_t i = 0; i < nsources; i++) {
		const struct cp_record_header *header = sources[i]->record.header;

		if (header->pid == (int32_t)note->pid &&
			(header->pid != writer->pid || header->image > writer->image))
			return true;
	}
	return false;
}

/* One that lives may only not have come so far. */
static bool may_come(const struct cp_record *writer, const struct note *note)
{
	return note->comes &&
	       strcmp(cp_process_state((int32_t)note->pid, (uint64_t)1 << 62,
			      cp_record_meta(writer, "host", NULL)),
		       "running") == 0;
}

static void add(
	struct cp_report *report, const struct cp_record *writer, const struct note *note)
{
	struct cp_unfollowed *it = &report->unfollowed[report->nunfollowed++];

	it->pid = (int32_t)note->pid;
	it->ppid = it->pid == writer->header->pid ? writer->header->ppid
						  : writer->header->pid;
	it->exe = note->path;
	it->why = note->why;
}

static bool is_note(const struct cp_meta_item *meta, struct note *note)
{
	return cp_meta_is(meta, "program") && parse(cp_meta_value(meta), note);
}

static size_t count_notes(struct cp_source *const *sources, size_t nsources)
{
	struct note note;
	size_t count = 0;

	for (size_t i = 0; i < nsources; i++)
		for (size_t j = 0; j < sources[i]->record.nmetas; j++)
			count += is_note(sources[i]->record.metas[j], &note);
	return count;
}

void cp_report_unfollowed(
	struct cp_report *report, struct cp_source *const *sources, size_t nsources)
{
	struct note note;

	report->unfollowed = cp_arena_alloc(report->arena,
		count_notes(sources, nsources) * sizeof(*report->unfollowed));
	for (size_t i = 0; i < nsources; i++) {
		const struct cp_record *record = &sources[i]->record;

		for (size_t j = 0; j < record->nmetas; j++)
			if (is_note(record->metas[j], &note) &&
				!is_there(sources, nsources, record->header, &note) &&
				!may_come(record, &note))
				add(report, record, &note);
	}
}
